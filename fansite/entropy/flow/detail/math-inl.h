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
