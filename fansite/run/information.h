// SPDX-License-Identifier: Apache-2.0
//
// How uncertain one variable is, given others, and what each of them tells: the one call behind `fansite entropy`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fansite/entropy/entropy.h"
#include "fansite/entropy/flow/ensemble.h"
#include "fansite/entropy/flow/model_file.h"
#include "fansite/table/dataset.h"

namespace fansite {

struct InformationParams {
  std::string target;
  std::vector<std::string> given;
  EstimatorKind estimator = EstimatorKind::flow;  ///< gaussian or flow
  flow::EnsembleParams flow;
  flow::ModelFiles files;
};

struct InformationResult {
  std::string target;
  Index rows = 0;
  InformationParams params;
  std::uint64_t data_hash = 0;              ///< of the table
  std::optional<std::uint64_t> model_hash;  ///< of the model that was given
  EntropyEstimate entropy;                  ///< H(T)
  EntropyEstimate conditional_entropy;      ///< H(T | given)
  EntropyEstimate information;              ///< I(T; given)
  struct Added {
    std::string variable;
    EntropyEstimate information;  ///< I(T; it | the other given variables)
  };
  std::vector<Added> added;    ///< in the order given
  bool original_scale = true;  ///< entropies are on the target's own scale, else on that of its normal scores
  bool out_of_sample = false;  ///< flow: each row was judged by networks that had not seen it
  int members = 0;             ///< flow: networks
  long steps = 0;              ///< flow: training steps, over all members
  long undone_steps = 0;       ///< flow: of these taken back, because the loss was not finite
  std::vector<std::string> warnings;
  double train_seconds = 0;
  double query_seconds = 0;
};

/// Throws a DataError when the table allows no answer, a UsageError for unknown names.
InformationResult information(const Dataset& data, const InformationParams& params, Progress& progress);

}  // namespace fansite
