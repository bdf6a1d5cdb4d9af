// SPDX-License-Identifier: Apache-2.0
//
// Several networks for one table. Each has a random order of the columns, which a flow's answers depend on and their
// mean hardly does; with folds, each leaves some rows out, and knows which.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fansite/entropy/flow/trainer.h"
#include "fansite/entropy/training_report.h"
#include "fansite/table/dataset.h"
#include "fansite/table/transform.h"

namespace fansite::flow {

struct EnsembleParams {
  int folds = 5;    ///< each network leaves out one of so many parts of the rows; 1: every network sees all rows
  int repeats = 2;  ///< random divisions of the rows into folds; networks = repeats × folds
  TransformKind transform = TransformKind::rank;
  bool linear = true;  ///< a linear Gaussian model of the scores counts beside the networks, as far as it has earned
  bool pilot = false;  ///< base and noise are to be chosen first (pilot.h)
  Shape shape;         ///< its variables 0: the paper's for the table's width, with …
  int blocks = 0;      ///< … so many hidden nodes of each rank; 0: as default_blocks says
  TrainParams train;
  std::uint64_t seed = 0;

  int networks() const { return repeats * folds; }
  bool operator==(const EnsembleParams&) const = default;
  static const Description& description();
};

/// A nominal variable: an indicator column for each of its levels but the first, which has most rows.
struct Factor {
  std::string name;
  std::vector<std::string> levels;  ///< the first has no column
  std::vector<int> columns;         ///< one fewer

  bool operator==(const Factor&) const = default;
};

struct Network {
  std::vector<int> order;  ///< the column at each place of the flow
  int repeat = 0;
  int fold = 0;  ///< the part of the rows that it has not seen
  Trained trained;
};

/// How much a linear Gaussian model of the scores counts beside the networks, 0 to 1: by target and by how many
/// variables are given.
struct LinearShare {
  static constexpr std::array<int, 6> kSizes = {0, 1, 2, 4, 8, 16};
  std::vector<float> share;  ///< [target][size]

  bool empty() const { return share.empty(); }
  double mean() const;  ///< NaN if empty
  /// That of the nearest size, on a scale of logarithms.
  float at(int target, std::size_t given) const;
};

/// A trained ensemble: a plain value.
struct Ensemble {
  std::vector<std::string> names;  ///< of the columns
  std::vector<Factor> factors;     ///< columns that belong together, ascending
  Index rows = 0;                  ///< of the table it was trained on
  std::uint64_t data_hash = 0;     ///< of that table's values: another table's rows were all not seen
  EnsembleParams params;
  std::vector<ColumnTransform> transforms;              ///< per column
  std::vector<std::vector<std::uint16_t>> fold_of_row;  ///< per repeat; empty when folds = 1
  std::vector<Network> networks;
  std::vector<GaussianBase> linear;  ///< per fold of the first repeat: fitted without its rows; none: networks alone
  LinearShare linear_share;

  /// Whether the network has seen this row of its own table.
  bool has_seen(const Network& network, Index row) const;

  std::vector<LossPoint> curve() const;
  std::int64_t steps() const;         ///< of training, over all networks
  std::int64_t undone_steps() const;  ///< of these taken back, because the loss was not finite
  /// A sentence about steps taken back; "" if there were none.
  std::string warning() const;
};

/// The paper's 6, and more for few variables, whose flow would else have few nodes in all.
int default_blocks(int variables);

/// Settings filled in and checked for a table of this size; throws a UsageError.
EnsembleParams complete(const EnsembleParams& params, int variables, Index rows);

/// What training all networks will take, from rates that are measured in a second.
double training_seconds(const Dataset& data, const EnsembleParams& params, const Progress& progress);

/// Trains all networks, several at a time, or one with all threads. No value may be infinite and no column constant or
/// a copy of another. Rows of a group are in the same fold, and a row counts as often as its weight says. With a
/// checkpoint path, the state is written there every few seconds, a file of the same training that is there already is
/// continued from, and at the end it holds all; the result has the same bits as without. `values_hash`: of the values,
/// if it is known already.
Ensemble train_ensemble(const Dataset& data, const EnsembleParams& params, Progress& progress,
                        const std::string& checkpoint = {}, std::optional<std::uint64_t> values_hash = {},
                        const std::vector<Factor>& factors = {});

}  // namespace fansite::flow
