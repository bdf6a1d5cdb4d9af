// SPDX-License-Identifier: Apache-2.0
//
// How well conditional distributions hold on rows that were not learnt from: a plain value for results.
#pragma once

#include <vector>

#include "fansite/base/matrix.h"

namespace fansite {

struct CalibrationParams {
  Index max_rows = 1000;  ///< evenly spread over the table
  int bins = 20;          ///< of the histograms of u
};

struct TargetCalibration {
  int target = 0;
  std::vector<double> pit;  ///< the share of rows whose u falls in each bin: 1/bins if the distribution is right
  double ks = 0;            ///< Kolmogorov–Smirnov: the largest distance from the uniform distribution function
  double p_value = 1;       ///< of that (Stephens 1970)
  double latent_mean = 0;   ///< 0, 1, 0, 0 if it is right; a spread below 1 says that it is too wide
  double latent_sd = 0;
  double latent_skewness = 0;
  double latent_kurtosis = 0;  ///< excess
};

struct Calibration {
  Index rows = 0;           ///< used
  int bins = 0;             ///< of each histogram
  std::vector<double> pit;  ///< over all targets
  std::vector<TargetCalibration> targets;
};

}  // namespace fansite
