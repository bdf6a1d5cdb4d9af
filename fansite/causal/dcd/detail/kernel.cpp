// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/dcd/detail/kernel.h"

#include <algorithm>
#include <cmath>

#include "fansite/entropy/flow/detail/denormals.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fansite/causal/dcd/detail/kernel.cpp"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>

#include "fansite/entropy/flow/detail/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fansite::causal::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
namespace math = fansite::flow::HWY_NAMESPACE;
using kernel::AdamStep;
using kernel::Child;
using kernel::kRows;
using kernel::kRowStep;
using kernel::PenaltyStep;

// At most 16 lanes, so that two vectors never exceed a step of rows.
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr D d;
HWY_INLINE Index lanes() { return static_cast<Index>(hn::Lanes(d)); }
HWY_INLINE V constant(float x) { return hn::Set(d, x); }
HWY_INLINE auto first(Index count) {
  return hn::FirstN(d, static_cast<std::size_t>(std::clamp<Index>(count, 0, lanes())));
}
HWY_INLINE float sum_of(V v) { return hn::GetLane(hn::SumOfLanes(d, v)); }

// Units in flight: with two vectors of rows, or two parents, 20 sums in 32 registers or 10 in 16.
constexpr int kUnits = HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86 ? 10 : 5;

// ---- Hidden values --------------------------------------------------------------------------------------------------

// Within 3e-7; beyond ±87, where single precision ends, it stays as it is there.
HWY_INLINE V sigmoid(V z) {
  const V decay = math::fast_exp(d, hn::Neg(hn::Max(z, constant(-87.0f))));
  return math::fast_reciprocal(d, hn::Add(decay, constant(1.0f)));
}

// Σ W x + b of kCount units from `unit` on.
template <int kCount>
HWY_NOINLINE void hidden_units(const Child& c, const float* HWY_RESTRICT values, Index rows, int unit,
                               float* HWY_RESTRICT hidden) {
  const Index n = lanes(), stride = c.stride, parents = c.parent_count, width = c.hidden;
  const float* HWY_RESTRICT bias = c.parameters + parents * width + unit;
  for (Index row = 0; row < rows; row += 2 * n) {
    V sum0[kCount], sum1[kCount];
    for (int k = 0; k < kCount; ++k) sum0[k] = sum1[k] = constant(bias[k]);
    const float* HWY_RESTRICT w = c.parameters + unit;
    for (Index q = 0; q < parents; ++q, w += width) {
      const float* HWY_RESTRICT x = values + c.parents[q] * stride + row;
      const V x0 = hn::Load(d, x), x1 = hn::Load(d, x + n);
      for (int k = 0; k < kCount; ++k) {
        const V wk = constant(w[k]);
        sum0[k] = hn::MulAdd(wk, x0, sum0[k]);
        sum1[k] = hn::MulAdd(wk, x1, sum1[k]);
      }
    }
    float* HWY_RESTRICT to = hidden + unit * kRows + row;
    for (int k = 0; k < kCount; ++k) {
      hn::Store(sum0[k], d, to + k * kRows);
      hn::Store(sum1[k], d, to + k * kRows + n);
    }
  }
}

// In a loop of its own: together with the sums it would need more registers than there are.
HWY_NOINLINE void sigmoids(Index rows, int units, float* HWY_RESTRICT hidden) {
  const Index n = lanes();
  for (int k = 0; k < units; ++k, hidden += kRows) {
    for (Index row = 0; row < rows; row += 2 * n) {
      const V h0 = sigmoid(hn::Load(d, hidden + row)), h1 = sigmoid(hn::Load(d, hidden + row + n));
      hn::Store(h0, d, hidden + row);
      hn::Store(h1, d, hidden + row + n);
    }
  }
}

// ---- The heads ------------------------------------------------------------------------------------------------------

struct HeadSums {
  float loss, by_mean, by_q;
};

