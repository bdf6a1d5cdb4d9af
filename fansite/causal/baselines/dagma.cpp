// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/baselines/dagma.h"

#include <fmt/core.h>

#include "fansite/causal/baselines/detail/dagma_linear.h"
#include "fansite/causal/baselines/detail/dagma_networks.h"

namespace fansite::causal {
namespace {

// What the authors' package has as defaults (dagma 1.1.1).
constexpr struct {
  double l1, l2, learning_rate, first_mu;
  int rounds, iterations, last_iterations;
} kLinear{0.03, 0, 3e-4, 1, 5, 30000, 60000}, kNonlinear{0.02, 0.005, 2e-4, 0.1, 4, 50000, 80000};

GraphAnswer run(const GraphProblem& problem, const Parameters& parameters) {
  const Context& context = problem.context;
  const auto& params = parameters.as<DagmaParams>();
  Deadline deadline = answer_deadline(context);
  const LearningTable table =
      learning_table(context, params.standardise ? Columns::standardised : Columns::as_they_are, "dagma");
  if (table.variables() < 2) return answer_without_pairs(table);
  const auto learning = dagma_learning(table.values, params, context.run().seed);
  const bool finished =
      learn(*learning, context, "dagma: " + DagmaParams::description().identity(&params), "weights", deadline);
  GraphAnswer answer = weighted_answer(table, learning->weights(), params.threshold, "dagma");
  const DagmaReport report = learning->report();
  answer.how = fmt::format(
      "{} relations; directions as published, which follow the columns' scales more than causes; {} "
      "iterations in {} rounds, h = {:.2g}",
      name(params.relations), report.iterations, params.published().rounds, report.acyclicity);
  answer.details = {{"score", report.score},
                    {"penalty", report.penalty},
                    {"acyclicity", report.acyclicity},
                    {"objective", report.objective()},
                    {"iterations_taken", std::int64_t{report.iterations}},
                    {"restarts", std::int64_t{report.restarts}}};
  if (!finished) {
    answer.unfinished = fmt::format("time ran out in round {} of {}: the weights may still have changed",
                                    report.rounds + 1, params.published().rounds);
  }
  return answer;
}

}  // namespace

const Description& DagmaParams::description() {
  using P = DagmaParams;
  static const Description list =
      Describe<P>()
          .field("relations", &P::relations, "of a variable to its parents: linear, or by a network")
          .field("l1", &P::l1, "factor of the sum of absolute weights; -1: 0.03 if linear, else 0.02", at_least(-1))
          .field("l2", &P::l2, "factor of the squares of all parameters of networks; -1: 0.005", at_least(-1))
          .field("learning_rate", &P::learning_rate, "of Adam; 0: 3e-4 if linear, else 2e-4", at_least(0))
          .field("rounds", &P::rounds, "in which the score counts less and less; 0: 5 if linear, else 4", at_least(0))
          .field("iterations", &P::iterations, "of every round but the last, at most; 0: 30000 if linear, else 50000",
                 at_least(0))
          .field("last_iterations", &P::last_iterations, "of the last round; 0: 60000 if linear, else 80000",
                 at_least(0))
          .field("first_mu", &P::first_mu, "what the score counts in the first round; 0: 1 if linear, else 0.1",
                 at_least(0))
          .field("mu_factor", &P::mu_factor, "of what the score counts, from one round to the next", between(0, 1))
          .field("hidden", &P::hidden, "units of each network", at_least(1))
          .field("tolerance", &P::tolerance, "relative change of the objective that ends a round", at_least(0))
          .field("threshold", &P::threshold, "edges of the graph have at least this weight")
          .field("standardise", &P::standardise, "columns to mean 0 and variance 1 first")
          .done();
  return list;
}

DagmaParams DagmaParams::published() const {
  const auto& values = relations == Relations::linear ? kLinear : kNonlinear;
  DagmaParams full = *this;
  const auto complete = [](auto& field, auto value, bool is_default) {
    if (is_default) field = value;
  };
  complete(full.l1, values.l1, l1 < 0);
  complete(full.l2, values.l2, l2 < 0);
  complete(full.learning_rate, values.learning_rate, learning_rate == 0);
  complete(full.rounds, values.rounds, rounds == 0);
  complete(full.iterations, values.iterations, iterations == 0);
  complete(full.last_iterations, values.last_iterations, last_iterations == 0);
  complete(full.first_mu, values.first_mu, first_mu == 0);
  return full;
}

std::unique_ptr<DagmaLearning> dagma_learning(const Matrix& values, const DagmaParams& params, std::uint64_t seed) {
  validate(params);
  const DagmaParams full = params.published();
  if (params.relations == Relations::linear) return std::make_unique<LinearDagma>(values, full);
  return std::make_unique<NetworkDagma>(values, full, seed);
}

GraphMethod dagma_method() {
  GraphMethod row;
  row.name = "dagma";
  row.summary = "weights of all pairs under a log-determinant that shuns cycles, as published; for comparison";
  row.citation = "Bello, Aragam and Ravikumar, NeurIPS 2022";
  row.can = learning_capabilities();
  row.parameters = DagmaParams();
  row.run = run;
  return row;
}

}  // namespace fansite::causal
