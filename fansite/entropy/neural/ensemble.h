// SPDX-License-Identifier: Apache-2.0
//
// Several networks of one kind for one table, as flow/ensemble.h has them: each with a random order of the columns, and
// with folds each leaves some rows out, so that searches, tests of pairs and calibration are those of flows.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fansite/entropy/flow/ensemble.h"
#include "fansite/entropy/flow/ensemble_density.h"
#include "fansite/entropy/neural/training.h"

namespace fansite::neural {

/// What the parameters of every such estimator begin with.
struct NetworksParams {
  int folds = 5;    ///< each network leaves out one of so many parts of the rows; 1: every network sees all rows
  int repeats = 1;  ///< random divisions of the rows into folds; networks = repeats × folds
  TransformKind transform = TransformKind::rank;

  bool operator==(const NetworksParams&) const = default;
  static const Description& description();
};

/// How the networks of a table are made, from the parameters of their estimator.
struct Recipe {
  std::string name;      ///< of the estimator, and …
  std::string settings;  ///< … its parameters in words: equal if the networks must be
  NetworksParams networks;
  NetworkTrainParams train;
  std::uint64_t seed = 0;
  std::function<std::unique_ptr<SubsetNetwork<float>>(int variables)> network;
};

struct NetworkEnsemble {
  flow::Ensemble frame;  ///< names, folds, orders and transforms; its flows are not trained
  std::vector<TrainedNetwork> networks;

  flow::Judges judges(const SubsetNetwork<float>& network) const;
  std::vector<LossPoint> curve() const;
  std::int64_t steps() const;
  std::int64_t undone_steps() const;
};

/// Trains all networks, several at a time. A DataError for a column whose values repeat, which these networks would
/// learn as infinite densities. With a checkpoint path the state is kept there and continued from, with the same bits.
NetworkEnsemble train_ensemble(const Dataset& data, const Recipe& recipe, std::uint64_t values_hash, Progress& progress,
                               const std::string& checkpoint = {});

/// What training them will take, from a rate that is measured in half a second.
double training_seconds(const Dataset& data, const Recipe& recipe, const Progress& progress);

}  // namespace fansite::neural
