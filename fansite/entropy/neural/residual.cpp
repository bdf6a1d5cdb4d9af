// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/neural/residual.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "fansite/entropy/neural/units.h"

namespace fansite::neural {
namespace {

template <class Real>
struct Block {  // Real is const or not
  using Scalar = std::remove_const_t<Real>;
  using Weights = Eigen::Map<std::conditional_t<std::is_const_v<Real>, const Rows<Scalar>, Rows<Scalar>>>;

  Block(Real* at, Index width)
      : first(at, width, width),
        first_bias(at + width * width),
        second(at + width * (width + 1), width, width),
        second_bias(at + width * (2 * width + 1)) {}
  Weights first;
  Real* first_bias;
  Weights second;
  Real* second_bias;
};

}  // namespace

template <class Real>
void start_dense(Random& random, Index outputs, Index inputs, Real* weights) {
  const double bound = std::sqrt(6.0 / static_cast<double>(inputs + outputs));
  for (Index i = 0; i < outputs * inputs; ++i) weights[i] = static_cast<Real>(random.uniform(-bound, bound));
}

template <class Real>
void Residual<Real>::start(Random& random, Real* parameters) const {
  for (Index k = 0; k < blocks_; ++k) {
    start_dense(random, width_, width_, parameters + k * block_size());
    Real* second = parameters + k * block_size() + width_ * (width_ + 1);
    start_dense(random, width_, width_, second);
    std::fill_n(second - width_, width_, Real{0});
    std::fill_n(second + width_ * width_, width_, Real{0});
  }
}

template <class Real>
void Residual<Real>::forward(const Real* parameters, Rows<Real>& h, Trace& trace, bool keep, Random* random) const {
  const std::size_t kept = keep ? static_cast<std::size_t>(blocks_) : std::size_t{blocks_ > 0};
  trace.outer.resize(kept);
  trace.inner.resize(kept);
  trace.dropped = dropout_ > 0 && random != nullptr;
  if (blocks_ == 0) {
    relu(h, trace.top);
    return;
  }
  relu(h, trace.outer.front());
  for (Index k = 0; k < blocks_; ++k) {
    const auto at = static_cast<std::size_t>(keep ? k : 0);
    const Block<const Real> block(parameters + k * block_size(), width_);
    Rows<Real>& inner = trace.inner[at];
    inner.resize(h.rows(), width_);
    times_transposed<Real>(trace.outer[at], block.first, inner);
    add_bias_and_relu(block.first_bias, inner);
    if (trace.dropped) {
      const auto scale = static_cast<Real>(1 / (1 - dropout_));
      for (Index i = 0; i < inner.size(); ++i) inner.data()[i] *= random->uniform() < dropout_ ? Real{0} : scale;
    }
    times_transposed<Real>(inner, block.second, h, true);
    add_bias_with_relu(block.second_bias, h, k + 1 == blocks_ ? trace.top : trace.outer[keep ? at + 1 : 0]);
  }
}

template <class Real>
void Residual<Real>::backward(const Real* parameters, const Trace& trace, Rows<Real>& by_h, Real* gradient) const {
  Rows<Real> by_inner(by_h.rows(), width_), by_outer(by_h.rows(), width_);
  const auto scale = static_cast<Real>(trace.dropped ? 1 / (1 - dropout_) : 1);
  for (Index k = blocks_; k-- > 0;) {
    const auto at = static_cast<std::size_t>(k);
    const Block<const Real> block(parameters + k * block_size(), width_);
    Block<Real> to(gradient + k * block_size(), width_);
    transposed_times<Real>(by_h, trace.inner[at], to.second, true);
    add_column_sums(by_h, to.second_bias);
    times<Real>(by_h, block.second, by_inner);
    back_through_relu(trace.inner[at], by_inner, scale);
    transposed_times<Real>(by_inner, trace.outer[at], to.first, true);
    add_column_sums(by_inner, to.first_bias);
    times<Real>(by_inner, block.first, by_outer);
    add_back_through_relu(trace.outer[at], by_outer, by_h);
  }
}

template class Residual<float>;
template class Residual<double>;
template void start_dense(Random&, Index, Index, float*);
template void start_dense(Random&, Index, Index, double*);

}  // namespace fansite::neural
