// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/neural/detail/networks_kernel.h"

#include <algorithm>
#include <cstdint>

#include "fansite/entropy/flow/detail/denormals.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fansite/causal/neural/detail/networks_kernel.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fansite::causal::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using kernel::ErrorChild;
using kernel::kErrorRows;
using kernel::kErrorRowStep;
using kernel::kErrorStride;

// At most 8 lanes, so that two vectors never exceed a step of rows.
using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
constexpr D d;
HWY_INLINE Index lanes() { return static_cast<Index>(hn::Lanes(d)); }
HWY_INLINE V constant(double x) { return hn::Set(d, x); }
HWY_INLINE double sum_of(V v) { return hn::GetLane(hn::SumOfLanes(d, v)); }

// Units in flight: with two vectors of rows, or two inputs, 20 sums in 32 registers or 10 in 16.
constexpr int kUnits = HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86 ? 10 : 5;

// ---- Hidden values --------------------------------------------------------------------------------------------------

// 1 / (1 + e^−z) within 4e-16; beyond ±700 it stays as it is there.
HWY_INLINE V sigmoid(V z) {
  const hn::RebindToSigned<D> di;
  const V x = hn::Min(hn::Max(hn::Neg(z), constant(-700.0)), constant(700.0));
  // x = n·ln 2 + r, |r| ≤ ½ ln 2; adding 1.5·2⁵² rounds to a whole number and leaves it in the low bits.
  const V magic = constant(0x1.8p52);
  const V shifted = hn::MulAdd(x, constant(0x1.71547652b82fep+0), magic);
  const V n = hn::Sub(shifted, magic);
  V r = hn::NegMulAdd(n, constant(0x1.62e42fefa39efp-1), x);
  r = hn::NegMulAdd(n, constant(0x1.abc9e3b39803fp-56), r);
  // Taylor to degree 12: the remainder is below 0.347^13/13! = 2e-16.
  V sum = constant(1.0 / 479001600.0);
  sum = hn::MulAdd(sum, r, constant(1.0 / 39916800.0));
  sum = hn::MulAdd(sum, r, constant(1.0 / 3628800.0));
  sum = hn::MulAdd(sum, r, constant(1.0 / 362880.0));
  sum = hn::MulAdd(sum, r, constant(1.0 / 40320.0));
  sum = hn::MulAdd(sum, r, constant(1.0 / 5040.0));
  sum = hn::MulAdd(sum, r, constant(1.0 / 720.0));
  sum = hn::MulAdd(sum, r, constant(1.0 / 120.0));
  sum = hn::MulAdd(sum, r, constant(1.0 / 24.0));
  sum = hn::MulAdd(sum, r, constant(1.0 / 6.0));
  sum = hn::MulAdd(sum, r, constant(0.5));
  sum = hn::MulAdd(sum, r, constant(1.0));
  sum = hn::MulAdd(sum, r, constant(1.0));
  // ×2ⁿ: n goes into the exponent.
  const V decay = hn::BitCast(d, hn::Add(hn::BitCast(di, sum), hn::ShiftLeft<52>(hn::BitCast(di, shifted))));
  return hn::Div(constant(1.0), hn::Add(decay, constant(1.0)));
}

// Σ W x + b of kCount units from `unit` on.
template <int kCount>
HWY_NOINLINE void hidden_units(const ErrorChild& c, Index rows, int unit, double* HWY_RESTRICT hidden) {
  const Index n = lanes(), inputs = c.inputs, width = c.hidden;
  const double* HWY_RESTRICT bias = c.parameters + inputs * width + unit;
  for (Index row = 0; row < rows; row += 2 * n) {
    V sum0[kCount], sum1[kCount];
    for (int k = 0; k < kCount; ++k) sum0[k] = sum1[k] = constant(bias[k]);
    const double* HWY_RESTRICT w = c.parameters + unit;
    const double* HWY_RESTRICT x = c.values + row;
    for (Index i = 0; i < inputs; ++i, w += width, x += kErrorStride) {
      hwy::Prefetch(x + 8 * kErrorStride);
      hwy::Prefetch(x + 8 * kErrorStride + 8);
      const V x0 = hn::Load(d, x), x1 = hn::Load(d, x + n);
      for (int k = 0; k < kCount; ++k) {
        const V wk = constant(w[k]);
        sum0[k] = hn::MulAdd(wk, x0, sum0[k]);
        sum1[k] = hn::MulAdd(wk, x1, sum1[k]);
      }
    }
    double* HWY_RESTRICT to = hidden + unit * kErrorRows + row;
    for (int k = 0; k < kCount; ++k) {
      hn::Store(sum0[k], d, to + k * kErrorRows);
      hn::Store(sum1[k], d, to + k * kErrorRows + n);
    }
  }
}

// ---- The output -----------------------------------------------------------------------------------------------------

struct OutputSums {
  double error, by_output;  // ½ Σ r², Σ r
};

