// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/pilot.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fansite/base/parallel.h"
#include "fansite/entropy/flow/cells.h"
#include "fansite/entropy/flow/detail/untrained.h"
#include "fansite/entropy/flow/device_training.h"
#include "fansite/entropy/flow/ensemble_density.h"

namespace fansite::flow {
namespace {

constexpr std::int64_t kPilotSteps = 4000;
constexpr std::size_t kQuestions = 200;  // targets with sets
constexpr int kLargestSet = 6;

struct Way {
  BaseKind base;
  double noise;
};

std::vector<Way> ways_to_try(Index rows) {
  const double noise = noise_to_try(rows);
  return {{BaseKind::none, 0}, {BaseKind::gaussian, 0}, {BaseKind::gaussian, noise}};
}

int pilot_networks(const EnsembleParams& params) { return std::min(params.repeats > 1 ? 2 : 1, params.networks()); }

std::vector<EntropyQuery> random_questions(const EnsembleDensity& density, Random random) {
  std::vector<int> variables;
  for (int j = 0; j < static_cast<int>(density.values().cols()); ++j) {
    if (!density.columns(j).empty()) variables.push_back(j);
  }
  std::vector<EntropyQuery> questions;
  const int most = std::min(kLargestSet, static_cast<int>(variables.size()) - 1);
  while (questions.size() < kQuestions && most > 0) {
    const std::vector<int> order = random.permutation(static_cast<int>(variables.size()));
    EntropyQuery& question = questions.emplace_back();
    question.target = variables[static_cast<std::size_t>(order.front())];
    const int size = 1 + static_cast<int>(random.below(static_cast<std::uint32_t>(most)));
    for (int k = 1; k <= size; ++k) {
      question.given.push_back(variables[static_cast<std::size_t>(order[static_cast<std::size_t>(k)])]);
    }
  }
  return questions;
}

// The mean log density of the rows that each network left out.
double held_out_likelihood(const EnsembleDensity& density, Key key) {
  const std::vector<EntropyQuery> questions = random_questions(density, Random(key));
  double sum = 0, count = 0;
  for (const EnsembleDensity::Part& part : density.parts()) {
    std::vector<Subset> subsets;
    for (const EntropyQuery& question : questions) {
      std::vector<int> with_target = question.given;
      with_target.push_back(question.target);
      const Subset given = part.places(question.given), both = part.places(with_target);
      if (static_cast<int>(both.size()) > part.density->largest_subset()) continue;
      subsets.push_back(given);
      subsets.push_back(both);
    }
    const Eigen::MatrixXf log_density = part.density->log_density(part.unseen_table, subsets);
    for (Index q = 0; q + 1 < log_density.cols(); q += 2) {
      for (Index i = 0; i < log_density.rows(); ++i) {
        const double l = static_cast<double>(log_density(i, q + 1)) - static_cast<double>(log_density(i, q));
        if (std::isnan(l)) continue;
        sum += l;
        ++count;
      }
    }
  }
  return count > 0 ? sum / count : 0;
}

// All trials side by side; false: there is no device, or it has failed.
template <class Begin, class TableOf, class NetworkOf>
bool trained_on_device(std::size_t trials, const Begin& begin, const TableOf& table_of, const NetworkOf& network_of,
                       Progress& progress) {
  const Accelerator* device = accelerator();
  if (device == nullptr) return false;
  std::vector<RowCellTable> tables;
  std::vector<Training> begun;
  tables.reserve(trials);
  for (std::size_t trial = 0; trial < trials; ++trial) {
    begun.push_back(begin(trial, tables.emplace_back(table_of(trial))));
  }
  std::vector<Training*> trainings;
  for (Training& training : begun) trainings.push_back(&training);
  try {
    train_together(trainings, *device, progress);
  } catch (const DeviceError& error) {
    give_up_device(error);
    return false;
  }
  for (std::size_t trial = 0; trial < trials; ++trial) network_of(trial).trained = begun[trial].result();
  return true;
}

}  // namespace

double noise_to_try(Index rows) {
  return std::min(0.25, 0.2 * std::cbrt(500 / static_cast<double>(std::max<Index>(rows, 1))));
}

std::int64_t pilot_steps(const EnsembleParams& params) {
  return static_cast<std::int64_t>(ways_to_try(1).size()) * pilot_networks(params) * pilot_length(params);
}

std::int64_t pilot_length(const EnsembleParams& params) {
  return params.pilot && params.folds >= 2 ? std::min(kPilotSteps, params.train.steps) : 0;
}

EnsembleParams chosen_by_pilot(const Dataset& data, EnsembleParams params, const std::vector<Factor>& factors,
                               std::uint64_t values_hash, Progress& progress) {
  const bool wanted = std::exchange(params.pilot, false);
  if (!wanted || params.folds < 2) return params;
  EnsembleParams settings = complete(params, data.variables(), data.rows());
  settings.train.steps = std::min(kPilotSteps, settings.train.steps);
  const std::vector<Way> ways = ways_to_try(data.rows());
  const auto networks = static_cast<std::size_t>(pilot_networks(params));
  Ensemble ensemble = untrained(data, settings, values_hash, factors);
  const std::vector<Network> waiting(ensemble.networks.begin(),
                                     ensemble.networks.begin() + static_cast<std::ptrdiff_t>(networks));
  const CellTable cells = cells_of(ensemble, data.values);
  const Vector* weights = data.weights.size() > 0 ? &data.weights : nullptr;
  std::vector<std::vector<Network>> trained(ways.size(), waiting);
  const std::size_t trials = ways.size() * networks;
  progress.begin("trying", static_cast<long>(settings.train.steps) * static_cast<long>(trials));
  const auto trial_network = [&](std::size_t trial) -> Network& { return trained[trial / networks][trial % networks]; };
  const auto begin = [&](std::size_t trial, const RowCellTable& table) {
    const Network& network = trial_network(trial);
    const Way& way = ways[trial / networks];
    TrainParams train = settings.train;
    train.base = way.base;
    train.noise = way.noise;
    // The same key for every way, so that they differ in nothing else.
    return Training(table.view(weights, variables_of(ensemble, network)), rows_to_train_on(ensemble, network),
                    settings.shape, train, Key{settings.seed}.split(kTrainingStream).split(trial % networks));
  };
  const auto table_of = [&](std::size_t trial) {
    return RowCellTable(cells, ensemble.transforms, trial_network(trial).order);
  };
  if (!trained_on_device(trials, begin, table_of, trial_network, progress)) {
    parallel_for(static_cast<std::ptrdiff_t>(trials), [&](std::ptrdiff_t i) {
      const auto trial = static_cast<std::size_t>(i);
      const RowCellTable table = table_of(trial);
      Training training = begin(trial, table);
      run_to_end(training, progress);
      trial_network(trial).trained = training.result();
    });
  }
  std::size_t best = 0;
  double most = 0;
  for (std::size_t way = 0; way < ways.size(); ++way) {
    ensemble.networks = std::move(trained[way]);
    const EnsembleDensity density(ensemble, data.values, ensemble.data_hash);
    const double likelihood = held_out_likelihood(density, Key{settings.seed}.split(kOrderStream));
    if (way > 0 && likelihood <= most) continue;
    best = way;
    most = likelihood;
  }
  params.train.base = ways[best].base;
  params.train.noise = ways[best].noise;
  return params;
}

}  // namespace fansite::flow
