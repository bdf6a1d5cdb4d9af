// SPDX-License-Identifier: Apache-2.0
//
// An ensemble before its networks are trained: folds, orders of the columns, transforms.
#pragma once

#include <cstdint>
#include <vector>

#include "fansite/entropy/flow/ensemble.h"

namespace fansite::flow {

/// Streams of the ensemble's key.
enum Stream : std::uint64_t { kFoldStream, kOrderStream, kTrainingStream };

/// `params` as complete() returns them.
Ensemble untrained(const Dataset& data, const EnsembleParams& params, std::uint64_t values_hash,
                   const std::vector<Factor>& factors = {});

/// Of the network's places, the first of each variable; empty if every column is one.
std::vector<int> variables_of(const Ensemble& ensemble, const Network& network);

/// The rows that a network learns from.
std::vector<int> rows_to_train_on(const Ensemble& ensemble, const Network& network);

}  // namespace fansite::flow
