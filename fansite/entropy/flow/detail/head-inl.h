// SPDX-License-Identifier: Apache-2.0
//
// The sigmoids at the end of each variable's map, and their gradient, for 16 terms at once. Private to
// learner_kernel.cpp, which includes it once per instruction set.

// Not #pragma once: foreach_target.h includes this file once per target.
#if defined(FANSITE_FLOW_HEAD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANSITE_FLOW_HEAD_INL_H_
#undef FANSITE_FLOW_HEAD_INL_H_
#else
#define FANSITE_FLOW_HEAD_INL_H_
#endif

#include <hwy/highway.h>

#include "fansite/entropy/flow/detail/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fansite::flow::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// to[16·c + r] = from[stride·r + c] for r < 16, c < 16, and back again with the strides exchanged.
HWY_INLINE void transpose(const float* HWY_RESTRICT from, std::ptrdiff_t from_stride, float* HWY_RESTRICT to,
                          std::ptrdiff_t to_stride) {
#if HWY_CAP_GE512
  {
    const hn::CappedTag<float, 16> d;
    using V = hn::Vec<decltype(d)>;
    const hn::Repartition<double, decltype(d)> dd;
    // 4×4 inside each 128-bit block …
    const auto four_rows = [&](int row, V& t0, V& t1, V& t2, V& t3) HWY_ATTR {
      const V r0 = hn::LoadU(d, from + row * from_stride), r1 = hn::LoadU(d, from + (row + 1) * from_stride);
      const V r2 = hn::LoadU(d, from + (row + 2) * from_stride), r3 = hn::LoadU(d, from + (row + 3) * from_stride);
      const auto a = hn::BitCast(dd, hn::InterleaveLower(d, r0, r1)),
                 b = hn::BitCast(dd, hn::InterleaveLower(d, r2, r3));
      const auto e = hn::BitCast(dd, hn::InterleaveUpper(d, r0, r1)),
                 f = hn::BitCast(dd, hn::InterleaveUpper(d, r2, r3));
      t0 = hn::BitCast(d, hn::InterleaveLower(dd, a, b));
      t1 = hn::BitCast(d, hn::InterleaveUpper(dd, a, b));
      t2 = hn::BitCast(d, hn::InterleaveLower(dd, e, f));
      t3 = hn::BitCast(d, hn::InterleaveUpper(dd, e, f));
    };
    // … then 4×4 of the blocks: vector i of rows 0-3, 4-7, 8-11, 12-15 holds columns i, 4+i, 8+i, 12+i.
    const auto four_blocks = [&](int i, V a, V b, V c, V e) HWY_ATTR {
      const V ac = hn::ConcatLowerLower(d, c, a), be = hn::ConcatLowerLower(d, e, b);
      const V ac2 = hn::ConcatUpperUpper(d, c, a), be2 = hn::ConcatUpperUpper(d, e, b);
      hn::StoreU(hn::OddEvenBlocks(hn::SwapAdjacentBlocks(be), ac), d, to + i * to_stride);
      hn::StoreU(hn::OddEvenBlocks(be, hn::SwapAdjacentBlocks(ac)), d, to + (4 + i) * to_stride);
      hn::StoreU(hn::OddEvenBlocks(hn::SwapAdjacentBlocks(be2), ac2), d, to + (8 + i) * to_stride);
      hn::StoreU(hn::OddEvenBlocks(be2, hn::SwapAdjacentBlocks(ac2)), d, to + (12 + i) * to_stride);
    };
    V a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, e0, e1, e2, e3;
    four_rows(0, a0, a1, a2, a3);
    four_rows(4, b0, b1, b2, b3);
    four_rows(8, c0, c1, c2, c3);
    four_rows(12, e0, e1, e2, e3);
    four_blocks(0, a0, b0, c0, e0);
    four_blocks(1, a1, b1, c1, e1);
    four_blocks(2, a2, b2, c2, e2);
    four_blocks(3, a3, b3, c3, e3);
  }
#else
  for (int r = 0; r < 16; ++r) {
    for (int c = 0; c < 16; ++c) to[c * to_stride + r] = from[r * from_stride + c];
  }
#endif
}

/// What the gradient needs of each of k sigmoids, for 16 terms: the derivative of its slope by q, slope, σ, 1 − σ, and
/// its weight (not divided by their sum) times σ(1−σ).
template <int kMost>
struct HeadParts {
  HWY_ALIGN float slope[kMost * 16], rise[kMost * 16], low[kMost * 16], high[kMost * 16], bell[kMost * 16];
};

