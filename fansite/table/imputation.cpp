// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/imputation.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "fansite/base/parallel.h"
#include "fansite/base/special.h"
#include "fansite/table/dataset.h"
#include "fansite/table/incomplete.h"
#include "fansite/table/levels.h"

namespace fansite {
namespace {

constexpr double kRidge = 1e-8;       // of a variance: collinear columns can be conditioned on
constexpr double kLeastShare = 0.01;  // of a level's share, what the moments may make of it at least

// A column of the table as columns of the normal distribution.
struct Part {
  int column = 0;
  std::optional<Levels> levels;  // without order only
  bool coarse = false;           // levels with an order: draws are values that there are
  std::vector<double> sorted;    // the present values
  Vector shares;                 // of the groups of levels
  std::vector<int> places;       // its columns there
};

class Model {
 public:
  Model(const MatrixView& values, const std::vector<ColumnKind>& kinds) : values_(values) {
    std::vector<Vector> columns;
    for (int j = 0; j < static_cast<int>(values_.cols()); ++j) {
      add(j, kinds.empty() ? ColumnKind::continuous : kinds[static_cast<std::size_t>(j)], columns);
    }
    scores_.resize(values_.rows(), static_cast<Index>(columns.size()));
    for (std::size_t c = 0; c < columns.size(); ++c) scores_.col(static_cast<Index>(c)) = columns[c];
    if (scores_.cols() > 0) std::tie(mean_, covariance_) = incomplete_moments(scores_);
  }

  // The probabilities of a part's groups given other columns x: ln p_k/p_0 = intercept_k + slope_k · x.
  struct Rule {
    std::vector<int> given;  // columns
    Vector intercepts;
    Matrix slopes;
  };
  // The conditional distribution of rows with the same missing cells.
  struct Pattern {
    std::vector<const Part*> absent_parts;  // those without order first: numbers depend on the levels that are drawn
    std::vector<Rule> rules;                // of those without order
    std::vector<int> absent, held;          // columns
    Matrix coefficients, lower;             // of the absent given the held
  };

  Pattern pattern_of(Index row) const {
    Pattern pattern;
    for (const Part& part : parts_) {
      if (std::isnan(values_(row, part.column))) continue;
      pattern.held.insert(pattern.held.end(), part.places.begin(), part.places.end());
    }
    std::vector<int> known = pattern.held;
    for (const bool levels : {true, false}) {
      for (const Part& part : parts_) {
        if (part.levels.has_value() != levels || !std::isnan(values_(row, part.column))) continue;
        pattern.absent_parts.push_back(&part);
        pattern.absent.insert(pattern.absent.end(), part.places.begin(), part.places.end());
        if (levels) pattern.rules.push_back(rule_of(part, known));
        known.insert(known.end(), part.places.begin(), part.places.end());
      }
    }
    Matrix left = covariance_(pattern.absent, pattern.absent);
    if (!pattern.held.empty()) {
      const Matrix across = covariance_(pattern.held, pattern.absent);
      pattern.coefficients = inverse_times(pattern.held, across);
      left -= across.transpose() * pattern.coefficients;
    }
    left.diagonal() = left.diagonal().cwiseMax(0.0).array() + kRidge;
    const Eigen::LLT<Matrix> factor(left);
    pattern.lower = factor.matrixL();
    if (factor.info() != Eigen::Success) pattern.lower = left.diagonal().cwiseSqrt().asDiagonal();
    return pattern;
  }

  // Draws the absent parts of a row, one after the other, each given those before: x = mean + L z.
  void draw(const Pattern& pattern, Index row, Random& random, Matrix& to) const {
    Vector known = scores_.row(row), mean = mean_(pattern.absent);
    if (!pattern.held.empty()) {
      mean += pattern.coefficients.transpose() * (known(pattern.held) - mean_(pattern.held));
    }
    Vector z = Vector::Zero(mean.size());
    Index at = 0;
    for (std::size_t a = 0; a < pattern.absent_parts.size(); ++a) {
      const Part& part = *pattern.absent_parts[a];
      const auto count = static_cast<Index>(part.places.size());
      const Vector here = mean.segment(at, count) + pattern.lower.block(at, 0, count, at) * z.head(at);
      if (part.levels) {
        const int group = draw_group(pattern.rules[a], known, random);
        for (std::size_t k = 0; k < part.places.size(); ++k) {
          known[part.places[k]] = static_cast<int>(k) + 1 == group ? 1.0 : 0.0;
        }
        const auto own = pattern.lower.block(at, at, count, count).triangularView<Eigen::Lower>();
        z.segment(at, count) = own.solve(known(part.places) - here);
        to(row, part.column) = draw_level(*part.levels, group, random);
      } else if (count == 0) {  // a constant
        to(row, part.column) = part.sorted.empty() ? 0.0 : part.sorted.front();
      } else {
        z[at] = random.normal();
        to(row, part.column) = quantile(part, here[0] + pattern.lower(at, at) * z[at]);
      }
      at += count;
    }
  }