// Sigmoids of the sums, in their place; and r = x̂ − x of each row, 0 of those that fill up.
HWY_NOINLINE OutputSums outputs(const ErrorChild& c, const double* HWY_RESTRICT target, Index real, Index rows,
                                double* HWY_RESTRICT hidden, double* HWY_RESTRICT residual) {
  const Index n = lanes(), width = c.hidden;
  const double* HWY_RESTRICT v = c.parameters + (c.inputs + 1) * width;
  V squares = hn::Zero(d), residuals = hn::Zero(d);
  for (Index row = 0; row < rows; row += n) {
    V output = constant(v[width]);
    for (Index k = 0; k < width; ++k) {
      const V h = sigmoid(hn::Load(d, hidden + k * kErrorRows + row));
      hn::Store(h, d, hidden + k * kErrorRows + row);
      output = hn::MulAdd(constant(v[k]), h, output);
    }
    const auto counts = hn::FirstN(d, static_cast<std::size_t>(std::clamp<Index>(real - row, 0, n)));
    const V r = hn::IfThenElseZero(counts, hn::Sub(output, hn::Load(d, target + row)));
    hn::Store(r, d, residual + row);
    squares = hn::MulAdd(r, r, squares);
    residuals = hn::Add(residuals, r);
  }
  return {0.5 * sum_of(squares), sum_of(residuals)};
}

// ---- Backward -------------------------------------------------------------------------------------------------------

// The gradients of v and b; leaves that by the units' sums in place of the hidden values.
HWY_NOINLINE void units_backward(const ErrorChild& c, Index rows, const double* HWY_RESTRICT residual,
                                 double* HWY_RESTRICT hidden) {
  const Index n = lanes(), width = c.hidden, at = c.inputs * width;
  const double* HWY_RESTRICT v = c.parameters + at + width;
  double* HWY_RESTRICT gradient = c.gradient + at;
  for (Index k = 0; k < width; ++k) {
    const V vk = constant(v[k]);
    double* HWY_RESTRICT values = hidden + k * kErrorRows;
    V db = hn::Zero(d), dv = db;
    for (Index row = 0; row < rows; row += n) {
      const V h = hn::Load(d, values + row), r = hn::Load(d, residual + row);
      const V rh = hn::Mul(r, h);
      dv = hn::Add(dv, rh);
      const V by_sum = hn::Mul(hn::NegMulAdd(rh, h, rh), vk);  // r v h(1−h)
      db = hn::Add(db, by_sum);
      hn::Store(by_sum, d, values + row);
    }
    gradient[k] += sum_of(db);
    gradient[width + k] += sum_of(dv);
  }
}

// The gradient of W for kInputs inputs from `input` on and kCount units from `unit` on.
template <int kInputs, int kCount>
HWY_INLINE void weight_gradients(const ErrorChild& c, Index rows, Index input, int unit,
                                 const double* HWY_RESTRICT by_sum) {
  const Index n = lanes();
  const double* HWY_RESTRICT x = c.values + input * kErrorStride;
  const double* HWY_RESTRICT y = c.values + (input + kInputs - 1) * kErrorStride;
  const double* HWY_RESTRICT g = by_sum + unit * kErrorRows;
  V sum0[kCount], sum1[kCount];
  for (int k = 0; k < kCount; ++k) sum0[k] = sum1[k] = hn::Zero(d);
  for (Index row = 0; row < rows; row += n) {
    const V x0 = hn::Load(d, x + row), x1 = hn::Load(d, y + row);
    for (int k = 0; k < kCount; ++k) {
      const V gk = hn::Load(d, g + k * kErrorRows + row);
      sum0[k] = hn::MulAdd(gk, x0, sum0[k]);
      if (kInputs == 2) sum1[k] = hn::MulAdd(gk, x1, sum1[k]);
    }
  }
  double* HWY_RESTRICT to = c.gradient + input * c.hidden + unit;
  for (int k = 0; k < kCount; ++k) {
    to[k] += sum_of(sum0[k]);
    if (kInputs == 2) to[c.hidden + k] += sum_of(sum1[k]);
  }
}

template <int kCount>
HWY_NOINLINE void weights_backward(const ErrorChild& c, Index rows, int unit, const double* HWY_RESTRICT by_sum) {
  Index i = 0;
  for (; i + 2 <= c.inputs; i += 2) weight_gradients<2, kCount>(c, rows, i, unit, by_sum);
  if (i < c.inputs) weight_gradients<1, kCount>(c, rows, i, unit, by_sum);
}

// ---- One child ------------------------------------------------------------------------------------------------------

double half_squared_error_impl(const ErrorChild& c) {
  double* HWY_RESTRICT hidden = c.scratch;
  double* HWY_RESTRICT residual = hidden + c.hidden * kErrorRows;
  const Index rows = (c.rows + kErrorRowStep - 1) / kErrorRowStep * kErrorRowStep;
  int unit = 0;
  for (; unit + kUnits <= c.hidden; unit += kUnits) hidden_units<kUnits>(c, rows, unit, hidden);
  for (; unit < c.hidden; ++unit) hidden_units<1>(c, rows, unit, hidden);
  const OutputSums sums = outputs(c, c.values + c.variable * kErrorStride, c.rows, rows, hidden, residual);
  if (c.gradient == nullptr) return sums.error;
  c.gradient[(c.inputs + 2) * c.hidden] += sums.by_output;
  units_backward(c, rows, residual, hidden);
  unit = 0;
  for (; unit + kUnits <= c.hidden; unit += kUnits) weights_backward<kUnits>(c, rows, unit, hidden);
  for (; unit < c.hidden; ++unit) weights_backward<1>(c, rows, unit, hidden);
  return sums.error;
}

}  // namespace
}  // namespace fansite::causal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fansite::causal {
HWY_EXPORT(half_squared_error_impl);
}  // namespace fansite::causal

namespace fansite::causal::kernel {

double half_squared_error(const ErrorChild& child) {
  const flow::FlushDenormals flush;
  return HWY_DYNAMIC_DISPATCH(half_squared_error_impl)(child);
}

}  // namespace fansite::causal::kernel
#endif  // HWY_ONCE
