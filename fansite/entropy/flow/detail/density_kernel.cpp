// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/detail/density_kernel.h"

#include <cmath>
#include <cstdint>
#include <numbers>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fansite/entropy/flow/detail/density_kernel.cpp"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>

#include "fansite/entropy/flow/detail/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fansite::flow::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using kernel::HiddenStep;
using kernel::kRows;
using kernel::TermStep;

// At most 16 lanes, so that two vectors never exceed a step of rows.
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr D d;
HWY_INLINE std::ptrdiff_t lanes() { return static_cast<std::ptrdiff_t>(hn::Lanes(d)); }
HWY_INLINE V constant(float x) { return hn::Set(d, x); }

#define FANSITE_AVX512 (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3)

// ---- Functions of one number ----------------------------------------------------------------------------------------
// AVX-512 takes numbers apart and puts them together in single instructions that Highway does not name.

// 2^x for x ≤ 126; relative error below 2e-7. Below −126 it is 0, or stays at 2^−126. Minimax on [0, 1) with 2⁰ = 1.
HWY_INLINE V exp2(V x) {
#if FANSITE_AVX512
  const V r{_mm512_reduce_ps(x.raw, 1)};  // x − ⌊x⌋
#else
  const hn::RebindToSigned<D> di;
  const V magic = constant(12582912.0f);  // 1.5·2²³: adding it rounds to a whole number and leaves that in the low bits
  x = hn::Max(x, constant(-126.0f));
  const V shifted = hn::Add(hn::Sub(x, constant(0.5f)), magic);
  const V r = hn::Sub(x, hn::Sub(shifted, magic));
#endif
  V p = hn::MulAdd(constant(0.001867164857685566f), r, constant(0.009016938507556915f));
  p = hn::MulAdd(p, r, constant(0.05579999089241028f));
  p = hn::MulAdd(p, r, constant(0.24016442894935608f));
  p = hn::MulAdd(p, r, constant(0.6931512951850891f));
  p = hn::MulAdd(p, r, constant(1.0f));
#if FANSITE_AVX512
  return V{_mm512_scalef_ps(p.raw, x.raw)};  // p·2^⌊x⌋
#else
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
#endif
}

// log2(1 + x) / x for x in [0, 1]; relative error below 4e-7. Minimax.
HWY_INLINE V log2p1_over_x(V x) {
  V q = hn::MulAdd(constant(-0.012310091406106949f), x, constant(0.06357471644878387f));
  q = hn::MulAdd(q, x, constant(-0.15530602633953094f));
  q = hn::MulAdd(q, x, constant(0.2559784948825836f));
  q = hn::MulAdd(q, x, constant(-0.35338401794433594f));
  q = hn::MulAdd(q, x, constant(0.48006191849708557f));
  q = hn::MulAdd(q, x, constant(-0.7213099598884583f));
  return hn::MulAdd(q, x, constant(1.4426947832107544f));
}

// log2 x for normal x > 0; absolute error below 4e-7, or a unit in the last place of the result.
HWY_INLINE V log2(V x) {
#if FANSITE_AVX512
  const V exponent{_mm512_getexp_ps(x.raw)};
  const V f = hn::Sub(V{_mm512_getmant_ps(x.raw, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src)}, constant(1.0f));
  return hn::MulAdd(log2p1_over_x(f), f, exponent);
#else
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(di, x);
  const V exponent = hn::Sub(hn::ConvertTo(d, hn::ShiftRight<23>(bits)), constant(127.0f));
  const auto mantissa = hn::Or(hn::And(bits, hn::Set(di, 0x7fffff)), hn::Set(di, 0x3f800000));
  const V f = hn::Sub(hn::BitCast(d, mantissa), constant(1.0f));
  return hn::MulAdd(log2p1_over_x(f), f, exponent);
#endif
}

// ELU(y) = max(y, 0) + (e^min(y, 0) − 1), from y·log2 e.
HWY_INLINE V elu_base2(V y) {
  const V below = hn::Sub(exp2(hn::Min(y, hn::Zero(d))), constant(1.0f));
  return hn::MulAdd(hn::Max(y, hn::Zero(d)), constant(std::numbers::ln2_v<float>), below);
}

// ---- Hidden values --------------------------------------------------------------------------------------------------

