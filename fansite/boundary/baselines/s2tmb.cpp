// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/baselines/s2tmb.h"

#include <fmt/core.h>

#include <algorithm>
#include <ranges>

#include "fansite/base/sets.h"
#include "fansite/entropy/gaussian.h"
#include "fansite/independence/gaussian_bic.h"

namespace fansite {
namespace {

class S2tmb {
 public:
  S2tmb(const LocalScore& score, int target, const BestDagParams& params, const Progress& progress)
      : score_(score), target_(target), params_(params), progress_(progress) {}

  ClassicalSet find(const std::vector<int>& candidates) && {
    for (const int v : candidates) {
      neighbours_.push_back(v);
      keep_neighbours(best());
    }
    for (const int v : std::views::reverse(candidates)) {
      if (contains(neighbours_, v)) continue;
      spouses_.push_back(v);
      const BestDag dag = best();
      keep_neighbours(dag);
      std::erase_if(spouses_, [&](int s) { return dag.adjacent(s, target_) || !has_common_child(dag, s); });
    }
    ClassicalSet found{neighbours_, {}, limited_};
    found.members.insert(found.members.end(), spouses_.begin(), spouses_.end());
    return found;
  }

 private:
  BestDag best() {
    throw_if_interrupted(progress_);
    std::vector<int> variables = {target_};
    variables.insert(variables.end(), neighbours_.begin(), neighbours_.end());
    variables.insert(variables.end(), spouses_.begin(), spouses_.end());
    BestDag dag = best_dag(score_, variables, params_);
    limited_ = limited_ || !dag.exact || dag.parents_limited;
    return dag;
  }

  void keep_neighbours(const BestDag& dag) {
    std::erase_if(neighbours_, [&](int v) { return !dag.adjacent(v, target_); });
  }

  bool has_common_child(const BestDag& dag, int spouse) const {
    return std::any_of(neighbours_.begin(), neighbours_.end(),
                       [&](int child) { return dag.has_edge(target_, child) && dag.has_edge(spouse, child); });
  }

  const LocalScore& score_;
  int target_;
  const BestDagParams& params_;
  const Progress& progress_;
  std::vector<int> neighbours_, spouses_;
  bool limited_ = false;
};

BoundaryAnswer run(const BoundaryProblem& problem, const Parameters& parameters) {
  const auto& params = parameters.as<S2tmbParams>();
  const Context& context = problem.context;
  const GaussianBic score(context.covariance());
  const GaussianEstimator gaussian(context.covariance());
  ClassicalRun each;
  each.search = [&](const ClassicalTarget& search) { return s2tmb(score, search, params.graph, context.progress()); };
  each.order = params.order;
  each.estimator = &gaussian;
  std::vector<int> limited;
  BoundaryAnswer answer = search_each(problem, each, limited);
  refuse_models(context, "s2tmb has none", answer);
  answer.details = {{"limited_targets", static_cast<std::int64_t>(limited.size())}};
  const std::string limit =
      fmt::format("all graphs of more than {} variables (but hill climbing), or more than {} parents of one",
                  params.graph.max_exact, params.graph.max_parents);
  if (!limited.empty()) answer.warnings.push_back(limit_warning("S2TMB", limit, limited, problem));
  answer.how = "S2TMB with the Gaussian BIC";
  return answer;
}

}  // namespace

const Description& S2tmbParams::description() {
  using P = S2tmbParams;
  static const Description list =
      Describe<P>()
          .field(
              "max_nodes", [](auto& p) -> auto& { return p.graph.max_exact; },
              "variables of a graph that is searched exactly; larger ones by hill climbing", from_to(1, 20))
          .field(
              "max_in_degree", [](auto& p) -> auto& { return p.graph.max_parents; },
              "parents of a variable in such a graph, at most", at_least(1))
          .field("order", &P::order, "of members: kept (the method's own), index, or pyset (as CPython lists a set)")
          .done();
  return list;
}

ClassicalSet s2tmb(const LocalScore& score, const ClassicalTarget& search, const BestDagParams& params,
                   const Progress& progress) {
  return S2tmb(score, search.target, params, progress).find(search.candidates);
}

BoundaryMethod s2tmb_method() {
  BoundaryMethod row;
  row.name = "s2tmb";
  row.summary = "S2TMB: the best small graphs around the target, by the Gaussian BIC";
  row.citation =
      "Gao and Ji, Efficient Score-based Markov Blanket Discovery, International Journal of Approximate "
      "Reasoning 80, 2017";
  row.can = classical_capabilities(false);
  row.parameters = S2tmbParams();
  row.run = run;
  return row;
}

}  // namespace fansite