// Mean and variance, the loss without its constant, and its gradient by the mean and by what the softplus is taken of.
HWY_NOINLINE HeadSums heads(const Child& c, const float* HWY_RESTRICT target, Index real, Index rows,
                            const float* HWY_RESTRICT hidden, float weight, float* HWY_RESTRICT by_mean,
                            float* HWY_RESTRICT by_q) {
  const Index n = lanes(), width = c.hidden;
  const float* HWY_RESTRICT m = c.parameters + (c.parent_count + 1) * width;
  const float* HWY_RESTRICT s = m + width;
  const bool network = c.variance == Variance::network, unit = c.variance == Variance::unit;
  const V one = constant(1.0f), half = constant(0.5f), zero = hn::Zero(d);
  const V least = constant(static_cast<float>(reference::kLeastVariance));
  V losses = zero, means = zero, qs = zero;
  for (Index row = 0; row < rows; row += n) {
    V mean = constant(s[width]), q = constant(s[width + 1]);
    for (Index k = 0; k < width; ++k) {
      const V h = hn::Load(d, hidden + k * kRows + row);
      mean = hn::MulAdd(constant(m[k]), h, mean);
      if (network) q = hn::MulAdd(constant(s[k]), h, q);
    }
    // softplus(q) = max(q, 0) + ln(1 + e^−|q|), and its slope from the same exponential.
    const V decay = math::fast_exp(d, hn::Neg(hn::Abs(q)));
    const V share = math::fast_reciprocal(d, hn::Add(decay, one));
    V slope = hn::IfThenElse(hn::Gt(q, zero), share, hn::Mul(decay, share));
    V variance = hn::Add(hn::Max(q, zero), math::fast_log1p(d, decay));
    slope = hn::IfThenElseZero(hn::Gt(variance, least), slope);
    variance = hn::Max(variance, least);
    if (unit) {
      variance = one;
      slope = zero;
    }
    const V inverse = hn::Div(one, variance);
    const V error = hn::Sub(hn::Load(d, target + row), mean);
    const V scaled = hn::Mul(error, inverse), square = hn::Mul(error, scaled);
    const auto counts = first(real - row);
    const V weights = hn::IfThenElseZero(counts, constant(weight));
    losses = hn::Add(losses, hn::IfThenElseZero(counts, hn::Mul(half, hn::Add(math::fast_log(d, variance), square))));
    const V g_mean = hn::Neg(hn::Mul(weights, scaled));
    const V g_variance = hn::Mul(hn::Mul(weights, half), hn::Mul(inverse, hn::Sub(one, square)));
    const V g_q = hn::Mul(g_variance, slope);
    hn::Store(g_mean, d, by_mean + row);
    hn::Store(g_q, d, by_q + row);
    means = hn::Add(means, g_mean);
    qs = hn::Add(qs, g_q);
  }
  return {sum_of(losses), sum_of(means), sum_of(qs)};
}

// ---- Backward -------------------------------------------------------------------------------------------------------

// The gradients of m, s and b; leaves that by the units' sums in place of the hidden values.
HWY_NOINLINE void units_backward(const Child& c, Index rows, const float* HWY_RESTRICT by_mean,
                                 const float* HWY_RESTRICT by_q, float* HWY_RESTRICT hidden) {
  const Index n = lanes(), width = c.hidden, at = c.parent_count * width;
  const float* HWY_RESTRICT m = c.parameters + at + width;
  const float* HWY_RESTRICT s = m + width;
  const bool network = c.variance == Variance::network;
  float* HWY_RESTRICT gradient = c.gradient + at;
  for (Index k = 0; k < width; ++k) {
    const V mk = constant(m[k]), sk = constant(network ? s[k] : 0.0f);
    float* HWY_RESTRICT values = hidden + k * kRows;
    V db = hn::Zero(d), dm = db, ds = db;
    for (Index row = 0; row < rows; row += n) {
      const V h = hn::Load(d, values + row), g = hn::Load(d, by_mean + row), gq = hn::Load(d, by_q + row);
      dm = hn::MulAdd(g, h, dm);
      ds = hn::MulAdd(gq, h, ds);
      const V by_hidden = hn::MulAdd(g, mk, hn::Mul(gq, sk));
      const V by_sum = hn::Mul(by_hidden, hn::NegMulAdd(h, h, h));  // h(1−h)
      db = hn::Add(db, by_sum);
      hn::Store(by_sum, d, values + row);
    }
    gradient[k] += sum_of(db);
    gradient[width + k] += sum_of(dm);
    if (network) gradient[2 * width + k] += sum_of(ds);
  }
}

