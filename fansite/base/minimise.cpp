// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/minimise.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "fansite/base/matrix.h"

namespace fansite {
namespace {

constexpr double kEnoughDecrease = 1e-4;  // of what the slope promises (Armijo)
constexpr double kEnoughCurvature = 0.9;  // what may be left of the slope (Wolfe)
constexpr int kMostTrials = 40;           // of a line search
constexpr double kNear = 1e-8;            // to 0

using View = Eigen::Map<const Vector>;

// −H g for the numbers that are free, H from the last steps; g where nothing is remembered.
class InverseHessian {
 public:
  explicit InverseHessian(int memory) : memory_(static_cast<std::size_t>(memory)) {}
  void clear() { pairs_.clear(); }
  bool empty() const { return pairs_.empty(); }

  void add(Vector step, Vector change) {
    pairs_.emplace_back(std::move(step), std::move(change));
    if (pairs_.size() > memory_) pairs_.pop_front();
  }

  // Steps and changes count as far as they lie in the free numbers; pairs that bend the wrong way there do not count.
  Vector direction(const Vector& gradient, const Vector& free) const {
    Vector q = -gradient.cwiseProduct(free);
    std::vector<double> alpha(pairs_.size(), 0), curvature(pairs_.size(), 0);
    double scale = 0;
    for (std::size_t k = pairs_.size(); k-- > 0;) {
      const auto& [s, y] = pairs_[k];
      curvature[k] = s.cwiseProduct(y).dot(free);
      const double square = y.cwiseProduct(y).dot(free);
      if (!(curvature[k] > 1e-12 * square)) {
        curvature[k] = 0;
        continue;
      }
      if (scale == 0) scale = curvature[k] / square;
      alpha[k] = s.dot(q) / curvature[k];  // q is 0 where numbers are bound
      q -= alpha[k] * y.cwiseProduct(free);
    }
    if (scale > 0) q *= scale;
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
      if (curvature[k] == 0) continue;
      const auto& [s, y] = pairs_[k];
      q += (alpha[k] - y.dot(q) / curvature[k]) * s.cwiseProduct(free);
    }
    return q;
  }

 private:
  std::size_t memory_;
  std::deque<std::pair<Vector, Vector>> pairs_;
};

class Minimiser {
 public:
  Minimiser(const SmoothFunction& f, std::vector<double> start, const MinimiseParams& params, const Progress& progress)
      : f_(f), params_(params), progress_(progress), x_(View(start.data(), static_cast<Index>(start.size()))) {
    x_ = x_.cwiseMax(0);
    gradient_.resize(x_.size());
    value_ = evaluate(x_, gradient_);
  }

  Minimum run() {
    InverseHessian hessian(params_.memory);
    Minimum result;
    for (; result.iterations < params_.max_iterations; ++result.iterations) {
      throw_if_interrupted(progress_);
      if (progress_.out_of_time()) break;
      if (wish() <= params_.gradient) {
        result.converged = true;
        break;
      }
      // Bound: at 0 or so near that a step would end there, and pushed down by the gradient. Such numbers move along
      // their own slope, or the others' curvature could send them uphill.
      const double near = std::min(kNear, wish());
      const Vector free = ((x_.array() > near) || (gradient_.array() < 0)).cast<double>();
      Vector direction = hessian.direction(gradient_, free);
      if (hessian.empty() || !(direction.dot(gradient_) < 0)) {  // or it leads uphill: begin anew
        hessian.clear();
        direction = -gradient_.cwiseProduct(free);
        direction /= std::max(1.0, direction.norm());
      }
      direction -= gradient_.cwiseProduct(Vector::Ones(free.size()) - free);
      const double before = value_;
      const Vector x = x_, gradient = gradient_;
      if (!search(direction)) {
        if (hessian.empty()) break;  // not even downhill
        hessian.clear();
        continue;
      }
      Vector step = x_ - x, change = gradient_ - gradient;
      if (step.dot(change) > 1e-14 * change.squaredNorm()) hessian.add(std::move(step), std::move(change));
      if (before - value_ <= params_.decrease * std::max({std::abs(before), std::abs(value_), 1.0})) {
        result.converged = true;
        ++result.iterations;
        break;
      }
    }
    result.x.assign(x_.data(), x_.data() + x_.size());
    result.value = value_;
    return result;
  }

 private:
  double evaluate(const Vector& x, Vector& gradient) const {
    const auto size = static_cast<std::size_t>(x.size());
    return f_(std::span<const double>(x.data(), size), std::span<double>(gradient.data(), size));
  }

  // How far any number would move along its own slope.
  double wish() const { return x_.size() == 0 ? 0 : (x_ - (x_ - gradient_).cwiseMax(0)).lpNorm<Eigen::Infinity>(); }

  // Along the projected line, until a step gains enough and has not stopped far too early: bisection, doubling as long
  // as nothing bounds it above. Not once a step is so long that values are no numbers.
  bool search(const Vector& direction) {
    const double slope = direction.dot(gradient_);
    double low = 0, high = 0, t = 1;
    Vector best_x, best_gradient;
    double best = value_;
    for (int trial = 0; trial < kMostTrials; ++trial) {
      const Vector x = (x_ + t * direction).cwiseMax(0);
      Vector gradient(x.size());
      const double value = evaluate(x, gradient);
      const double promised = gradient_.dot(x - x_);
      if (!(value <= value_ + kEnoughDecrease * promised)) {
        high = t;
      } else {
        if (value < best) {
          best = value;
          best_x = x;
          best_gradient = gradient;
        }
        // The slope along the line, without numbers that the projection stopped.
        const double left = ((x.array() > 0).cast<double>() * direction.array() * gradient.array()).sum();
        if (left >= kEnoughCurvature * slope || trial > 10) break;
        low = t;
      }
      t = high > 0 ? 0.5 * (low + high) : 2 * t;
    }
    if (best_x.size() == 0) return false;
    x_ = std::move(best_x);
    gradient_ = std::move(best_gradient);
    value_ = best;
    return true;
  }

  const SmoothFunction& f_;
  const MinimiseParams& params_;
  const Progress& progress_;
  Vector x_, gradient_;
  double value_ = 0;
};

}  // namespace

Minimum minimise_nonnegative(const SmoothFunction& f, std::vector<double> start, const MinimiseParams& params,
                             const Progress& progress) {
  return Minimiser(f, std::move(start), params, progress).run();
}

}  // namespace fansite