// kNodes nodes from `node` on.
template <int kNodes>
HWY_INLINE void hidden_nodes(const HiddenStep& s, std::ptrdiff_t node) {
  const std::ptrdiff_t n = lanes();
  for (std::ptrdiff_t row = 0; row < s.rows; row += 2 * n) {
    V sum0[kNodes], sum1[kNodes];
    for (int b = 0; b < kNodes; ++b) sum0[b] = sum1[b] = constant(s.bias[node + b]);
    const float* HWY_RESTRICT x = s.values + row;
    for (std::ptrdiff_t q = 0; q < s.inputs; ++q, x += kRows) {
      const float* HWY_RESTRICT w = s.weights[q] + node;
      const V x0 = hn::Load(d, x), x1 = hn::Load(d, x + n);
      for (int b = 0; b < kNodes; ++b) {
        const V wb = constant(w[b]);
        sum0[b] = hn::MulAdd(wb, x0, sum0[b]);
        sum1[b] = hn::MulAdd(wb, x1, sum1[b]);
      }
    }
    float* HWY_RESTRICT h = s.hidden + node * kRows + row;
    for (int b = 0; b < kNodes; ++b) {
      hn::Store(elu_base2(sum0[b]), d, h + b * kRows);
      hn::Store(elu_base2(sum1[b]), d, h + b * kRows + n);
    }
  }
}

void hidden_impl(const HiddenStep& s) {
  std::ptrdiff_t node = 0;
  for (; node + 6 <= s.nodes; node += 6) hidden_nodes<6>(s, node);
  for (; node < s.nodes; ++node) hidden_nodes<1>(s, node);
}

// ---- Terms ----------------------------------------------------------------------------------------------------------

// Outputs in flight: with two vectors of rows, 24 sums in 32 registers or 12 in 16.
constexpr int kOutputs = FANSITE_AVX512 ? 12 : 6;

// q = Σ G h + g0 for kCount of the 3k outputs, from `output` on.
template <int kCount>
HWY_INLINE void output_sums(const TermStep& s, std::ptrdiff_t output) {
  const std::ptrdiff_t n = lanes(), stride = 3 * s.sigmoids;
  for (std::ptrdiff_t row = 0; row < s.rows; row += 2 * n) {
    V sum0[kCount], sum1[kCount];
    for (int c = 0; c < kCount; ++c) sum0[c] = sum1[c] = constant(s.bias[output + c]);
    const float* HWY_RESTRICT h = s.hidden + row;
    for (std::ptrdiff_t p = 0; p < s.before; ++p) {
      const float* HWY_RESTRICT g = s.weights[p] + output;
      for (std::ptrdiff_t b = 0; b < s.nodes; ++b, g += stride, h += kRows) {
        const V h0 = hn::Load(d, h), h1 = hn::Load(d, h + n);
        for (int c = 0; c < kCount; ++c) {
          const V gc = constant(g[c]);
          sum0[c] = hn::MulAdd(gc, h0, sum0[c]);
          sum1[c] = hn::MulAdd(gc, h1, sum1[c]);
        }
      }
    }
    float* HWY_RESTRICT q = s.scratch + output * kRows + row;
    for (int c = 0; c < kCount; ++c) {
      hn::Store(sum0[c], d, q + c * kRows);
      hn::Store(sum1[c], d, q + c * kRows + n);
    }
  }
}

