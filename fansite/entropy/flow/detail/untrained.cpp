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

// Later columns of factors.
std::vector<char> later_columns(const Ensemble& ensemble) {
  std::vector<char> later(ensemble.names.size(), 0);
  for (const Factor& factor : ensemble.factors) {
    for (std::size_t c = 1; c < factor.columns.size(); ++c) later[static_cast<std::size_t>(factor.columns[c])] = 1;
  }
  return later;
}

// A random order of the variables, the columns of each side by side.
std::vector<int> random_order(const Ensemble& ensemble, Random random) {
  std::vector<int> first;
  const std::vector<char> later = later_columns(ensemble);
  for (std::size_t j = 0; j < later.size(); ++j) {
    if (later[j] == 0) first.push_back(static_cast<int>(j));
  }
  std::vector<int> order;
  for (const int v : random.permutation(static_cast<int>(first.size()))) {
    const int column = first[static_cast<std::size_t>(v)];
    const auto factor = std::find_if(ensemble.factors.begin(), ensemble.factors.end(),
                                     [&](const Factor& f) { return f.columns.front() == column; });
    if (factor == ensemble.factors.end()) {
      order.push_back(column);
    } else {
      order.insert(order.end(), factor->columns.begin(), factor->columns.end());
    }
  }
  return order;
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
      network.order = random_order(ensemble, Random(key.split(kOrderStream).split(ensemble.networks.size() - 1)));
      network.repeat = repeat;
      network.fold = fold;
    }
  }
  return ensemble;
}

std::vector<int> variables_of(const Ensemble& ensemble, const Network& network) {
  if (ensemble.factors.empty()) return {};
  const std::vector<char> later = later_columns(ensemble);
  std::vector<int> first;
  for (std::size_t place = 0; place < network.order.size(); ++place) {
    if (later[static_cast<std::size_t>(network.order[place])] == 0) first.push_back(static_cast<int>(place));
  }
  return first;
}

std::vector<int> rows_to_train_on(const Ensemble& ensemble, const Network& network) {
  std::vector<int> rows;
  for (Index row = 0; row < ensemble.rows; ++row) {
    if (ensemble.params.folds == 1 || ensemble.has_seen(network, row)) rows.push_back(static_cast<int>(row));
  }
  return rows;
}

}  // namespace fansite::flow
