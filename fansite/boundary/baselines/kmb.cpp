// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/baselines/kmb.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

#include "fansite/base/parallel.h"
#include "fansite/base/sets.h"
#include "fansite/base/stopwatch.h"
#include "fansite/boundary/baselines/kernel_score.h"
#include "fansite/entropy/gaussian.h"

namespace fansite {
namespace {

// The rows used, each column with mean 0 and variance 1; a constant one stays 0.
Matrix standardised(const Dataset& data, int sample) {
  const Index count = std::min<Index>(data.rows(), sample);
  Matrix values(count, data.variables());
  for (Index i = 0; i < count; ++i) values.row(i) = data.values.row(i * data.rows() / count);
  values.rowwise() -= values.colwise().mean().eval();
  for (Index j = 0; j < values.cols(); ++j) {
    const double scale = std::sqrt(values.col(j).squaredNorm() / static_cast<double>(count));
    if (scale > 0) values.col(j) /= scale;
  }
  return values;
}

// Targets have variance 1 and the linear kernel, so J(∅) = 1.
class Kmb {
 public:
  Kmb(const Dataset& data, const KmbParams& params, Progress& progress)
      : params_(params), progress_(progress), values_(standardised(data, params.sample)) {
    // Each variable alone, for all targets at once: one factor serves them all.
    alone_ = Matrix::Ones(values_.cols(), values_.cols());
    progress_.begin("ranking", static_cast<long>(values_.cols()));
    parallel_for(values_.cols(), [&](std::ptrdiff_t z) {
      throw_if_interrupted(progress_);
      alone_.row(z) = conditional_traces(values_, factor_of({static_cast<int>(z)}), params_.eps).transpose();
      progress_.advance(1);
    });
  }

  ClassicalSet find(const ClassicalTarget& search) const {
    std::vector<int> ranked = search.candidates;
    std::stable_sort(ranked.begin(), ranked.end(),
                     [&](int a, int b) { return alone_(a, search.target) < alone_(b, search.target); });
    State state{search, search.known, 0};
    state.left = left(search.target, state.members);
    bool changed = scan(ranked, state);
    int pass = 0;
    for (; changed && pass < params_.passes; ++pass) changed = scan(ranked, state);
    return {state.members, {}, changed};
  }

  double largest_left_out() const { return left_out_; }

 private:
  struct State {
    const ClassicalTarget& search;
    std::vector<int> members;
    double left;  // J(members)
  };

  // Whoever tells enough given the members joins them, and those that it makes superfluous go, the weakest first.
  bool scan(const std::vector<int>& ranked, State& state) const {
    const std::vector<int> before = state.members;
    for (const int z : ranked) {
      if (contains(state.members, z)) continue;
      std::vector<int> more = state.members;
      more.push_back(z);
      const double now = left(state.search.target, more);
      if (state.left - now <= params_.tau) continue;
      state.members = more;
      state.left = now;
      while (drop_weakest(state, z)) {
      }
    }
    return state.members != before;
  }

  bool drop_weakest(State& state, int newest) const {
    int weakest = -1;
    double least = 0;
    for (const int m : state.members) {
      if (m == newest || contains(state.search.known, m)) continue;
      const double other = left(state.search.target, without(state.members, m));
      if (other - state.left >= params_.tau || (weakest >= 0 && other >= least)) continue;
      weakest = m;
      least = other;
    }
    if (weakest < 0) return false;
    state.members = without(state.members, weakest);
    state.left = least;
    return true;
  }

  double left(int target, const std::vector<int>& set) const {
    throw_if_interrupted(progress_);
    if (set.empty()) return 1;
    if (set.size() == 1) return alone_(set.front(), target);
    return conditional_trace(values_.col(target), factor_of(set), params_.eps);
  }

  Matrix factor_of(const std::vector<int>& set) const {
    std::vector<int> sorted = set;
    std::sort(sorted.begin(), sorted.end());
    const Matrix columns = values_(Eigen::all, sorted);
    const double spread = median_squared_distance(columns);
    KernelFactor factor = gaussian_factor(columns, spread > 0 ? spread : 1, params_.rank);
    const std::lock_guard lock(mutex_);
    left_out_ = std::max(left_out_, factor.left_out);
    return std::move(factor.columns);
  }

  const KmbParams& params_;
  Progress& progress_;
  Matrix values_, alone_;  // alone_(z, t) = J of t given z
  mutable std::mutex mutex_;
  mutable double left_out_ = 0;  // the largest share
};

BoundaryAnswer run(const BoundaryProblem& problem, const Parameters& parameters) {
  const auto& params = parameters.as<KmbParams>();
  const Context& context = problem.context;
  Stopwatch watch;
  const Kmb kmb(context.tame(), params, context.progress());
  const double ranking = watch.lap();
  const GaussianEstimator gaussian(context.covariance());
  ClassicalRun each;
  each.search = [&](const ClassicalTarget& search) { return kmb.find(search); };
  each.order = params.order;
  each.estimator = &gaussian;
  std::vector<int> limited;
  BoundaryAnswer answer = search_each(problem, each, limited);
  answer.seconds.insert(answer.seconds.begin(), {"rank", ranking});
  refuse_models(context, "kmb has none", answer);
  const auto rows = std::min<std::int64_t>(context.data().rows(), params.sample);
  answer.details = {{"rows_used", rows},
                    {"kernel_left_out", kmb.largest_left_out()},
                    {"limited_targets", static_cast<std::int64_t>(limited.size())}};
  if (rows < context.data().rows()) {
    answer.warnings.push_back(fmt::format(
        "[mb] kmb used {} of {} rows; --sample takes more, in time that grows with them", rows, context.data().rows()));
  }
  if (!limited.empty()) {
    answer.warnings.push_back(
        limit_warning("KMB", fmt::format("more than {} passes", params.passes), limited, problem));
  }
  answer.how = "KMB (reconstructed); gains are those of linear Gaussian relations";
  return answer;
}

}  // namespace

const Description& KmbParams::description() {
  using P = KmbParams;
  static const Description list =
      Describe<P>()
          .field("tau", &P::tau, "share of the target's variance that a member must tell given the others",
                 between(0, 1))
          .field("eps", &P::eps, "ridge of the kernel regression, as a share of the rows", above(0))
          .field("rank", &P::rank, "of each kernel matrix, at most", at_least(1))
          .field("sample", &P::sample, "rows used, at most, evenly spread", at_least(2))
          .field("passes", &P::passes, "through what was discarded, at most", at_least(0))
          .field("order", &P::order, "of members: kept (the method's own), index, or pyset (as CPython lists a set)")
          .done();
  return list;
}

BoundaryMethod kmb_method() {
  BoundaryMethod row;
  row.name = "kmb";
  row.summary = "KMB (reconstructed): the smallest set that leaves least over in a space of smooth functions";
  row.citation = "Wu, Jiang, Wu and Chen, Practical Markov Boundary Learning without Strong Assumptions, AAAI 2023";
  row.can = {
      .satisfies_knowledge = true, .keeps_table_order = true, .column_kinds = {"continuous", "ordered", "atoms"}};
  row.parameters = KmbParams();
  row.run = run;
  return row;
}

}  // namespace fansite
