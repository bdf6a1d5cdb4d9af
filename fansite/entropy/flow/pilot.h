// SPDX-License-Identifier: Apache-2.0
//
// Which way of training suits a table? A base below the flow, and noise on the rows, help where rows are few and
// relations smooth, and harm where columns nearly determine each other. So each way is tried on part of the rows, and
// the one that makes the rows left out most likely is taken.
#pragma once

#include "fansite/base/progress.h"
#include "fansite/entropy/flow/ensemble.h"

namespace fansite::flow {

/// Noise that is worth trying for so many rows: half of what a kernel estimate of a density would smooth by, or so.
double noise_to_try(Index rows);

/// What the trials take in all, and one after the other if they are side by side.
std::int64_t pilot_steps(const EnsembleParams& params);
std::int64_t pilot_length(const EnsembleParams& params);

/// The parameters with base and noise chosen, if a pilot is asked for; else as they are. Tried are no base, a Gaussian
/// base, and that with noise, each with one network (two if there are repeats) of kPilotSteps at most. Judged by the
/// conditional densities of random targets given few others, which is what searches ask about.
/// `values_hash`: of the data's values.
EnsembleParams chosen_by_pilot(const Dataset& data, EnsembleParams params, const std::vector<Factor>& factors,
                               std::uint64_t values_hash, Progress& progress);

}  // namespace fansite::flow
