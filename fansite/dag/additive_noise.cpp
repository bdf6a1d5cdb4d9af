// SPDX-License-Identifier: Apache-2.0
#include "fansite/dag/additive_noise.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "fansite/dag/graph_search.h"
#include "fansite/data.h"
#include "fansite/error.h"
#include "fansite/parallel.h"
#include "fansite/single_threaded_blas.h"
#include "fansite/special.h"

namespace fansite::dag {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kResamples = 100;

// ---- Evidence -------------------------------------------------------------------------------------------------------

// Row weights of the resamples (bootstrap, Poisson).
Eigen::MatrixXf resampling_weights(Index rows, Key key) {
  Eigen::MatrixXf weights(rows, kResamples);
  for (int r = 0; r < kResamples; ++r) {
    Random random(key.split(static_cast<std::uint64_t>(r)));
    for (float& weight : weights.col(r)) {
      weight = -1;  // events before time 1
      for (double time = 0; time < 1; time += random.exponential()) weight += 1;
    }
  }
  return weights;
}

Evidence evidence_of(const Vector& differences, const Eigen::MatrixXf& weights) {
  const auto n = static_cast<double>(differences.size());
  Evidence evidence;
  evidence.value = differences.mean();
  evidence.standard_error = std::sqrt((differences.array() - evidence.value).square().sum() / (n - 1) / n);
  const Eigen::VectorXf sums = weights.transpose() * differences.cast<float>();
  evidence.stability = static_cast<double>((sums.array() > 0).count()) / kResamples;
  return evidence;
}

constexpr Evidence kCertain = {kInfinity, 0, 1};

// The rows' surprisals of whole graphs; children that two graphs agree on cancel.
class RowScores {
 public:
  explicit RowScores(const LocalScores& scores) : scores_(scores) {}

  void prepare(std::vector<LocalScores::Query> queries, const Progress& progress) {
    std::sort(queries.begin(), queries.end());
    queries.erase(std::unique(queries.begin(), queries.end()), queries.end());
    std::erase_if(queries, [&](const auto& query) { return known_.contains(query); });
    std::vector<Eigen::VectorXf> found(queries.size());
    const SingleThreadedBlas one_thread_each;
    parallel_for(static_cast<Index>(queries.size()), [&](Index i) {
      throw_if_interrupted(progress);
      const auto& [child, parents] = queries[static_cast<std::size_t>(i)];
      found[static_cast<std::size_t>(i)] = scores_.rows(child, parents).cast<float>();
    });
    for (std::size_t i = 0; i < queries.size(); ++i) known_[queries[i]] = std::move(found[i]);
  }
  const Eigen::VectorXf& operator()(int child, const std::vector<int>& parents) const {
    return known_.at({child, parents});
  }

