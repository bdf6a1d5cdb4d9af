// SPDX-License-Identifier: Apache-2.0
//
// What stands between the products of a layer and the next: bias, relu, and their way back, each in one pass over the
// rows. A NaN stays one, so that a loss which went wrong is seen.
#pragma once

#include "fansite/entropy/neural/products.h"

namespace fansite::neural {

template <class Real>
void add_bias(const Real* bias, Rows<Real>& h) {
  for (Index r = 0; r < h.rows(); ++r) {
    Real* row = h.data() + r * h.cols();
    for (Index c = 0; c < h.cols(); ++c) row[c] += bias[c];
  }
}

template <class Real>
void add_bias_and_relu(const Real* bias, Rows<Real>& h) {
  for (Index r = 0; r < h.rows(); ++r) {
    Real* row = h.data() + r * h.cols();
    for (Index c = 0; c < h.cols(); ++c) {
      const Real x = row[c] + bias[c];
      row[c] = x < 0 ? Real{0} : x;
    }
  }
}

template <class Real>
void relu(const Rows<Real>& h, Rows<Real>& result) {
  result.resize(h.rows(), h.cols());
  const Real* from = h.data();
  Real* to = result.data();
  for (Index i = 0; i < h.size(); ++i) to[i] = from[i] < 0 ? Real{0} : from[i];
}

/// h + bias, and its relu beside it.
template <class Real>
void add_bias_with_relu(const Real* bias, Rows<Real>& h, Rows<Real>& result) {
  result.resize(h.rows(), h.cols());
  for (Index r = 0; r < h.rows(); ++r) {
    Real* row = h.data() + r * h.cols();
    Real* to = result.data() + r * h.cols();
    for (Index c = 0; c < h.cols(); ++c) {
      const Real x = row[c] + bias[c];
      row[c] = x;
      to[c] = x < 0 ? Real{0} : x;
    }
  }
}

/// The loss by what went into a relu, from that by what came out, in place; `after`: what came out, which is 0 where
/// dropout left it out, too. `scale`: what dropout multiplied the others by.
template <class Real>
void back_through_relu(const Rows<Real>& after, Rows<Real>& by, Real scale = 1) {
  const Real* out = after.data();
  Real* b = by.data();
  for (Index i = 0; i < by.size(); ++i) {
    const Real scaled = scale * b[i];
    b[i] = out[i] > 0 ? scaled : Real{0};
  }
}

/// The same, added to what there is.
template <class Real>
void add_back_through_relu(const Rows<Real>& after, const Rows<Real>& by, Rows<Real>& sum) {
  const Real *out = after.data(), *b = by.data();
  Real* to = sum.data();
  for (Index i = 0; i < by.size(); ++i) {
    const Real own = b[i];
    to[i] += out[i] > 0 ? own : Real{0};
  }
}

/// A bias's gradient.
template <class Real>
void add_column_sums(const Rows<Real>& by, Real* sums) {
  for (Index r = 0; r < by.rows(); ++r) {
    const Real* row = by.data() + r * by.cols();
    for (Index c = 0; c < by.cols(); ++c) sums[c] += row[c];
  }
}

}  // namespace fansite::neural
