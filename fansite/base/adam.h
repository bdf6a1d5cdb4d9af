// SPDX-License-Identifier: Apache-2.0
//
// Adam (Kingma & Ba, ICLR 2015) on parameters that lie in one piece, with bias correction. The flow's own kernels have
// theirs, which is part of a step; this one is for methods whose step is not.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fansite {

struct AdamRates {
  double beta1 = 0.9;     ///< of the gradient's running mean
  double beta2 = 0.999;   ///< of its square's
  double epsilon = 1e-8;  ///< added to the root
  bool largest = false;   ///< AMSGrad (Reddi et al., ICLR 2018): divide by the largest square so far
};

template <class Real>  // float or double
class Adam {
 public:
  explicit Adam(std::size_t size, const AdamRates& rates = {});

  /// parameters −= rate · mean / (√square + ε), both corrected for their start at 0. Spans of the size above.
  void step(std::span<Real> parameters, std::span<const Real> gradient, double rate);

  /// All that a step leaves for the next one.
  struct State {
    std::vector<Real> mean, square, largest;  ///< `largest` is empty unless rates ask for it
    std::int64_t steps = 0;
    bool operator==(const State&) const = default;
  };
  const State& state() const { return state_; }
  void restore(State state);  ///< A UsageError unless it is of this size.

 private:
  AdamRates rates_;
  State state_;
};

/// Scales the gradient so that its Euclidean norm is at most `largest`; returns the norm it had. A norm that is not
/// finite leaves the gradient as it is: the caller has to look.
template <class Real>
double clip_norm(std::span<Real> gradient, double largest);

extern template class Adam<float>;
extern template class Adam<double>;

}  // namespace fansite
