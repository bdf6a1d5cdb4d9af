// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/baselines/tc.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "fansite/base/stopwatch.h"
#include "fansite/entropy/gaussian.h"
#include "fansite/independence/total_conditioning.h"

namespace fansite {
namespace {

std::vector<int> taking_part(const Context& context) {
  const Dataset& data = context.data();
  std::vector<int> variables;
  for (int j = 0; j < data.variables(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    const bool is_context = !data.columns.empty() && data.columns[at].context;
    if (context.facts().takes_part[at] != 0 && !is_context) variables.push_back(j);
  }
  return variables;
}

// The strongest first.
ClassicalSet dependent(const TotalConditioning& total, const ClassicalTarget& search, const std::vector<int>& place,
                       double alpha) {
  const int target = place[static_cast<std::size_t>(search.target)];
  const auto p_value = [&](int z) { return total.p_value(target, place[static_cast<std::size_t>(z)]); };
  const auto strength = [&](int z) { return std::abs(total.correlation(target, place[static_cast<std::size_t>(z)])); };
  ClassicalSet found;
  const auto is_known = [&](int z) { return std::binary_search(search.known.begin(), search.known.end(), z); };
  for (const int z : search.candidates) {
    if (p_value(z) < alpha || is_known(z)) found.members.push_back(z);
  }
  std::stable_sort(found.members.begin(), found.members.end(), [&](int a, int b) { return strength(a) > strength(b); });
  for (const int z : found.members) found.p_values.push_back(p_value(z));
  return found;
}

BoundaryAnswer run(const BoundaryProblem& problem, const Parameters& parameters) {
  const auto& params = parameters.as<TcParams>();
  const Context& context = problem.context;
  Stopwatch watch;
  const std::vector<int> variables = taking_part(context);
  std::vector<int> place(static_cast<std::size_t>(context.data().variables()), -1);
  for (std::size_t i = 0; i < variables.size(); ++i)
    place[static_cast<std::size_t>(variables[i])] = static_cast<int>(i);
  const TotalConditioning total = total_conditioning(*context.covariance(), variables, params.ridge);
  const double inverting = watch.lap();
  const GaussianEstimator gaussian(context.covariance());
  ClassicalRun each;
  each.search = [&](const ClassicalTarget& search) { return dependent(total, search, place, params.alpha); };
  each.order = params.order;
  each.estimator = &gaussian;
  std::vector<int> unlimited;
  BoundaryAnswer answer = search_each(problem, each, unlimited);
  answer.seconds.insert(answer.seconds.begin(), {"prepare", inverting});
  refuse_models(context, "tc has none", answer);
  answer.details = {{"degrees_of_freedom", total.freedom}, {"shrunk", total.shrunk}};
  answer.how = fmt::format("total conditioning{} at alpha {:g}",
                           total.shrunk ? fmt::format(" with a ridge of {:g}", params.ridge) : "", params.alpha);
  if (total.shrunk) {
    answer.warnings.push_back(
        fmt::format("[mb] the correlations of {} variables in {} rows have no inverse: tc added a ridge of {:g} and "
                    "counts {:g} degrees of freedom, which is not the published method; take its members as a ranking",
                    variables.size(), context.covariance()->rows, params.ridge, total.freedom));
  }
  return answer;
}

}  // namespace

const Description& TcParams::description() {
  using P = TcParams;
  static const Description list =
      Describe<P>()
          .field("alpha", &P::alpha, "p-value of a test up to which two variables count as dependent", between(0, 1))
          .field("ridge", &P::ridge, "added to the diagonal of the correlations where they have no inverse", above(0))
          .field("order", &P::order, "of members: kept (the method's own), index, or pyset (as CPython lists a set)")
          .done();
  return list;
}

BoundaryMethod tc_method() {
  BoundaryMethod row;
  row.name = "tc";
  row.summary = "total conditioning: what is correlated given all other variables, from one inverse";
  row.citation = "Pellet and Elisseeff, Using Markov Blankets for Causal Structure Learning, JMLR 9, 2008";
  row.can = classical_capabilities(false);
  row.parameters = TcParams();
  row.run = run;
  return row;
}

}  // namespace fansite
