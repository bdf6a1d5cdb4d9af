// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/special.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "fansite/base/detail/vectorise.h"

namespace fansite {
namespace portable {
namespace {

// ln 2 in two parts; the high part has 20 trailing zero bits, so its product with an exponent is exact.
constexpr double kLn2High = 0x1.62e42fee00000p-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

// e^x = mantissa · 2^n for a finite x. No branches and no calls, so that a loop over it can be vectorised.
struct Exponential {
  double mantissa;  // in [√½, √2]
  std::uint64_t n;  // of which only the low bits count: the exponent field wraps as it should
};

inline Exponential reduced_exp(double x) {
  // Adding 1.5·2⁵² rounds x / ln 2 to the integer n and leaves it in the low bits of the sum.
  constexpr double kRounder = 0x1.8p52;
  const double shifted = x * 0x1.71547652b82fep+0 + kRounder;
  const double n = shifted - kRounder;
  const double r = (x - n * kLn2High) - n * kLn2Low;  // |r| ≤ ln 2 / 2
  // Taylor to degree 13: the remainder is below 0.347^14/14! = 4e-18.
  double sum = 1.0 / 6227020800.0;
  sum = sum * r + 1.0 / 479001600.0;
  sum = sum * r + 1.0 / 39916800.0;
  sum = sum * r + 1.0 / 3628800.0;
  sum = sum * r + 1.0 / 362880.0;
  sum = sum * r + 1.0 / 40320.0;
  sum = sum * r + 1.0 / 5040.0;
  sum = sum * r + 1.0 / 720.0;
  sum = sum * r + 1.0 / 120.0;
  sum = sum * r + 1.0 / 24.0;
  sum = sum * r + 1.0 / 6.0;
  sum = sum * r + 0.5;
  sum = sum * r + 1.0;
  return {1.0 + r * sum, std::bit_cast<std::uint64_t>(shifted)};
}

inline double two_to(std::uint64_t n) { return std::bit_cast<double>((n + 1023) << 52); }

// e^x for |x| ≤ 700, where the result is normal.
inline double exp_inside(double x) {
  const Exponential e = reduced_exp(x);
  return e.mantissa * two_to(e.n);
}

constexpr double kInside = 700.0;
constexpr std::ptrdiff_t kChunk = 256;  // values that a batch handles at a time, small enough for the first cache

// e^x − 1 from e^x: the rounding of u = e^x cancels in (u − 1)/ln u (Kahan).
double expm1(double x) {
  const double u = portable::exp(x);
  if (u == 1.0) return x;
  return (u - 1.0) * (x / portable::log(u));
}

}  // namespace

double exp(double x) {
  if (x >= -kInside && x <= kInside) return exp_inside(x);
  if (x != x) return x;
  if (x > 709.782712893384) return std::numeric_limits<double>::infinity();
  if (x < -745.2) return 0.0;
  // In two steps, so that only the last product can leave the normal range.
  const Exponential e = reduced_exp(x);
  return x > 0 ? e.mantissa * two_to(e.n - 60) * 0x1p60 : e.mantissa * two_to(e.n + 60) * 0x1p-60;
}

double log(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  // Mantissa into [√½, √2): add what lifts √½ to 1, read the exponent, take it off again.
  constexpr std::uint64_t kSqrtHalf = 0x3fe6a09e667f3bcd;
  constexpr std::uint64_t kOne = 0x3ff0000000000000;
  const std::uint64_t shifted = bits - kSqrtHalf + kOne;
  const int e = static_cast<int>(shifted >> 52) - 1023;
  const double m = std::bit_cast<double>(bits - (static_cast<std::uint64_t>(static_cast<std::int64_t>(e)) << 52));
  // ln(1+f) = 2 atanh(s), s = f/(2+f); |s| ≤ 0.1716, and s²³/23 < 2e-19.
  const double f = m - 1.0;
  const double s = f / (2.0 + f);
  const double s2 = s * s;
  double tail = 2.0 / 23.0;
  for (int k = 21; k >= 3; k -= 2) tail = tail * s2 + 2.0 / k;
  tail *= s2;
  const double half_square = 0.5 * f * f;
  return e * kLn2High - ((half_square - (s * (half_square + tail) + e * kLn2Low)) - f);
}

double log1p(double x) {
  const double u = 1.0 + x;
  if (u == 1.0) return x;
  return portable::log(u) * (x / (u - 1.0));  // the rounding of 1 + x cancels (Kahan)
}

double tanh(double x) {
  const double magnitude = x < 0 ? -x : x;
  if (magnitude > 22.0) return x < 0 ? -1.0 : 1.0;
  const double e = expm1(2.0 * magnitude);
  const double t = e / (e + 2.0);
  return x < 0 ? -t : t;
}

FANSITE_VECTOR_CLONES void exp(double* values, std::ptrdiff_t count) {
  for (std::ptrdiff_t begin = 0; begin < count; begin += kChunk) {
    const std::ptrdiff_t size = count - begin < kChunk ? count - begin : kChunk;
    double* x = values + begin;
    std::uint64_t outside = 0;  // how many, NaN among them; rare, so the whole chunk then goes one by one
    for (std::ptrdiff_t i = 0; i < size; ++i) outside += (x[i] >= -kInside && x[i] <= kInside) ? 0u : 1u;
    if (outside == 0) {
      for (std::ptrdiff_t i = 0; i < size; ++i) x[i] = exp_inside(x[i]);
    } else {
      for (std::ptrdiff_t i = 0; i < size; ++i) x[i] = portable::exp(x[i]);
    }
  }
}

FANSITE_VECTOR_CLONES void sigmoid(double* values, std::ptrdiff_t count) {
  double e[kChunk];  // e^−|x|
  for (std::ptrdiff_t begin = 0; begin < count; begin += kChunk) {
    const std::ptrdiff_t size = count - begin < kChunk ? count - begin : kChunk;
    double* x = values + begin;
    for (std::ptrdiff_t i = 0; i < size; ++i) e[i] = x[i] < 0 ? x[i] : -x[i];
    portable::exp(e, size);
    for (std::ptrdiff_t i = 0; i < size; ++i) x[i] = (x[i] < 0 ? e[i] : 1.0) / (1.0 + e[i]);
  }
}

double sigmoid(double x) {
  if (x < 0) {
    const double e = portable::exp(x);
    return e / (1.0 + e);
  }
  return 1.0 / (1.0 + portable::exp(-x));
}

}  // namespace portable

namespace {

// Horner's rule, constant term first.
double polynomial(const std::array<double, 8>& c, double x) {
  double sum = c[7];
  for (std::size_t i = 7; i-- > 0;) sum = sum * x + c[i];
  return sum;
}

// Continued fraction of the incomplete beta function (DLMF 8.17.22) by Lentz's method.
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  double c = 1.0;
  double d = 1.0 - (a + b) * x / (a + 1.0);
  d = 1.0 / (std::abs(d) < kTiny ? kTiny : d);
  double h = d;
  for (int m = 1; m < 10000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    for (const double term : {even, odd}) {
      d = 1.0 + term * d;
      d = 1.0 / (std::abs(d) < kTiny ? kTiny : d);
      c = 1.0 + term / c;
      if (std::abs(c) < kTiny) c = kTiny;
      h *= d * c;
    }
    if (std::abs(d * c - 1.0) < 1e-15) break;
  }
  return h;
}

// ln Γ(a+½)/Γ(a). The C library's lgamma would cancel for large a, and it writes a global (signgam) from every thread.
// The expansion is exact to 1e-16 from 50 on; below, Γ(a+1) = aΓ(a) leads there.
double log_gamma_ratio(double a) {
  double steps = 0.0;
  while (a < 50) {
    steps += std::log(a / (a + 0.5));
    a += 1.0;
  }
  const double cube = a * a * a;
  return steps + 0.5 * std::log(a) - 1.0 / (8 * a) + 1.0 / (192 * cube) - 1.0 / (640 * cube * a * a);
}

}  // namespace