 private:
  const LocalScores& scores_;
  std::map<LocalScores::Query, Eigen::VectorXf> known_;
};

std::vector<LocalScores::Query> disagreements(const ParentSets& one, const ParentSets& other) {
  std::vector<LocalScores::Query> result;
  for (std::size_t j = 0; j < one.size(); ++j) {
    if (one[j] == other[j]) continue;
    result.emplace_back(static_cast<int>(j), one[j]);
    result.emplace_back(static_cast<int>(j), other[j]);
  }
  return result;
}

// ---- Additivity -----------------------------------------------------------------------------------------------------

// The size of what is left of a child, as normal scores, against g and g² − 1 of each parent's normal scores g:
// z-scores of the correlations. Residuals are scaled to the variance that leaving rows out has not touched, (1 − h)·σ².
AdditivityTest test_additivity(const Regression& regression, const ParentSets& parents, const Progress& progress) {
  struct Sign {
    double z = 0;
    int parent = -1;
  };
  std::vector<Sign> strongest(parents.size());
  const SingleThreadedBlas one_thread_each;
  parallel_for(static_cast<Index>(parents.size()), [&](Index j) {
    throw_if_interrupted(progress);
    const std::vector<int>& of_j = parents[static_cast<std::size_t>(j)];
    if (of_j.empty()) return;
    const int child = static_cast<int>(j);
    const Residuals left = regression.residuals(std::span(&child, 1), of_j);
    const Vector sizes = left.left_out.col(0).array().abs() * (1 - left.leverage.col(0).array()).max(0).sqrt();
    const Vector size = normal_scores(sizes);
    const double n = std::sqrt(static_cast<double>(size.size()));
    for (const int parent : of_j) {
      const Vector g = normal_scores(regression.values().col(parent));
      const Vector bulge = g.array().square() - g.squaredNorm() / static_cast<double>(g.size());
      for (const Vector* other : {&g, &bulge}) {
        const double z = std::abs(n * size.dot(*other) / (size.norm() * other->norm()));
        if (z > strongest[static_cast<std::size_t>(j)].z) strongest[static_cast<std::size_t>(j)] = {z, parent};
      }
    }
  });
  AdditivityTest test;
  double looked_at = 0, largest = 0;
  for (std::size_t j = 0; j < parents.size(); ++j) {
    looked_at += 2.0 * static_cast<double>(parents[j].size());
    if (strongest[j].z <= largest) continue;
    largest = strongest[j].z;
    test.child = static_cast<int>(j);
    test.parent = strongest[j].parent;
  }
  test.p_value = looked_at == 0 ? 1.0 : best_of(2 * normal_tail(largest), static_cast<int>(looked_at));
  test.additive = test.p_value > 0.01;
  return test;
}

// ---- Rows -----------------------------------------------------------------------------------------------------------

Matrix drawn_rows(const MatrixView& values, Index most, Key key) {
  if (most <= 0 || values.rows() <= most) return values;
  return values(Random(key).subset(static_cast<int>(values.rows()), static_cast<int>(most)), Eigen::all);
}

// Whether i → j is one of two edges into j whose other ends are not linked.
bool in_collider(const Dag& dag, int i, int j) {
  return std::any_of(dag.parents(j).begin(), dag.parents(j).end(),
                     [&](int k) { return k != i && !dag.has_edge(i, k) && !dag.has_edge(k, i); });
}

}  // namespace

void validate(const AdditiveNoiseParams& params) {
  check(params.price >= 0, "[dag] a price of {}; use 0 or more", params.price);
  check(params.max_parents >= 1, "[dag] at most {} parents; use 1 or more", params.max_parents);
  check(params.sure >= 0, "[dag] {} standard errors; use 0 or more", params.sure);
  check(params.max_rows >= 0, "[dag] at most {} rows; use 1 or more, or 0 for all", params.max_rows);
}