// The gradient of W for kParents parents from `parent` on and kCount units from `unit` on.
template <int kParents, int kCount>
HWY_INLINE void weight_gradients(const Child& c, const float* HWY_RESTRICT values, Index rows, Index parent, int unit,
                                 const float* HWY_RESTRICT by_sum) {
  const Index n = lanes();
  const float* HWY_RESTRICT x = values + c.parents[parent] * c.stride;
  const float* HWY_RESTRICT y = values + c.parents[parent + kParents - 1] * c.stride;
  const float* HWY_RESTRICT g = by_sum + unit * kRows;
  V sum0[kCount], sum1[kCount];
  for (int k = 0; k < kCount; ++k) sum0[k] = sum1[k] = hn::Zero(d);
  for (Index row = 0; row < rows; row += n) {
    const V x0 = hn::Load(d, x + row), x1 = hn::Load(d, y + row);
    for (int k = 0; k < kCount; ++k) {
      const V gk = hn::Load(d, g + k * kRows + row);
      sum0[k] = hn::MulAdd(gk, x0, sum0[k]);
      if (kParents == 2) sum1[k] = hn::MulAdd(gk, x1, sum1[k]);
    }
  }
  float* HWY_RESTRICT to = c.gradient + parent * c.hidden + unit;
  for (int k = 0; k < kCount; ++k) {
    to[k] += sum_of(sum0[k]);
    if (kParents == 2) to[c.hidden + k] += sum_of(sum1[k]);
  }
}

template <int kCount>
HWY_NOINLINE void weights_backward(const Child& c, const float* HWY_RESTRICT values, Index rows, int unit,
                                   const float* HWY_RESTRICT by_sum) {
  Index q = 0;
  for (; q + 2 <= c.parent_count; q += 2) weight_gradients<2, kCount>(c, values, rows, q, unit, by_sum);
  if (q < c.parent_count) weight_gradients<1, kCount>(c, values, rows, q, unit, by_sum);
}

// ---- One child ------------------------------------------------------------------------------------------------------

double likelihood_impl(const Child& c) {
  const float weight = 1.0f / static_cast<float>(c.rows);
  float* HWY_RESTRICT hidden = c.scratch;
  float* HWY_RESTRICT by_mean = hidden + c.hidden * kRows;
  float* HWY_RESTRICT by_q = by_mean + kRows;
  const Index heads_at = (c.parent_count + 3) * c.hidden;
  if (c.gradient != nullptr) std::fill_n(c.gradient, kernel::child_size(c.parent_count, c.hidden), 0.0f);
  double loss = 0;
  for (Index first = 0; first < c.rows; first += kRows) {
    const float* HWY_RESTRICT values = c.values + first;
    const Index real = std::min(c.rows - first, kRows), rows = (real + kRowStep - 1) / kRowStep * kRowStep;
    int unit = 0;
    for (; unit + kUnits <= c.hidden; unit += kUnits) hidden_units<kUnits>(c, values, rows, unit, hidden);
    for (; unit < c.hidden; ++unit) hidden_units<1>(c, values, rows, unit, hidden);
    sigmoids(rows, c.hidden, hidden);
    const HeadSums sums = heads(c, values + c.variable * c.stride, real, rows, hidden, weight, by_mean, by_q);
    loss += static_cast<double>(sums.loss);
    if (c.gradient == nullptr) continue;
    c.gradient[heads_at] += sums.by_mean;
    c.gradient[heads_at + 1] += sums.by_q;
    units_backward(c, rows, by_mean, by_q, hidden);
    unit = 0;
    for (; unit + kUnits <= c.hidden; unit += kUnits) weights_backward<kUnits>(c, values, rows, unit, hidden);
    for (; unit < c.hidden; ++unit) weights_backward<1>(c, values, rows, unit, hidden);
  }
  constexpr double kHalfLog2Pi = 0.91893853320467274178;
  return loss / static_cast<double>(c.rows) + kHalfLog2Pi;
}

