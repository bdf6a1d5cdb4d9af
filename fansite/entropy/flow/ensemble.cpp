// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/ensemble.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <tuple>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/base/stopwatch.h"
#include "fansite/entropy/flow/accelerator.h"
#include "fansite/entropy/flow/cells.h"
#include "fansite/entropy/flow/detail/untrained.h"
#include "fansite/entropy/flow/device_training.h"
#include "fansite/entropy/flow/ensemble_density.h"
#include "fansite/entropy/flow/model_file.h"
#include "fansite/entropy/flow/pilot.h"

namespace fansite::flow {
namespace {

// Keeps the file that an interrupted training continues from.
class CheckpointKeeper {
 public:
  CheckpointKeeper(Checkpoint& checkpoint, std::string path)
      : checkpoint_(checkpoint), path_(std::move(path)), kept_(checkpoint.under_way.size()) {}

  void under_way(std::size_t network, const Training& training) {
    if (path_.empty()) return;
    const std::lock_guard lock(lock_);
    if (kept_[network].seconds() < wait_) return;
    checkpoint_.under_way[network] = training.state();
    kept_[network].lap();
    if (written_.seconds() >= wait_) write();
  }

  // Networks on a device, all at once; `written`: whatever the time.
  void under_way(const std::vector<std::size_t>& networks, const std::vector<Training*>& trainings, bool written) {
    const std::lock_guard lock(lock_);
    for (std::size_t i = 0; i < networks.size(); ++i) checkpoint_.under_way[networks[i]] = trainings[i]->state();
    if (!path_.empty() && (written || written_.seconds() >= wait_)) write();
  }

  // The last of it.
  void interrupted(std::size_t network, const Training& training) {
    if (path_.empty()) return;
    const std::lock_guard lock(lock_);
    checkpoint_.under_way[network] = training.state();
    write();
  }

  void finished(std::size_t network, Trained trained) {
    const std::lock_guard lock(lock_);
    checkpoint_.ensemble.networks[network].trained = std::move(trained);
    checkpoint_.under_way[network].reset();
    complete_ = false;
    if (!path_.empty() && written_.seconds() >= wait_) write();
  }

  // The whole ensemble, unless it is there already.
  void ended() {
    if (!path_.empty() && !complete_) write();
  }

 private:
  void write() {
    written_.lap();
    save_checkpoint(checkpoint_, path_);
    wait_ = std::max(1.0, 30 * written_.lap());  // a thirtieth of the time at most
    complete_ = true;
  }

