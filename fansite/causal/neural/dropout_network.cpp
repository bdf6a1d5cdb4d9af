// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/neural/dropout_network.h"

#include <cblas.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "fansite/base/detail/vectorise.h"

namespace fansite::causal {
namespace {

constexpr double kEpsilon = 1e-5;  // of the batch norm

// ---- Matrix products, C = alpha·A·B, with BLAS ----------------------------------------------------------------------

template <class Real>
struct Factor {
  const Real* data;
  Index stride;
  bool transposed;
};

template <class Real>
void product(Index rows, Index columns, Index inner, Real alpha, Factor<Real> a, Factor<Real> b, Real* c) {
  const auto as_int = [](Index value) { return static_cast<int>(value); };
  const auto how = [](bool transposed) { return transposed ? CblasTrans : CblasNoTrans; };
  const int m = as_int(rows), n = as_int(columns), k = as_int(inner);
  const int lda = as_int(a.stride), ldb = as_int(b.stride);
  if constexpr (std::is_same_v<Real, float>) {
    cblas_sgemm(CblasColMajor, how(a.transposed), how(b.transposed), m, n, k, alpha, a.data, lda, b.data, ldb, 0, c, m);
  } else {
    cblas_dgemm(CblasColMajor, how(a.transposed), how(b.transposed), m, n, k, alpha, a.data, lda, b.data, ldb, 0, c, m);
  }
}

// ---- Element by element, the units of one row at a time -------------------------------------------------------------

// y = scale·max(z + bias, 0) of kept units, in place, with the sums of y and y² over rows for each unit.
template <class Real>
[[gnu::always_inline]] inline void activate_rows(Index units, Index rows, const Real* bias, const std::uint8_t* kept,
                                                 std::uint8_t kept_from, Real scale, Real* values, Real* sums,
                                                 Real* squares) {
  for (Index row = 0; row < rows; ++row) {
    Real* const z = values + row * units;
    const std::uint8_t* const draw = kept + row * units;
    for (Index k = 0; k < units; ++k) {
      const Real shifted = z[k] + bias[k];
      const Real factor = draw[k] >= kept_from ? scale : 0;
      const Real y = factor * (shifted > 0 ? shifted : 0);
      z[k] = y;
      sums[k] += y;
      squares[k] += y * y;
    }
  }
}

// Sums of D and D·y over rows for each unit.
template <class Real>
[[gnu::always_inline]] inline void sum_rows(Index units, Index rows, const Real* by_norm, const Real* y, Real* sums,
                                            Real* products) {
  for (Index row = 0; row < rows; ++row) {
    const Real* const d = by_norm + row * units;
    const Real* const v = y + row * units;
    for (Index k = 0; k < units; ++k) {
      sums[k] += d[k];
      products[k] += d[k] * v[k];
    }
  }
}

// From derivatives by the norm's values to those by z, in place, with their sums over rows, which are the biases':
// scale·(a·D + constant − slope·y) where y > 0.
template <class Real>
[[gnu::always_inline]] inline void undo_rows(Index units, Index rows, Real a, Real constant, Real slope, const Real* y,
                                             Real* by_norm, Real* by_bias) {
  for (Index row = 0; row < rows; ++row) {
    Real* const d = by_norm + row * units;
    const Real* const v = y + row * units;
    for (Index k = 0; k < units; ++k) {
      const Real through = (a * d[k] + constant) - slope * v[k];
      d[k] = v[k] > 0 ? through : 0;
      by_bias[k] += d[k];
    }
  }
}

FANSITE_VECTOR_CLONES void activate(Index units, Index rows, const float* bias, const std::uint8_t* kept,
                                    std::uint8_t kept_from, float scale, float* values, float* sums, float* squares) {
  activate_rows(units, rows, bias, kept, kept_from, scale, values, sums, squares);
}
void activate(Index units, Index rows, const double* bias, const std::uint8_t* kept, std::uint8_t kept_from,
              double scale, double* values, double* sums, double* squares) {
  activate_rows(units, rows, bias, kept, kept_from, scale, values, sums, squares);
}
FANSITE_VECTOR_CLONES void sum_up(Index units, Index rows, const float* by_norm, const float* y, float* sums,
                                  float* products) {
  sum_rows(units, rows, by_norm, y, sums, products);
}
void sum_up(Index units, Index rows, const double* by_norm, const double* y, double* sums, double* products) {
  sum_rows(units, rows, by_norm, y, sums, products);
}
FANSITE_VECTOR_CLONES void undo(Index units, Index rows, float a, float constant, float slope, const float* y,
                                float* by_norm, float* by_bias) {
  undo_rows(units, rows, a, constant, slope, y, by_norm, by_bias);
}
void undo(Index units, Index rows, double a, double constant, double slope, const double* y, double* by_norm,
          double* by_bias) {
  undo_rows(units, rows, a, constant, slope, y, by_norm, by_bias);
}

template <class Real>
double total(const Real* values, Index count) {
  double sum = 0;
  for (Index k = 0; k < count; ++k) sum += static_cast<double>(values[k]);
  return sum;
}

}  // namespace

std::size_t NetworkShape::offset(int layer) const {
  std::size_t count = 0;
  for (int l = 0; l < layer; ++l) {
    count += static_cast<std::size_t>(fan_out(l)) * static_cast<std::size_t>(fan_in(l) + 1);
    if (l < hidden_layers()) count += 2;
  }
  return count;
}

DropoutMask::DropoutMask(double dropout) {
  const auto share = static_cast<unsigned>(std::clamp(std::lround(65536 * dropout), 0L, 65535L));
  high_ = static_cast<std::uint8_t>(share >> 8);
  low_ = static_cast<std::uint8_t>(share);
}

void DropoutMask::draw(Random& random, std::span<std::uint8_t> bytes) const {
  std::size_t at = 0;
  for (; at + 3 < bytes.size(); at += 4) {
    const std::uint32_t word = random.bits();
    for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::uint8_t>(word >> 8 * i);
  }
  for (; at < bytes.size(); ++at) bytes[at] = static_cast<std::uint8_t>(random.bits());
  if (low_ == 0 && high_ > 0) return;  // whoever is at the threshold is kept
  for (auto left = bytes; !left.empty();) {
    auto* const here = static_cast<std::uint8_t*>(std::memchr(left.data(), high_, left.size()));
    if (here == nullptr) return;
    *here = static_cast<std::uint8_t>(random.bits()) >= low_ ? kept_from() : 0;
    left = left.subspan(static_cast<std::size_t>(here - left.data()) + 1);
  }
}

template <class Real>
void initialise(const NetworkShape& shape, Random& random, std::span<Real> parameters) {
  assert(parameters.size() == shape.parameters());
  for (int layer = 0; layer < shape.layers; ++layer) {
    const double bound = 1 / std::sqrt(static_cast<double>(shape.fan_in(layer)));
    const bool hidden = layer < shape.hidden_layers();
    const std::size_t end = shape.offset(layer + 1) - (hidden ? 2 : 0);
    for (std::size_t at = shape.offset(layer); at < end; ++at) {
      parameters[at] = static_cast<Real>(random.uniform(-bound, bound));
    }
    if (!hidden) continue;
    parameters[end] = 1;
    parameters[end + 1] = 0;
  }
}
template void initialise(const NetworkShape&, Random&, std::span<float>);
template void initialise(const NetworkShape&, Random&, std::span<double>);

template <class Real>
DropoutNetwork<Real>::DropoutNetwork(const NetworkShape& shape, int rows)
    : shape_(shape),
      rows_(rows),
      parameters_(shape.parameters(), 0),
      gradient_(shape.parameters(), 0),
      hidden_(static_cast<std::size_t>(shape.hidden_layers())),
      outputs_(shape.outputs, rows),
      by_units_(shape.width, rows),
      by_units_below_(shape.width, rows),
      kept_(static_cast<std::size_t>(shape.width) * static_cast<std::size_t>(rows)),
      sums_(2 * static_cast<std::size_t>(shape.width)) {
  assert(shape.layers >= 2 && shape.inputs >= 1 && rows >= 1);
  for (Hidden& hidden : hidden_) hidden.y.resize(shape.width, rows);
}

template <class Real>
Eigen::Map<const typename DropoutNetwork<Real>::Values> DropoutNetwork<Real>::first_weights() const {
  return {parameters_.data(), shape_.width, shape_.inputs};
}

template <class Real>
const typename DropoutNetwork<Real>::Values& DropoutNetwork<Real>::forward(View inputs, Random& masks) {
  assert(inputs.rows() == shape_.inputs && inputs.cols() == rows_);
  inputs_ = inputs.data();
  inputs_stride_ = inputs.outerStride();
  Factor<Real> below{inputs_, inputs_stride_, false};
  Real a = 1, c = 0;  // the layer below gives a·y + c
  for (int layer = 0; layer < shape_.layers; ++layer) {
    const Index fan_in = shape_.fan_in(layer), fan_out = shape_.fan_out(layer);
    const Real* const weights = parameters_.data() + shape_.offset(layer);
    const bool is_hidden = layer < shape_.hidden_layers();
    Values& values = is_hidden ? hidden_[static_cast<std::size_t>(layer)].y : outputs_;
    product<Real>(fan_out, rows_, fan_in, a, {weights, fan_out, false}, below, values.data());
    // W(a·y + c) + b = a·W·y + (b + c·W·1)
    const Eigen::Map<const Values> w(weights, fan_out, fan_in);
    Eigen::Matrix<Real, Eigen::Dynamic, 1> bias =
        Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, 1>>(weights + fan_out * fan_in, fan_out);
    if (layer > 0) bias += c * w.rowwise().sum();
    if (!is_hidden) {
      values.colwise() += bias;
      break;
    }
    Hidden& hidden = hidden_[static_cast<std::size_t>(layer)];
    const DropoutMask mask(shape_.dropout_of(layer));
    mask.draw(masks, kept_);
    std::fill(sums_.begin(), sums_.end(), Real{0});
    activate(fan_out, rows_, bias.data(), kept_.data(), mask.kept_from(), static_cast<Real>(mask.scale()),
             hidden.y.data(), sums_.data(), sums_.data() + fan_out);
    const double count = static_cast<double>(fan_out) * rows_;
    hidden.mean = total(sums_.data(), fan_out) / count;
    const double square = total(sums_.data() + fan_out, fan_out) / count;
    hidden.inverse = 1 / std::sqrt(std::max(square - hidden.mean * hidden.mean, 0.0) + kEpsilon);
    const double scale = static_cast<double>(weights[fan_out * (fan_in + 1)]);
    const double shift = static_cast<double>(weights[fan_out * (fan_in + 1) + 1]);
    a = hidden.a = static_cast<Real>(scale * hidden.inverse);
    c = hidden.c = static_cast<Real>(shift - scale * hidden.inverse * hidden.mean);
    below = {hidden.y.data(), fan_out, false};
  }
  return outputs_;
}

// With x̂ = (y − mean)·inverse, n values and D the derivatives by scale·x̂ + shift: by the scale they are ΣD·x̂, by the
// shift ΣD, and by y scale·inverse·(D − ΣD/n − x̂·ΣDx̂/n). by_units_ goes from D to the derivatives by z.
template <class Real>
void DropoutNetwork<Real>::backward_of_norm(int layer, const Hidden& hidden) {
  const Index units = shape_.width;
  std::fill(sums_.begin(), sums_.end(), Real{0});
  sum_up(units, rows_, by_units_.data(), hidden.y.data(), sums_.data(), sums_.data() + units);
  const double sum = total(sums_.data(), units), with_y = total(sums_.data() + units, units);
  const double count = static_cast<double>(units) * rows_;
  const double by_scale = hidden.inverse * (with_y - hidden.mean * sum);
  const std::size_t at = shape_.offset(layer) + static_cast<std::size_t>(units * (shape_.fan_in(layer) + 1));
  gradient_[at] = static_cast<Real>(by_scale);
  gradient_[at + 1] = static_cast<Real>(sum);
  const double factor = static_cast<double>(parameters_[at]) * hidden.inverse;
  const double slope = factor * hidden.inverse * by_scale / count;
  const double constant = slope * hidden.mean - factor * sum / count;
  const double scale = DropoutMask(shape_.dropout_of(layer)).scale();
  Real* const by_bias = gradient_.data() + at - units;
  std::fill(by_bias, by_bias + units, Real{0});
  undo(units, rows_, static_cast<Real>(scale * factor), static_cast<Real>(scale * constant),
       static_cast<Real>(scale * slope), hidden.y.data(), by_units_.data(), by_bias);
}

template <class Real>
void DropoutNetwork<Real>::backward(View by_outputs, bool to_parameters, bool to_inputs) {
  assert(by_outputs.rows() == shape_.outputs && by_outputs.cols() == rows_ && inputs_ != nullptr);
  const Real* by_values = by_outputs.data();
  Index stride = by_outputs.outerStride();
  for (int layer = shape_.layers - 1; layer >= 0; --layer) {
    const Index fan_in = shape_.fan_in(layer), fan_out = shape_.fan_out(layer);
    const std::size_t offset = shape_.offset(layer);
    const Real* const weights = parameters_.data() + offset;
    if (layer < shape_.hidden_layers()) {
      backward_of_norm(layer, hidden_[static_cast<std::size_t>(layer)]);
      by_values = by_units_.data();
      stride = fan_out;
    }
    if (to_parameters) {
      Eigen::Map<Eigen::Matrix<Real, Eigen::Dynamic, 1>> by_bias(gradient_.data() + offset + fan_out * fan_in, fan_out);
      if (layer == shape_.layers - 1) by_bias = by_outputs.rowwise().sum();
      const Hidden* const below = layer > 0 ? &hidden_[static_cast<std::size_t>(layer - 1)] : nullptr;
      const Factor<Real> input =
          below != nullptr ? Factor<Real>{below->y.data(), fan_in, true} : Factor<Real>{inputs_, inputs_stride_, true};
      Real* const by_weights = gradient_.data() + offset;
      // by W: D·(a·y + c)ᵀ = a·D·yᵀ + c·(D·1)·1ᵀ
      const Real a = below != nullptr ? below->a : 1;
      product<Real>(fan_out, fan_in, rows_, a, {by_values, stride, false}, input, by_weights);
      if (below != nullptr) Eigen::Map<Values>(by_weights, fan_out, fan_in).colwise() += below->c * by_bias;
    }
    if (layer > 0) {
      product<Real>(fan_in, rows_, fan_out, 1, {weights, fan_out, true}, {by_values, stride, false},
                    by_units_below_.data());
      std::swap(by_units_, by_units_below_);
    } else if (to_inputs) {
      by_inputs_.resize(fan_in, rows_);
      product<Real>(fan_in, rows_, fan_out, 1, {weights, fan_out, true}, {by_values, stride, false}, by_inputs_.data());
    }
  }
}

template class DropoutNetwork<float>;
template class DropoutNetwork<double>;

}  // namespace fansite::causal
