// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/neural/ensemble.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/base/stopwatch.h"
#include "fansite/base/text.h"
#include "fansite/entropy/flow/cells.h"
#include "fansite/entropy/flow/detail/untrained.h"
#include "fansite/entropy/neural/model_file.h"

namespace fansite::neural {
namespace {

flow::Ensemble frame_of(const Dataset& data, const Recipe& recipe, std::uint64_t values_hash) {
  flow::EnsembleParams params;
  params.folds = recipe.networks.folds;
  params.repeats = recipe.networks.repeats;
  params.transform = recipe.networks.transform;
  params.linear = false;
  params.seed = recipe.seed;
  flow::Ensemble frame =
      untrained(data, complete(params, data.variables(), data.rows()), values_hash);  // its shape stands for none
  std::vector<std::string> coarse;
  for (std::size_t j = 0; j < frame.names.size(); ++j) {
    if (frame.transforms[j].has_intervals()) coarse.push_back(frame.names[j]);
  }
  check_data(coarse.empty(),
             "[{}] values of column{} {} repeat, and {} knows densities of continuous numbers only: leave such columns "
             "out, or use --estimator flow.",
             recipe.name, coarse.size() == 1 ? "" : "s", quoted_list(coarse), recipe.name);
  return frame;
}

// The cells of one network, in its order.
struct NetworkRows {
  NetworkRows(const flow::Ensemble& frame, const flow::CellTable& cells, std::size_t m)
      : table(cells, frame.transforms, frame.networks[m].order), rows(rows_to_train_on(frame, frame.networks[m])) {}
  flow::RowCellTable table;
  std::vector<int> rows;
};

Key key_of(const Recipe& recipe, std::size_t m) { return Key{recipe.seed}.split(flow::kTrainingStream).split(m); }

}  // namespace

const Description& NetworksParams::description() {
  using P = NetworksParams;
  static const Description list =
      Describe<P>()
          .field("folds", &P::folds, "each network leaves one of so many parts of the rows out", from_to(1, 1000))
          .field("repeats", &P::repeats, "networks for each part of the rows, each with a column order of its own",
                 from_to(1, 10000))
          .field("transform", &P::transform, "of each column: rank (normal scores), standardise or none")
          .done();
  return list;
}

flow::Judges NetworkEnsemble::judges(const SubsetNetwork<float>& network) const {
  flow::Judges judges{.names = frame.names,
                      .factors = {},
                      .rows = frame.rows,
                      .data_hash = frame.data_hash,
                      .folds = frame.params.folds,
                      .repeats = frame.params.repeats,
                      .transforms = frame.transforms,
                      .fold_of_row = frame.fold_of_row,
                      .networks = {},
                      .linear = {},
                      .linear_share = {}};
  for (std::size_t m = 0; m < networks.size(); ++m) {
    const flow::Network& own = frame.networks[m];
    judges.networks.push_back({own.order, own.repeat, own.fold, network.density(networks[m].parameters)});
  }
  return judges;
}

std::vector<LossPoint> NetworkEnsemble::curve() const {
  flow::Ensemble all;
  for (const TrainedNetwork& network : networks) all.networks.emplace_back().trained.curve = network.curve;
  return all.curve();
}

std::int64_t NetworkEnsemble::steps() const {
  std::int64_t sum = 0;
  for (const TrainedNetwork& network : networks) sum += network.steps;
  return sum;
}

std::int64_t NetworkEnsemble::undone_steps() const {
  std::int64_t sum = 0;
  for (const TrainedNetwork& network : networks) sum += network.undone_steps;
  return sum;
}

NetworkEnsemble train_ensemble(const Dataset& data, const Recipe& recipe, std::uint64_t values_hash, Progress& progress,
                               const std::string& checkpoint) {
  NetworkEnsemble ensemble{frame_of(data, recipe, values_hash), {}};
  const std::size_t count = ensemble.frame.networks.size();
  ensemble.networks.resize(count);
  const std::unique_ptr<SubsetNetwork<float>> network = recipe.network(data.variables());
  const flow::CellTable cells = cells_of(ensemble.frame, data.values);
  const Vector* weights = data.weights.size() > 0 ? &data.weights : nullptr;
  const std::unique_ptr<TrainingFile> file =
      checkpoint.empty() ? nullptr
                         : std::make_unique<TrainingFile>(
                               checkpoint, identity_of(data.values, recipe.name + " " + recipe.settings, values_hash));
  NetworksUnderWay kept{std::vector<std::optional<TrainedNetwork>>(count),
                        std::vector<std::optional<NetworkTraining::State>>(count)};
  if (file != nullptr) {
    if (std::optional<NetworksUnderWay> before = file->load(count)) kept = std::move(*before);
  }
  std::mutex lock;
  progress.begin("training", static_cast<long>(recipe.train.steps) * static_cast<long>(count));
  const auto steps_of = [](const NetworkTraining& training) { return static_cast<long>(training.steps()); };
  const auto train = [&](std::size_t m) {
    const auto all = static_cast<long>(recipe.train.steps);
    if (kept.finished[m]) {
      progress.already_done(all);
      return;
    }
    const NetworkRows own(ensemble.frame, cells, m);
    NetworkTraining training(own.table.view(weights), own.rows, *network, recipe.train, key_of(recipe, m));
    if (kept.under_way[m]) {
      try {
        training.restore(std::move(*kept.under_way[m]));
      } catch (const UsageError&) {
        file->damaged("the state of a network is not of its shape");
      }
    }
    long reported = steps_of(training);
    progress.already_done(reported);
    constexpr std::int64_t kReport = 20;  // steps
    Stopwatch taken_over;                 // since this network's state was
    while (!training.finished()) {
      const bool interrupted = progress.interrupted();
      if (file != nullptr && (interrupted || taken_over.seconds() >= 1)) {
        const std::lock_guard guard(lock);
        kept.under_way[m] = training.state();
        taken_over.lap();
        if (interrupted || file->due()) file->write(kept);
      }
      if (interrupted) throw Interrupted("interrupted");
      training.advance(kReport);
      progress.advance(steps_of(training) - std::exchange(reported, steps_of(training)));
    }
    progress.advance(all - reported);
    const std::lock_guard guard(lock);
    kept.finished[m] = training.result();
    kept.under_way[m].reset();
  };
  parallel_for(static_cast<std::ptrdiff_t>(count), [&](std::ptrdiff_t m) { train(static_cast<std::size_t>(m)); });
  if (file != nullptr) file->write(kept);
  for (std::size_t m = 0; m < count; ++m) ensemble.networks[m] = std::move(*kept.finished[m]);
  return ensemble;
}

double training_seconds(const Dataset& data, const Recipe& recipe, const Progress& progress) {
  constexpr double kMeasure = 0.5;  // seconds
  const flow::Ensemble frame = frame_of(data, recipe, 0);
  const flow::CellTable cells = cells_of(frame, data.values);
  const std::unique_ptr<SubsetNetwork<float>> network = recipe.network(data.variables());
  const int at_once = std::min(thread_count(), static_cast<int>(frame.networks.size()));
  NetworkTrainParams endless = recipe.train;
  endless.steps = std::int64_t{1} << 40;
  endless.patience = 0;
  std::vector<double> rates(static_cast<std::size_t>(at_once), 0.0);
  parallel_for(at_once, [&](std::ptrdiff_t i) {
    const auto m = static_cast<std::size_t>(i);
    const NetworkRows own(frame, cells, m);
    NetworkTraining training(own.table.view(nullptr), own.rows, *network, endless, key_of(recipe, m));
    training.advance(1);  // pages and caches
    const Stopwatch watch;
    std::int64_t steps = 0;
    for (; watch.seconds() < kMeasure; ++steps) {
      throw_if_interrupted(progress);
      training.advance(1);
    }
    rates[m] = static_cast<double>(steps) / watch.seconds();
  });
  const double rate = std::accumulate(rates.begin(), rates.end(), 0.0);
  return static_cast<double>(recipe.train.steps) * static_cast<double>(frame.networks.size()) / rate;
}

}  // namespace fansite::neural
