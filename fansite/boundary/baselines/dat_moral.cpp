// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/baselines/dat_moral.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "fansite/base/adam.h"
#include "fansite/base/peak_memory.h"
#include "fansite/base/stopwatch.h"
#include "fansite/base/text.h"
#include "fansite/boundary/baselines/classical.h"
#include "fansite/causal/neural/piecework.h"
#include "fansite/entropy/gaussian.h"

namespace fansite {

using causal::DropoutNetwork;
using causal::RowBatches;

template <class Real>
double moral_error(DropoutNetwork<Real>& network, typename DropoutNetwork<Real>::View inputs,
                   const Eigen::Ref<const Eigen::Matrix<Real, 1, Eigen::Dynamic>>& variable, double l1, Random& masks) {
  using Values = typename DropoutNetwork<Real>::Values;
  const Values& outputs = network.forward(inputs, masks);
  const Index rows = outputs.cols();
  const auto share = static_cast<Real>(-2.0 / static_cast<double>(rows));
  Values by_outputs(2, rows);
  double sum = 0;
  for (Index row = 0; row < rows; ++row) {
    const Real e = variable(row) - outputs(0, row), v = e * e - outputs(1, row);
    by_outputs(0, row) = share * e;
    by_outputs(1, row) = share * v;
    sum += static_cast<double>(e) * static_cast<double>(e) + static_cast<double>(v) * static_cast<double>(v);
  }
  network.backward_to_parameters(by_outputs);
  const double error = sum / static_cast<double>(rows);
  const auto weight = static_cast<Real>(l1 * error);
  const Index first = network.first_weights().size();
  Eigen::Map<Eigen::Array<Real, Eigen::Dynamic, 1>> gradient(network.gradient().data(), first);
  const Eigen::Map<const Eigen::Array<Real, Eigen::Dynamic, 1>> weights(network.first_weights().data(), first);
  gradient += weight * weights.sign();
  return error;
}
template double moral_error(DropoutNetwork<float>&, DropoutNetwork<float>::View,
                            const Eigen::Ref<const Eigen::Matrix<float, 1, Eigen::Dynamic>>&, double, Random&);
template double moral_error(DropoutNetwork<double>&, DropoutNetwork<double>::View,
                            const Eigen::Ref<const Eigen::Matrix<double, 1, Eigen::Dynamic>>&, double, Random&);

std::vector<double> moral_importances(const RowBatches& table, int target, const DatMoralParams& params, int steps,
                                      Key key, Progress& progress) {
  constexpr int kReportEvery = 10;
  enum Stream : std::uint64_t { kInitial, kMasks };
  DropoutNetwork<float> network(params.networks.shape(table.variables()), table.batch());
  Random initial(key.split(kInitial));
  causal::initialise(network.shape(), initial, network.parameters());
  Adam<float> adam(network.parameters().size());
  RowBatches::Cursor cursor(table);
  Eigen::MatrixXf inputs(table.variables(), table.batch());
  Eigen::RowVectorXf variable(table.batch());
  for (int step = 0; step < steps; ++step) {
    const std::span<const int> rows = cursor.rows(step);
    for (Index row = 0; row < inputs.cols(); ++row) {
      inputs.col(row) = table.values().col(rows[static_cast<std::size_t>(row)]);
    }
    variable = inputs.row(target);
    inputs.row(target).setZero();
    Random masks(key.split(kMasks).split(static_cast<std::uint64_t>(step)));
    const double error = moral_error<float>(network, inputs, variable, params.l1, masks);
    check_data(std::isfinite(error),
               "[dat-moral] the error of a network is not finite after {} steps; use a smaller "
               "--moral-rate",
               step);
    adam.step(network.parameters(), network.gradient(), params.networks.rate);
    if ((step + 1) % kReportEvery != 0 && step + 1 != steps) continue;
    progress.advance(step + 1 == steps && steps % kReportEvery != 0 ? steps % kReportEvery : kReportEvery);
    throw_if_interrupted(progress);
    if (progress.out_of_time() && step + 1 < steps) return {};
  }
  std::vector<double> importances(static_cast<std::size_t>(table.variables()), 0);
  for (int i = 0; i < table.variables(); ++i) {
    if (i != target) {
      importances[static_cast<std::size_t>(i)] = network.first_weights().col(i).cast<double>().squaredNorm();
    }
  }
  return importances;
}

namespace {

enum Stream : std::uint64_t { kOrder, kNetworks };

// The networks of a table, and what they say of its pairs.
class MoralGraph {
 public:
  MoralGraph(const Context& context, const DatMoralParams& params)
      : context_(context), params_(params), place_(static_cast<std::size_t>(context.data().variables()), -1) {
    for (int j = 0; j < context.data().variables(); ++j) {
      if (context.facts().takes_part[static_cast<std::size_t>(j)] == 0) continue;
      place_[static_cast<std::size_t>(j)] = static_cast<int>(columns_.size());
      columns_.push_back(j);
    }
    const Key key{context.run().seed};
    if (columns_.size() < 2) return;
    table_.emplace(context.tame().values, columns_, params.networks.batch, key.split(kOrder));
    work_.stage = "networks";
    work_.pieces = work_.numbers = table_->variables();
    work_.steps = params.networks.steps;
    work_.work = [this, key](int place, int steps, Progress& progress) {
      return moral_importances(*table_, place, params_, steps,
                               key.split(kNetworks).split(static_cast<std::uint64_t>(place)), progress);
    };
  }

