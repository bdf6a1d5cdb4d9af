// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/equations.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include "fansite/causal/level_regression.h"

namespace fansite::causal {
namespace {

std::vector<int> present_rows(const Eigen::Ref<const Vector>& column) {
  std::vector<int> rows;
  for (Index i = 0; i < column.size(); ++i) {
    if (!std::isnan(column[i])) rows.push_back(static_cast<int>(i));
  }
  if (static_cast<Index>(rows.size()) == column.size()) rows.clear();
  return rows;
}

std::vector<int> those(const std::vector<int>& values, const std::vector<int>& rows) {
  if (rows.empty()) return values;
  std::vector<int> result;
  for (const int row : rows) result.push_back(values[static_cast<std::size_t>(row)]);
  return result;
}

}  // namespace

Equations::Equations(const Regression& regression)
    : draws_{Draw{std::shared_ptr<const Regression>(std::shared_ptr<void>(), &regression), {}}} {}

Equations::Equations(const GraphTable& table, const RegressionParams& params, Key key) {
  bool any = false;
  for (Index j = 0; j < table.values.cols(); ++j) {
    levels_.push_back(levels_of(table.values.col(j), table.kind(j)));
    any = any || levels_.back();
  }
  if (!any) levels_.clear();
  within_.resize(levels_.size());
  for (std::size_t j = 0; j < levels_.size(); ++j) {
    if (!levels_[j]) continue;
    std::vector<double> within;
    for (const double value : table.values.col(static_cast<Index>(j))) {
      if (!std::isnan(value)) within.push_back(levels_[j]->within[levels_[j]->level(value)]);
    }
    within_[j] = Vector::Map(within.data(), static_cast<Index>(within.size()));
  }
  if (!table.draws.empty()) {
    for (Index j = 0; j < table.values.cols(); ++j) present_.push_back(present_rows(table.values.col(j)));
  }
  const std::size_t count = std::max<std::size_t>(table.draws.size(), 1);
  for (std::size_t d = 0; d < count; ++d) {
    const MatrixView values = table.draws.empty() ? table.values : MatrixView(table.draws[d]);
    Draw draw;
    std::vector<Matrix> as_parents(levels_.size());
    draw.groups.resize(levels_.size());
    for (std::size_t j = 0; j < levels_.size(); ++j) {
      if (!levels_[j]) continue;
      for (const double value : values.col(static_cast<Index>(j))) draw.groups[j].push_back(levels_[j]->group(value));
      if (!levels_[j]->ordered) as_parents[j] = indicators(draw.groups[j], levels_[j]->groups);
    }
    draw.regression =
        std::make_shared<const Regression>(standardised(values), params, key, std::move(as_parents), table.rows);
    draws_.push_back(std::move(draw));
  }
}

Equations Equations::linear_gaussian(const MatrixView& values, Key key, GraphRows rows) {
  Equations result;
  RegressionParams lines;
  lines.widths = {};
  result.draws_.push_back(
      {std::make_shared<const Regression>(standardised(values), lines, key, std::vector<Matrix>(), std::move(rows)),
       {}});
  result.linear_ = std::make_shared<const LinearGaussian>(result.regression().values(), result.counts());
  return result;
}

const std::vector<int>& Equations::present(int variable) const {
  static const std::vector<int> all;
  return present_.empty() ? all : present_[static_cast<std::size_t>(variable)];
}

std::vector<int> Equations::groups_of(const Draw& draw, int child, std::span<const int> parents) const {
  std::vector<std::int64_t> codes(static_cast<std::size_t>(rows()), 0);
  for (const int parent : parents) {
    if (!discrete(parent)) continue;
    const auto j = static_cast<std::size_t>(parent);
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = codes[i] * levels_[j]->groups + draw.groups[j][i];
  }
  std::map<std::int64_t, int> number;
  std::vector<int> groups;
  for (const std::int64_t code : codes) {
    groups.push_back(number.try_emplace(code, static_cast<int>(number.size())).first->second);
  }
  return those(groups, present(child));
}

Vector Equations::of_child(const Draw& draw, int child, std::span<const int> parents, NoiseDistribution noise) const {
  const std::vector<int>& rows = present(child);
  const GraphRows of_rows = rows.empty() || counts().plain() ? counts() : counts().of_rows(rows);
  if (!discrete(child)) {
    const Residuals left = draw.regression->residuals(std::span(&child, 1), parents, rows);
    return fansite::causal::surprisals(left.left_out.col(0), noise, groups_of(draw, child, parents), of_rows);
  }
  const Levels& levels = *levels_[static_cast<std::size_t>(child)];
  const std::vector<int> groups = those(draw.groups[static_cast<std::size_t>(child)], rows);
  return within_[static_cast<std::size_t>(child)] + level_surprisals(groups, levels.groups, levels.ordered,
                                                                     draw.regression->features(parents, rows),
                                                                     draw.regression->params(), of_rows);
}

std::vector<Vector> Equations::of_draw(const Draw& draw, std::span<const int> children, std::span<const int> parents,
                                       NoiseDistribution noise) const {
  // Numbers without missing cells share the regression.
  std::vector<int> together;
  const bool alike = std::none_of(parents.begin(), parents.end(), [&](int parent) { return discrete(parent); });
  for (const int child : children) {
    if (!discrete(child) && present(child).empty()) together.push_back(child);
  }
  Residuals shared;
  if (!together.empty()) shared = draw.regression->residuals(together, parents);
  const std::vector<int> groups =
      together.empty() || alike ? std::vector<int>() : groups_of(draw, together.front(), parents);
  std::vector<Vector> result;
  Index next = 0;
  for (const int child : children) {
    if (discrete(child) || !present(child).empty()) {
      result.push_back(of_child(draw, child, parents, noise));
      continue;
    }
    const auto left = shared.left_out.col(next++);
    result.push_back(alike ? fansite::causal::surprisals(left, noise, counts().weights)
                           : fansite::causal::surprisals(left, noise, groups, counts()));
  }
  return result;
}

std::vector<Vector> Equations::surprisals(std::span<const int> children, std::span<const int> parents,
                                          NoiseDistribution noise) const {
  const Vector& weights = counts().weights;
  if (linear_) {
    std::vector<Vector> result;
    for (const int child : children) {
      result.push_back(linear_->surprisals(regression().values(), child, parents));
      if (weights.size() > 0) result.back().array() *= weights.array();
    }
    return result;
  }
  std::vector<Vector> result = of_draw(draws_.front(), children, parents, noise);
  for (std::size_t d = 1; d < draws_.size(); ++d) {
    const std::vector<Vector> more = of_draw(draws_[d], children, parents, noise);
    for (std::size_t c = 0; c < result.size(); ++c) result[c] += more[c];
  }
  for (std::size_t c = 0; c < result.size(); ++c) {
    if (draws_.size() > 1) result[c] /= static_cast<double>(draws_.size());
    const std::vector<int>& rows_of_child = present(children[c]);
    if (weights.size() > 0) {
      const Vector of_child = rows_of_child.empty() ? weights : counts().of_rows(rows_of_child).weights;
      result[c].array() *= of_child.array();
    }
    if (rows_of_child.empty()) continue;
    Vector all = Vector::Zero(rows());
    all(rows_of_child) = result[c] * (static_cast<double>(rows()) / static_cast<double>(rows_of_child.size()));
    result[c] = all;
  }
  return result;
}

std::vector<double> Equations::entropies(std::span<const int> children, std::span<const int> parents) const {
  std::vector<double> result;
  for (const int child : children) result.push_back(linear_->entropy(child, parents));
  return result;
}

}  // namespace fansite::causal