double normal_quantile(double p) {
  constexpr std::array<double, 8> a = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                                       1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                                       3.3430575583588128105e4, 2.5090809287301226727e3};
  constexpr std::array<double, 8> b = {1.0,
                                       4.2313330701600911252e1,
                                       6.8718700749205790830e2,
                                       5.3941960214247511077e3,
                                       2.1213794301586595867e4,
                                       3.9307895800092710610e4,
                                       2.8729085735721942674e4,
                                       5.2264952788528545610e3};
  constexpr std::array<double, 8> c = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                       3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                       2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr std::array<double, 8> d = {1.0,
                                       2.05319162663775882187e0,
                                       1.67638483018380384940e0,
                                       6.89767334985100004550e-1,
                                       1.48103976427480074590e-1,
                                       1.51986665636164571966e-2,
                                       5.47593808499534494600e-4,
                                       1.05075007164441684324e-9};
  constexpr std::array<double, 8> e = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                       2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                       2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr std::array<double, 8> f = {1.0,
                                       5.99832206555887937690e-1,
                                       1.36929880922735805310e-1,
                                       1.48753612908506148525e-2,
                                       7.86869131145613259100e-4,
                                       1.84631831751005468180e-5,
                                       1.42151175831644588870e-7,
                                       2.04426310338993978564e-15};
  if (!(p > 0.0 && p < 1.0)) {
    if (p == 0.0 || p == 1.0) return (p - 0.5) * std::numeric_limits<double>::infinity();
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double q = p - 0.5;
  if (q >= -0.425 && q <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(a, r) / polynomial(b, r);
  }
  const double r = std::sqrt(-portable::log(q < 0 ? p : 1.0 - p));
  const double x =
      r <= 5.0 ? polynomial(c, r - 1.6) / polynomial(d, r - 1.6) : polynomial(e, r - 5.0) / polynomial(f, r - 5.0);
  return q < 0 ? -x : x;
}

