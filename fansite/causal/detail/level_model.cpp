// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/detail/level_model.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "fansite/causal/detail/kernel_features.h"

namespace fansite::causal {
namespace {

constexpr double kLeastOthers = 1e-6;  // of 1 − leverage

// What the model may always be wrong by: a row that it thinks impossible has its group's share by so much still.
constexpr double kDoubt = 1e-3;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

double surprisal(double log_p, double share) { return -std::log((1 - kDoubt) * std::exp(log_p) + kDoubt * share); }

// Rows times weights.
Matrix scaled(const Matrix& features, const Eigen::Ref<const Vector>& weights) {
  return features.array().colwise() * weights.array();
}

// M (I − W M)⁻¹ g with M = S Sᵀ, of a block of rows that are left out together; S: their A L⁻ᵀ. Solved where it is
// small: M (I − W M)⁻¹ = S (I − Sᵀ W S)⁻¹ Sᵀ. W is a block of its own for each row, so only W S is asked for.
Vector step_without(const Matrix& s, const Matrix& ws, const Vector& gradient) {
  if (s.rows() <= s.cols()) {
    const Matrix others = Matrix::Identity(s.rows(), s.rows()) - ws * s.transpose();
    return s * Vector(s.transpose() * others.partialPivLu().solve(gradient));
  }
  Matrix others = -across(s, ws);
  others.diagonal().array() += 1 + kLeastOthers;
  return s * others.ldlt().solve(Vector(s.transpose() * gradient));
}

// ---- In order -------------------------------------------------------------------------------------------------------

// With a = θ_g − f and b = θ_{g−1} − f, σ(a) − σ(b) = σ(a) σ(−b) (1 − e^{b−a}), and b − a does not depend on f.
class OrderedModel final : public LevelModel {
 public:
  OrderedModel(std::vector<int> groups, int count, const GraphRows& rows)
      : groups_(std::move(groups)),
        last_(count - 1),
        shares_(shares_of(groups_, count, rows)),
        weights_(rows.weights),
        blocks_(rows.blocks()) {}

  Index intercepts() const override { return last_; }
  Index coefficients(Index features) const override { return features; }
  double ridge_weight() const override { return 1; }

  Vector intercepts_of_shares() const override {
    Vector thresholds(last_);
    double below = 0;
    for (int k = 0; k < last_; ++k) {
      below += shares_[k];
      thresholds[k] = std::log(below / (1 - below));
    }
    return thresholds;
  }

  double loss(const Matrix& features, const Vector& parameters) const override {
    for (int k = 1; k < last_; ++k) {
      if (!(parameters[k] > parameters[k - 1])) return std::numeric_limits<double>::infinity();
    }
    const Vector f = features * parameters.tail(features.cols());
    double sum = 0;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      sum -= weight(i) * log_probability(groups_[i], f[static_cast<Index>(i)], parameters);
    }
    return sum;
  }

  Derivatives derivatives(const Matrix& features, const Vector& parameters) const override {
    const Slopes at = slopes(features, parameters);
    const Index m = features.cols();
    Derivatives result{Vector::Zero(last_ + m), Matrix::Zero(last_ + m, last_ + m)};
    Matrix cross = Matrix::Zero(features.rows(), last_);  // −∂²/∂θ∂f
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const auto row = static_cast<Index>(i);
      const int upper = groups_[i], lower = upper - 1;
      const bool both = upper < last_ && lower >= 0;
      // −ln(1 − e^{−gap}) has the slope −t and the curvature t (1 + t), t = 1 / (e^gap − 1).
      const double t = both ? 1 / std::expm1(parameters[upper] - parameters[lower]) : 0, w = weight(i);
      if (upper < last_) {
        result.gradient[upper] -= w * (1 - at.upper[row] + t);
        result.hessian(upper, upper) += w * (at.upper[row] * (1 - at.upper[row]) + t * (1 + t));
        cross(row, upper) += w * at.upper[row] * (1 - at.upper[row]);
      }
      if (lower >= 0) {
        result.gradient[lower] += w * (at.lower[row] + t);
        result.hessian(lower, lower) += w * (at.lower[row] * (1 - at.lower[row]) + t * (1 + t));
        cross(row, lower) += w * at.lower[row] * (1 - at.lower[row]);
      }
      if (both) result.hessian(upper, lower) -= w * t * (1 + t);
    }
    result.gradient.tail(m) = features.transpose() * at.gradient;
    result.hessian.bottomRightCorner(m, m) = gram(scaled(features, at.curvature.cwiseSqrt()));
    result.hessian.bottomLeftCorner(m, last_) = -across(features, cross);
    return result;
  }

