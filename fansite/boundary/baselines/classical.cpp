// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/baselines/classical.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "fansite/base/parallel.h"
#include "fansite/base/sets.h"
#include "fansite/base/stopwatch.h"
#include "fansite/base/text.h"
#include "fansite/entropy/gaussian.h"

namespace fansite {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

ClassicalTarget target_of(const BoundaryProblem& problem, int target) {
  const Context& context = problem.context;
  const Dataset& data = context.data();
  const Knowledge& knowledge = context.knowledge();
  ClassicalTarget result;
  result.target = target;
  if (context.facts().takes_part[static_cast<std::size_t>(target)] == 0) return result;
  for (int z = 0; z < data.variables(); ++z) {
    const auto at = static_cast<std::size_t>(z);
    const bool is_context = !data.columns.empty() && data.columns[at].context;
    if (z == target || is_context || context.facts().takes_part[at] == 0) continue;
    if (!knowledge.empty() && knowledge.out_of_boundary(target, z)) continue;
    result.candidates.push_back(z);
  }
  if (!knowledge.empty()) result.known = knowledge.known_boundary(target);
  return result;
}

double p_value_of(const ClassicalRun& run, const ClassicalSet& found, int target, int member,
                  const std::vector<int>& members) {
  const auto place = std::find(found.members.begin(), found.members.end(), member) - found.members.begin();
  if (place < static_cast<std::ptrdiff_t>(found.p_values.size()))
    return found.p_values[static_cast<std::size_t>(place)];
  return run.test == nullptr ? kNotKnown : run.test->test(target, member, without(members, member)).p_value;
}

// Entropies of the target, and what each member tells of it. Of more members than the estimator knows that is unknown.
void tell_gains(const SearchEstimator& estimator, Boundary& boundary) {
  const std::vector<int> members = boundary.member_indices();
  const auto known = std::min(members.size(), static_cast<std::size_t>(std::max(estimator.largest_set(), 0)));
  const std::vector<int> all(members.begin(), members.begin() + static_cast<std::ptrdiff_t>(known));
  const int target = boundary.target;
  boundary.entropy = estimator.conditional_entropy(EntropyQuery{target, {}}).value;
  boundary.conditional_entropy = estimator.conditional_entropy(EntropyQuery{target, all}).value;
  std::vector<InformationQuery> queries;
  for (std::size_t i = 0; i < known; ++i) {
    queries.push_back({target, {all[i]}, {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i)}});
    queries.push_back({target, {all[i]}, without(all, all[i])});
  }
  const std::vector<EntropyEstimate> told = estimator.mutual_information(queries);
  for (std::size_t i = 0; i < members.size(); ++i) {
    Member& member = boundary.members[i];
    member.gain = i < known ? told[2 * i].value : kNotKnown;
    member.standard_error = i < known ? told[2 * i].standard_error : kNotKnown;
    member.unique = i < known ? told[2 * i + 1].value : kNotKnown;
  }
}

Boundary boundary_of(const ClassicalRun& run, const ClassicalTarget& search, const ClassicalSet& found) {
  std::vector<int> members = found.members;
  for (const int known : search.known) {
    if (!contains(members, known)) members.push_back(known);
  }
  members = in_order(std::move(members), run.order);
  Boundary boundary;
  boundary.target = search.target;
  for (const int z : members) {
    Member& member = boundary.members.emplace_back();
    member.variable = z;
    member.p_value = p_value_of(run, found, search.target, z, members);
    member.q_value = kNotKnown;
    member.by_knowledge = contains(search.known, z);
  }
  tell_gains(*run.estimator, boundary);
  return boundary;
}

}  // namespace

BoundaryAnswer search_each(const BoundaryProblem& problem, const ClassicalRun& run, std::vector<int>& limited) {
  const Stopwatch watch;
  Progress& progress = problem.context.progress();
  const std::vector<int>& targets = problem.targets.searched;
  std::vector<Boundary> boundaries(targets.size());
  std::vector<char> is_limited(targets.size(), 0);
  progress.begin("searching", static_cast<long>(targets.size()));
  parallel_for(static_cast<std::ptrdiff_t>(targets.size()), [&](std::ptrdiff_t i) {
    throw_if_interrupted(progress);
    const auto at = static_cast<std::size_t>(i);
    const ClassicalTarget search = target_of(problem, targets[at]);
    const ClassicalSet found = search.candidates.empty() ? ClassicalSet{} : run.search(search);
    boundaries[at] = boundary_of(run, search, found);
    is_limited[at] = found.limited ? 1 : 0;
    progress.advance(1);
  });
  BoundaryAnswer answer;
  answer.estimator = run.estimator->name();
  std::set<Pair> pairs;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    for (const Member& member : boundaries[i].members) pairs.insert(std::minmax(targets[i], member.variable));
    if (is_limited[i] != 0) limited.push_back(targets[i]);
  }
  answer.found.moral_edges.assign(pairs.begin(), pairs.end());
  answer.found.boundaries = std::move(boundaries);
  answer.evaluations = run.estimator->evaluations();
  answer.seconds.emplace_back("search", watch.seconds());
  return answer;
}