  Checkpoint& checkpoint_;
  std::string path_;
  std::mutex lock_;
  std::vector<Stopwatch> kept_;  // since each network's state was last taken over
  Stopwatch written_;            // since the file was
  double wait_ = 1;              // seconds
  bool complete_ = true;         // the file has every network that has ended
};

// Takes over the networks of a file of the same training.
void resume(Checkpoint& fresh, const std::string& path) {
  if (path.empty() || !std::filesystem::exists(path)) return;
  Checkpoint saved = load_checkpoint(path);
  const Ensemble& a = fresh.ensemble;
  const Ensemble& b = saved.ensemble;
  check(a.names == b.names && a.rows == b.rows && a.data_hash == b.data_hash,
        "[train] {} is the checkpoint of another table; delete it or choose another path", path);
  check(a.params == b.params,
        "[train] {} is the checkpoint of a training with other settings; delete it or choose "
        "another path",
        path);
  fresh = std::move(saved);
}

}  // namespace

double LinearShare::mean() const {
  const double sum = std::accumulate(share.begin(), share.end(), 0.0);
  return empty() ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(share.size());
}

float LinearShare::at(int target, std::size_t given) const {
  std::size_t nearest = 0;
  const auto distance = [&](std::size_t s) {
    return std::abs(std::log((1.0 + kSizes[s]) / (1.0 + static_cast<double>(given))));
  };
  for (std::size_t s = 1; s < kSizes.size(); ++s) {
    if (distance(s) < distance(nearest)) nearest = s;
  }
  return share[static_cast<std::size_t>(target) * kSizes.size() + nearest];
}

bool Ensemble::has_seen(const Network& network, Index row) const {
  return params.folds == 1 ||
         fold_of_row[static_cast<std::size_t>(network.repeat)][static_cast<std::size_t>(row)] != network.fold;
}

std::vector<LossPoint> Ensemble::curve() const {
  std::map<std::int64_t, std::vector<CurvePoint>> points;
  for (const Network& network : networks) {
    for (const CurvePoint& point : network.trained.curve) points[point.step].push_back(point);
  }
  const auto mean_and_sd = [](const std::vector<CurvePoint>& at, double CurvePoint::*loss) {
    double sum = 0, squares = 0;
    for (const CurvePoint& point : at) sum += point.*loss;
    const double mean = sum / static_cast<double>(at.size());
    for (const CurvePoint& point : at) squares += (point.*loss - mean) * (point.*loss - mean);
    return std::pair(mean, at.size() > 1 ? std::sqrt(squares / static_cast<double>(at.size() - 1)) : 0.0);
  };
  std::vector<LossPoint> result;
  for (const auto& [step, at] : points) {
    LossPoint& point = result.emplace_back();
    point.step = step;
    std::tie(point.training, point.training_sd) = mean_and_sd(at, &CurvePoint::training);
    std::tie(point.held_out, point.held_out_sd) = mean_and_sd(at, &CurvePoint::held_out);
  }
  return result;
}

std::int64_t Ensemble::steps() const {
  std::int64_t sum = 0;
  for (const Network& network : networks) sum += network.trained.steps;
  return sum;
}

std::int64_t Ensemble::undone_steps() const {
  std::int64_t sum = 0;
  for (const Network& network : networks) sum += network.trained.undone_steps;
  return sum;
}

std::string Ensemble::warning() const {
  if (undone_steps() == 0) return "";
  return fmt::format(
      "[train] {} of {} steps were taken back because the loss was not finite; is there an absurd value in the data?",
      undone_steps(), steps());
}

int default_blocks(int variables) { return variables <= 5 ? 24 : variables <= 12 ? 12 : 6; }

const Description& EnsembleParams::description() {
  using P = EnsembleParams;
  static const Description list =
      Describe<P>()
          .field("folds", &P::folds, "each network leaves one of so many parts of the rows out", from_to(1, 1000))
          .field("repeats", &P::repeats, "networks for each part of the rows, each with a column order of its own",
                 from_to(1, 10000))
          .field("transform", &P::transform, "of each column: rank (normal scores), standardise or none")
          .field("linear", &P::linear, "let a linear model of normal scores count too, as held-out rows say")
          .field("pilot", &P::pilot, "try base and noise on some of the rows first, and take what suits those left out")
          .field("blocks", &P::blocks, "hidden nodes of each rank; 0: 6, more for few variables", at_least(0))
          .part(&P::train, TrainParams::description())
          .done();
  return list;
}

EnsembleParams complete(const EnsembleParams& params, int variables, Index rows) {
  EnsembleParams p = params;
  if (p.shape.variables == 0) {
    p.shape = paper_shape(variables);
    p.shape.blocks = p.blocks > 0 ? p.blocks : default_blocks(variables);
  }
  p.blocks = 0;     // the shape says it now
  p.pilot = false;  // what is trained has been chosen
  check(p.shape.variables == variables, "[flow] a shape of {} variables for a table of {}", p.shape.variables,
        variables);
  fansite::validate(p);
  check_data(rows >= 2 * Index{p.folds}, "[flow] {} rows are too few for {} folds; use fewer folds or more rows", rows,
             p.folds);
  validate(p.train, p.shape);
  p.train = complete(p.train, p.shape);
  return p;
}

namespace {

// The linear Gaussian models of the scores, and what they count beside the networks.
void add_linear(Ensemble& ensemble, const Dataset& data, const CellTable& cells) {
  // A checkpoint may have them already. Where every network has seen every row there is nothing to weigh them by.
  if (!ensemble.linear.empty() || ensemble.params.folds == 1 || !ensemble.params.linear) return;
  const RowTable scores = cells.score;
  const int folds = ensemble.params.folds;
  for (int fold = 0; fold < folds; ++fold) {
    std::vector<int> rows;
    for (Index row = 0; row < ensemble.rows; ++row) {
      if (folds == 1 || ensemble.fold_of_row.front()[static_cast<std::size_t>(row)] != fold) {
        rows.push_back(static_cast<int>(row));
      }
    }
    ensemble.linear.push_back(GaussianBase(scores, rows));
  }
  ensemble.linear_share = stacked_share(EnsembleDensity(ensemble, data.values, ensemble.data_hash));
}

// Networks side by side, which costs no synchronisation; a last one alone gets all the threads.
struct Shifts {
  int together = 0;
  bool last_alone = false;

