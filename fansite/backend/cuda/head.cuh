// SPDX-License-Identifier: Apache-2.0
//
// The sigmoids at the end of each variable's map, their log density and its gradient: entropy/flow/detail/head-inl.h
// for one term.
#pragma once

#include "fansite/backend/cuda/training_kernel.h"

namespace fansite::cuda {

inline constexpr float kDelta = 1e-6f, kHalfLog2Pi = 0.918938533f;

/// Slopes a, shifts b and weights e (not divided by their sum) of a term's sigmoids, from its q.
struct Sigmoids {
  float a[kSigmoids], a_slope[kSigmoids], b[kSigmoids], e[kSigmoids];

  __device__ explicit Sigmoids(const float (&q)[3 * kSigmoids]) {
    float most = q[2 * kSigmoids];
#pragma unroll
    for (int i = 1; i < kSigmoids; ++i) most = fmaxf(most, q[2 * kSigmoids + i]);
#pragma unroll
    for (int i = 0; i < kSigmoids; ++i) {
      const float decay = expf(-fabsf(q[i])), r = 1 / (1 + decay);
      a[i] = fmaxf(q[i], 0.0f) + log1pf(decay) + 1e-6f;
      a_slope[i] = q[i] > 0 ? r : decay * r;  // softplus' = sigmoid
      b[i] = q[kSigmoids + i];
      e[i] = expf(q[2 * kSigmoids + i] - most);
    }
  }
};

/// The map at one value: y = Σ w σ(a x + b), with y' = y(1−δ) + ½δ and z = ln(y'/(1−y')).
struct MapAt {
  float x, sigma[kSigmoids], rest[kSigmoids];  ///< σ, and 1 − σ not by subtraction
  float inverse, y, y1, rest1, steep;          ///< 1/Σe; y; y', 1−y'; Σ w a σ(1−σ)
  float log_y, log_rest, z;

  __device__ MapAt(const Sigmoids& s, float value) : x(value) {
    float below = 0, above = 0, bells = 0;
#pragma unroll
    for (int i = 0; i < kSigmoids; ++i) {
      const float u = fmaf(s.a[i], x, s.b[i]);
      const float small = expf(-fabsf(u)), r = 1 / (1 + small), sr = small * r;
      sigma[i] = u > 0 ? r : sr;
      rest[i] = u > 0 ? sr : r;
      below = fmaf(s.e[i], sigma[i], below);
      above = fmaf(s.e[i], rest[i], above);
      bells = fmaf(s.a[i], s.e[i] * (r * sr), bells);
    }
    inverse = 1 / (below + above);
    y = below * inverse;
    y1 = fmaf(y, 1 - kDelta, kDelta / 2);
    rest1 = fmaf(above * inverse, 1 - kDelta, kDelta / 2);
    steep = fmaxf(bells * inverse, 1e-37f);  // an outlier's may be below what single precision holds
    log_y = logf(y1);
    log_rest = logf(rest1);
    z = log_y - log_rest;
  }

  __device__ float log_density() const {
    return logf(steep) - (log_y + log_rest) - 0.5f * z * z - (kHalfLog2Pi + 1.0000005e-6f);
  }

  /// Adds weight × the gradient by q, from that by y, and with by_steep that of ln Σ w a σ(1−σ).
  __device__ void add_gradient(const Sigmoids& s, float by_y, bool with_steep, float weight,
                               float (&gradient)[3 * kSigmoids]) const {
    const float by_steep = with_steep ? inverse / steep : 0.0f;
    float by_w[kSigmoids], mean = 0;
#pragma unroll
    for (int i = 0; i < kSigmoids; ++i) {
      const float bell = sigma[i] * rest[i], w = s.e[i] * inverse;
      const float share = by_steep * s.e[i] * bell;  // w σ(1−σ) / Σ w a σ(1−σ)
      const float by_u = fmaf(by_y, w * bell, share * (s.a[i] * (rest[i] - sigma[i])));
      const float by_a = fmaf(by_u, x, share);
      gradient[i] = fmaf(weight, by_a * s.a_slope[i], gradient[i]);
      gradient[kSigmoids + i] = fmaf(weight, by_u, gradient[kSigmoids + i]);
      // σ near 1 enters as −(1−σ), which differs by the same for all and loses no digits.
      by_w[i] = fmaf(by_y * w, y > 0.5f ? -rest[i] : sigma[i], s.a[i] * share);
      mean += by_w[i];
    }
#pragma unroll
    for (int i = 0; i < kSigmoids; ++i) {
      gradient[2 * kSigmoids + i] = fmaf(weight, by_w[i] - mean * (s.e[i] * inverse), gradient[2 * kSigmoids + i]);
    }
  }
};

/// Φ(−t)/φ(t) for t ≥ 0.
__device__ inline float mills_ratio(float t) { return 1.25331414f * erfcxf(0.707106781f * t); }

/// ln(Φ(high) − Φ(low)); equal ends count as 1e-6 apart. See math-inl.h.
__device__ inline float log_normal_between(float low, float high) {
  const bool right = low + high > 0;
  const float a = right ? -high : low, b = right ? -low : high;
  const float width = fmaxf(b - a, 1e-6f);
  if (width < 0.1f) {
    const float middle = 0.5f * (a + b), square = middle * middle;
    const float bend = width * width * (square - 1) * (1.0f / 24);
    return logf(width * fmaxf(1 + bend, 0.5f)) - fmaf(0.5f, square, kHalfLog2Pi);
  }
  const float inner = fminf(b, 0.0f);
  const float tail_a = expf(0.5f * (inner - a) * (inner + a)) * mills_ratio(fmaxf(-a, 0.0f));
  if (b > 0) {
    const float tail_b = expf(-0.5f * b * b) * mills_ratio(b);
    return logf(fmaxf(1 - (tail_a + tail_b) * 0.3989422804f, 1e-30f));
  }
  return logf(fmaxf(mills_ratio(-b) - tail_a, 1e-30f)) - fmaf(0.5f * b, b, kHalfLog2Pi);
}

/// The log density of a number, or of an interval, and −weight × its gradient by q (the loss is minus the density).
__device__ inline float head(const float (&q)[3 * kSigmoids], float value, float low, float high, float weight,
                             float (&gradient)[3 * kSigmoids]) {
#pragma unroll
  for (int i = 0; i < 3 * kSigmoids; ++i) gradient[i] = 0;
  const Sigmoids s(q);
  if (!(low < high)) {
    const MapAt at(s, value);
    const float inverse_y = 1 / at.y1, inverse_rest = 1 / at.rest1;
    const float by_y = -(1 - kDelta) * (at.z * (inverse_y + inverse_rest) + (inverse_y - inverse_rest));
    at.add_gradient(s, by_y, true, -weight, gradient);
    return at.log_density();
  }
  constexpr float kLimit = 1e15f;  // beyond, and at infinity, all sigmoids are 0 or 1
  const MapAt from(s, fmaxf(-kLimit, fminf(kLimit, low))), to(s, fmaxf(-kLimit, fminf(kLimit, high)));
  const float result = log_normal_between(from.z, to.z);
  const auto by_y = [&](const MapAt& at) {
    const float by_z = expf(fminf(-0.5f * at.z * at.z - (result + kHalfLog2Pi), 30.0f));
    return (1 - kDelta) * by_z * (1 / at.y1 + 1 / at.rest1);
  };
  from.add_gradient(s, -by_y(from), false, -weight, gradient);
  to.add_gradient(s, by_y(to), false, -weight, gradient);
  return result;
}

}  // namespace fansite::cuda