  Vector left_out(const Matrix& features, const Vector& parameters, const Matrix& hessian) const override {
    const Slopes at = slopes(features, parameters);
    Matrix lower = hessian.bottomRightCorner(features.cols(), features.cols()), smoother = features;
    if (!factorise(lower)) return {};
    solve_from_right(lower, smoother);
    Vector f(features.rows()), result(features.rows());
    for (Index i = 0; i < f.size(); ++i) {
      const double leverage = smoother.row(i).squaredNorm();
      const double others = std::max(1 - at.curvature[i] * leverage, kLeastOthers);
      f[i] = at.f[i] + leverage * at.gradient[i] / others;
    }
    if (!blocks_.empty()) {
      const std::optional<Matrix> shifted = shifted_smoother(features, hessian);
      if (!shifted) return {};
      for (const std::vector<int>& block : blocks_) {
        const Matrix of_block = (*shifted)(block, Eigen::all);
        f(block) = at.f(block) + step_without(of_block, scaled(of_block, at.curvature(block)), at.gradient(block));
      }
    }
    for (Index i = 0; i < result.size(); ++i) {
      const int group = groups_[static_cast<std::size_t>(i)];
      result[i] = surprisal(log_probability(group, f[i], parameters), shares_[group]);
    }
    return result;
  }

 private:
  double weight(std::size_t row) const { return weights_.size() > 0 ? weights_[static_cast<Index>(row)] : 1.0; }

  // A L⁻ᵀ of the coefficients and of one shift of all thresholds, which keep their distances: to f it is a feature of
  // −1 in every row.
  std::optional<Matrix> shifted_smoother(const Matrix& features, const Matrix& hessian) const {
    const Index m = features.cols();
    Matrix lower = Matrix::Zero(1 + m, 1 + m);
    const auto thresholds = hessian.topLeftCorner(last_, last_);
    lower(0, 0) = 2 * thresholds.triangularView<Eigen::Lower>().toDenseMatrix().sum() - thresholds.diagonal().sum();
    lower.bottomLeftCorner(m, 1) = hessian.bottomLeftCorner(m, last_).rowwise().sum();
    lower.bottomRightCorner(m, m) = hessian.bottomRightCorner(m, m);
    if (!factorise(lower)) return std::nullopt;
    Matrix smoother(features.rows(), 1 + m);
    smoother << Vector::Constant(features.rows(), -1), features;
    solve_from_right(lower, smoother);
    return smoother;
  }

  // σ at both ends of each row's group, 1 and 0 at those that are infinite, and the loss as a function of f.
  struct Slopes {
    Vector f, upper, lower, gradient, curvature;
  };

  double log_probability(int group, double f, const Vector& thresholds) const {
    double result = 0;
    if (group < last_) result -= softplus(f - thresholds[group]);
    if (group > 0) result -= softplus(thresholds[group - 1] - f);
    if (group > 0 && group < last_) result += std::log(-std::expm1(thresholds[group - 1] - thresholds[group]));
    return result;
  }

  Slopes slopes(const Matrix& features, const Vector& parameters) const {
    Slopes at;
    at.f = features * parameters.tail(features.cols());
    at.upper = Vector::Ones(features.rows());
    at.lower = Vector::Zero(features.rows());
    for (Index i = 0; i < features.rows(); ++i) {
      const int group = groups_[static_cast<std::size_t>(i)];
      if (group < last_) at.upper[i] = sigmoid(parameters[group] - at.f[i]);
      if (group > 0) at.lower[i] = sigmoid(parameters[group - 1] - at.f[i]);
    }
    at.gradient = 1 - at.upper.array() - at.lower.array();
    at.curvature = at.upper.array() * (1 - at.upper.array()) + at.lower.array() * (1 - at.lower.array());
    if (weights_.size() > 0) {
      at.gradient.array() *= weights_.array();
      at.curvature.array() *= weights_.array();
    }
    return at;
  }

  std::vector<int> groups_;
  int last_;
  Vector shares_, weights_;  // of the rows; empty: 1
  Blocks blocks_;
};