double normal_tail(double x) { return 0.5 * std::erfc(x / std::sqrt(2.0)); }

double log_normal_between(double low, double high) {
  // In the left half, where both are tails and neither is 1 less something small.
  if (low + high > 0) return log_normal_between(-high, -low);
  const auto log_cumulative = [](double x) { return std::log(normal_tail(-x)); };
  if (high > 0) return std::log1p(-normal_tail(high) - normal_tail(-low));
  const double log_high = log_cumulative(high);
  return log_high + std::log(-std::expm1(log_cumulative(low) - log_high));
}

double kolmogorov_tail(double x) {
  if (!(x > 0)) return 1.0;
  // Two series for the same function: so few terms leave 1e-16 on either side of 1.
  if (x < 1.0) {
    double sum = 0.0;
    for (const double odd : {1.0, 3.0, 5.0}) sum += std::exp(-odd * odd * M_PI * M_PI / (8 * x * x));
    return 1.0 - std::sqrt(2 * M_PI) / x * sum;
  }
  double sum = 0.0, sign = 1.0;
  for (const double k : {1.0, 2.0, 3.0, 4.0}) {
    sum += sign * std::exp(-2 * k * k * x * x);
    sign = -sign;
  }
  return 2 * sum;
}

double f1_tail(double f, double dof) {
  if (!(f > 0)) return 1.0;
  if (std::isinf(f)) return 0.0;
  if (std::isinf(dof)) return std::erfc(std::sqrt(0.5 * f));
  // P(F > f) = I_x(dof/2, 1/2), x = dof/(dof + f); 1 − x is kept apart so that neither loses digits.
  const double a = 0.5 * dof;
  const double x = dof / (dof + f);
  const double y = f / (dof + f);
  const double log_ratio = log_gamma_ratio(a);
  const double log_x = x < 0.5 ? std::log(x) : std::log1p(-y);
  const double front = std::exp(log_ratio - 0.5 * std::log(M_PI) + a * log_x + 0.5 * std::log(y));
  if (x < (a + 1.0) / (a + 2.5)) return front * beta_fraction(a, 0.5, x) / a;
  return 1.0 - front * beta_fraction(0.5, a, y) / 0.5;
}

double best_of(double p, double m) {
  if (p >= 1.0) return 1.0;
  return -std::expm1(m * std::log1p(-p));
}

}  // namespace fansite