/// The sums over sigmoids, with weights e not yet divided by their sum: Σ e σ, Σ e (1−σ), Σ e a σ(1−σ). Keeps the
/// parts, and e over the weights' q, if a gradient is to follow.
template <int kMost, class D, class V>
HWY_INLINE void head_sums(D d, int k, V x, const float* HWY_RESTRICT qa, const float* HWY_RESTRICT qb,
                          float* HWY_RESTRICT qw, bool gradient, HeadParts<kMost>& parts, V& below, V& above,
                          V& steep) {
  const V one = hn::Set(d, 1.0f), zero = hn::Zero(d);
  V most = hn::Load(d, qw);
  for (int i = 1; i < k; ++i) most = hn::Max(most, hn::Load(d, qw + 16 * i));
  below = above = steep = zero;
  for (int i = 0; i < k; ++i) {
    const V qi = hn::Load(d, qa + 16 * i);
    const V decay = fast_exp(d, hn::Neg(hn::Abs(qi)));
    const V a = hn::Add(hn::Add(hn::Max(qi, zero), fast_log1p(d, decay)), hn::Set(d, 1e-6f));
    const V u = hn::MulAdd(a, x, hn::Load(d, qb + 16 * i));
    const V e = fast_exp(d, hn::Sub(hn::Load(d, qw + 16 * i), most));
    const V small = fast_exp(d, hn::Neg(hn::Abs(u)));
    const V r = fast_reciprocal(d, hn::Add(one, small));
    const V sr = hn::Mul(small, r);
    const auto positive = hn::Gt(u, zero);
    const V sigma = hn::IfThenElse(positive, r, sr);
    const V rest = hn::IfThenElse(positive, sr, r);
    const V ebell = hn::Mul(e, hn::Mul(r, sr));
    below = hn::MulAdd(e, sigma, below);
    above = hn::MulAdd(e, rest, above);
    steep = hn::MulAdd(a, ebell, steep);
    if (gradient) {
      // softplus' = sigmoid, from the same exponential.
      const V rq = fast_reciprocal(d, hn::Add(one, decay));
      hn::Store(hn::IfThenElse(hn::Gt(qi, zero), rq, hn::Mul(decay, rq)), d, parts.slope + 16 * i);
      hn::Store(a, d, parts.rise + 16 * i);
      hn::Store(sigma, d, parts.low + 16 * i);
      hn::Store(rest, d, parts.high + 16 * i);
      hn::Store(ebell, d, parts.bell + 16 * i);
      hn::Store(e, d, qw + 16 * i);
    }
  }
}

/// The gradient by q over q, times `weight`, from the gradient `by_y` by y = Σ w σ and `by_bell` by Σ w a σ(1−σ), the
/// latter divided by the sum of the weights, whose inverse is given. Overwrites the parts.
template <int kMost, class D, class V>
HWY_INLINE void head_gradient(D d, int k, float weight, V x, V y, V inverse, V by_y, V by_bell, HeadParts<kMost>& parts,
                              float* HWY_RESTRICT qa, float* HWY_RESTRICT qb, float* HWY_RESTRICT qw) {
  // σ near 1 enters the weights' gradient as −(1−σ), which differs by the same for all and loses no digits.
  const auto near_one = hn::Gt(y, hn::Set(d, 0.5f));
  V mean = hn::Zero(d);
  for (int i = 0; i < k; ++i) {
    const V a = hn::Load(d, parts.rise + 16 * i), sigma = hn::Load(d, parts.low + 16 * i);
    const V sigma1 = hn::Load(d, parts.high + 16 * i);
    const V share = hn::Mul(by_bell, hn::Load(d, parts.bell + 16 * i));  // w σ(1−σ) / Σ w a σ(1−σ)
    const V w = hn::Mul(hn::Load(d, qw + 16 * i), inverse);
    const V wbell = hn::Mul(w, hn::Mul(sigma, sigma1));
    const V by_u = hn::MulAdd(by_y, wbell, hn::Mul(share, hn::Mul(a, hn::Sub(sigma1, sigma))));
    const V by_a = hn::MulAdd(by_u, x, share);
    hn::Store(hn::Mul(hn::Set(d, weight), hn::Mul(by_a, hn::Load(d, parts.slope + 16 * i))), d, qa + 16 * i);
    hn::Store(hn::Mul(hn::Set(d, weight), by_u), d, qb + 16 * i);
    const V part_of_y = hn::IfThenElse(near_one, hn::Neg(sigma1), sigma);
    const V by_w = hn::MulAdd(hn::Mul(by_y, w), part_of_y, hn::Mul(a, share));  // already times w
    mean = hn::Add(mean, by_w);
    hn::Store(w, d, parts.rise + 16 * i);
    hn::Store(by_w, d, qw + 16 * i);
  }
  for (int i = 0; i < k; ++i) {
    const V by_w = hn::NegMulAdd(mean, hn::Load(d, parts.rise + 16 * i), hn::Load(d, qw + 16 * i));
    hn::Store(hn::Mul(hn::Set(d, weight), by_w), d, qw + 16 * i);
  }
}

