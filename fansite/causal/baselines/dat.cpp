// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/baselines/dat.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "fansite/base/hash.h"
#include "fansite/causal/neural/piecework.h"

namespace fansite::causal {

std::vector<OrderedPair> pairs_of(const ByteMatrix& links) {
  const auto d = static_cast<int>(links.rows());
  std::size_t most = 1;
  std::vector<OrderedPair> pairs;
  for (int i = 0; i < d; ++i) {
    for (int j = 0; j < d; ++j) {
      if (i == j || !links(i, j)) continue;
      OrderedPair& pair = pairs.emplace_back(OrderedPair{i, j, {}});
      for (int k = 0; k < d; ++k) {
        if (k != i && k != j && links(i, k)) pair.members.push_back(k);
      }
      most = std::max(most, pair.members.size());
    }
  }
  for (OrderedPair& pair : pairs) pair.members.resize(most, -1);
  return pairs;
}

namespace {

enum Stream : std::uint64_t { kOrder, kPairs, kDirections };

std::unique_ptr<FinishedPieces> pieces_file(const Context& context, const DatParams& params) {
  const std::string settings =
      fmt::format("dat: {}, seed {}", DatParams::description().identity(&params), context.run().seed);
  return std::make_unique<FinishedPieces>(FileKind::graph_checkpoint, context.checkpoint(&CheckpointFiles::graph),
                                          identity_of(context.data().values, settings, context.facts().values_hash));
}

std::uint64_t hash_of(const ByteMatrix& links) {
  Hash hash;
  hash.add(static_cast<std::uint64_t>(links.rows()));
  for (Index at = 0; at < links.size(); ++at) hash.add(links.data()[at] != 0 ? 1u : 0u);
  return hash.value();
}

// Time and memory of what would be too much are not tried out.
void check_size(const std::vector<OrderedPair>& pairs, const DatParams& params) {
  const std::size_t networks = 2 * pairs.size();
  if (std::cmp_less_equal(networks, params.max_networks)) return;
  const NetworkShape shape = params.networks.shape(static_cast<int>(pairs.front().members.size()));
  // Half of the steps need no gradients by weights, and scoring needs none at all.
  const double operations = static_cast<double>(networks) * shape.operations(params.networks.batch) *
                            (5.0 / 6 * params.networks.steps + 2.0 / 6 * params.scoring);
  throw ParameterError(
      "max_networks",
      fmt::format("{} links ask for {} networks of {} inputs and {} units, more than {} (about {:.0f} hours at 100 "
                  "GFLOP/s); find fewer links with another --boundary-method, or raise it",
                  pairs.size() / 2, networks, shape.inputs, shape.width, params.max_networks, operations / 3.6e14));
}

std::vector<TestedPair> tested_of(const std::vector<OrderedPair>& pairs, const PieceAnswers& answers) {
  std::vector<TestedPair> tested;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const std::vector<double>& answer = answers.answers[p];
    if (answer.empty()) continue;
    TestedPair& pair = tested.emplace_back(TestedPair{pairs[p].i, pairs[p].j, answer.front(), {}, {}});
    for (std::size_t k = 0; k < pairs[p].members.size(); ++k) {
      if (pairs[p].members[k] < 0) break;
      pair.members.push_back(pairs[p].members[k]);
      pair.psi.push_back(answer[k + 1]);
    }
  }
  return tested;
}

GraphAnswer run(const GraphProblem& problem, const Parameters& parameters) {
  const Context& context = problem.context;
  const auto& params = parameters.as<DatParams>();
  const auto variables = static_cast<int>(problem.links.rows());
  const std::vector<OrderedPair> pairs = pairs_of(problem.links);
  GraphAnswer answer;
  answer.graph = {ByteMatrix::Zero(variables, variables), ByteMatrix::Zero(variables, variables)};
  answer.weights = Matrix::Zero(variables, variables);
  answer.how = "no links to test";
  if (pairs.empty()) return answer;
  check_size(pairs, params);

  const Key key{context.run().seed};
  std::vector<int> columns(static_cast<std::size_t>(variables));
  for (int j = 0; j < variables; ++j) columns[static_cast<std::size_t>(j)] = j;
  const RowBatches table(context.tame().values, columns, params.networks.batch, key.split(kOrder));
  Piecework work;
  work.stage = "pairs";
  work.pieces = static_cast<int>(pairs.size());
  work.steps = params.networks.steps + params.scoring;
  work.numbers = 1 + static_cast<int>(pairs.front().members.size());
  work.problem = hash_of(problem.links);
  work.work = [&](int place, int steps, Progress& progress) {
    return test_pair(table, pairs[static_cast<std::size_t>(place)], params.networks, params.scoring, steps,
                     key.split(kPairs).split(static_cast<std::uint64_t>(place)), progress);
  };
  const std::unique_ptr<FinishedPieces> kept = context.keeps_state() ? pieces_file(context, params) : nullptr;
  const PieceAnswers answers = do_pieces(context, work, kept.get());

  const std::vector<TestedPair> tested = tested_of(pairs, answers);
  const Matrix scores = skeleton_scores(tested, variables);
  // Links that there was no time to test stay.
  ByteMatrix skeleton = ByteMatrix::Zero(variables, variables);
  for (const OrderedPair& pair : pairs) {
    const double score = scores(pair.i, pair.j);
    skeleton(pair.i, pair.j) = std::isnan(score) || score > params.skeleton_threshold ? 1 : 0;
  }
  DatGraph found = direct_skeleton(skeleton, tested, params.collider_threshold, key.split(kDirections));
  for (Index j = 0; j < variables; ++j) {
    for (Index i = 0; i < variables; ++i) {
      if (found.directed(i, j)) answer.weights(i, j) = std::isnan(scores(i, j)) ? 0 : scores(i, j);
    }
  }
  answer.graph.directed = std::move(found.directed);
  const auto links = static_cast<std::int64_t>(pairs.size() / 2);
  const auto kept_links = static_cast<std::int64_t>(skeleton.cast<int>().sum() / 2);
  answer.how =
      fmt::format("{} of {} links kept, {} collider{}; {} direction{} left to chance", kept_links, links,
                  found.colliders, found.colliders == 1 ? "" : "s", found.by_chance, found.by_chance == 1 ? "" : "s");
  answer.details = {{"tested_links", links},
                    {"kept_links", kept_links},
                    {"networks", static_cast<std::int64_t>(2 * pairs.size())},
                    {"steps_taken", std::int64_t{answers.steps}},
                    {"batch_rows", std::int64_t{table.batch()}},
                    {"colliders", std::int64_t{found.colliders}},
                    {"directed_by_chance", std::int64_t{found.by_chance}},
                    {"removed_from_cycles", std::int64_t{found.removed}}};
  if (kept_links == links && links > 2) {
    answer.warnings.push_back(fmt::format(
        "[dag] dat kept all {} links, each of which explains more than its threshold of {:g}: the graph is no sparser "
        "than the moral graph, and without pairs that are apart there are no colliders to direct it by",
        links, params.skeleton_threshold));
  }
  if (found.by_chance > 0) {
    answer.warnings.push_back(
        fmt::format("[dag] dat directed {} of {} edges by chance, as published: nothing in the data decides them",
                    found.by_chance, kept_links));
  }
  if (table.batch() < params.networks.batch) {
    answer.warnings.push_back(fmt::format("[dag] {} rows are fewer than a batch of {}: each step of dat takes all",
                                          table.rows(), params.networks.batch));
  }
  answer.unfinished = cut_short_in_words(work, answers);
  if (answers.missing > 0) answer.unfinished += "; their links stay as they were";
  return answer;
}

}  // namespace

