// SPDX-License-Identifier: Apache-2.0
//
// Single-precision exp, log and friends for the flow's kernels, once per instruction set (Highway). Relative
// errors are below 4e-7, a third of what the library's own math costs; the ranges are those the flow needs.
// Polynomials: minimax by Remez exchange.

// Not #pragma once: foreach_target.h includes this file once per target.
#if defined(FANSITE_FLOW_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANSITE_FLOW_MATH_INL_H_
#undef FANSITE_FLOW_MATH_INL_H_
#else
#define FANSITE_FLOW_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace fansite::flow::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// e^x for x ≤ 88; below −87.3 (where single precision ends) the smallest normal number.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V fast_exp(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V clamped = hn::Max(x, hn::Set(d, -87.3f));
  // x = n·ln 2 + r, |r| ≤ ½ ln 2; adding 1.5·2²³ rounds to a whole number and leaves it in the low bits.
  const V magic = hn::Set(d, 12582912.0f);
  const V shifted = hn::MulAdd(clamped, hn::Set(d, 1.44269504f), magic);
  const V n = hn::Sub(shifted, magic);
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), clamped);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  V q = hn::MulAdd(hn::Set(d, 0.008374648168683052f), r, hn::Set(d, 0.041898325085639954f));
  q = hn::MulAdd(q, r, hn::Set(d, 0.16666457056999207f));
  q = hn::MulAdd(q, r, hn::Set(d, 0.4999914765357971f));
  const V p = hn::MulAdd(hn::Mul(q, r), r, hn::Add(r, hn::Set(d, 1.0f)));
  // ×2ⁿ: n goes into the exponent.
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
}

/// ln x for normal x > 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V fast_log(D d, V x) {
  const hn::RebindToSigned<D> di;
  // x = 2ⁿ·m with m in [√½, √2).
  const auto bits = hn::BitCast(di, x);
  const auto n = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3f3504f3)));
  const V f = hn::Sub(hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(n))), hn::Set(d, 1.0f));
  V p = hn::MulAdd(hn::Set(d, -0.1019173264503479f), f, hn::Set(d, 0.16024380922317505f));
  p = hn::MulAdd(p, f, hn::Set(d, -0.17137126624584198f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.19924503564834595f));
  p = hn::MulAdd(p, f, hn::Set(d, -0.24983267486095428f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.33334246277809143f));
  const V square = hn::Mul(f, f);
  const V exponent = hn::ConvertTo(d, n);
  V tail = hn::Mul(hn::Mul(p, f), square);
  tail = hn::MulAdd(exponent, hn::Set(d, -2.12194440e-4f), tail);
  tail = hn::NegMulAdd(hn::Set(d, 0.5f), square, tail);
  return hn::MulAdd(exponent, hn::Set(d, 0.693359375f), hn::Add(f, tail));
}

/// ln(1+x) for x in [0, 1], accurate for tiny x too.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V fast_log1p(D d, V x) {
  V q = hn::MulAdd(hn::Set(d, -0.008539208211004734f), x, hn::Set(d, 0.04408963397145271f));
  q = hn::MulAdd(q, x, hn::Set(d, -0.10768171399831772f));
  q = hn::MulAdd(q, x, hn::Set(d, 0.17745241522789001f));
  q = hn::MulAdd(q, x, hn::Set(d, -0.24495463073253632f));
  q = hn::MulAdd(q, x, hn::Set(d, 0.33275479078292847f));
  q = hn::MulAdd(q, x, hn::Set(d, -0.4999740421772003f));
  q = hn::MulAdd(q, x, hn::Set(d, 0.9999998211860657f));
  return hn::Mul(q, x);
}

/// 1/x for normal x, by one Newton step from the processor's estimate (two where that has 8 bits only).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V fast_reciprocal(D d, V x) {
  const V two = hn::Set(d, 2.0f);
  V r = hn::ApproximateReciprocal(x);
  r = hn::Mul(r, hn::NegMulAdd(x, r, two));
#if !HWY_ARCH_X86
  r = hn::Mul(r, hn::NegMulAdd(x, r, two));
#endif
  return r;
}