/// q of 16 terms, `stride` floats each: the 3k parts of the slopes, shifts and weights of k sigmoids. Writes log dz/dx
/// + log φ(z) of each term's value into `density`, and, unless `weight` is 0, weight × its gradient by q over q.
template <int kFixed>
HWY_INLINE void head_terms_of(int sigmoids, std::ptrdiff_t stride, const float* HWY_RESTRICT values,
                              float* HWY_RESTRICT q, float* HWY_RESTRICT density, float weight) {
  const hn::CappedTag<float, 16> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kMost = kFixed > 0 ? kFixed : 16;
  const int k = kFixed > 0 ? kFixed : sigmoids;
  constexpr int kRows = (3 * kMost + 15) / 16 * 16;
  HWY_ALIGN float part[kRows * 16];
  for (int row = 0; row < 3 * k; row += 16) transpose(q + row, stride, part + row * 16, 16);

  constexpr float kDelta = 1e-6f;
  const V one = hn::Set(d, 1.0f);
  const V keep = hn::Set(d, 1 - kDelta), half_delta = hn::Set(d, kDelta / 2);
  for (std::ptrdiff_t at = 0; at < 16; at += static_cast<std::ptrdiff_t>(hn::Lanes(d))) {
    float* HWY_RESTRICT qa = part + at;
    float* HWY_RESTRICT qb = part + 16 * k + at;
    float* HWY_RESTRICT qw = part + 32 * k + at;
    HeadParts<kMost> parts;
    const V x = hn::Load(d, values + at);
    V below, above, steep;
    head_sums(d, k, x, qa, qb, qw, weight != 0, parts, below, above, steep);
    const V total = hn::Add(below, above);
    const V inverse = hn::Div(one, total);
    const V y = hn::Mul(below, inverse), rest = hn::Mul(above, inverse);
    const V y1 = hn::MulAdd(y, keep, half_delta), rest1 = hn::MulAdd(rest, keep, half_delta);
    // An outlier's bell may be below what single precision holds.
    const V bells = hn::Max(hn::Mul(steep, inverse), hn::Set(d, 1e-37f));
    const V log_y = fast_log(d, y1), log_rest = fast_log(d, rest1);
    const V z = hn::Sub(log_y, log_rest);
    // ½ ln 2π − ln(1−δ)
    const V constant = hn::Set(d, 0.918938533f + 1.0000005e-6f);
    V result = hn::Sub(fast_log(d, bells), hn::Add(log_y, log_rest));
    result = hn::Sub(hn::NegMulAdd(hn::Mul(z, hn::Set(d, 0.5f)), z, result), constant);
    hn::Store(result, d, density + at);
    if (weight == 0) continue;

    const V inverse_y = hn::Div(one, y1), inverse_rest = hn::Div(one, rest1);
    // By y: −z dz/dy − (1−δ)(1/y' − 1/(1−y')), dz/dy = (1−δ)(1/y' + 1/(1−y')).
    V by_y = hn::Mul(z, hn::Add(inverse_y, inverse_rest));
    by_y = hn::Neg(hn::Mul(keep, hn::Add(by_y, hn::Sub(inverse_y, inverse_rest))));
    const V by_bell = hn::Div(inverse, bells);  // of e·bell, as the weights are e/E
    head_gradient(d, k, weight, x, y, inverse, by_y, by_bell, parts, qa, qb, qw);
  }
  if (weight == 0) return;
  for (int row = 3 * k; row < kRows; ++row) {
    for (int t = 0; t < 16; ++t) part[row * 16 + t] = 0;
  }
  for (int row = 0; row < 3 * k; row += 16) transpose(part + row * 16, 16, q + row, stride);
}

/// y = Σ w σ(a x + b) at one end of an interval.
template <class V>
struct HeadEnd {
  V x, y1, rest1, z;  ///< y' and 1 − y', and z = ln(y' / (1 − y'))
  V by_y;             ///< the gradient of the result by y
};