  explicit Shifts(std::size_t networks) {
    const auto threads = static_cast<std::size_t>(thread_count());
    last_alone = threads > 1 && networks % threads == 1;
    together = static_cast<int>(networks) - (last_alone ? 1 : 0);
  }
};

// Steps a second of so many networks side by side, or of one with a team.
double steps_per_second(const Ensemble& ensemble, const CellTable& cells, int at_once, Team* team,
                        const Progress& progress) {
  constexpr double kMeasure = 0.4;  // seconds
  std::vector<double> rates(static_cast<std::size_t>(at_once), 0.0);
  parallel_for(at_once, [&](std::ptrdiff_t i) {
    const Network& network = ensemble.networks[static_cast<std::size_t>(i)];
    const RowCellTable table(cells, ensemble.transforms, network.order);
    const std::vector<int> rows = rows_to_train_on(ensemble, network);
    TrainParams endless = ensemble.params.train;
    endless.steps = std::int64_t{1} << 40;
    Training training(table.view(nullptr), rows, ensemble.params.shape, endless, Key{static_cast<std::uint64_t>(i)},
                      team);
    training.advance(2);  // pages and caches
    const Stopwatch watch;
    std::int64_t steps = 0;
    for (; watch.seconds() < kMeasure; steps += 5) {
      throw_if_interrupted(progress);
      training.advance(5);
    }
    rates[static_cast<std::size_t>(i)] = static_cast<double>(steps) / watch.seconds();
  });
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

// Steps a second of all networks on a device.
double steps_per_second(const Ensemble& ensemble, const CellTable& cells, const Accelerator& device,
                        const Progress& progress) {
  constexpr double kMeasure = 0.4;  // seconds
  std::vector<RowCellTable> tables;
  std::vector<Training> begun;
  std::vector<Training*> trainings;
  tables.reserve(ensemble.networks.size());
  begun.reserve(ensemble.networks.size());
  TrainParams endless = ensemble.params.train;
  endless.steps = std::int64_t{1} << 40;
  for (const Network& network : ensemble.networks) {
    tables.emplace_back(cells, ensemble.transforms, network.order);
    begun.emplace_back(tables.back().view(nullptr), rows_to_train_on(ensemble, network), ensemble.params.shape, endless,
                       Key{begun.size()});
    trainings.push_back(&begun.back());
  }
  DeviceTrainer trainer(trainings, device);
  trainer.advance(10);  // caches
  const Stopwatch watch;
  std::int64_t taken = 0;
  while (watch.seconds() < kMeasure) {
    throw_if_interrupted(progress);
    taken += trainer.advance(50);
  }
  return static_cast<double>(taken) / watch.seconds();
}

}  // namespace

double training_seconds(const Dataset& data, const EnsembleParams& params, const Progress& progress) {
  const EnsembleParams settings = complete(params, data.variables(), data.rows());
  const Ensemble ensemble = untrained(data, settings, 0);  // which table it is does not matter here
  const CellTable cells = cells_of(ensemble, data.values);
  const Shifts shifts(ensemble.networks.size());
  const auto steps = static_cast<double>(settings.train.steps);
  const auto all = static_cast<double>(settings.train.steps * settings.networks());
  const double with_pilot = 1 + static_cast<double>(pilot_steps(params)) / all;
  if (const Accelerator* device = accelerator()) {
    try {  // few networks take as long there as all
      const double rounds = steps + static_cast<double>(pilot_length(params));
      return rounds * settings.networks() / steps_per_second(ensemble, cells, *device, progress);
    } catch (const DeviceError& error) {
      give_up_device(error);
    }
  }
  double seconds = 0;
  if (shifts.together > 0) {
    const int at_once = std::min(thread_count(), shifts.together);
    const int rounds = (shifts.together + at_once - 1) / at_once;
    seconds += rounds * at_once * steps / steps_per_second(ensemble, cells, at_once, nullptr, progress);
  }
  if (shifts.last_alone) {
    Team team;
    seconds += steps / steps_per_second(ensemble, cells, 1, &team, progress);
  }
  return seconds * with_pilot;
}

Ensemble train_ensemble(const Dataset& data, const EnsembleParams& params, Progress& progress,
                        const std::string& checkpoint_path, std::optional<std::uint64_t> values_hash,
                        const std::vector<Factor>& factors) {
  const EnsembleParams settings = complete(params, data.variables(), data.rows());
  Checkpoint checkpoint;
  checkpoint.ensemble =
      untrained(data, settings, values_hash ? *values_hash : hash_of(MatrixView(data.values)), factors);
  checkpoint.under_way.resize(checkpoint.ensemble.networks.size());
  resume(checkpoint, checkpoint_path);
  const CellTable cells = cells_of(checkpoint.ensemble, data.values);
  const Vector* weights = data.weights.size() > 0 ? &data.weights : nullptr;
  CheckpointKeeper keeper(checkpoint, checkpoint_path);

  std::vector<std::size_t> waiting;
  for (std::size_t m = 0; m < checkpoint.ensemble.networks.size(); ++m) {
    if (checkpoint.ensemble.networks[m].trained.weights.values.empty()) waiting.push_back(m);
  }
  progress.begin("training", static_cast<long>(settings.train.steps) * static_cast<long>(waiting.size()));
  const auto table_of = [&](std::size_t m) {
    return RowCellTable(cells, checkpoint.ensemble.transforms, checkpoint.ensemble.networks[m].order);
  };
  const auto begin = [&](std::size_t m, const RowCellTable& table, Team* team) {
    const Network& network = checkpoint.ensemble.networks[m];
    const std::vector<int> rows = rows_to_train_on(checkpoint.ensemble, network);
    Training training(table.view(weights, variables_of(checkpoint.ensemble, network)), rows, settings.shape,
                      settings.train, Key{settings.seed}.split(kTrainingStream).split(m), team);
    if (checkpoint.under_way[m]) training.restore(*checkpoint.under_way[m]);
    return training;
  };
  const Accelerator* const device = accelerator();
  bool counted = device != nullptr;  // steps of earlier runs, as done already
  if (device != nullptr && !waiting.empty()) {
    std::vector<std::optional<RowCellTable>> tables(waiting.size());
    std::vector<std::optional<Training>> begun(waiting.size());
    parallel_for(static_cast<std::ptrdiff_t>(waiting.size()), [&](std::ptrdiff_t i) {
      const auto at = static_cast<std::size_t>(i);
      begun[at] = begin(waiting[at], tables[at].emplace(table_of(waiting[at])), nullptr);
    });
    std::vector<Training*> trainings;
    for (std::optional<Training>& training : begun) {
      trainings.push_back(&*training);
      progress.already_done(static_cast<long>(training->steps()));
    }
    try {
      train_together(trainings, *device, progress,
                     [&] { keeper.under_way(waiting, trainings, progress.interrupted()); });
      for (std::size_t i = 0; i < waiting.size(); ++i) keeper.finished(waiting[i], begun[i]->result());
      waiting.clear();
    } catch (const DeviceError& error) {
      give_up_device(error);  // the processor goes on from what was last brought back
      progress.begin("training", static_cast<long>(settings.train.steps) * static_cast<long>(waiting.size()));
      counted = false;
    }
  }
  const auto train_network = [&](std::size_t m, Team* team) {
    const RowCellTable table = table_of(m);
    Training training = begin(m, table, team);
    long reported = static_cast<long>(training.steps());
    if (!counted) progress.already_done(reported);
    constexpr std::int64_t kReport = 50;  // steps, some 10 ms
    while (!training.finished()) {
      if (progress.interrupted()) {
        keeper.interrupted(m, training);
        throw Interrupted("interrupted");
      }
      training.advance(kReport);
      const long done = static_cast<long>(training.steps());
      progress.advance(done - std::exchange(reported, done));
      keeper.under_way(m, training);
    }
    progress.advance(static_cast<long>(settings.train.steps) - reported);
    keeper.finished(m, training.result());
  };
  const Shifts shifts(waiting.size());
  parallel_for(shifts.together,
               [&](std::ptrdiff_t i) { train_network(waiting[static_cast<std::size_t>(i)], nullptr); });
  if (shifts.last_alone) {
    Team team;
    train_network(waiting.back(), &team);
  }
  add_linear(checkpoint.ensemble, data, cells);
  keeper.ended();
  return std::move(checkpoint.ensemble);
}

}  // namespace fansite::flow
