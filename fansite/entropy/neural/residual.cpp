// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/neural/residual.h"

#include <algorithm>
#include <cmath>

namespace fansite::neural {
namespace {

template <class Real>
struct Block {  // Real is const or not
  using Scalar = std::remove_const_t<Real>;
  template <class Type>
  using MapOf = Eigen::Map<std::conditional_t<std::is_const_v<Real>, const Type, Type>>;
  using RowVector = Eigen::Array<Scalar, 1, Eigen::Dynamic>;

  Block(Real* at, Index width)
      : first(at, width, width),
        first_bias(at + width * width, width),
        second(at + width * (width + 1), width, width),
        second_bias(at + width * (2 * width + 1), width) {}
  MapOf<Rows<Scalar>> first;
  MapOf<RowVector> first_bias;
  MapOf<Rows<Scalar>> second;
  MapOf<RowVector> second_bias;
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
void Residual<Real>::forward(const Real* parameters, Rows<Real>& h, Trace* trace, Random* random) const {
  Rows<Real> relu(h.rows(), width_), inner(h.rows(), width_);
  for (Index k = 0; k < blocks_; ++k) {
    const Block<const Real> block(parameters + k * block_size(), width_);
    relu = h.cwiseMax(Real{0});
    times_transposed<Real>(relu, block.first, inner);
    inner.array().rowwise() += block.first_bias;
    relu = inner.cwiseMax(Real{0});
    if (trace != nullptr) {
      trace->before.push_back(h);
      trace->inner.push_back(inner);
    }
    if (dropout_ > 0 && random != nullptr) {
      Rows<Real> kept(h.rows(), width_);
      for (Index i = 0; i < kept.size(); ++i) {
        kept.data()[i] = random->uniform() < dropout_ ? Real{0} : static_cast<Real>(1 / (1 - dropout_));
      }
      relu = relu.cwiseProduct(kept);
      if (trace != nullptr) trace->kept.push_back(std::move(kept));
    }
    times_transposed<Real>(relu, block.second, h, true);
    h.array().rowwise() += block.second_bias;
  }
}

template <class Real>
void Residual<Real>::backward(const Real* parameters, const Trace& trace, Rows<Real>& by_h, Real* gradient) const {
  Rows<Real> relu(by_h.rows(), width_), by_inner(by_h.rows(), width_);
  for (Index k = blocks_; k-- > 0;) {
    const auto at = static_cast<std::size_t>(k);
    const Block<const Real> block(parameters + k * block_size(), width_);
    Block<Real> to(gradient + k * block_size(), width_);
    const Rows<Real>& inner = trace.inner[at];
    relu = inner.cwiseMax(Real{0});
    if (!trace.kept.empty()) relu = relu.cwiseProduct(trace.kept[at]);
    transposed_times<Real>(by_h, relu, to.second);
    to.second_bias = by_h.colwise().sum().array();
    times<Real>(by_h, block.second, by_inner);
    if (!trace.kept.empty()) by_inner = by_inner.cwiseProduct(trace.kept[at]);
    by_inner = (inner.array() > 0).select(by_inner, Real{0});
    relu = trace.before[at].cwiseMax(Real{0});
    transposed_times<Real>(by_inner, relu, to.first);
    to.first_bias = by_inner.colwise().sum().array();
    times<Real>(by_inner, block.first, relu);
    by_h += (trace.before[at].array() > 0).select(relu, Real{0});
  }
}

template class Residual<float>;
template class Residual<double>;
template void start_dense(Random&, Index, Index, float*);
template void start_dense(Random&, Index, Index, double*);

}  // namespace fansite::neural