// ---- Without order --------------------------------------------------------------------------------------------------

// f = C u with orthonormal columns C that add up to 0 (Helmert's): |f|² = |u|² whichever they are, so that ridges treat
// all groups alike. u = α + Vᵀ features; coefficients are the columns of V, one after the other.
class NominalModel final : public LevelModel {
 public:
  NominalModel(std::vector<int> groups, int count, const GraphRows& rows)
      : groups_(std::move(groups)),
        contrasts_(Matrix::Zero(count, count - 1)),
        shares_(shares_of(groups_, count, rows)),
        weights_(rows.weights),
        blocks_(rows.blocks()) {
    for (int k = 1; k < count; ++k) {
      contrasts_.col(k - 1).head(k).setConstant(1 / std::sqrt(k * (k + 1.0)));
      contrasts_(k, k - 1) = -k / std::sqrt(k * (k + 1.0));
    }
  }

  Index intercepts() const override { return contrasts_.cols(); }
  Index coefficients(Index features) const override { return features * contrasts_.cols(); }
  // Of two groups f_1 − f_0 = √2 u: λ u² is ½ λ (f_1 − f_0)².
  double ridge_weight() const override { return 2; }
  Vector intercepts_of_shares() const override { return contrasts_.transpose() * shares_.array().log().matrix(); }