/// Φ(−t)/φ(t) of the standard normal distribution for t in [0, 16]; relative error below 3e-7. (1 + t) times it is a
/// polynomial in (t − 4)/(t + 4), minimax.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V mills_ratio(D d, V t) {
  const V four = hn::Set(d, 4.0f);
  const V u = hn::Div(hn::Sub(t, four), hn::Add(t, four));
  V p = hn::MulAdd(hn::Set(d, 0.0013808922376483679f), u, hn::Set(d, -0.001080787624232471f));
  p = hn::MulAdd(p, u, hn::Set(d, -0.012366870418190956f));
  p = hn::MulAdd(p, u, hn::Set(d, 0.045133933424949646f));
  p = hn::MulAdd(p, u, hn::Set(d, -0.08074000477790833f));
  p = hn::MulAdd(p, u, hn::Set(d, 0.07166106253862381f));
  p = hn::MulAdd(p, u, hn::Set(d, 0.03509420156478882f));
  p = hn::MulAdd(p, u, hn::Set(d, -0.24239836633205414f));
  p = hn::MulAdd(p, u, hn::Set(d, 1.1832618713378906f));
  return hn::Div(p, hn::Add(t, hn::Set(d, 1.0f)));
}

/// ln Φ(x) for x within ±16; absolute error below 1e-5.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log_normal_below(D d, V x) {
  const V half = hn::Set(d, 0.5f), log_root = hn::Set(d, 0.918938533f);  // ½ ln 2π
  const V ratio = mills_ratio(d, hn::Abs(x)), half_square = hn::Mul(half, hn::Mul(x, x));
  const V tail = hn::Mul(fast_exp(d, hn::Neg(half_square)), hn::Mul(ratio, hn::Set(d, 0.3989422804f)));
  // x ≤ 0: Φ = φ(x) M(−x); x > 0: 1 less the other tail.
  const auto right = hn::Gt(x, hn::Zero(d));
  const V log = fast_log(d, hn::IfThenElse(right, hn::Sub(hn::Set(d, 1.0f), tail), ratio));
  return hn::IfThenElse(right, log, hn::Sub(log, hn::Add(half_square, log_root)));
}

/// ln(Φ(high) − Φ(low)) for low ≤ high within ±16; equal ends count as 1e-6 apart. Absolute error below 1e-5, or what
/// rounding of the ends makes of a narrow interval. In the left half, where neither tail is 1 less something small;
/// narrow intervals by the density in their middle.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log_normal_between(D d, V low, V high) {
  const V zero = hn::Zero(d), one = hn::Set(d, 1.0f), half = hn::Set(d, 0.5f);
  const V log_root = hn::Set(d, 0.918938533f);  // ½ ln 2π
  const auto right = hn::Gt(hn::Add(low, high), zero);
  const V a = hn::IfThenElse(right, hn::Neg(high), low), b = hn::IfThenElse(right, hn::Neg(low), high);
  const V width = hn::Max(hn::Sub(b, a), hn::Set(d, 1e-6f));
  const V middle = hn::Mul(half, hn::Add(a, b));
  const V square = hn::Mul(middle, middle);
  const V bend = hn::Mul(hn::Mul(width, width), hn::Mul(hn::Sub(square, one), hn::Set(d, 1.0f / 24)));
  const V narrow =
      hn::Sub(fast_log(d, hn::Mul(width, hn::Max(hn::Add(one, bend), half))), hn::MulAdd(half, square, log_root));

  const V ratio_a = mills_ratio(d, hn::Max(hn::Neg(a), zero)), ratio_b = mills_ratio(d, hn::Abs(b));
  const V inner = hn::Min(b, zero);
  const V tail_a = hn::Mul(fast_exp(d, hn::Mul(half, hn::Mul(hn::Sub(inner, a), hn::Add(inner, a)))), ratio_a);
  const V left = hn::Sub(ratio_b, tail_a);  // b ≤ 0: P = φ(b) (M(−b) − e^{(b²−a²)/2} M(−a))
  const V tail_b = hn::Mul(fast_exp(d, hn::Mul(hn::Neg(half), hn::Mul(b, b))), ratio_b);
  const V both = hn::NegMulAdd(hn::Add(tail_a, tail_b), hn::Set(d, 0.3989422804f), one);  // b > 0: 1 less both tails
  const auto outside = hn::Gt(b, zero);
  const V log_left = hn::Sub(fast_log(d, hn::Max(left, hn::Set(d, 1e-30f))), hn::MulAdd(hn::Mul(half, b), b, log_root));
  const V wide = hn::IfThenElse(outside, fast_log(d, hn::Max(both, hn::Set(d, 1e-30f))), log_left);
  return hn::IfThenElse(hn::Lt(width, hn::Set(d, 0.1f)), narrow, wide);
}

/// ELU(x): x above 0, e^x − 1 below.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V elu(D d, V x) {
  const V zero = hn::Zero(d);
  const V below = hn::Sub(fast_exp(d, hn::Min(x, zero)), hn::Set(d, 1.0f));
  return hn::IfThenElse(hn::Gt(x, zero), x, below);
}

}  // namespace fansite::flow::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
