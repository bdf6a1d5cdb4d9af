// SPDX-License-Identifier: Apache-2.0
//
// Special functions. `portable::` versions use only IEEE operations (+ − × ÷ √, no FMA), so they give the same bits on
// every machine, which the C library's exp and log do not; simulated data rest on them.
#pragma once

#include <cstddef>

namespace fansite {

namespace portable {
double exp(double x);      ///< within 2 ulp
double log(double x);      ///< within 2 ulp, x > 0 and normal
double log1p(double x);    ///< within 4 ulp, x > −1
double tanh(double x);     ///< within 4 ulp
double sigmoid(double x);  ///< 1 / (1 + e^−x)

/// Many at once, in place: the same bits as one by one, several times faster.
void exp(double* values, std::ptrdiff_t count);
void sigmoid(double* values, std::ptrdiff_t count);
}  // namespace portable

/// Φ⁻¹(p), ∓∞ at p = 0 and 1: Wichura's algorithm AS 241 (1988), relative error below 1e-15. Portable.
double normal_quantile(double p);

/// Φ(−x), the upper tail of the standard normal distribution.
double normal_tail(double x);

/// ln(Φ(high) − Φ(low)), low < high, either of them infinite: to 1e-14 wherever the two lie.
double log_normal_between(double low, double high);

/// P(K > x) of Kolmogorov's distribution, that of √n times the largest distance between the distribution function of n
/// numbers and the true one as n → ∞.
double kolmogorov_tail(double x);

/// P(F > f) for F with (1, dof) degrees of freedom, the distribution of a squared t. As dof → ∞ it is the χ²₁ tail.
double f1_tail(double f, double dof);

/// The smallest of m independent p-values, made a p-value itself: 1 − (1 − p)^m (Šidák), exact for tiny p.
double best_of(double p, double m);

}  // namespace fansite