AdditiveNoiseResult find_additive_noise_graph(const MatrixView& values, const GraphConstraints& constraints,
                                              const AdditiveNoiseParams& params, Progress& progress) {
  validate(params);
  const ByteMatrix& allowed = constraints.allowed;
  check(allowed.rows() == values.cols() && allowed.cols() == values.cols(),
        "[dag] {}×{} allowed edges for {} variables", allowed.rows(), allowed.cols(), values.cols());
  const Key key{params.seed};
  const Regression regression(standardised(drawn_rows(values, params.max_rows, key.split(0))), params.regression,
                              key.split(1));
  const auto n = static_cast<double>(regression.rows());
  LocalScores scores(regression, params.noise);
  GraphSearch search(scores, constraints, params.price * std::log(n) / (2 * n), params.max_parents, progress);

  progress.begin("searching graphs", 1);
  ParentSets best = search.start();
  search.climb(best);
  progress.advance(1);

  // Turning each edge round and climbing from there escapes from graphs that no single step improves; from the best of
  // all it says how much worse the best other direction is.
  std::map<Edge, ParentSets> turned;
  for (bool settled = false; !settled;) {
    settled = true;
    turned.clear();
    const Dag edges = dag_of(best);
    const double total = search.total(best);
    progress.begin("weighing directions", edges.edges());
    for (int to = 0; to < edges.nodes() && settled; ++to) {
      for (const int from : edges.parents(to)) {
        ParentSets other = best;
        bool possible = search.reverse(other, {from, to});
        if (possible) search.climb(other, {to, from});
        if (std::optional<ParentSets> equivalent = search.equivalent(best, {from, to})) {
          search.climb(*equivalent, {to, from});
          if (!possible || search.total(*equivalent) < search.total(other)) other = std::move(*equivalent);
          possible = true;
        }
        if (!possible) continue;
        progress.advance(1);
        if (search.total(other) < total - 1e-9) {
          search.climb(other);
          best = std::move(other);
          settled = false;
          break;
        }
        turned[{from, to}] = std::move(other);
      }
    }
  }

  AdditiveNoiseResult result{dag_of(best), {}, {}, Matrix::Zero(values.cols(), values.cols()), {}, 0, 0, 0};
  result.score = search.total(best);
  RowScores rows(scores);
  std::vector<LocalScores::Query> needed;
  for (const auto& [edge, other] : turned) {
    const auto more = disagreements(best, other);
    needed.insert(needed.end(), more.begin(), more.end());
  }
  for (std::size_t j = 0; j < best.size(); ++j) {
    needed.emplace_back(static_cast<int>(j), best[j]);
    for (const int i : best[j]) {
      needed.emplace_back(static_cast<int>(j), best[j]);
      std::erase(needed.back().second, i);
    }
  }
  rows.prepare(std::move(needed), progress);

  const Eigen::MatrixXf weights = resampling_weights(regression.rows(), key.split(2));
  ByteMatrix decided = ByteMatrix::Zero(values.cols(), values.cols());
  for (int from = 0; from < result.dag.nodes(); ++from) {
    for (const int to : result.dag.children(from)) {
      GraphEdge& edge = result.edges.emplace_back();
      edge.from = from;
      edge.to = to;
      const std::vector<int>& of_child = best[static_cast<std::size_t>(to)];
      std::vector<int> others = of_child;
      std::erase(others, from);
      edge.existence = evidence_of((rows(to, others) - rows(to, of_child)).cast<double>(), weights);
      const auto other = turned.find({from, to});
      if (other == turned.end()) {
        edge.direction = kCertain;
        edge.by = DirectionBy::knowledge;
      } else {
        Vector difference = Vector::Zero(regression.rows());
        for (std::size_t j = 0; j < best.size(); ++j) {
          if (best[j] == other->second[j]) continue;
          const int child = static_cast<int>(j);
          difference += (rows(child, other->second[j]) - rows(child, best[j])).cast<double>();
        }
        edge.direction = evidence_of(difference, weights);
        if (edge.direction.value > params.sure * edge.direction.standard_error) edge.by = DirectionBy::score;
      }
      decided(from, to) = edge.by != DirectionBy::nothing;
    }
  }
  result.partial = oriented(result.dag, decided);
  for (GraphEdge& edge : result.edges) {
    const bool directed = result.partial.directed(edge.from, edge.to) != 0;
    if (edge.by == DirectionBy::nothing && directed) {
      edge.by = in_collider(result.dag, edge.from, edge.to) ? DirectionBy::collider : DirectionBy::consequence;
    }
    const double share = directed ? 1.0 : edge.direction.stability;
    result.weights(edge.from, edge.to) = share * edge.existence.value;
    result.weights(edge.to, edge.from) = (1 - share) * edge.existence.value;
  }
  result.additivity = test_additivity(regression, best, progress);
  result.fits = scores.fits();
  result.rows = regression.rows();
  return result;
}

std::string_view name(DirectionBy by) {
  switch (by) {
    case DirectionBy::score:
      return "score";
    case DirectionBy::collider:
      return "collider";
    case DirectionBy::consequence:
      return "consequence";
    case DirectionBy::knowledge:
      return "knowledge";
    case DirectionBy::nothing:
      break;
  }
  return "undecided";
}

std::string_view name(NoiseLaw law) { return law == NoiseLaw::any ? "any" : "gaussian"; }

NoiseLaw parse_noise_law(std::string_view name) {
  for (const NoiseLaw law : {NoiseLaw::any, NoiseLaw::gaussian}) {
    if (fansite::dag::name(law) == name) return law;
  }
  throw UsageError(fmt::format("[dag] noise '{}' is unknown; use any or gaussian", name));
}

}  // namespace fansite::dag