void add_penalties_impl(const PenaltyStep& s) {
  const Index n = lanes(), width = s.hidden;
  const V l1 = constant(s.l1);
  for (Index q = 0; q < s.parent_count; ++q) {
    const V pull = constant(2 * s.l2 + (s.pull != nullptr ? s.pull[q] : 0.0f));
    for (Index k = 0; k < width; k += n) {
      const auto own = first(width - k);
      const V w = hn::LoadU(d, s.parameters + q * width + k);
      const V sign = hn::IfThenElseZero(hn::Ne(w, hn::Zero(d)), hn::CopySign(l1, w));
      const V g = hn::LoadU(d, s.gradient + q * width + k);
      hn::StoreU(hn::Add(g, hn::IfThenElseZero(own, hn::MulAdd(pull, w, sign))), d, s.gradient + q * width + k);
    }
  }
  const Index end = (s.parent_count + 3) * width + 2;
  for (Index i = s.parent_count * width; i < end; ++i) s.gradient[i] += 2 * s.l2 * s.parameters[i];
}

// As the paper's framework has it; the root and the division are exact, there are few of them.
void adam_impl(const AdamStep& s) {
  const V keep1 = constant(kernel::kBeta1), add1 = constant(1 - kernel::kBeta1);
  const V keep2 = constant(kernel::kBeta2), add2 = constant(1 - kernel::kBeta2);
  for (Index i = 0; i < s.count; i += lanes()) {
    const V g = hn::Load(d, s.gradient + i);
    const V mean = hn::MulAdd(keep1, hn::Load(d, s.mean + i), hn::Mul(add1, g));
    const V square = hn::MulAdd(keep2, hn::Load(d, s.square + i), hn::Mul(hn::Mul(add2, g), g));
    hn::Store(mean, d, s.mean + i);
    hn::Store(square, d, s.square + i);
    const V root = hn::Sqrt(hn::Mul(square, constant(s.square_scale)));
    const V move = hn::Div(hn::Mul(constant(s.rate), mean), hn::Add(root, constant(kernel::kEpsilon)));
    hn::Store(hn::Sub(hn::Load(d, s.parameters + i), move), d, s.parameters + i);
  }
}

void norms_impl(const float* HWY_RESTRICT weights, Index parent_count, int hidden, double* HWY_RESTRICT to) {
  const Index n = lanes();
  for (Index q = 0; q < parent_count; ++q) {
    V sum = hn::Zero(d);
    for (Index k = 0; k < hidden; k += n) {
      const V w = hn::IfThenElseZero(first(hidden - k), hn::LoadU(d, weights + q * hidden + k));
      sum = hn::MulAdd(w, w, sum);
    }
    to[q] = std::sqrt(static_cast<double>(sum_of(sum)));
  }
}

}  // namespace
}  // namespace fansite::causal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fansite::causal {
HWY_EXPORT(likelihood_impl);
HWY_EXPORT(add_penalties_impl);
HWY_EXPORT(adam_impl);
HWY_EXPORT(norms_impl);
}  // namespace fansite::causal

namespace fansite::causal::kernel {

double likelihood(const Child& child) {
  const flow::FlushDenormals flush;
  return HWY_DYNAMIC_DISPATCH(likelihood_impl)(child);
}

void add_penalties(const PenaltyStep& step) { HWY_DYNAMIC_DISPATCH(add_penalties_impl)(step); }

void adam(const AdamStep& step) {
  const flow::FlushDenormals flush;
  HWY_DYNAMIC_DISPATCH(adam_impl)(step);
}

void norms(const float* weights, Index parent_count, int hidden, double* to) {
  HWY_DYNAMIC_DISPATCH(norms_impl)(weights, parent_count, hidden, to);
}

}  // namespace fansite::causal::kernel
#endif  // HWY_ONCE