// From q to the term. A polynomial is a chain of operations of 4 cycles each, so that the processor needs many chains
// in flight and has room for about a hundred waiting operations: hence short loops over the rows, with ten operations
// each, that leave their results in the scratch. K: k where it is known, or 0.
template <int K>
HWY_INLINE void head(const TermStep& s) {
  const std::ptrdiff_t n = lanes(), rows = s.rows, k = K > 0 ? K : s.sigmoids;
  float* HWY_RESTRICT slopes = s.scratch;
  float* HWY_RESTRICT shifts = slopes + k * kRows;
  float* HWY_RESTRICT weights = shifts + k * kRows;
  float* HWY_RESTRICT temporary = weights + k * kRows;
  float* HWY_RESTRICT derivative = temporary + kRows;

  for (std::ptrdiff_t c = 0; c < k; ++c) {
    // a = softplus(q) + 1e-6, here max(q, 1e-6) + ln(1 + e^−|q|), which differs by 1.5e-6 of a at most.
    float* HWY_RESTRICT a = slopes + c * kRows;
    for (std::ptrdiff_t i = 0; i < rows; i += n) {
      hn::Store(exp2(hn::Neg(hn::Abs(hn::Load(d, a + i)))), d, temporary + i);
    }
    const V least = constant(1e-6f * std::numbers::log2e_v<float>);
    for (std::ptrdiff_t i = 0; i < rows; i += n) {
      const V t = hn::Load(d, temporary + i);
      hn::Store(hn::MulAdd(log2p1_over_x(t), t, hn::Max(hn::Load(d, a + i), least)), d, a + i);
    }
    // t = e^u with u = a x + b, in place of b.
    float* HWY_RESTRICT b = shifts + c * kRows;
    for (std::ptrdiff_t i = 0; i < rows; i += n) {
      const V u = hn::MulAdd(hn::Load(d, a + i), hn::Load(d, s.values + i), hn::Load(d, b + i));
      hn::Store(exp2(hn::Min(u, constant(125.0f))), d, b + i);
    }
  }

  // e = e^(q − max): the weights times a common factor.
  for (std::ptrdiff_t i = 0; i < rows; i += n) {
    float* HWY_RESTRICT w = weights + i;
    V largest = hn::Load(d, w);
    for (std::ptrdiff_t c = 1; c < k; ++c) largest = hn::Max(largest, hn::Load(d, w + c * kRows));
    for (std::ptrdiff_t c = 0; c < k; ++c) {
      hn::Store(exp2(hn::Sub(hn::Load(d, w + c * kRows), largest)), d, w + c * kRows);
    }
  }

  // A = Σ e σ, B = Σ e (1−σ), D = Σ e a σ(1−σ), where σ = t/(1+t) and 1−σ = 1/(1+t), neither by subtraction.
  // With E = A + B and A' = A + ½δ/(1−δ) E, likewise B': z = ln(A'/B') and dz/dx = D E / ((1−δ) A' B').
  for (std::ptrdiff_t i = 0; i < rows; i += n) {
    V up = hn::Zero(d), down = hn::Zero(d), slope = hn::Zero(d);
    for (std::ptrdiff_t c = 0; c < k; ++c) {
      const V t = hn::Load(d, shifts + c * kRows + i);
      const V co_sigma = fast_reciprocal(d, hn::Add(t, constant(1.0f)));
      const V part_down = hn::Mul(hn::Load(d, weights + c * kRows + i), co_sigma);
      const V part_up = hn::Mul(part_down, t);
      up = hn::Add(up, part_up);
      down = hn::Add(down, part_down);
      slope = hn::MulAdd(part_up, hn::Mul(hn::Load(d, slopes + c * kRows + i), co_sigma), slope);
    }
    const V squeeze = constant(static_cast<float>(0.5e-6 / (1 - 1e-6)));  // ½δ/(1−δ)
    const V both = hn::Add(up, down);
    up = hn::MulAdd(both, squeeze, up);
    down = hn::MulAdd(both, squeeze, down);
    const V inverse = fast_reciprocal(d, hn::Mul(up, down));
    hn::Store(hn::Mul(hn::Mul(up, up), inverse), d, temporary + i);
    // An outlier so far out that all slopes underflow still has a density.
    slope = hn::Max(slope, constant(1e-37f));
    hn::Store(hn::Mul(hn::Mul(slope, both), inverse), d, derivative + i);
  }

  constexpr float kLn2 = std::numbers::ln2_v<float>;
  for (std::ptrdiff_t i = 0; i < rows; i += n) {
    const V z = log2(hn::Load(d, temporary + i));
    const V log_derivative = log2(hn::Load(d, derivative + i));
    // What went through Min, Max and bits may have lost a NaN; 0·x has not.
    V sum = hn::MulAdd(hn::Zero(d), hn::Load(d, s.values + i), hn::Load(d, s.sum_before + i));
    sum = hn::MulAdd(hn::Mul(z, z), constant(-0.5f * kLn2 * kLn2), sum);
    hn::Store(hn::MulAdd(log_derivative, constant(kLn2), sum), d, s.sum + i);
  }
}

HWY_INLINE void all_output_sums(const TermStep& s) {
  const std::ptrdiff_t outputs = 3 * s.sigmoids;
  std::ptrdiff_t c = 0;
  for (; c + kOutputs <= outputs; c += kOutputs) output_sums<kOutputs>(s, c);
  if (outputs - c == 9) output_sums<9>(s, c);
  if (outputs - c == 6) output_sums<6>(s, c);
  if (outputs - c == 3) output_sums<3>(s, c);
}

void term_impl(const TermStep& s) {
  all_output_sums(s);
  if (s.sigmoids == 4) {
    head<4>(s);
  } else {
    head<0>(s);
  }
}

// ---- Cells ----------------------------------------------------------------------------------------------------------

// Beyond this an end is none: ends are quantiles in units of 1e-3 at least, below 1e4 in size, or ±1e15.
constexpr float kNoEnd = 1e6f;