const Description& DatParams::description() {
  using P = DatParams;
  static const Description list =
      Describe<P>()
          .part(&P::networks, RegressorParams::description(), "dat_")
          .field("dat_scoring", &P::scoring, "batches after training whose mean says what a variable explains",
                 from_to(1, 1e9))
          .field("skeleton_threshold", &P::skeleton_threshold,
                 "pairs of which the two orders explain more, summed as squares, are linked", at_least(0))
          .field("collider_threshold", &P::collider_threshold,
                 "a common neighbour is a collider if the squares of its two psi sum to less", at_least(0))
          .field("max_networks", &P::max_networks, "two for each ordered pair; more are refused before any work",
                 at_least(2))
          .without_effect()
          .done();
  return list;
}

GraphMethod dat_method() {
  GraphMethod row;
  row.name = "dat";
  row.summary =
      "DAT: a differentiable test of each link of the boundaries' moral graph (dat-moral's, as published); for "
      "comparison";
  row.citation =
      "Amin and Wilson, Scalable and Flexible Causal Discovery with an Efficient Test for Adjacency, ICML 2024";
  row.can = {.needs_boundaries = true,
             .resumable = true,
             .can_be_cut_short = true,
             .column_kinds = {"continuous", "ordered", "atoms"}};
  row.parameters = DatParams();
  row.run = run;
  row.check_checkpoint = [](const Context& context, const Parameters& parameters) {
    pieces_file(context, parameters.as<DatParams>());
  };
  return row;
}

}  // namespace fansite::causal