  // Nothing to learn from leaves nothing to do.
  bool trains() const { return table_.has_value(); }
  const RowBatches& table() const { return *table_; }
  const std::vector<int>& columns() const { return columns_; }
  const causal::Piecework& work() const { return work_; }

  void train() {
    std::optional<FinishedPieces> kept;
    if (context_.keeps_state()) {
      const std::string settings =
          fmt::format("dat-moral: {}, seed {}", DatMoralParams::description().identity(&params_), context_.run().seed);
      kept.emplace(FileKind::search_checkpoint, context_.checkpoint(&CheckpointFiles::search),
                   identity_of(context_.data().values, settings, context_.facts().values_hash));
    }
    answers_ = do_pieces(context_, work_, kept ? &*kept : nullptr);
    scores_ = Matrix::Zero(work_.pieces, work_.pieces);
    for (int j = 0; j < work_.pieces; ++j) {
      const std::vector<double>& row = answers_.answers[static_cast<std::size_t>(j)];
      for (std::size_t i = 0; i < row.size(); ++i) scores_(j, static_cast<Index>(i)) = row[i];
    }
    scores_ = Matrix(scores_ + scores_.transpose());
  }

  const causal::PieceAnswers& answers() const { return answers_; }
  double score(int a, int b) const {
    return scores_.size() == 0 ? 0 : scores_(place_[static_cast<std::size_t>(a)], place_[static_cast<std::size_t>(b)]);
  }

