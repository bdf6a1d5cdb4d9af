// SPDX-License-Identifier: Apache-2.0
//
// Total conditioning (Pellet and Elisseeff, 2008): each pair of variables given all others, from one inverse.
#pragma once

#include <vector>

#include "fansite/table/covariance.h"

namespace fansite {

struct TotalConditioning {
  Matrix correlation;   ///< of each pair given all others
  Matrix p_value;       ///< of Fisher's z with these degrees of freedom
  double freedom = 0;   ///< N − d − 1, or 1 if that is less
  bool shrunk = false;  ///< there is no inverse (N ≤ d + 1, or collinear columns): it is that with a ridge
};

/// Of these variables.
TotalConditioning total_conditioning(const Covariance& covariance, const std::vector<int>& variables, double ridge);

/// |partial correlation| given all others above which two of d variables are in each other's boundary, N rows.
double total_conditioning_threshold(int variables, double rows, double alpha);

}  // namespace fansite