/// The same as head_terms_of for terms that may be intervals (low < high): ln(Φ(z(high)) − Φ(z(low))).
template <int kFixed>
HWY_INLINE void head_cells_of(int sigmoids, std::ptrdiff_t stride, const float* HWY_RESTRICT low,
                              const float* HWY_RESTRICT high, float* HWY_RESTRICT q, float* HWY_RESTRICT density,
                              float weight) {
  const hn::CappedTag<float, 16> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kMost = kFixed > 0 ? kFixed : 16;
  const int k = kFixed > 0 ? kFixed : sigmoids;
  constexpr int kRows = (3 * kMost + 15) / 16 * 16;
  HWY_ALIGN float part[kRows * 16], other[kRows * 16];
  for (int row = 0; row < 3 * k; row += 16) transpose(q + row, stride, part + row * 16, 16);
  std::copy_n(part, 3 * k * 16, other);

  constexpr float kDelta = 1e-6f;
  const V one = hn::Set(d, 1.0f);
  const V keep = hn::Set(d, 1 - kDelta), half_delta = hn::Set(d, kDelta / 2);
  for (std::ptrdiff_t at = 0; at < 16; at += static_cast<std::ptrdiff_t>(hn::Lanes(d))) {
    HeadParts<kMost> parts[2];
    HeadEnd<V> ends[2];
    V inverse[2], ys[2];
    for (int e = 0; e < 2; ++e) {
      float* HWY_RESTRICT from = (e == 0 ? part : other) + at;
      const V limit = hn::Set(d, 1e15f);  // beyond, and at infinity, all sigmoids are 0 or 1
      const V x = hn::Max(hn::Neg(limit), hn::Min(limit, hn::Load(d, (e == 0 ? low : high) + at)));
      V below, above, steep;
      head_sums(d, k, x, from, from + 16 * k, from + 32 * k, true, parts[e], below, above, steep);
      inverse[e] = hn::Div(one, hn::Add(below, above));
      const V y = ys[e] = hn::Mul(below, inverse[e]);
      const V y1 = hn::MulAdd(y, keep, half_delta), rest1 = hn::MulAdd(hn::Mul(above, inverse[e]), keep, half_delta);
      const V z = hn::Sub(fast_log(d, y1), fast_log(d, rest1));
      ends[e] = {x, y1, rest1, z, hn::Zero(d)};
    }
    const V result = log_normal_between(d, ends[0].z, ends[1].z);
    hn::Store(result, d, density + at);
    if (weight == 0) continue;
    for (int e = 0; e < 2; ++e) {
      // ∓ φ(z) / P times dz/dy = (1−δ)(1/y' + 1/(1−y')).
      const V log_weight =
          hn::Sub(hn::Mul(hn::Set(d, -0.5f), hn::Mul(ends[e].z, ends[e].z)), hn::Add(result, hn::Set(d, 0.918938533f)));
      const V by_z = fast_exp(d, hn::Min(log_weight, hn::Set(d, 30.0f)));
      const V by_y = hn::Mul(keep, hn::Mul(by_z, hn::Add(hn::Div(one, ends[e].y1), hn::Div(one, ends[e].rest1))));
      float* HWY_RESTRICT from = (e == 0 ? part : other) + at;
      head_gradient(d, k, weight, ends[e].x, ys[e], inverse[e], e == 0 ? hn::Neg(by_y) : by_y, hn::Zero(d), parts[e],
                    from, from + 16 * k, from + 32 * k);
    }
  }
  if (weight == 0) return;
  for (int i = 0; i < 3 * k * 16; ++i) part[i] += other[i];
  for (int row = 3 * k; row < kRows; ++row) {
    for (int t = 0; t < 16; ++t) part[row * 16 + t] = 0;
  }
  for (int row = 0; row < 3 * k; row += 16) transpose(part + row * 16, 16, q + row, stride);
}

HWY_NOINLINE void head_terms(int sigmoids, std::ptrdiff_t stride, const float* HWY_RESTRICT values,
                             float* HWY_RESTRICT q, float* HWY_RESTRICT density, float weight) {
  if (sigmoids == 4) {
    head_terms_of<4>(sigmoids, stride, values, q, density, weight);
  } else {
    head_terms_of<0>(sigmoids, stride, values, q, density, weight);
  }
}

HWY_NOINLINE void head_cells(int sigmoids, std::ptrdiff_t stride, const float* HWY_RESTRICT low,
                             const float* HWY_RESTRICT high, float* HWY_RESTRICT q, float* HWY_RESTRICT density,
                             float weight) {
  if (sigmoids == 4) {
    head_cells_of<4>(sigmoids, stride, low, high, q, density, weight);
  } else {
    head_cells_of<0>(sigmoids, stride, low, high, q, density, weight);
  }
}

}  // namespace fansite::flow::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