IndependenceVerdict WatchedTest::test(int a, int b, std::span<const int> given) const {
  throw_if_interrupted(progress_);
  ++count_;
  return test_.test(a, b, given);
}

std::vector<IndependenceVerdict> WatchedTest::test_each(int target, std::span<const int> candidates,
                                                        std::span<const int> given) const {
  throw_if_interrupted(progress_);
  count_ += static_cast<long>(candidates.size());
  return test_.test_each(target, candidates, given);
}

BoundaryAnswer run_constraint_based(const BoundaryProblem& problem, const ConstraintBasedRun& run) {
  Stopwatch watch;
  const Context& context = problem.context;
  const FittedTest fitted = fit_test(context, run.test);
  const double fitting = watch.lap();
  const WatchedTest watched(*fitted.test, context.progress());
  std::shared_ptr<const SearchEstimator> estimator = fitted.networks;
  if (!estimator) estimator = std::make_shared<const GaussianEstimator>(context.covariance());
  ClassicalRun each;
  each.search = [&](const ClassicalTarget& target) { return run.search(watched, target); };
  each.order = run.order;
  each.test = fitted.test.get();
  each.estimator = estimator.get();
  std::vector<int> limited;
  BoundaryAnswer answer = search_each(problem, each, limited);
  answer.seconds.insert(answer.seconds.begin(), {"prepare", fitting});
  answer.training = fitted.training;
  answer.estimator_parameters = fitted.parameters;
  answer.model_hash = fitted.model_hash;
  answer.warnings = fitted.warnings;
  if (!fitted.networks) refuse_models(context, "the test fisher-z has none", answer);
  if (!run.limit.empty()) {
    answer.details.emplace_back("limited_targets", static_cast<std::int64_t>(limited.size()));
    if (!limited.empty()) answer.warnings.push_back(limit_warning(run.name, run.limit, limited, problem));
  }
  answer.details.emplace_back("tests", std::int64_t{watched.count()});
  answer.how = fmt::format("{} with {} at alpha {:g}; {} tests", run.name,
                           fitted.networks ? "the flow test" : "Fisher's z", run.alpha, watched.count());
  return answer;
}

const Description& SeparatingSetParams::description() {
  using P = SeparatingSetParams;
  static const Description list =
      describe_constraint_based<P>()
          .field("max_subset", &P::max_subset, "variables in a set that may separate two; larger ones are not tried",
                 at_least(1))
          .done();
  return list;
}

BoundaryAnswer run_by_separating_sets(const BoundaryProblem& problem, const SeparatingSetParams& params,
                                      const std::string& name, SeparatingSetSearch search) {
  ConstraintBasedRun run{name, params.alpha, params.test, params.order, {}, {}};
  run.limit = fmt::format("sets of more than {} variables", params.max_subset);
  run.search = [&](const IndependenceTest& test, const ClassicalTarget& target) {
    return search(test, target, params.alpha, params.max_subset);
  };
  return run_constraint_based(problem, run);
}

Capabilities classical_capabilities(bool trains) {
  Capabilities can = covariance_capabilities();
  can.satisfies_knowledge = can.keeps_table_order = true;
  can.trains = trains;
  return can;
}

std::string limit_warning(const std::string& name, const std::string& limit, const std::vector<int>& targets,
                          const BoundaryProblem& problem) {
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min<std::size_t>(targets.size(), 3); ++i) {
    shown.push_back(fmt::format("'{}'", excerpt(problem.context.data().names[static_cast<std::size_t>(targets[i])])));
  }
  const std::size_t more = targets.size() - shown.size();
  return fmt::format("[mb] {} did not try {} for {} of {} targets ({}{}), whose boundaries may be wrong for that", name,
                     limit, targets.size(), problem.targets.searched.size(), fmt::join(shown, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

void refuse_models(const Context& context, const std::string& why, BoundaryAnswer& answer) {
  if (!context.run().model.empty()) throw ParameterError("model", why + "; leave it out");
  if (!context.run().save_model.empty()) {
    answer.warnings.push_back(fmt::format("[mb] {} is not written: {}", context.run().save_model, why));
  }
}

}  // namespace fansite
