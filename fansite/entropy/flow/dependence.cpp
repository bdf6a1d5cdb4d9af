// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/dependence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "fansite/entropy/flow/detail/conditional_distribution.h"
#include "fansite/entropy/flow/detail/nodes.h"

namespace fansite::flow {
namespace {

using Part = EnsembleDensity::Part;

std::vector<int> with(std::span<const int> set, std::initializer_list<int> more) {
  std::vector<int> result(set.begin(), set.end());
  result.insert(result.end(), more);
  return result;
}

// f at every node of the target and of the other variable, the own cell last; the other's runs fastest. A column of
// these holds one row's.
struct Variants {
  Index targets, others;  // options, the own cell among them
  Index count() const { return targets * others; }

  // f at the row's own cells, less what a function of either variable alone would be.
  double centred(const float* f, const Nodes& target, const Nodes& other, Index row) const {
    const auto at = [&](Index t, Index z) { return double{f[t * others + z]}; };
    const Index own_t = targets - 1, own_z = others - 1;
    double over_target = 0, over_other = 0, over_both = 0;
    for (Index r = 0; r < own_z; ++r) over_other += double{other.weights(row, r)} * at(own_t, r);
    for (Index q = 0; q < own_t; ++q) {
      double inner = 0;
      for (Index r = 0; r < own_z; ++r) inner += double{other.weights(row, r)} * at(q, r);
      over_target += double{target.weights(row, q)} * at(q, own_z);
      over_both += double{target.weights(row, q)} * inner;
    }
    return at(own_t, own_z) - over_target - over_other + over_both;
  }
};

// ln Σ_k w_k e^{f_k} of every row and variant: the largest so far, and the sum in units of its exponential.
class Mixture {
 public:
  Mixture(Index rows, Index variants)
      : largest_(Eigen::MatrixXf::Constant(variants, rows, -std::numeric_limits<float>::infinity())),
        sum_(Eigen::MatrixXf::Zero(variants, rows)) {}

  void add(int row, const float* f, float log_weight) {
    for (Index v = 0; v < sum_.rows(); ++v) {
      const float l = f[v] + log_weight;
      float& top = largest_(v, row);
      float& total = sum_(v, row);
      total = l > top ? total * std::exp(top - l) + 1 : total + std::exp(l - top);
      top = std::max(top, l);
      if (std::isnan(l)) top = total = l;  // a cell is absent
    }
  }

  Eigen::MatrixXf finish() && {
    largest_.array() += sum_.array().log();
    return std::move(largest_);
  }

 private:
  Eigen::MatrixXf largest_, sum_;
};

// A variable's nodes in the rows that a network judges, in its order.
Trial trial_of(const Nodes& nodes, const Part& part, const std::vector<int>& places) {
  std::vector<TrialColumn> columns;
  for (const TrialColumn& from : nodes.columns) {
    TrialColumn& to = columns.emplace_back();
    to.variable = part.place[static_cast<std::size_t>(from.variable)];
    to.values = from.values(places, Eigen::all);
    if (from.low.size() == 0) continue;
    to.low = from.low(places, Eigen::all);
    to.high = from.high(places, Eigen::all);
  }
  return Trial(std::move(columns));
}

std::vector<int> all_rows(const EnsembleDensity& density) {
  std::vector<int> rows(static_cast<std::size_t>(density.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

}  // namespace

Eigen::MatrixXf conditional_quantiles(const EnsembleDensity& density, int variable, std::span<const int> given,
                                      std::span<const int> rows, int count) {
  // Quantiles no nearer the ends than 1/16 lose little by 0.4 % on either side.
  constexpr DistributionGrid kGrid = {.margin = 0.05f, .coarse = 17, .tail = 0.004f, .points = 17};
  const ConditionalDistribution distribution = conditional_distribution(density, variable, given, rows, kGrid);
  Eigen::MatrixXf result(static_cast<Index>(rows.size()), count);
  for (Index i = 0; i < result.rows(); ++i) result.row(i) = distribution.quantiles(i, count);
  return result;
}

DependenceScores dependence_scores(const EnsembleDensity& density, int target, int other, std::span<const int> given,
                                   std::span<const int> some) {
  const std::vector<int> rows = some.empty() ? all_rows(density) : std::vector<int>(some.begin(), some.end());
  const Nodes targets = nodes_of(density, target, given, rows, kNodes);
  const Nodes others = nodes_of(density, other, given, rows, kNodes);
  const Variants variants{targets.count() + 1, others.count() + 1};
  const EnsembleDensity::Weights weights = density.weights(target, given.size() + 1);
  const auto drawn = [&](int row) { return density.drawn(row, target) || density.drawn(row, other); };
  DependenceScores scores;
  scores.networks = Eigen::ArrayXd::Zero(static_cast<Index>(density.networks().size()));
  Mixture mixture(static_cast<Index>(rows.size()), variants.count());
  const std::vector<Judged> judges = judged(density, rows);
  for (std::size_t k = 0; k < judges.size(); ++k) {
    const auto& [part_of, places, table] = judges[k];
    const Part& part = *part_of;
    if (places.empty() || (part.linear && !weights.has_linear)) continue;
    const std::array<Trial, 2> trials = {trial_of(targets, part, places), trial_of(others, part, places)};
    const ConditionalSubset question = {part.places({&target, 1}), part.places(with(given, {other}))};
    const Eigen::MatrixXf log_conditional = part.density->log_conditional(table, question, trials);
    std::vector<float> f(static_cast<std::size_t>(variants.count()));
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto at = static_cast<Index>(i);
      for (Index v = 0; v < variants.count(); ++v) f[static_cast<std::size_t>(v)] = log_conditional(at, v);
      mixture.add(places[i], f.data(), part.linear ? weights.linear : weights.network);
      if (part.linear || drawn(rows[static_cast<std::size_t>(places[i])])) continue;
      const double own = variants.centred(f.data(), targets, others, places[i]);
      if (!std::isnan(own)) scores.networks[static_cast<Index>(k)] += own;
    }
    density.count(static_cast<Index>(places.size()) * (variants.count() + variants.others));
  }
  const Eigen::MatrixXf mixed = std::move(mixture).finish();
  scores.rows.setConstant(density.rows(), std::numeric_limits<float>::quiet_NaN());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<Index>(i);
    if (drawn(rows[i])) continue;
    scores.rows[rows[i]] = static_cast<float>(variants.centred(mixed.col(at).data(), targets, others, at));
  }
  return scores;
}

}  // namespace fansite::flow