 private:
  const Context& context_;
  const DatMoralParams& params_;
  std::vector<int> columns_, place_;
  std::optional<RowBatches> table_;
  causal::Piecework work_;
  causal::PieceAnswers answers_;
  Matrix scores_;
};

// The strongest first. Known ones are members whatever their score.
ClassicalSet members_of(const MoralGraph& graph, const ClassicalTarget& search, double threshold) {
  ClassicalSet found;
  const auto score = [&](int z) { return graph.score(search.target, z); };
  for (const int z : search.candidates) {
    const bool known = std::binary_search(search.known.begin(), search.known.end(), z);
    if (score(z) > threshold || known) found.members.push_back(z);
  }
  std::stable_sort(found.members.begin(), found.members.end(), [&](int a, int b) { return score(a) > score(b); });
  return found;
}

// What the networks say of each linked pair, the strongest first.
struct Linked {
  std::string names;
  double score;
};

void tell_scores(const MoralGraph& graph, const Context& context, double threshold, BoundaryAnswer& answer) {
  constexpr std::size_t kMost = 5000;  // pairs that are listed
  std::vector<Linked> linked;
  double lowest = 0, highest = 0;
  std::int64_t below = 0;
  bool first = true;
  for (const int a : graph.columns()) {
    for (const int b : graph.columns()) {
      if (b <= a) continue;
      const double score = graph.score(a, b);
      lowest = first ? score : std::min(lowest, score);
      highest = first ? score : std::max(highest, score);
      first = false;
      if (score > threshold) {
        const auto& names = context.data().names;
        const std::string& x = names[static_cast<std::size_t>(a)];
        const std::string& y = names[static_cast<std::size_t>(b)];
        linked.push_back({fmt::format("{} - {}", std::min(x, y), std::max(x, y)), score});
      } else {
        ++below;
      }
    }
  }
  std::stable_sort(linked.begin(), linked.end(), [](const Linked& a, const Linked& b) { return a.score > b.score; });
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(linked.size(), kMost); ++i) {
    lines.push_back(fmt::format("{}: {:.6g}", linked[i].names, linked[i].score));
  }
  answer.details.emplace_back("lowest_score", lowest);
  answer.details.emplace_back("highest_score", highest);
  answer.details.emplace_back("pairs_not_linked", below);
  answer.details.emplace_back("scores", std::move(lines));
  if (below == 0 && linked.size() > 1) {
    answer.warnings.push_back(fmt::format(
        "[mb] no pair scores {:g} or less (the lowest has {:.2g}), so every variable is in every boundary, as with the "
        "published program on small tables: take the order of members for the answer, or raise --moral-threshold",
        threshold, lowest));
  }
}

BoundaryAnswer run(const BoundaryProblem& problem, const Parameters& parameters) {
  const auto& params = parameters.as<DatMoralParams>();
  const Context& context = problem.context;
  Stopwatch watch;
  MoralGraph graph(context, params);
  if (graph.trains()) graph.train();
  const double training = watch.lap();
  const GaussianEstimator gaussian(context.covariance());
  ClassicalRun each;
  each.search = [&](const ClassicalTarget& search) { return members_of(graph, search, params.threshold); };
  each.estimator = &gaussian;
  std::vector<int> unlimited;
  BoundaryAnswer answer = search_each(problem, each, unlimited);
  answer.seconds.insert(answer.seconds.begin(), {"train", training});
  refuse_models(context, "dat-moral keeps no networks", answer);
  answer.how = fmt::format(
      "DAT-Moral: pairs whose first-layer weights are above {:g}; gains are those of linear "
      "Gaussian relations",
      params.threshold);
  if (!graph.trains()) return answer;
  answer.details = {{"networks", std::int64_t{graph.work().pieces}},
                    {"steps_taken", std::int64_t{graph.answers().steps}},
                    {"batch_rows", std::int64_t{graph.table().batch()}}};
  tell_scores(graph, context, params.threshold, answer);
  if (graph.table().batch() < params.networks.batch) {
    answer.warnings.push_back(fmt::format("[mb] {} rows are fewer than a batch of {}: each step of dat-moral takes all",
                                          graph.table().rows(), params.networks.batch));
  }
  answer.unfinished = cut_short_in_words(graph.work(), graph.answers());
  return answer;
}

Plan plan(const BoundaryProblem& problem, const Parameters& parameters) {
  const auto& params = parameters.as<DatMoralParams>();
  const PeakMemory memory;
  const MoralGraph graph(problem.context, params);
  Plan plan;
  plan.estimator = "gaussian";
  plan.peak_memory_mb = memory.megabytes();
  if (!graph.trains()) return plan;
  const causal::Piecework& work = graph.work();
  plan.networks = work.pieces;
  plan.training_steps = std::int64_t{work.pieces} * work.steps;
  plan.phases.push_back(
      {"train", rehearsed_seconds(work, problem.context.progress()),
       fmt::format("{} networks of {} steps, {} rows each", work.pieces, work.steps, graph.table().batch())});
  plan.peak_memory_mb = memory.megabytes();  // the rehearsal has had the networks of all threads
  return plan;
}

}  // namespace

const Description& DatMoralParams::description() {
  using P = DatMoralParams;
  static const Description list =
      Describe<P>()
          .part(&P::networks, causal::RegressorParams::description(), "moral_")
          .field("moral_l1", &P::l1, "penalty on the first layer's absolute weights, in units of the error",
                 at_least(0))
          .field("moral_threshold", &P::threshold, "two variables with a larger score are in each other's boundary",
                 at_least(0))
          .done();
  return list;
}

BoundaryMethod dat_moral_method() {
  BoundaryMethod row;
  row.name = "dat-moral";
  row.summary = "DAT-Moral: what networks that predict each variable weigh in their first layer; for comparison";
  row.citation =
      "Amin and Wilson, Scalable and Flexible Causal Discovery with an Efficient Test for Adjacency, ICML 2024";
  row.can = {.satisfies_knowledge = true,
             .resumable = true,
             .can_be_cut_short = true,
             .column_kinds = {"continuous", "ordered", "atoms"}};
  row.parameters = DatMoralParams();
  row.run = run;
  row.plan = plan;
  return row;
}

}  // namespace fansite
