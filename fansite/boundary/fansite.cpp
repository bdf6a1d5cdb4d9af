// SPDX-License-Identifier: Apache-2.0
//
// The story of a run: prepare, train networks if relations are not linear, search, ask a graph, and say how well the
// networks know what they say.
#include "fansite/boundary/fansite.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "fansite/base/error.h"
#include "fansite/base/hash.h"
#include "fansite/base/sets.h"
#include "fansite/base/stopwatch.h"
#include "fansite/base/text.h"
#include "fansite/boundary/comparison.h"
#include "fansite/boundary/detail/fansite_plan.h"
#include "fansite/boundary/detail/prepare.h"
#include "fansite/boundary/detail/search_checkpoint.h"
#include "fansite/boundary/links.h"
#include "fansite/boundary/refine.h"
#include "fansite/boundary/robustness.h"
#include "fansite/boundary/stability.h"
#include "fansite/causal/constrained_graph.h"
#include "fansite/context/dependent_rows.h"

namespace fansite {
namespace {

// Shares of the time budget that is left when networks are begun, about as a run without one spends its time (on 100
// variables 31 % training, 46 % searching, 23 % the graph): what training may take; and when growing must end, training
// included, so that there is time to test what it found.
constexpr double kTrainShare = 0.35;
constexpr double kGrowShare = 0.65;
// Of the whole, when the Gaussian estimator's searches do.
constexpr double kGaussianShare = 0.5;
constexpr std::uint64_t kDrawKey = 0x64726177;  // of the run's seed, for draws of absent cells

// Members at variables of which a graph leaves over what is related.
void mark_fragile(const std::vector<causal::HiddenCause>& hidden, Boundaries& found) {
  for (Boundary& boundary : found.boundaries) {
    for (Member& member : boundary.members) {
      member.fragile = touches(hidden, boundary.target) || touches(hidden, member.variable);
    }
  }
}

std::string unexplained_warning(const std::vector<std::pair<int, int>>& pairs, const std::vector<std::string>& names) {
  const auto quoted = [&](int variable) { return excerpt(names[static_cast<std::size_t>(variable)]); };
  return fmt::format(
      "[mb] the causal graph has no use for the link of '{}' and '{}'{}, but does not explain what the data show of "
      "it; "
      "it stays, and boundaries there are as they were found without the graph",
      quoted(pairs.front().first), quoted(pairs.front().second),
      pairs.size() > 1 ? fmt::format(" (and {} more)", pairs.size() - 1) : "");
}

double mean_size(const Boundaries& found) {
  double members = 0;
  for (const Boundary& boundary : found.boundaries) members += static_cast<double>(boundary.members.size());
  return found.boundaries.empty() ? 0 : members / static_cast<double>(found.boundaries.size());
}

// Whether a graph among these links is more than the effort allows for.
bool too_dense(const Boundaries& found, const FansiteParams& params, int variables) {
  const double most = meaning(params.effort, variables).graph_members;
  return most > 0 && mean_size(found) > most;
}

// Asks a causal graph inside the moral graph of the boundaries found, and takes its word if it may and there is time.
// `kept`: another run could go on from its state.
void refine_by_graph(const BoundaryProblem& problem, const FansiteParams& params, const EstimatorMethod& row,
                     const SearchEstimator& estimator, bool kept, BoundaryAnswer& answer, Progress& progress) {
  if (!asks_graph(problem, params, row)) return;
  const Stopwatch watch;
  const Context& context = problem.context;
  if (params.refine == Refine::automatic && too_dense(answer.found, params, context.data().variables())) {
    answer.warnings.push_back(
        fmt::format("[mb] boundaries have {:.0f} members on average, too many to weigh in a causal graph at effort {}: "
                    "they are not refined by one; more --effort or --refine graph does",
                    mean_size(answer.found), name(params.effort)));
    return;
  }
  Deadline deadline(progress, context.budget().watch(), Budget::never(), context.budget().end());
  causal::AdditiveNoiseParams noise = graph_parameters(context, params);
  if (!kept) noise.checkpoint.clear();
  try {
    const causal::GraphTable table{context.tame().values, context.facts().kinds, estimator.completions(context.tame()),
                                   context.context_columns(), causal::GraphRows::of_table(context.data())};
    answer.graph = find_constrained_graph(table, links(answer.found, context.data().variables()), context.knowledge(),
                                          noise, deadline);
    const causal::AdditivityTest& test = answer.graph->additivity;
    answer.refined = params.refine != Refine::automatic || (test.applicable && test.additive);
    if (answer.refined) {
      const auto unexplained = unexplained_pairs(estimator, answer.found, answer.graph->dag, deadline);
      answer.found = refined(estimator, answer.found, answer.graph->dag, unexplained, deadline);
      if (!answer.graph->hidden_causes.empty()) {
        answer.warnings.push_back("[mb] " + in_words(answer.graph->hidden_causes, context.data().names));
      }
      if (!unexplained.empty()) answer.warnings.push_back(unexplained_warning(unexplained, context.data().names));
    }
  } catch (const Interrupted&) {
    if (!deadline.expired()) throw;
    answer.graph.reset();
    answer.refined = false;
    add_sentence(answer.unfinished, "time ran out before a causal graph could refine the boundaries");
  }
  answer.seconds.emplace_back("graph", watch.seconds());
}

// What the state of a search depends on.
StateIdentity identity(const BoundaryProblem& problem, const SearchParams& search, std::uint64_t model_hash) {
  return identity_of(
      problem.context.data().values,
      fmt::format("boundaries: model {:016x}, targets {}, {}, knowledge {:016x}", model_hash,
                  fmt::join(problem.targets.searched, " "), SearchParams::description().identity(&search),
                  hash_of(problem.context.knowledge().to_text())),
      problem.context.facts().values_hash);
}

// How well the networks know each target given its boundary; nothing if time runs out, which takes no boundary away.
std::optional<Calibration> calibration(const Context& context, const SearchEstimator& estimator,
                                       const Boundaries& found) {
  std::vector<EntropyQuery> queries;
  for (const Boundary& boundary : found.boundaries) {
    if (estimator.informative(boundary.target)) queries.push_back({boundary.target, boundary.member_indices()});
  }
  Deadline deadline(context.progress(), context.budget().watch(), Budget::never(), context.budget().end());
  try {
    return estimator.calibration(queries, deadline);
  } catch (const Interrupted&) {
    if (!deadline.expired()) throw;
  }
  return std::nullopt;
}

// After hours of training it would be late to learn that the networks cannot hold all that is known.
void check_known(const BoundaryProblem& problem, int largest) {
  const Knowledge& knowledge = problem.context.knowledge();
  if (knowledge.empty()) return;
  const std::vector<std::string>& names = problem.context.data().names;
  for (const int target : problem.targets.searched) {
    const std::size_t known = knowledge.known_boundary(target).size();
    check(static_cast<int>(known) <= largest,
          "[mb] {} variables are known to be in the boundary of '{}', but networks for {} variables allow {} at most; "
          "say fewer, or use --estimator gaussian",
          known, excerpt(names[static_cast<std::size_t>(target)]), names.size(), largest);
  }
}

// The sets that growing proposes for the targets, and for members of these that lack cells.
Sets sets_to_draw_by(const Context& context, const SearchEstimator& estimator, const SearchParams& search,
                     const SearchScope& where, Progress& progress) {
  Sets sets = proposed_sets(estimator, search, where, progress);
  if (where.targets.empty()) return sets;
  SearchScope others = where;
  others.targets.clear();
  for (const std::vector<int>& set : sets) {
    for (const int z : set) {
      const bool lacks_cells = context.data().values.col(z).hasNaN();
      if (lacks_cells && !contains(where.targets, z) && !contains(others.targets, z)) others.targets.push_back(z);
    }
  }
  if (others.targets.empty()) return sets;
  const Sets more = proposed_sets(estimator, search, others, progress);
  for (const int z : others.targets) sets[static_cast<std::size_t>(z)] = more[static_cast<std::size_t>(z)];
  return sets;
}

// Has absent cells drawn, so that rows which lack a member of a set still count. Twice, since the sets that cells are
// drawn by are found better where they have been drawn.
void complete(const Context& context, const SearchParams& search, const SearchScope& where, SearchEstimator& estimator,
              Progress& progress) {
  const SearchParams draft = draft_search(search);
  const Key key = Key{context.run().seed}.split(kDrawKey);
  const auto draw = [&](const Sets& sets, int round) {
    const Key own = key.split(static_cast<std::uint64_t>(round));
    return estimator.complete(context.data(), context.facts(), sets, own, progress);
  };
  if (!draw({}, 0)) return;
  for (int round = 1; round <= kDraftRounds; ++round) {
    draw(sets_to_draw_by(context, estimator, draft, where, progress), round);
  }
}

// Boundaries of networks are held against those of the Gaussian estimator, by the networks' own held-out entropies:
// what a line finds and they miss was there to be learnt. If that is much of all, the line's boundaries are the answer.
void compare_with_line(const BoundaryProblem& problem, const SearchEstimator& estimator, const Preparation& prepared,
                       BoundaryAnswer& answer) {
  const Comparison comparison = compare(estimator, answer.found, *prepared.found);
  if (comparison.fails()) {
    answer.warnings.push_back(fmt::format(
        "[mb] the networks' boundaries miss {:.2f} ± {:.2f} nats of what the linear ones tell of held-out rows, beside "
        "{:.2f} that they have: they were not learnt, so these are the Gaussian estimator's, which sees linear "
        "relations "
        "only",
        comparison.missed, comparison.standard_error, comparison.explained));
    answer.found = *prepared.found;
    answer.estimator = prepared.without_training().name();
    answer.refined = false;
    return;
  }
  if (comparison.targets.empty()) return;
  std::vector<std::string> names;
  for (const int target : comparison.targets) {
    names.push_back(problem.context.data().names[static_cast<std::size_t>(target)]);
  }
  answer.warnings.push_back(fmt::format(
      "[mb] of {} the linear boundaries tell more of held-out rows: members are missing there; more --effort may find "
      "them, --estimator gaussian shows what a line sees",
      quoted_list(names)));
}

// Where the effort, not the data, ended growing.
void warn_of_effort(const FansiteParams& params, const SearchParams& search, const std::vector<std::string>& names,
                    BoundaryAnswer& answer) {
  if (search.max_size == params.search.max_size) return;  // as users asked
  std::vector<std::string> reached;
  for (const Boundary& boundary : answer.found.boundaries) {
    if (static_cast<int>(boundary.path.size()) < search.max_size) continue;
    reached.push_back(names[static_cast<std::size_t>(boundary.target)]);
  }
  if (reached.empty()) return;
  answer.warnings.push_back(
      fmt::format("[mb] the search for members of {} ended at {}, the most at effort {}: there may be more; more "
                  "--effort or --max-size looks further",
                  quoted_list(reached), search.max_size, name(params.effort)));
}

// Nothing: there was no time for networks.
std::optional<BoundaryAnswer> search_with_networks(const BoundaryProblem& problem, const FansiteParams& params,
                                                   const Preparation& prepared, Progress& progress) {
  Stopwatch watch;
  const Context context = problem.context.reporting_to(progress);
  BoundaryAnswer answer;
  answer.estimator = prepared.estimator->name;
  const double grow_by = context.budget().after(kGrowShare);
  const Parameters networks = network_parameters(problem, params, prepared);
  const bool new_networks = context.run().model.empty();
  if (new_networks && prepared.estimator->largest_set) {
    check_known(problem, prepared.estimator->largest_set(context, networks));
  }
  std::optional<FittedEstimator> fitted = prepared.estimator->fit(context, networks, kTrainShare);
  if (!fitted) return std::nullopt;
  SearchEstimator& estimator = *fitted->estimator;
  check_out_of_sample(estimator, params);
  if (!new_networks) answer.model_hash = fitted->model_hash;
  answer.estimator_parameters = fitted->parameters;
  answer.training = std::move(fitted->training);
  answer.warnings = std::move(fitted->warnings);
  answer.unfinished = std::move(fitted->unfinished);
  answer.seconds.emplace_back("train", watch.lap());

  const SearchParams search = network_search(params, context.data().variables());
  SearchScope where = scope(problem);
  std::optional<SearchKeeper> keeper;
  if (fitted->state_kept && fitted->model_hash) {
    keeper.emplace(context.checkpoint(&CheckpointFiles::search), identity(problem, search, *fitted->model_hash));
  }
  where.keeper = keeper ? &*keeper : nullptr;
  Deadline deadline(progress, context.budget().watch(), grow_by, context.budget().end());
  if (search.stop == StopRule::calibrated) complete(context, search, where, estimator, deadline);
  answer.found = find_boundaries(estimator, search, where, deadline);
  warn_of_effort(params, search, context.data().names, answer);
  answer.seconds.emplace_back("search", watch.lap());
  refine_by_graph(problem, params, *prepared.estimator, estimator, fitted->state_kept, answer, progress);
  watch.lap();
  // Rows in groups are too few facts to tell what was not learnt from what is not there.
  const bool comparable = prepared.found && !prepared.found->boundaries.empty() && context.data().groups.empty();
  if (comparable) compare_with_line(problem, estimator, prepared, answer);
  answer.calibration = calibration(problem.context, estimator, answer.found);
  answer.seconds.emplace_back("calibration", watch.seconds());
  answer.evaluations = estimator.evaluations();
  return answer;
}

// The boundaries of the estimator that trains nothing: those found already, or the Gaussian's, searched for now.
BoundaryAnswer untrained_answer(const BoundaryProblem& problem, const FansiteParams& params, Preparation& prepared) {
  Stopwatch watch;
  BoundaryAnswer answer;
  answer.estimator = prepared.without_training().name();
  answer.found = prepared.found
                     ? std::move(*prepared.found)
                     : find_boundaries(prepared.gaussian, params.search, scope(problem), problem.context.progress());
  answer.seconds.emplace_back("search", prepared.search_seconds + watch.seconds());
  return answer;
}

// By which estimator and why, and what it did.
std::string in_words(const BoundaryAnswer& answer, const FansiteParams& params, const std::vector<std::string>& names) {
  std::string line = fmt::format("{} estimator", answer.estimator);
  if (answer.linearity) {
    const LinearityTest& test = *answer.linearity;
    const auto quoted = [&](int variable) { return excerpt(names[static_cast<std::size_t>(variable)]); };
    const bool asked_for = params.estimator != "auto";
    if (asked_for && test.linear_equations) line += " over a Gaussian base";
    const bool for_levels = answer.training && !asked_for && test.linear_equations;
    if (for_levels) line += ", since levels without an order have no line";
    if (test.linear_equations && !for_levels) line += ", since nothing speaks against linear relations";
    if (!asked_for && !test.linear_equations) {
      line +=
          fmt::format(", {} {} and {} are not related linearly (p = {:.1g})", answer.training ? "since" : "although",
                      quoted(test.pair.first), quoted(test.pair.second), test.pair_p_value);
    }
  }
  if (answer.training) {
    const auto count = [](long n, const char* noun) { return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s"); };
    line += fmt::format("; {}, {:.2g} training steps, {:.2g} density evaluations, {} tested",
                        count(answer.training->networks, "network"), static_cast<double>(answer.training->steps),
                        static_cast<double>(answer.evaluations), count(answer.found.tested_pairs, "pair"));
  }
  if (answer.graph && answer.refined) {
    line += fmt::format("; boundaries as a causal graph with additive noise{} sees them",
                        answer.graph->scale == causal::NoiseScale::original ? "" : " on normal scores");
  } else if (answer.graph && answer.graph->additivity.applicable) {
    line += fmt::format("; not refined by a graph, since noise does not just add (p = {:.1g})",
                        answer.graph->additivity.p_value);
  } else if (answer.graph) {
    line += fmt::format("; not refined by a graph, since whether noise adds was not tested: {}",
                        answer.graph->additivity.why_not());
  }
  return line;
}

// Where noise does not add, nothing tells columns that follow each other exactly from measured ones that nearly do; and
// beside a noisy measure of what acts, everything that follows the same cause still tells something.
void warn_of_close_columns(const Context& context, BoundaryAnswer& answer) {
  const bool refused = answer.graph && !answer.refined && answer.graph->additivity.applicable;
  if (!refused || answer.graph->additivity.additive) return;
  const int close = mark_close(context.tame(), context.facts(), answer.found);
  if (close == 0) return;
  int members = 0;
  for (const Boundary& boundary : answer.found.boundaries) members += static_cast<int>(boundary.members.size());
  answer.warnings.push_back(fmt::format(
      "[mb] columns follow each other so closely, and not by adding noise (p = {:.1g}), that a tenth of measurement "
      "noise in one other member would explain away {} of {} members: these are fragile, and if columns are measured "
      "with noise many may be no more than stand-ins",
      answer.graph->additivity.p_value, close, members));
}

// With networks if they are to be used and there is time.
std::optional<BoundaryAnswer> network_answer(const BoundaryProblem& problem, const FansiteParams& params,
                                             const Preparation& prepared) {
  const Context& context = problem.context;
  Deadline deadline(context.progress(), context.budget().watch(), Budget::never(), context.budget().end());
  try {
    return search_with_networks(problem, params, prepared, deadline);
  } catch (const Interrupted&) {
    if (!deadline.expired()) throw;
  }
  return std::nullopt;
}

BoundaryAnswer answer_to(const BoundaryProblem& problem, const FansiteParams& params) {
  const Context& context = problem.context;
  Deadline by_half(context.progress(), context.budget().watch(), kGaussianShare * context.budget().end(),
                   Budget::never());
  Preparation prepared = prepare(problem, params, by_half);
  const bool learnable = context.learnable_columns() >= 2;  // else nothing can be in a boundary
  const bool trains = prepared.estimator->can.trains && learnable;
  std::optional<BoundaryAnswer> answer;
  if (trains) answer = network_answer(problem, params, prepared);
  const bool no_time = trains && !answer;
  if (!answer) {
    answer = untrained_answer(problem, params, prepared);
    if (prepared.estimator->can.trains && !learnable) answer->estimator = prepared.estimator->name;
    if (!prepared.estimator->can.trains) {
      refine_by_graph(problem, params, *prepared.estimator, prepared.without_training(), true, *answer,
                      context.progress());
    }
  }
  if (no_time) {
    add_sentence(answer->unfinished,
                 "there was no time to train networks and search with them, so these boundaries are the Gaussian "
                 "estimator's, which sees linear relations only");
  }
  if (!answer->training && !context.run().save_model.empty()) {
    answer->warnings.push_back(fmt::format("[mb] {} is not written: the {} estimator was used and has no model",
                                           context.run().save_model, answer->estimator));
  }
  if (!answer->training) add_stability(context.tame(), *context.covariance(), answer->found);
  add_robustness(context.tame(), context.facts(), answer->found);
  if (answer->graph) mark_fragile(answer->graph->hidden_causes, answer->found);
  mark_weak(answer->found);
  warn_of_close_columns(context, *answer);
  answer->linearity = prepared.linearity;
  answer->warnings.insert(answer->warnings.begin(), prepared.warnings.begin(), prepared.warnings.end());
  answer->seconds.insert(answer->seconds.begin(), {"prepare", prepared.prepare_seconds});
  answer->how = in_words(*answer, params, context.data().names);
  return std::move(*answer);
}

// What changes along the rows is a cause that is not in the table. That it moves one end is seen, that it does not move
// the other is not.
void mark_shifting(const RowDependence& rows, Boundaries& found) {
  if (rows.shifting.empty()) return;
  const auto shifts = [&](int variable) { return contains(rows.shifting, variable); };
  for (Boundary& boundary : found.boundaries) {
    for (Member& member : boundary.members) {
      if (shifts(boundary.target) || shifts(member.variable)) member.fragile = true;
    }
  }
}

BoundaryAnswer run_as_rows_are(const BoundaryProblem& problem, const FansiteParams& params) {
  const std::optional<Context> dependent = with_dependence(problem.context, params.block, "block");
  if (!dependent) return answer_to(problem, params);
  BoundaryAnswer answer = answer_to({*dependent, problem.targets}, params);
  std::string told = dependence_sentence(problem.context, *dependent, params.block, "mb", "tests");
  if (!told.empty()) answer.warnings.insert(answer.warnings.begin(), std::move(told));
  return answer;
}

BoundaryAnswer run(const BoundaryProblem& problem, const Parameters& parameters) {
  BoundaryAnswer answer = run_as_rows_are(problem, parameters.as<FansiteParams>());
  mark_shifting(problem.context.row_dependence(), answer.found);
  return answer;
}

std::vector<std::string> estimator_names() {
  std::vector<std::string> names = {"auto"};
  for (const EstimatorMethod& row : entropy_estimators()) names.push_back(row.name);
  return names;
}

}  // namespace

const Description& FansiteParams::description() {
  using P = FansiteParams;
  static const Description list =
      Describe<P>()
          .field("estimator", &P::estimator,
                 "of the entropies: gaussian (linear relations), flow (any), or auto (by a test of the data)")
          .among(estimator_names())
          .field("effort", &P::effort,
                 "of training, searching and refining with networks: quick (a first look), normal or thorough")
          .part(&P::search, SearchParams::description())
          .field("refine", &P::refine,
                 "graph (boundaries as a causal graph sees them), none, or auto (networks: if noise adds)")
          .field("repeats", &P::repeats, "networks for each part of the rows; 0: by effort", at_least(0))
          .field("folds", &P::folds, "each network leaves one of so many parts of the rows out; 0: by effort",
                 at_least(0))
          .field("steps", &P::steps, "training steps of each network; 0: by effort", at_least(0))
          .field("block", &P::block,
                 "rows in a row that may depend on each other: auto (as the table shows), none, or how many")
          .rule([](const P& p) { check_block(p.block, "block"); })
          .done();
  return list;
}

BoundaryMethod fansite_method() {
  BoundaryMethod row;
  row.name = "fansite";
  row.summary =
      "FANSITEMB: grow by conditional entropies, shrink, reconcile; sizes by the data, or by the paper's rule";
  row.citation = "Nguyen, Duong, Huynh and Nguyen, Neural Autoregressive Flows for Markov Boundary Learning";
  row.can = {.satisfies_knowledge = true,
             .resumable = true,
             .can_be_cut_short = true,
             .handles_missing_cells = true,
             .handles_context = true,
             .handles_weights = true,
             .handles_groups = true,
             .weighs_rows = true,
             .trains = true,
             .column_kinds = {"continuous", "ordered", "atoms", "nominal"}};
  row.parameters = FansiteParams();
  row.run = run;
  row.plan = plan_fansite;
  return row;
}

}  // namespace fansite
