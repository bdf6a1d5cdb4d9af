// SPDX-License-Identifier: Apache-2.0
//
// The deep sigmoidal flow of NAF with one layer, an increasing map x → z of one variable (Huang et al., ICML 2018):
//   y = Σ_k w_k σ(a_k x + b_k),  y' = y (1 − ε) + ε/2,  z = ln y' − ln(1 − y'),  ε = 1e-6,
//   ln dz/dx = ln Σ_k w_k a_k σ_k (1 − σ_k) + ln(1 − ε) − ln y' − ln(1 − y').
#pragma once

#include <span>

#include "fansite/entropy/neural/products.h"

namespace fansite::neural {

struct MappedValue {
  double z = 0, log_slope = 0;
};
/// In plain numbers: what the batches are held to. Σ w = 1, a > 0.
MappedValue sigmoidal(std::span<const double> a, std::span<const double> b, std::span<const double> w, double x);

/// A column for each of k a's, b's and w's, before a = softplus + 1e-6 and w = softmax; a row for each term.
template <class Real>
using Columns = Eigen::Array<Real, Eigen::Dynamic, Eigen::Dynamic>;
template <class Real>
using Column = Eigen::Array<Real, Eigen::Dynamic, 1>;

/// z and ln dz/dx of each term.
template <class Real>
void map_terms(const Columns<Real>& q, const Column<Real>& x, Column<Real>& z, Column<Real>& log_slope);

/// ln of the standard normal density at z, plus ln dz/dx, of each term; `dq`, if wanted: its derivatives.
template <class Real>
Column<Real> log_densities(const Columns<Real>& q, const Column<Real>& x, Columns<Real>* dq = nullptr);

}  // namespace fansite::neural
