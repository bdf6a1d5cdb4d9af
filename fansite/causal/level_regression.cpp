// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/level_regression.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "fansite/causal/detail/level_model.h"

namespace fansite::causal {
namespace {

// Of the linear functions, of variance 1: slopes of 10 logits are nothing special, and where levels are separated by a
// line it keeps them finite.
constexpr double kLinearRidge = 0.01;
// The noise of a logistic regression has variance π²/3, and ridges are noise over signal variance.
constexpr double kLogisticNoise = std::numbers::pi * std::numbers::pi / 3;
// Of a multinomial regression in all: Newton's steps cost N times their square.
constexpr Index kMostCoefficients = 300;
constexpr Index kFewestKernels = 10;

constexpr int kMostSteps = 50, kMostHalvings = 30;
constexpr double kSettled = 1e-11;  // nats a row that the next step would gain

// Minimises the loss and ½ Σ ridge · parameter².
class Fit {
 public:
  Fit(const LevelModel& model, const Matrix& features, const Vector& ridge_of_features)
      : model_(model), features_(features), ridge_(Vector::Zero(model.intercepts())) {
    const Index each = features.cols(), all = model.coefficients(each);
    ridge_.conservativeResize(model.intercepts() + all);
    for (Index k = 0; k < all; ++k) ridge_[model.intercepts() + k] = model.ridge_weight() * ridge_of_features[k % each];
  }

  // Newton's method with halved steps; false if it fails, which rounding alone can make it.
  bool minimise(Vector& parameters) const {
    double now = objective(parameters);
    for (int step = 0; step < kMostSteps; ++step) {
      const LevelModel::Derivatives at = model_.derivatives(features_, parameters);
      const Vector gradient = at.gradient + ridge_.cwiseProduct(parameters);
      Matrix lower = at.hessian;
      lower.diagonal() += ridge_;
      if (!factorise(lower)) return false;
      Vector move = gradient;
      lower.triangularView<Eigen::Lower>().solveInPlace(move);
      const double gain = move.squaredNorm() / 2;
      if (gain < kSettled * static_cast<double>(features_.rows())) return true;
      lower.triangularView<Eigen::Lower>().transpose().solveInPlace(move);
      double share = 1;
      for (int halving = 0; halving < kMostHalvings; ++halving, share /= 2) {
        const Vector next = parameters - share * move;
        const double there = objective(next);
        if (!(there < now)) continue;
        parameters = next;
        now = there;
        break;
      }
      if (share < 1e-8) return true;  // no step helps: what is left is rounding
    }
    return true;
  }

  // Empty if there is none.
  Vector left_out(const Vector& parameters) const {
    Matrix hessian = model_.derivatives(features_, parameters).hessian;
    hessian.diagonal() += ridge_;
    return model_.left_out(features_, parameters, hessian);
  }

 private:
  double objective(const Vector& parameters) const {
    return model_.loss(features_, parameters) + 0.5 * ridge_.dot(parameters.cwiseAbs2());
  }

  const LevelModel& model_;
  const Matrix& features_;
  Vector ridge_;
};

// The parameters with those of the features that are new at 0. Coefficients of one contrast stand together.
Vector with_more(const Vector& parameters, Index intercepts, Index before, Index after) {
  const Index sets = (parameters.size() - intercepts) / before;
  Vector result = Vector::Zero(intercepts + sets * after);
  result.head(intercepts) = parameters.head(intercepts);
  for (Index s = 0; s < sets; ++s) {
    result.segment(intercepts + s * after, before) = parameters.segment(intercepts + s * before, before);
  }
  return result;
}

}  // namespace

Vector level_surprisals(const std::vector<int>& groups, int count, bool ordered, const KernelFeatures& parents,
                        const RegressionParams& params, const GraphRows& counts) {
  const Index rows = static_cast<Index>(groups.size());
  const Vector shares = shares_of(groups, count, counts);
  const auto mean = [&](const Vector& values) {
    return counts.weights.size() > 0 ? values.dot(counts.weights) / static_cast<double>(rows) : values.mean();
  };
  Vector best(rows);
  for (Index i = 0; i < rows; ++i) best[i] = -std::log(shares[groups[static_cast<std::size_t>(i)]]);
  const Index lines = parents.basis().cols() - 1;
  if (count < 2 || rows == 0 || lines == 0) return best;

  const bool in_order = ordered || count == 2;
  const auto model = in_order ? ordered_model(groups, count, counts) : nominal_model(groups, count, counts);
  const Matrix linear = parents.basis().rightCols(lines) * std::sqrt(static_cast<double>(rows));
  const Vector linear_ridge = Vector::Constant(lines, kLinearRidge);
  Vector straight = Vector::Zero(model->intercepts() + model->coefficients(lines));
  straight.head(model->intercepts()) = model->intercepts_of_shares();
  const Fit line(*model, linear, linear_ridge);
  if (!line.minimise(straight)) return best;
  // A useless parent is told by what it costs, as it is of numbers: the line stands even if it is worse than none.
  if (const Vector held = line.left_out(straight); held.size() > 0) best = held;
  if (!parents.has_kernels()) return best;

  const Index most =
      in_order ? params.max_landmarks : std::max(kFewestKernels, kMostCoefficients / (count - 1) - lines);
  std::vector<double> ridges = params.ridges;
  std::sort(ridges.begin(), ridges.end(), std::greater<>());  // each fit begins where a smoother one ended
  for (const double width : params.widths) {
    const Matrix kernels = parents.kernels(width, most);
    if (kernels.cols() == 0) continue;
    Matrix features(rows, lines + kernels.cols());
    features << linear, kernels;
    Vector parameters = with_more(straight, model->intercepts(), lines, features.cols());
    double least = std::numeric_limits<double>::infinity();
    for (const double ridge : ridges) {
      Vector ridge_of_features(features.cols());
      ridge_of_features << linear_ridge, Vector::Constant(kernels.cols(), ridge / kLogisticNoise);
      const Fit fit(*model, features, ridge_of_features);
      if (!fit.minimise(parameters)) break;
      const Vector held = fit.left_out(parameters);
      if (held.size() == 0 || mean(held) > least) break;  // less smooth ones are worse still
      least = mean(held);
      if (least < mean(best)) best = held;
    }
  }
  return best;
}

}  // namespace fansite::causal
