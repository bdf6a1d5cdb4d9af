// SPDX-License-Identifier: Apache-2.0
//
// A result against the graph that its table comes from, as two answers: honest, at the sizes decided from the data, and
// at oracle size, as many of each search's order as the true boundary has. The second judges the ranking alone.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "fansite/graph/dag.h"
#include "fansite/graph/metrics.h"
#include "fansite/run/boundaries.h"

struct Scored {
  fansite::BoundariesScore honest;
  fansite::BoundariesScore oracle;
  double found = 0, expected = 0;  // members per variable
  bool empty = true;               // no boundary has a member
};

// The order in which each variable's search admits others, at least as far as `longest` if it goes on that long. Flows
// keep it; the Gaussian search, which does not, is repeated without a stop. Its honest answer can be the better one:
// that also takes members out again.
inline std::vector<std::vector<int>> search_orders(const fansite::Dataset& data,
                                                   const fansite::BoundariesResult& result, int longest) {
  std::vector<std::vector<int>> orders;
  if (result.estimator == "flow") {
    for (const fansite::Boundary& boundary : result.found.boundaries) {
      orders.emplace_back();
      for (const fansite::PathStep& step : boundary.path) orders.back().push_back(step.variable);
    }
    return orders;
  }
  if (longest == 0) return std::vector<std::vector<int>>(result.found.boundaries.size());
  fansite::BoundariesParams endless;
  endless.fansite().estimator = "gaussian";
  fansite::SearchParams& search = endless.fansite().search;
  search.stop = fansite::StopRule::paper;
  search.eps_grow = search.eps_shrink = 0;
  search.rule = fansite::Symmetry::none;
  search.max_size = longest;
  search.evidence = false;
  for (const fansite::Boundary& boundary : fansite::markov_boundaries(data, endless).found.boundaries) {
    orders.push_back(boundary.member_indices());
  }
  return orders;
}

// `result` is of all columns of `data`, and so is the truth.
inline Scored score(const fansite::Dataset& data, const fansite::BoundariesResult& result, const fansite::Dag& truth) {
  std::vector<std::vector<int>> found, expected;
  std::size_t longest = 0, members = 0, true_members = 0;
  for (const fansite::Boundary& boundary : result.found.boundaries) {
    found.push_back(boundary.member_indices());
    expected.push_back(truth.markov_boundary(boundary.target));
    longest = std::max(longest, expected.back().size());
    members += found.back().size();
    true_members += expected.back().size();
  }
  std::vector<std::vector<int>> sized = search_orders(data, result, static_cast<int>(longest));
  for (std::size_t t = 0; t < sized.size(); ++t) sized[t].resize(std::min(sized[t].size(), expected[t].size()));
  Scored scored;
  scored.honest = fansite::score_boundaries(found, expected);
  scored.oracle = fansite::score_boundaries(sized, expected);
  scored.found = static_cast<double>(members) / static_cast<double>(found.size());
  scored.expected = static_cast<double>(true_members) / static_cast<double>(found.size());
  scored.empty = members == 0;
  return scored;
}

// "91.3±2.1", or the value alone if there is one only.
inline std::string mean_text(const std::vector<double>& values, int digits) {
  const fansite::MeanAndSpread mean = fansite::mean_and_spread(values);
  if (values.size() == 1) return fmt::format("{:.{}f}", mean.mean, digits);
  return fmt::format("{:.{}f}±{:.{}f}", mean.mean, digits, mean.standard_deviation, digits);
}

// "normal", or "normal/300" if each network is trained for so many steps instead.
inline std::string effort_text(const std::string& effort, std::int64_t steps) {
  return steps > 0 ? fmt::format("{}/{}", effort, steps) : effort;
}
