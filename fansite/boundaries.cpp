// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundaries.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "fansite/error.h"
#include "fansite/gaussian.h"
#include "fansite/io/text.h"

namespace fansite {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Per variable the column it repeats, or −1.
std::vector<int> find_copies(const std::vector<Finding>& findings, int variables) {
  std::vector<int> copy_of(static_cast<std::size_t>(variables), -1);
  for (const Finding& finding : findings) {
    if (finding.kind != Finding::Kind::duplicate) continue;
    for (std::size_t i = 1; i < finding.columns.size(); ++i) {
      copy_of[static_cast<std::size_t>(finding.columns[i])] = finding.columns.front();
    }
  }
  return copy_of;
}

// A target without any randomness left is worth a word: its boundary need not be the only one.
void warn_of_determined(BoundariesResult& result) {
  std::vector<std::string> examples;
  int count = 0;
  int saturated = 0;
  for (const Boundary& boundary : result.found.boundaries) {
    if (!std::isinf(boundary.conditional_entropy) || std::isinf(boundary.entropy)) continue;
    if (static_cast<Index>(boundary.members.size()) + 2 >= result.rows) {  // any columns would do
      ++saturated;
      continue;
    }
    if (++count > 3) continue;
    std::vector<std::string> members;
    for (const Member& m : boundary.members)
      members.push_back(excerpt(result.variables[static_cast<std::size_t>(m.variable)]));
    examples.push_back(fmt::format("'{}' by {}", excerpt(result.variables[static_cast<std::size_t>(boundary.target)]),
                                   fmt::join(members, ", ")));
  }
  if (saturated > 0) {
    result.warnings.push_back(fmt::format(
        "[mb] {} {} as large as {} rows allow and say nothing; use --stop calibrated or a smaller --max-size",
        saturated, saturated == 1 ? "boundary is" : "boundaries are", result.rows));
  }
  if (count == 0) return;
  result.warnings.push_back(
      fmt::format("[mb] {} {} determined exactly by others (collinear columns): {}{}; such boundaries are not unique, "
                  "drop one column of each such group for a sharper answer",
                  count, count == 1 ? "variable is" : "variables are", fmt::join(examples, "; "),
                  count > 3 ? fmt::format(" and {} more", count - 3) : ""));
}

}  // namespace

BoundariesResult markov_boundaries(const Dataset& data, const BoundariesParams& params, Progress& progress) {
  const auto start = Clock::now();
  BoundariesResult result;
  result.variables = data.names;
  result.rows = data.rows();
  result.params = params;

  validate(params.search);
  std::vector<int> targets;
  for (const std::string& target : params.targets) {
    const int t = data.index_of(target);
    check(std::find(targets.begin(), targets.end(), t) == targets.end(), "[mb] target '{}' is asked for twice", target);
    targets.push_back(t);
  }
  if (targets.empty()) {
    for (int t = 0; t < data.variables(); ++t) targets.push_back(t);
  }

  const std::vector<Finding> findings = inspect(data);
  throw_if_fatal(findings);
  const GaussianEstimator estimator(covariance(data.values, progress));
  for (const Finding& finding : findings) result.warnings.push_back(finding.message);
  for (const Finding& finding : near_duplicates(data, estimator.covariance().correlation, findings)) {
    result.warnings.push_back(finding.message);
  }
  result.copy_of = find_copies(findings, data.variables());
  result.prepare_seconds = seconds_since(start);

  // A copy is searched through its original and never joins a boundary beside it.
  const auto search_start = Clock::now();
  const auto original_of = [&](int z) {
    const int original = result.copy_of[static_cast<std::size_t>(z)];
    return original >= 0 ? original : z;
  };
  std::vector<int> excluded;
  for (int z = 0; z < data.variables(); ++z) {
    if (original_of(z) != z) excluded.push_back(z);
  }
  std::vector<int> searched;
  std::vector<int> slot_of(static_cast<std::size_t>(data.variables()), -1);
  for (const int t : targets) {
    int& slot = slot_of[static_cast<std::size_t>(original_of(t))];
    if (slot >= 0) continue;
    slot = static_cast<int>(searched.size());
    searched.push_back(original_of(t));
  }
  result.found = find_boundaries(estimator, params.search, searched, excluded, progress);

  std::vector<Boundary> boundaries;
  for (const int t : targets) {
    const auto slot = static_cast<std::size_t>(slot_of[static_cast<std::size_t>(original_of(t))]);
    boundaries.push_back(result.found.boundaries[slot]);
    boundaries.back().target = t;
  }
  result.found.boundaries = std::move(boundaries);
  warn_of_determined(result);
  result.search_seconds = seconds_since(search_start);
  return result;
}

BoundariesResult markov_boundaries(const Dataset& data, const BoundariesParams& params) {
  NoProgress silent;
  return markov_boundaries(data, params, silent);
}

std::string_view name(EstimatorKind) { return "gaussian"; }

EstimatorKind parse_estimator(std::string_view name) {
  if (name == "gaussian") return EstimatorKind::gaussian;
  throw UsageError(fmt::format("[mb] estimator '{}' is unknown; use gaussian", name));
}

}  // namespace fansite