 private:
  void add(int column, ColumnKind kind, std::vector<Vector>& columns) {
    Part part;
    part.column = column;
    std::vector<int> rows;
    for (Index i = 0; i < values_.rows(); ++i) {
      if (!std::isnan(values_(i, column))) rows.push_back(static_cast<int>(i));
    }
    const Vector present = values_.col(column)(rows);
    const auto spread_out = [&](const Vector& of_rows) {
      Vector result = Vector::Constant(values_.rows(), std::nan(""));
      result(rows) = of_rows;
      part.places.push_back(static_cast<int>(columns.size()));
      columns.push_back(std::move(result));
    };
    part.sorted.assign(present.begin(), present.end());
    std::sort(part.sorted.begin(), part.sorted.end());
    part.coarse = kind == ColumnKind::ordered;
    if (kind == ColumnKind::nominal) part.levels = levels_of(present, ColumnKind::nominal);
    if (part.levels) {
      std::vector<int> groups;
      for (const double value : present) groups.push_back(part.levels->group(value));
      part.shares = Vector::Zero(part.levels->groups);
      for (const int group : groups) part.shares[group] += 1.0 / static_cast<double>(groups.size());
      for (int group = 1; group < part.levels->groups; ++group) {
        spread_out(present.unaryExpr([&](double value) { return part.levels->group(value) == group ? 1.0 : 0.0; }));
      }
    } else if (!part.sorted.empty() && part.sorted.front() < part.sorted.back()) {
      Vector scores = normal_scores(present);
      scores /= std::sqrt(scores.squaredNorm() / static_cast<double>(scores.size()));  // ties made them less wide
      spread_out(scores);
    }
    parts_.push_back(std::move(part));
  }

  Matrix inverse_times(const std::vector<int>& columns, const Matrix& right) const {
    Matrix left = covariance_(columns, columns);
    left.diagonal().array() += kRidge;
    return left.ldlt().solve(right);
  }

  // Bayes's rule with normal columns of the same covariance W at every level and means m_k (linear discriminants):
  // slope_k = W⁻¹ (m_k − m_0). From the moments of columns x and indicators d: m_k = μ + B (d_k − E d), W = V − B
  // Cov(d, x), B = Cov(x, d) Cov(d)⁻¹.
  Rule rule_of(const Part& part, const std::vector<int>& given) const {
    const auto count = static_cast<Index>(part.places.size());
    const Vector shares = mean_(part.places).cwiseMax(kLeastShare * part.shares.tail(count));
    const double first = std::max(1 - shares.sum(), kLeastShare * part.shares[0]);
    Rule rule{given, (shares.array() / first).log(), Matrix::Zero(static_cast<Index>(given.size()), count)};
    if (given.empty()) return rule;
    const Matrix across = covariance_(given, part.places);
    const Matrix means = inverse_times(part.places, across.transpose()).transpose();  // B
    Matrix within = Matrix(covariance_(given, given)) - means * across.transpose();
    within.diagonal() = within.diagonal().cwiseMax(0.0).array() + kRidge;
    rule.slopes = within.ldlt().solve(means);
    // −½ (m_k + m_0)ᵀ slope_k, both means from that of x.
    const Vector base = -means * mean_(part.places);
    for (Index k = 0; k < count; ++k) {
      rule.intercepts[k] -= (base + 0.5 * means.col(k) + Vector(mean_(given))).dot(rule.slopes.col(k));
    }
    return rule;
  }

  static int draw_group(const Rule& rule, const Vector& known, Random& random) {
    Vector logits = Vector::Zero(rule.intercepts.size() + 1);
    logits.tail(rule.intercepts.size()) = rule.intercepts + rule.slopes.transpose() * known(rule.given);
    const Vector p = (logits.array() - logits.maxCoeff()).exp();
    double left = random.uniform() * p.sum();
    int group = 0;
    while (group + 1 < static_cast<int>(p.size()) && (left -= p[group]) > 0) ++group;
    return group;
  }

  static double draw_level(const Levels& levels, int group, Random& random) {
    double left = random.uniform();
    double last = levels.values.front();
    for (std::size_t level = 0; level < levels.values.size(); ++level) {
      if (levels.group_of[level] != group) continue;
      last = levels.values[level];
      if ((left -= std::exp(-levels.within[level])) <= 0) break;
    }
    return last;
  }

  static double quantile(const Part& part, double score) {
    const std::vector<double>& sorted = part.sorted;
    const double last = static_cast<double>(sorted.size()) - 1;
    const double place = std::clamp(normal_tail(-score) * (last + 1) - 0.5, 0.0, last);
    if (part.coarse) return sorted[static_cast<std::size_t>(std::round(place))];
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double share = place - static_cast<double>(below);
    return (1 - share) * sorted[below] + share * sorted[above];
  }

  MatrixView values_;
  std::vector<Part> parts_;
  Matrix scores_;
  Vector mean_;
  Matrix covariance_;
};

}  // namespace

std::vector<Matrix> impute(const MatrixView& values, const std::vector<ColumnKind>& kinds, int draws, Key key) {
  const Model model(values, kinds);
  std::map<std::vector<int>, std::vector<Index>> rows_of;  // by their missing columns
  for (Index row = 0; row < values.rows(); ++row) {
    std::vector<int> missing;
    for (int j = 0; j < static_cast<int>(values.cols()); ++j) {
      if (std::isnan(values(row, j))) missing.push_back(j);
    }
    if (!missing.empty()) rows_of[missing].push_back(row);
  }
  std::vector<const std::vector<Index>*> work;
  for (const auto& [missing, rows] : rows_of) work.push_back(&rows);
  std::vector<Matrix> result(static_cast<std::size_t>(draws), Matrix(values));
  parallel_for(static_cast<Index>(work.size()), [&](Index w) {
    const std::vector<Index>& rows = *work[static_cast<std::size_t>(w)];
    const Model::Pattern pattern = model.pattern_of(rows.front());
    for (const Index row : rows) {
      for (std::size_t d = 0; d < result.size(); ++d) {
        Random random(key.split(d).split(static_cast<std::uint64_t>(row)));
        model.draw(pattern, row, random, result[d]);
      }
    }
  });
  return result;
}

}  // namespace fansite