// a = softplus(q) + 1e-6 and e = e^(q − max) in place, as in head: they do not depend on the value.
HWY_INLINE void slopes_and_weights(const TermStep& s) {
  const std::ptrdiff_t n = lanes(), k = s.sigmoids, rows = s.rows;
  float* HWY_RESTRICT weights = s.scratch + 2 * k * kRows;
  float* HWY_RESTRICT temporary = weights + k * kRows;
  const V least = constant(1e-6f * std::numbers::log2e_v<float>);
  for (std::ptrdiff_t c = 0; c < k; ++c) {
    float* HWY_RESTRICT a = s.scratch + c * kRows;
    for (std::ptrdiff_t i = 0; i < rows; i += n) {
      hn::Store(exp2(hn::Neg(hn::Abs(hn::Load(d, a + i)))), d, temporary + i);
    }
    for (std::ptrdiff_t i = 0; i < rows; i += n) {
      const V t = hn::Load(d, temporary + i);
      hn::Store(hn::MulAdd(log2p1_over_x(t), t, hn::Max(hn::Load(d, a + i), least)), d, a + i);
    }
  }
  for (std::ptrdiff_t i = 0; i < rows; i += n) {
    float* HWY_RESTRICT w = weights + i;
    V largest = hn::Load(d, w);
    for (std::ptrdiff_t c = 1; c < k; ++c) largest = hn::Max(largest, hn::Load(d, w + c * kRows));
    for (std::ptrdiff_t c = 0; c < k; ++c) {
      hn::Store(exp2(hn::Sub(hn::Load(d, w + c * kRows), largest)), d, w + c * kRows);
    }
  }
}

// z and dz/dx at the values x of the rows from i on, as in head.
HWY_INLINE void latent(const TermStep& s, std::ptrdiff_t i, V x, V& z, V& derivative) {
  const std::ptrdiff_t k = s.sigmoids;
  const float* slopes = s.scratch + i;
  const float* shifts = slopes + k * kRows;
  const float* weights = shifts + k * kRows;
  V up = hn::Zero(d), down = hn::Zero(d), slope = hn::Zero(d);
  for (std::ptrdiff_t c = 0; c < k; ++c) {
    const V a = hn::Load(d, slopes + c * kRows);
    const V t = exp2(hn::Min(hn::MulAdd(a, x, hn::Load(d, shifts + c * kRows)), constant(125.0f)));
    const V co_sigma = fast_reciprocal(d, hn::Add(t, constant(1.0f)));
    const V part_down = hn::Mul(hn::Load(d, weights + c * kRows), co_sigma);
    const V part_up = hn::Mul(part_down, t);
    up = hn::Add(up, part_up);
    down = hn::Add(down, part_down);
    slope = hn::MulAdd(part_up, hn::Mul(a, co_sigma), slope);
  }
  const V squeeze = constant(static_cast<float>(0.5e-6 / (1 - 1e-6)));
  const V both = hn::Add(up, down);
  up = hn::MulAdd(both, squeeze, up);
  down = hn::MulAdd(both, squeeze, down);
  const V inverse = fast_reciprocal(d, hn::Mul(up, down));
  z = hn::Mul(log2(hn::Mul(hn::Mul(up, up), inverse)), constant(std::numbers::ln2_v<float>));
  derivative = hn::Mul(hn::Mul(hn::Max(slope, constant(1e-37f)), both), inverse);
}

// A cell asks for z at one place, its number or its only end, as the zeros of a count do; only an interval with two
// ends asks for a second.
HWY_NOINLINE void cells_impl(const kernel::CellsStep& step) {
  const TermStep& s = step.term;
  all_output_sums(s);
  slopes_and_weights(s);
  const V term_constant = constant(static_cast<float>(kernel::density_term_constant()));
  const V no_end = constant(kNoEnd), scale = constant(step.scale);
  for (std::ptrdiff_t i = 0; i < s.rows; i += lanes()) {
    const V x = hn::Load(d, s.values + i), column = hn::Load(d, step.column + i);
    const V from = hn::Load(d, step.low + i), to = hn::Load(d, step.high + i);
    const auto interval = hn::Lt(from, to);
    const V low = hn::MulAdd(scale, hn::Sub(from, column), x), high = hn::MulAdd(scale, hn::Sub(to, column), x);
    const auto open_below = hn::Lt(low, hn::Neg(no_end)), open_above = hn::Gt(high, no_end);
    V z, derivative;
    latent(s, i, hn::IfThenElse(interval, hn::IfThenElse(open_above, low, high), x), z, derivative);
    // A column with some zeros among its numbers has many vectors of rows without any.
    V term = hn::Zero(d);
    if (!hn::AllFalse(d, interval)) {
      const auto one_end = hn::Or(open_below, open_above);
      // Both ends open: Φ(z(low)) is 1e-47, and the rest is all.
      term = log_normal_below(d, hn::IfThenElse(open_above, hn::Neg(z), z));
      if (!hn::AllTrue(d, hn::Or(hn::Not(interval), one_end))) {
        V z_low, ignored;
        latent(s, i, low, z_low, ignored);
        term = hn::IfThenElse(one_end, term, log_normal_between(d, z_low, z));
      }
      term = hn::Sub(term, term_constant);
    }
    if (!hn::AllTrue(d, interval)) {
      V number = hn::MulSub(log2(derivative), constant(std::numbers::ln2_v<float>), constant(step.log_scale));
      number = hn::NegMulAdd(hn::Mul(z, constant(0.5f)), z, number);
      term = hn::IfThenElse(interval, term, number);
    }
    // As in head: 0·x has not lost a NaN.
    const V sum = hn::MulAdd(hn::Zero(d), x, hn::Load(d, s.sum_before + i));
    hn::Store(hn::Add(sum, term), d, s.sum + i);
  }
}