  double loss(const Matrix& features, const Vector& parameters) const override {
    const Matrix logs = log_probabilities(predictors(features, parameters));
    double sum = 0;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const auto row = static_cast<Index>(i);
      sum -= (weights_.size() > 0 ? weights_[row] : 1.0) * logs(row, groups_[i]);
    }
    return sum;
  }

  Derivatives derivatives(const Matrix& features, const Vector& parameters) const override {
    const Matrix p = log_probabilities(predictors(features, parameters)).array().exp();
    const Matrix mean = product(p, contrasts_), slope = slopes(mean);
    const Index q = contrasts_.cols(), m = features.cols();
    Derivatives result{Vector(q + q * m), Matrix::Zero(q + q * m, q + q * m)};
    result.gradient << slope.colwise().sum().transpose(), across(features, slope).reshaped();
    for (Index a = 0; a < q; ++a) {
      for (Index b = 0; b <= a; ++b) {
        const Vector weights = curvature(p, mean, a, b);
        const Matrix weighted = scaled(features, weights);
        const Vector sums = weighted.colwise().sum();
        result.hessian(a, b) = weights.sum();
        result.hessian.col(b).segment(q + a * m, m) = sums;
        result.hessian.col(a).segment(q + b * m, m) = sums;
        result.hessian.block(q + a * m, q + b * m, m, m) = across(weighted, features);
      }
    }
    return result;
  }

  Vector left_out(const Matrix& features, const Vector& parameters, const Matrix& hessian) const override {
    Matrix u = predictors(features, parameters);
    const Matrix p = log_probabilities(u).array().exp();
    const Matrix mean = product(p, contrasts_), slope = slopes(mean);
    const Index q = contrasts_.cols(), m = features.cols(), rows = features.rows();
    Matrix inverse = hessian.bottomRightCorner(q * m, q * m), of_all = hessian;
    if (!factorise(inverse) || (!blocks_.empty() && !factorise(of_all))) return {};
    invert_factorised(inverse);
    inverse.triangularView<Eigen::StrictlyUpper>() = inverse.transpose();
    std::vector<Matrix> leverage(static_cast<std::size_t>(rows), Matrix(q, q)), weight = leverage;
    for (Index a = 0; a < q; ++a) {
      for (Index b = 0; b <= a; ++b) {
        const Matrix through = product(features, inverse.block(a * m, b * m, m, m));
        const Vector of_pair = through.cwiseProduct(features).rowwise().sum(), weights = curvature(p, mean, a, b);
        for (Index i = 0; i < rows; ++i) {
          const auto at = static_cast<std::size_t>(i);
          leverage[at](a, b) = leverage[at](b, a) = of_pair[i];
          weight[at](a, b) = weight[at](b, a) = weights[i];
        }
      }
    }
    for (Index i = 0; i < rows; ++i) {
      const Matrix& of_row = leverage[static_cast<std::size_t>(i)];
      const Matrix others = Matrix::Identity(q, q) - weight[static_cast<std::size_t>(i)] * of_row;
      const Vector step = others.partialPivLu().solve(slope.row(i).transpose());
      if (step.allFinite()) u.row(i) += (of_row * step).transpose();
    }
    if (!blocks_.empty()) leave_out_blocks(features, slope, weight, of_all, predictors(features, parameters), u);
    const Matrix logs = log_probabilities(u);
    Vector result(rows);
    for (Index i = 0; i < rows; ++i) {
      const int group = groups_[static_cast<std::size_t>(i)];
      result[i] = surprisal(logs(i, group), shares_[group]);
    }
    return result;
  }

 private:
  // Of blocks of rows, whose predictors stand side by side, those of one row together. `lower`: of all parameters.
  void leave_out_blocks(const Matrix& features, const Matrix& slope, const std::vector<Matrix>& curvature,
                        const Matrix& lower, const Matrix& before, Matrix& after) const {
    const Index q = contrasts_.cols(), m = features.cols();
    for (const std::vector<int>& block : blocks_) {
      const auto count = static_cast<Index>(block.size());
      Matrix s = Matrix::Zero(count * q, q + q * m), ws(count * q, q + q * m);
      Vector g(count * q);
      for (Index i = 0; i < count; ++i) {
        const int row = block[static_cast<std::size_t>(i)];
        for (Index a = 0; a < q; ++a) {
          s(i * q + a, a) = 1;
          s.row(i * q + a).segment(q + a * m, m) = features.row(row);
        }
        g.segment(i * q, q) = slope.row(row).transpose();
      }
      solve_from_right(lower, s);
      for (Index i = 0; i < count; ++i) {
        const int row = block[static_cast<std::size_t>(i)];
        ws.middleRows(i * q, q) = curvature[static_cast<std::size_t>(row)] * s.middleRows(i * q, q);
      }
      const Vector step = step_without(s, ws, g);
      if (!step.allFinite()) continue;
      for (Index i = 0; i < count; ++i) {
        const int row = block[static_cast<std::size_t>(i)];
        after.row(row) = before.row(row) + step.segment(i * q, q).transpose();
      }
    }
  }

  Matrix predictors(const Matrix& features, const Vector& parameters) const {
    const Index q = contrasts_.cols(), m = features.cols();
    Matrix u = product(features, parameters.tail(q * m).reshaped(m, q));
    u.rowwise() += parameters.head(q).transpose();
    return u;
  }

  Matrix log_probabilities(const Matrix& u) const {
    Matrix f = product(u, contrasts_.transpose());
    const Vector most = f.rowwise().maxCoeff();
    f.colwise() -= most;
    const Vector log_sum = f.array().exp().rowwise().sum().log();
    f.colwise() -= log_sum;
    return f;
  }

  // Of the loss: Cᵀ (p − e_group).
  Matrix slopes(const Matrix& mean) const {
    Matrix result = mean;
    for (Index i = 0; i < result.rows(); ++i) result.row(i) -= contrasts_.row(groups_[static_cast<std::size_t>(i)]);
    return weights_.size() > 0 ? scaled(result, weights_) : result;
  }

  // Cᵀ (diag p − p pᵀ) C.
  Vector curvature(const Matrix& p, const Matrix& mean, Index a, Index b) const {
    Vector result = p * contrasts_.col(a).cwiseProduct(contrasts_.col(b)) - mean.col(a).cwiseProduct(mean.col(b));
    if (weights_.size() > 0) result.array() *= weights_.array();
    return result;
  }

  std::vector<int> groups_;
  Matrix contrasts_;
  Vector shares_, weights_;  // of the rows; empty: 1
  Blocks blocks_;
};

}  // namespace

std::unique_ptr<LevelModel> ordered_model(std::vector<int> groups, int count, const GraphRows& rows) {
  return std::make_unique<OrderedModel>(std::move(groups), count, rows);
}

std::unique_ptr<LevelModel> nominal_model(std::vector<int> groups, int count, const GraphRows& rows) {
  return std::make_unique<NominalModel>(std::move(groups), count, rows);
}

Vector shares_of(const std::vector<int>& groups, int count, const GraphRows& rows) {
  Vector shares = Vector::Zero(count);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    shares[groups[i]] += rows.weights.size() > 0 ? rows.weights[static_cast<Index>(i)] : 1.0;
  }
  return shares / static_cast<double>(groups.size());
}

}  // namespace fansite::causal
