// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/detail/untrained.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "fansite/base/error.h"

namespace fansite::flow {
namespace {

std::vector<ColumnKind> kinds_of(const Dataset& data) {
  std::vector<ColumnKind> kinds;
  for (int j = 0; j < data.variables(); ++j) {
    const auto& declared = data.columns.empty() ? std::nullopt : data.columns[static_cast<std::size_t>(j)].kind;
    kinds.push_back(declared ? *declared : recognised_kind(data.values.col(j)));
  }
  return kinds;
}

// Every fold as many rows, or as many groups: rows that are not independent are left out together.
std::vector<std::uint16_t> folds_of(const Dataset& data, int folds, Random& random) {
  std::vector<int> unit = data.groups;
  if (unit.empty()) {
    unit.resize(static_cast<std::size_t>(data.rows()));
    std::iota(unit.begin(), unit.end(), 0);
  }
  const int units = unit.empty() ? 0 : *std::max_element(unit.begin(), unit.end()) + 1;
  check_data(units >= folds, "[flow] {} groups of rows are too few for {} folds; use fewer folds", units, folds);
  const std::vector<int> order = random.permutation(units);
  std::vector<std::uint16_t> fold_of_unit(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    fold_of_unit[static_cast<std::size_t>(order[i])] = static_cast<std::uint16_t>(i % static_cast<std::size_t>(folds));
  }
  std::vector<std::uint16_t> result;
  for (const int u : unit) result.push_back(fold_of_unit[static_cast<std::size_t>(u)]);
  return result;
}

}  // namespace

Ensemble untrained(const Dataset& data, const EnsembleParams& params, std::uint64_t values_hash,
                   const std::vector<Factor>& factors) {
  Ensemble ensemble;
  ensemble.names = data.names;
  ensemble.factors = factors;
  ensemble.rows = data.rows();
  ensemble.data_hash = values_hash;
  ensemble.params = params;
  // Fitted to all rows, those left out by a network too: a map of a single column tells nothing about other columns.
  ensemble.transforms = fit_transforms(params.transform, data.values, kinds_of(data));
  const Key key{params.seed};
  for (int repeat = 0; repeat < params.repeats; ++repeat) {
    if (params.folds > 1) {
      Random random(key.split(kFoldStream).split(static_cast<std::uint64_t>(repeat)));
      ensemble.fold_of_row.push_back(folds_of(data, params.folds, random));
    }
    for (int fold = 0; fold < params.folds; ++fold) {
      Network& network = ensemble.networks.emplace_back();
      network.order = Random(key.split(kOrderStream).split(ensemble.networks.size() - 1)).permutation(data.variables());
      network.repeat = repeat;
      network.fold = fold;
    }
  }
  return ensemble;
}

std::vector<int> rows_to_train_on(const Ensemble& ensemble, const Network& network) {
  std::vector<int> rows;
  for (Index row = 0; row < ensemble.rows; ++row) {
    if (ensemble.params.folds == 1 || ensemble.has_seen(network, row)) rows.push_back(static_cast<int>(row));
  }
  return rows;
}

}  // namespace fansite::flow
