// SPDX-License-Identifier: Apache-2.0
//
// How well the networks' conditional distributions hold on rows they have not seen. If u = P(T ≤ t | S = s) under the
// right distribution, u is uniform and Φ⁻¹(u), the latent, standard normal (the probability integral transform).
#pragma once

#include <span>
#include <vector>

#include "fansite/base/progress.h"
#include "fansite/entropy/calibration.h"
#include "fansite/entropy/flow/ensemble_density.h"

namespace fansite::flow {

/// Of each target given its set, in the ensemble's columns. Row by row, u is of the mixture of the networks that have
/// not seen the row (see out_of_sample), by quadrature over values of the target within a quarter of its range beyond
/// its ends, good to 1e-3; it is kept within 1e-6 of 0 and 1, a latent of ±4.75. A target with many equal values has no
/// uniform u, whatever the distribution: leave it out (FlowEstimator::calibration does). Same bits for any number of
/// threads. It costs 100 densities for each target, row and judge: 0.6 s of one core for 30 targets, 1000 rows and 4
/// judges a row.
Calibration calibration(const EnsembleDensity& density, std::span<const EntropyQuery> queries,
                        const CalibrationParams& params, Progress& progress);

/// From the u of one target's rows.
TargetCalibration summary(int target, std::vector<double> u, int bins);

}  // namespace fansite::flow