// ---- Innovations ----------------------------------------------------------------------------------------------------

void innovation_impl(const kernel::InnovationStep& s) {
  for (std::ptrdiff_t i = 0; i < s.rows; i += lanes()) {
    V u = hn::MulAdd(constant(s.scale), hn::Load(d, s.values + i), constant(s.shift));
    for (std::ptrdiff_t q = 0; q < s.before; ++q) {
      u = hn::MulAdd(constant(s.coefficients[q]), hn::Load(d, s.innovations + q * kRows + i), u);
    }
    hn::Store(u, d, s.result + i);
  }
}

// ---- Rows in and out ------------------------------------------------------------------------------------------------

void load_impl(const float* HWY_RESTRICT from, std::ptrdiff_t count, std::ptrdiff_t rows, float* HWY_RESTRICT to) {
  const std::ptrdiff_t n = lanes(), whole = count / n * n;
  const V limit = constant(1e15f);
  const auto clamp = [&](V x) HWY_ATTR { return hn::IfThenElse(hn::Gt(hn::Abs(x), limit), hn::CopySign(limit, x), x); };
  for (std::ptrdiff_t i = 0; i < whole; i += n) hn::Store(clamp(hn::LoadU(d, from + i)), d, to + i);
  for (std::ptrdiff_t i = whole; i < rows; ++i) to[i] = i < count ? from[i] : 0.0f;
  for (std::ptrdiff_t i = whole; i < rows; i += n) hn::Store(clamp(hn::Load(d, to + i)), d, to + i);
}

void store_impl(const float* HWY_RESTRICT from, float shift, std::ptrdiff_t count, float* HWY_RESTRICT to) {
  const std::ptrdiff_t n = lanes(), whole = count / n * n;
  for (std::ptrdiff_t i = 0; i < whole; i += n) hn::StoreU(hn::Add(hn::Load(d, from + i), constant(shift)), d, to + i);
  for (std::ptrdiff_t i = whole; i < count; ++i) to[i] = from[i] + shift;
}

}  // namespace
}  // namespace fansite::flow::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fansite::flow {

HWY_EXPORT(hidden_impl);
HWY_EXPORT(innovation_impl);
HWY_EXPORT(term_impl);
HWY_EXPORT(cells_impl);
HWY_EXPORT(load_impl);
HWY_EXPORT(store_impl);

namespace kernel {

void density_hidden(const HiddenStep& step) { HWY_DYNAMIC_DISPATCH(hidden_impl)(step); }
void density_innovation(const InnovationStep& step) { HWY_DYNAMIC_DISPATCH(innovation_impl)(step); }
void density_term(const TermStep& step) { HWY_DYNAMIC_DISPATCH(term_impl)(step); }
void density_cells(const CellsStep& step) { HWY_DYNAMIC_DISPATCH(cells_impl)(step); }
void density_load(const float* from, std::ptrdiff_t count, std::ptrdiff_t rows, float* to) {
  HWY_DYNAMIC_DISPATCH(load_impl)(from, count, rows, to);
}
void density_store(const float* from, float shift, std::ptrdiff_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(store_impl)(from, shift, count, to);
}

double density_term_constant() {
  return -0.5 * std::log(2 * std::numbers::pi) + std::log(std::numbers::ln2) - std::log1p(-1e-6);
}

}  // namespace kernel
}  // namespace fansite::flow
#endif  // HWY_ONCE
