// SPDX-License-Identifier: Apache-2.0
#include "fansite/run/boundaries.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/base/text.h"
#include "fansite/entropy/flow/accelerator.h"
#include "fansite/run/detail/table_order.h"
#include "fansite/run/detail/table_warnings.h"
#include "fansite/table/relations.h"

namespace fansite {
namespace {

// A target without any randomness left is worth a word: its boundary need not be the only one. `almost`:
// but for rounding, as parts of a whole are.
void warn_of_determined(BoundariesResult& result, bool almost) {
  constexpr double kNearly = 8;  // nats: all but a ten-millionth of the variance
  std::vector<std::string> examples;
  int count = 0;
  for (const Boundary& boundary : result.found.boundaries) {
    if (boundary.members.empty() || std::isinf(boundary.entropy)) continue;
    const bool exact = std::isinf(boundary.conditional_entropy);
    // One member that does it alone is told as almost a copy.
    const bool told =
        boundary.entropy - boundary.conditional_entropy > kNearly && boundary.members.front().gain < kNearly;
    if (exact == almost || !(exact || told)) continue;
    if (++count > 3) continue;
    std::vector<std::string> members;
    for (const Member& m : boundary.members)
      members.push_back(excerpt(result.names[static_cast<std::size_t>(m.variable)]));
    examples.push_back(fmt::format("'{}' by {}", excerpt(result.names[static_cast<std::size_t>(boundary.target)]),
                                   fmt::join(members, ", ")));
  }
  if (count == 0) return;
  result.warnings.push_back(
      fmt::format("[mb] {} {} determined {} by others (collinear columns): {}{}; such boundaries {} unique, "
                  "drop one column of each such group for a sharper answer",
                  count, count == 1 ? "variable is" : "variables are", almost ? "almost exactly" : "exactly",
                  fmt::join(examples, "; "), count > 3 ? fmt::format(" and {} more", count - 3) : "",
                  almost ? "are hardly" : "are not"));
}

// A boundary that the estimator could not make as large as it would be is not silently cut.
void warn_of_limited(BoundariesResult& result) {
  std::vector<std::string> names;
  for (const Boundary& boundary : result.found.boundaries) {
    if (boundary.limited) {
      names.push_back(fmt::format("'{}'", excerpt(result.names[static_cast<std::size_t>(boundary.target)])));
    }
  }
  if (names.empty()) return;
  const std::size_t count = names.size(), more = count - std::min<std::size_t>(count, 3);
  names.resize(count - more);
  result.warnings.push_back(fmt::format(
      "[mb] {} may lack members ({}{}): {} allow {} at most in one boundary, and those with the weakest evidence are "
      "left out",
      count == 1 ? "1 boundary" : fmt::format("{} boundaries", count), fmt::join(names, ", "),
      more > 0 ? fmt::format(" and {} more", more) : "",
      result.training ? "these networks" : fmt::format("{} rows", result.rows), result.found.largest_set));
}

// Columns of few values hide much of what relates them: of two normal columns cut into halves the correlation tells as
// much as that of a share (2/π)² = 0.41 of the rows would uncut.
void warn_of_coarse(const Context& context, BoundariesResult& result) {
  constexpr std::size_t kFewValues = 5;
  int coarse = 0;
  for (int j = 0; j < context.data().variables(); ++j) {
    if (context.facts().takes_part[static_cast<std::size_t>(j)] == 0) continue;
    if (distinct_values(context.data().values.col(j)) <= kFewValues) ++coarse;
  }
  const int all = context.learnable_columns();
  if (coarse < 2 || 3 * coarse < all) return;
  result.warnings.push_back(fmt::format(
      "[mb] {} of {} columns have five values or fewer, which hide much of what relates them (two columns cut into "
      "halves tell as much as 41 % of the rows would uncut), so a missing member says little",
      coarse, all));
}

// Levels tell no more than their entropy. Who takes them for numbers can find more in them.
void warn_of_impossible(const Context& context, BoundariesResult& result) {
  const std::vector<double> most = most_told(context);
  int count = 0;
  std::string example;
  for (const Boundary& boundary : result.found.boundaries) {
    const double of_target = most[static_cast<std::size_t>(boundary.target)];
    for (const Member& member : boundary.members) {
      const double of_member = most[static_cast<std::size_t>(member.variable)];
      if (!(member.gain - 2 * member.standard_error > std::min(of_target, of_member))) continue;
      const bool target_has_less = of_target < of_member;
      if (++count > 1) continue;
      example = fmt::format(
          "the values of '{}' tell {:.2f} nats at most, and '{}' is said to tell {:.2f} of '{}'",
          excerpt(result.names[static_cast<std::size_t>(target_has_less ? boundary.target : member.variable)]),
          std::min(of_target, of_member), excerpt(result.names[static_cast<std::size_t>(member.variable)]), member.gain,
          excerpt(result.names[static_cast<std::size_t>(boundary.target)]));
    }
  }
  if (count == 0) return;
  result.warnings.push_back(fmt::format(
      "[mb] {}{}: that they depend stands, how much they tell does not{}", example,
      count > 1 ? fmt::format(" (and {} more such gain{})", count - 1, count == 2 ? "" : "s") : "",
      result.training ? "" : "; a line takes levels for numbers, --estimator flow can take them as levels"));
}

// Whoever surely depends on something has a boundary. An empty one was not learnt, and must not pass for an answer.
void warn_of_empty(const Context& context, BoundariesResult& result) {
  constexpr double kSure = 1e-6;
  if (!context.context_columns().empty()) return;  // which may be all that relates two columns
  const auto is_empty = [&](const Boundary& boundary) {
    const auto at = static_cast<std::size_t>(boundary.target);
    return boundary.members.empty() && context.facts().takes_part[at] != 0;
  };
  const auto& boundaries = result.found.boundaries;
  if (context.learnable_columns() < 2 || std::none_of(boundaries.begin(), boundaries.end(), is_empty)) return;
  const std::vector<Relation> surest = surest_relations(
      context.data(), context.facts(), independent_rows(context) / static_cast<double>(context.data().rows()));
  std::vector<std::string> examples;
  int count = 0;
  for (const Boundary& boundary : boundaries) {
    const Relation& relation = surest[static_cast<std::size_t>(boundary.target)];
    if (!is_empty(boundary) || relation.other < 0 || relation.p_value > kSure) continue;
    if (++count > 3) continue;
    examples.push_back(fmt::format("'{}' on '{}' (p = {:.1g})",
                                   excerpt(result.names[static_cast<std::size_t>(boundary.target)]),
                                   excerpt(result.names[static_cast<std::size_t>(relation.other)]), relation.p_value));
  }
  if (count == 0) return;
  result.warnings.push_back(fmt::format(
      "[mb] {} empty but cannot be, since {} surely depend{}: {}{}. What relates them was not learnt; try another "
      "--estimator or more --effort, and do not take {} for an answer",
      count == 1 ? "a boundary is" : fmt::format("{} boundaries are", count),
      count == 1 ? "its variable" : "their variables", count == 1 ? "s" : "", fmt::join(examples, ", "),
      count > 3 ? fmt::format(" and {} more", count - 3) : "", count == 1 ? "it" : "them"));
}

// Every answer is held against the knowledge, whatever way it was found. A copy has its original's boundary, which is
// judged there.
void throw_if_violated(const BoundariesResult& result, const Knowledge& knowledge) {
  if (knowledge.empty()) return;
  std::vector<std::vector<int>> boundaries(result.names.size());
  std::vector<int> targets;
  for (const Boundary& boundary : result.found.boundaries) {
    if (result.copy_of[static_cast<std::size_t>(boundary.target)] >= 0) continue;
    boundaries[static_cast<std::size_t>(boundary.target)] = boundary.member_indices();
    targets.push_back(boundary.target);
  }
  if (targets.empty()) return;
  const std::vector<std::string> violations = knowledge.violations_of_boundaries(boundaries, targets);
  if (!violations.empty()) {
    throw Error(fmt::format("[mb] the boundaries found are against the knowledge: {}", violations.front()));
  }
}

// What is asked of a method that it cannot do is refused before any work.
const BoundaryMethod& checked_method(const Context& context, const BoundariesParams& params) {
  const MethodList<BoundaryMethod>& methods = boundary_methods();
  const BoundaryMethod& method = methods.at(params.method);
  check_request(methods, method, context);
  params.options.validate();
  const Dataset& data = context.data();
  for (const std::string& target : params.targets) {
    const auto column = static_cast<std::size_t>(data.index_of(target));
    check(data.columns.empty() || !data.columns[column].context,
          "[mb] '{}' is context, which has no boundary: leave it out of the targets or of the context.",
          excerpt(target));
  }
  return method;
}

// The targets in the order of the method's table, which is the order they are searched in, whatever that asked for.
std::vector<std::string> in_order(std::vector<std::string> targets, const Dataset& data) {
  std::sort(targets.begin(), targets.end(),
            [&](const std::string& x, const std::string& y) { return data.index_of(x) < data.index_of(y); });
  return targets;
}

// Each target asked for has the boundary of the column it stands for.
std::vector<Boundary> as_asked(const std::vector<Boundary>& searched, const SearchedTargets& targets,
                               const std::vector<int>& copy_of) {
  std::vector<std::size_t> slot(copy_of.size());
  for (std::size_t i = 0; i < searched.size(); ++i) slot[static_cast<std::size_t>(searched[i].target)] = i;
  std::vector<Boundary> boundaries;
  for (const int target : targets.asked) {
    const int original = copy_of[static_cast<std::size_t>(target)];
    boundaries.push_back(searched[slot[static_cast<std::size_t>(original >= 0 ? original : target)]]);
    boundaries.back().target = target;
  }
  return boundaries;
}

}  // namespace

BoundariesParams::BoundariesParams(const std::string& method)
    : method(method), options(boundary_methods().at(method).parameters) {}

BoundariesResult markov_boundaries(const Context& context, const BoundariesParams& params) {
  const flow::ChosenDevice device(context.run().device);
  const BoundaryMethod& method = checked_method(context, params);
  const SearchedTargets targets(context.data(), params.targets, context.facts().copy_of);
  context.require_usable(method, "mb");
  BoundariesResult result;
  {
    const Context ordered = context.for_method(method);
    const SearchedTargets of_method(ordered.data(), in_order(params.targets, ordered.data()), ordered.facts().copy_of);
    static_cast<BoundaryAnswer&>(result) = method.run({ordered, of_method}, params.options);
    to_table_order(result, context.columns_for(method));
  }
  result.names = context.data().names;
  result.rows = context.data().rows();
  result.params = params;
  result.knowledge = context.knowledge();
  result.data_hash = context.facts().hash;
  result.roles = context.data().roles;
  result.copy_of = context.facts().copy_of;
  const std::vector<std::string> of_table = table_warnings(context, method);
  result.warnings.insert(result.warnings.begin(), of_table.begin(), of_table.end());
  if (result.found.cut_short > 0) {
    add_sentence(result.unfinished, fmt::format("time ran out while {} of {} boundaries were still growing",
                                                result.found.cut_short, targets.searched.size()));
  }
  result.found.boundaries = as_asked(result.found.boundaries, targets, result.copy_of);
  throw_if_violated(result, result.knowledge);
  for (const bool almost : {false, true}) warn_of_determined(result, almost);
  warn_of_limited(result);
  if (const std::string few = few_rows_warning(context, "mb"); !few.empty()) result.warnings.push_back(few);
  warn_of_coarse(context, result);
  warn_of_impossible(context, result);
  warn_of_empty(context, result);
  add_device_warning(result.warnings);
  return result;
}

BoundariesResult markov_boundaries(const Dataset& data, const Knowledge& knowledge, const BoundariesParams& params,
                                   Progress& progress) {
  const Context context(data, knowledge, params.run, progress);
  BoundariesResult result = markov_boundaries(context, params);
  if (result.unfinished.empty()) context.remove_checkpoints();
  return result;
}

BoundariesResult markov_boundaries(const Dataset& data, const BoundariesParams& params, Progress& progress) {
  return markov_boundaries(data, Knowledge(), params, progress);
}

BoundariesResult markov_boundaries(const Dataset& data, const BoundariesParams& params) {
  NoProgress silent;
  return markov_boundaries(data, params, silent);
}

Plan plan(const Dataset& data, const Knowledge& knowledge, const BoundariesParams& params, Progress& progress) {
  const Stopwatch watch;
  const flow::ChosenDevice device(params.run.device);
  const Context context(data, knowledge, params.run, progress);
  const BoundaryMethod& method = checked_method(context, params);
  check(method.plan != nullptr, "[plan] what {} costs is not known beforehand", method.name);
  const SearchedTargets targets(data, params.targets, context.facts().copy_of);
  context.require_usable(method, "mb");  // it says what the run would
  Plan result = method.plan({context, targets}, params.options);
  result.method = method.name;
  result.variables = data.variables();
  result.rows = data.rows();
  result.threads = thread_count();
  const std::vector<std::string> of_table = table_warnings(context, method);
  result.warnings.insert(result.warnings.begin(), of_table.begin(), of_table.end());
  add_device_warning(result.warnings);
  result.seconds = watch.seconds();
  return result;
}

Plan plan(const Dataset& data, const BoundariesParams& params) {
  NoProgress silent;
  return plan(data, Knowledge(), params, silent);
}

}  // namespace fansite
