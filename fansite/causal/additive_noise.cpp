// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/additive_noise.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <set>

#include "fansite/base/detail/single_threaded_blas.h"
#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/base/resample.h"
#include "fansite/base/sets.h"
#include "fansite/base/special.h"
#include "fansite/causal/detail/directions.h"
#include "fansite/causal/detail/graph_search.h"
#include "fansite/causal/detail/score_file.h"
#include "fansite/table/dataset.h"
#include "fansite/table/imputation.h"

namespace fansite::causal {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- Evidence -------------------------------------------------------------------------------------------------------

// Rows drawn again, those of a group together.
class Resamples {
 public:
  Resamples(const GraphRows& rows, Index count, Key key)
      : rows_(rows),
        weights_(resampling_weights(rows.by_unit(Vector::Zero(count)).size(), key)),
        inflation_(1 / std::sqrt(rows.worth)) {}

  Evidence evidence(const Vector& differences) const {
    const auto n = static_cast<double>(differences.size());
    const Vector of_unit = rows_.by_unit(differences);
    const auto units = static_cast<double>(of_unit.size());
    Evidence evidence;
    evidence.value = differences.mean();
    // Of Σ w d / Σ w: what each unit's sum departs from the mean times the unit's weight.
    const Vector weights = rows_.weights.size() > 0 ? rows_.weights : Vector::Ones(differences.size());
    const Vector departures = rows_.by_unit(differences - evidence.value * weights);
    evidence.standard_error =
        inflation_ * std::sqrt(departures.array().square().sum() / (units - 1) / units) * (units / n);
    Eigen::ArrayXf sums = (weights_.transpose() * of_unit.cast<float>()).array();
    const auto sum = static_cast<float>(differences.sum());
    if (inflation_ != 1) sums = sum + static_cast<float>(inflation_) * (sums - sum);
    evidence.stability = static_cast<double>((sums > 0).count()) / kResamples;
    return evidence;
  }

 private:
  const GraphRows& rows_;
  Eigen::MatrixXf weights_;
  double inflation_;  // of spreads, where a row is worth less than one
};

constexpr Evidence kCertain = {kInfinity, 0, 1};
constexpr Evidence kEven = {0, 0, 0.5};
constexpr double kRounding = 1e-7;  // nats: rows' scores are kept in single precision
constexpr Evidence kOpen = {kNotKnown, kNotKnown, 0.5};

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
      const auto& [child, parents] = queries[static_cast<std::size_t>(i)];
      found[static_cast<std::size_t>(i)] = scores_.rows(child, parents, progress);
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

// ---- Search ---------------------------------------------------------------------------------------------------------

// With at most so many of its rows.
GraphTable drawn_table(const GraphTable& table, Index most, Key key, Matrix& values) {
  values = table.values;
  GraphTable result{values, table.kinds, table.draws, {}, table.rows};
  if (most <= 0 || values.rows() <= most) return result;
  const auto rows = Random(key).subset(static_cast<int>(values.rows()), static_cast<int>(most));
  values = Matrix(table.values(rows, Eigen::all));
  for (Matrix& draw : result.draws) draw = Matrix(draw(rows, Eigen::all));
  return {values, table.kinds, std::move(result.draws), {}, table.rows.of_rows(rows)};
}

// What scores depend on. Penalty, constraints and whatever else only chooses among graphs is no part of it.
StateIdentity identity(const GraphTable& table, const AdditiveNoiseParams& params, NoiseScale scale) {
  const Index rows = params.max_rows > 0 ? std::min(params.max_rows, table.values.rows()) : table.values.rows();
  return identity_of(
      table.values,
      fmt::format("additive noise, ridges at once: noise {}, {}, {} rows used, seed {}{}{}", name(params.noise),
                  RegressionParams::description().identity(&params.regression), rows, params.seed,
                  scale == NoiseScale::normal_scores ? ", normal scores" : "", table.identity(params.draws)),
      params.values_hash);
}

// The rows' scores that the evidence for every edge and its direction needs.
RowScores row_scores(const LocalScores& scores, const Weighed& weighed, const Progress& progress) {
  std::vector<LocalScores::Query> needed;
  for (const auto& [edge, other] : weighed.turned) {
    const auto more = disagreements(weighed.best, other);
    needed.insert(needed.end(), more.begin(), more.end());
  }
  for (std::size_t j = 0; j < weighed.best.size(); ++j) {
    needed.emplace_back(static_cast<int>(j), weighed.best[j]);
    for (const int i : weighed.best[j]) needed.emplace_back(static_cast<int>(j), without(weighed.best[j], i));
  }
  RowScores rows(scores);
  rows.prepare(std::move(needed), progress);
  return rows;
}

// ---- Edges ----------------------------------------------------------------------------------------------------------

// `identified`: the score tells the two directions apart.
GraphEdge with_evidence(const Weighed& weighed, const RowScores& rows, const Resamples& resamples, Edge ends,
                        bool identified, double confidence) {
  const auto [from, to] = ends;
  const ParentSets& best = weighed.best;
  GraphEdge edge;
  edge.from = from;
  edge.to = to;
  const std::vector<int>& of_child = best[static_cast<std::size_t>(to)];
  const Eigen::VectorXf& with_it = rows(to, of_child);
  edge.existence = resamples.evidence((rows(to, without(of_child, from)) - with_it).cast<double>());
  if (weighed.open.contains(ends)) {
    edge.direction = kOpen;
    return edge;
  }
  const auto other = weighed.turned.find(ends);
  if (other == weighed.turned.end()) {  // only what is known keeps an edge from being turned
    edge.direction = kCertain;
    edge.by = DirectionBy::knowledge;
    return edge;
  }
  Vector difference = Vector::Zero(with_it.size());
  for (std::size_t j = 0; j < best.size(); ++j) {
    if (best[j] == other->second[j]) continue;
    const int child = static_cast<int>(j);
    difference += (rows(child, other->second[j]) - rows(child, best[j])).cast<double>();
  }
  edge.direction = resamples.evidence(difference);
  // Linear Gaussian graphs with the same independences are the same distribution.
  if (std::abs(edge.direction.value) < kRounding) edge.direction = kEven;
  const bool certain = edge.direction.value > confidence * edge.direction.standard_error;
  if (identified && certain) edge.by = DirectionBy::score;
  return edge;
}

// Whether i → j is one of two edges into j whose other ends are not linked.
bool in_collider(const Dag& dag, int i, int j) {
  return std::any_of(dag.parents(j).begin(), dag.parents(j).end(),
                     [&](int k) { return k != i && !dag.has_edge(i, k) && !dag.has_edge(k, i); });
}

// A direction rests on the equations of its ends: where noise does not just add, the score decides none.
void leave_open(const std::vector<int>& refused, AdditiveNoiseResult& result) {
  for (GraphEdge& edge : result.edges) {
    const bool rests_on_it = contains(refused, edge.from) || contains(refused, edge.to);
    if (rests_on_it && edge.by == DirectionBy::score) edge.by = DirectionBy::nothing;
  }
}

// Directs what the decided edges, the colliders and their consequences direct. Of edges with a discrete end that are
// left open, the score's difference says how well the two models fit and not which way the edge goes.
void orient(AdditiveNoiseResult& result) {
  const Index d = result.dag.nodes();
  ByteMatrix decided = ByteMatrix::Zero(d, d);
  for (const GraphEdge& edge : result.edges) decided(edge.from, edge.to) = edge.by != DirectionBy::nothing;
  result.partial = oriented(result.dag, decided);
  result.weights = Matrix::Zero(d, d);
  for (GraphEdge& edge : result.edges) {
    const bool directed = result.partial.directed(edge.from, edge.to) != 0;
    if (edge.by == DirectionBy::nothing && directed) {
      edge.by = in_collider(result.dag, edge.from, edge.to) ? DirectionBy::collider : DirectionBy::consequence;
    }
    const bool identified = !contains(result.discrete, edge.from) && !contains(result.discrete, edge.to);
    if (!directed && !identified) edge.direction = kOpen;
    const double share = directed ? 1.0 : edge.direction.stability;
    result.weights(edge.from, edge.to) = share * edge.existence.value;
    result.weights(edge.to, edge.from) = (1 - share) * edge.existence.value;
  }
}

// ---- All of it ------------------------------------------------------------------------------------------------------

constexpr Index kMostNodes = 100;  // that more starts are worth their time for

// A search on one scale of the columns.
class ScaledSearch {
 public:
  ScaledSearch(const GraphTable& table, const StateIdentity& identity, const GraphConstraints& constraints,
               const AdditiveNoiseParams& params, Progress& progress)
      : params_(params),
        progress_(progress),
        keeper_(params.checkpoint.empty() ? nullptr : std::make_unique<ScoreKeeper>(params.checkpoint, identity)),
        scores_(scores(table, constraints)),
        search_(scores_, constraints, penalty(scores_), params.max_parents, progress) {}

  // The graph of a first climb.
  struct Sketch {
    ParentSets parents;
    /// Of the columns, less its edges' penalties, in nats a row. Another scale changes the entropies of a column and of
    /// what is left of it alike (by E ln |slope|), so of two scales the one with more of this is the better model.
    double explained = 0;
    AdditivityTest additivity;
  };
  const Sketch& sketch() {
    if (!sketch_) {
      sketch_ = keeping([&] {
        Sketch result{search_.start(), 0, {}};
        progress_.begin("searching graphs", 1);
        search_.climb(result.parents);
        result.explained = search_.total(ParentSets(result.parents.size())) - search_.total(result.parents);
        result.additivity = test_additivity(scores_.equations(), result.parents, progress_);
        return result;
      });
    }
    return *sketch_;
  }
  // As a result.
  AdditiveNoiseResult given_up() {
    AdditiveNoiseResult result{.dag = dag_of(sketch().parents)};
    result.additivity = sketch().additivity;
    result.score = search_.total(sketch().parents);
    result.given_up = true;
    return counted(std::move(result));
  }

  AdditiveNoiseResult find() {
    return keeping([&] {
      const Weighed weighed = weigh_directions(search_, more_starts(), progress_);
      const RowScores rows = row_scores(scores_, weighed, progress_);
      const Equations& equations = scores_.equations();
      const Resamples resamples(equations.counts(), equations.rows(), Key{params_.seed}.split(2));
      AdditiveNoiseResult result{.dag = dag_of(weighed.best)};
      for (int j = 0; j < result.dag.nodes(); ++j) {
        if (equations.discrete(j)) result.discrete.push_back(j);
      }
      result.score = search_.total(weighed.best);
      for (int from = 0; from < result.dag.nodes(); ++from) {
        for (const int to : result.dag.children(from)) {
          const bool identified = !equations.discrete(from) && !equations.discrete(to);
          result.edges.push_back(with_evidence(weighed, rows, resamples, {from, to}, identified, params_.confidence));
        }
      }
      result.additivity = test_additivity(equations, weighed.best, progress_);
      leave_open(result.additivity.refused, result);
      orient(result);
      result.hidden_causes = find_hidden_causes(equations, weighed.best, progress_);
      std::erase_if(result.hidden_causes,
                    [&](const HiddenCause& pair) {  // an equation that does not hold leaves much over
                      return contains(result.additivity.refused, pair.a) || contains(result.additivity.refused, pair.b);
                    });
      result.cut_short = !weighed.open.empty() || progress_.out_of_time();
      return counted(std::move(result));
    });
  }

  long fits() const { return scores_.fits(); }

 private:
  // Linear ones if nothing speaks against them: kernels would find the same links, and no more directions.
  Equations equations(const GraphTable& given, const GraphConstraints& constraints) {
    Matrix values;
    const GraphTable table = drawn_table(given, params_.max_rows, Key{params_.seed}.split(0), values);
    const Key key = Key{params_.seed}.split(1);
    const auto number = [](ColumnKind kind) { return kind == ColumnKind::continuous; };
    const bool numbers = std::all_of(table.kinds.begin(), table.kinds.end(), number) && !table.has_missing();
    linear_ = params_.equations == EquationForm::linear;
    check(!linear_ || numbers,
          "[dag] linear equations are for numbers without missing cells. Use kernels, which take levels and draw what "
          "is missing.");
    // The test takes rows for equal and independent: it is asked of the first of each group.
    const std::vector<int> first = table.rows.first_of_each_group();
    const bool equal = table.rows.weights.size() == 0 && table.rows.worth == 1;
    const Index independent = first.empty() ? values.rows() : std::ssize(first);
    const bool asked =
        params_.equations == EquationForm::automatic && numbers && equal && independent >= kFewestLinearRows;
    if (linear_ || asked) {
      Equations lines = Equations::linear_gaussian(values, key, table.rows);
      if (asked) {
        LocalScores scores(lines, params_.noise);
        GraphSearch search(scores, constraints, penalty(scores), params_.max_parents, progress_);
        ParentSets parents = search.start();
        search.climb(parents);
        linearity_ =
            test_linear_gaussian(first.empty() ? values : Matrix(values(first, Eigen::all)), parents, progress_);
        linear_ = linearity_.holds;
      }
      if (linear_) return lines;
    }
    return Equations(table, params_.regression, key);
  }

  LocalScores scores(const GraphTable& table, const GraphConstraints& constraints) {
    Equations chosen = equations(table, constraints);
    return {std::move(chosen), params_.noise, linear_ ? nullptr : keeper_.get()};
  }

  // Scores in closed form cost next to nothing, and a climb from nothing alone ends too early in one table of six.
  std::vector<ParentSets> more_starts() const {
    constexpr int kStarts = 10;
    std::vector<ParentSets> starts;
    const Index nodes = scores_.equations().regression().values().cols();
    if (!linear_ || nodes > kMostNodes) return starts;
    Random random(Key{params_.seed}.split(4));
    for (int i = 0; i < kStarts; ++i) {
      starts.push_back(search_.start_along(random.permutation(static_cast<int>(nodes))));
    }
    return starts;
  }

  double penalty(const LocalScores& scores) const {
    const Equations& equations = scores.equations();
    const double n = std::max(equations.independent(equations.rows()), 2.0);
    return params_.penalty * std::log(n) / (2 * n);
  }

  AdditiveNoiseResult counted(AdditiveNoiseResult result) const {
    const Equations& equations = scores_.equations();
    result.fits = scores_.fits();
    result.rows = equations.rows();
    result.linear = linear_;
    result.linearity = linearity_;
    result.draws = equations.has_missing() ? equations.draws() : 0;
    return result;
  }

  // Whatever ends the work, the file has what was computed.
  template <class Work>
  auto keeping(const Work& work) -> decltype(work()) {
    try {
      auto result = work();
      if (keeper_) keeper_->write();
      return result;
    } catch (const Interrupted&) {
      if (keeper_) keeper_->write();
      throw;
    }
  }

  const AdditiveNoiseParams& params_;
  Progress& progress_;
  std::unique_ptr<ScoreKeeper> keeper_;
  bool linear_ = false;  // the equations, which closed form makes cheaper than a file
  LinearGaussianTest linearity_;
  LocalScores scores_;
  GraphSearch search_;
  std::optional<Sketch> sketch_;
};

// Of a first climb's graph, which is not the best yet: a p-value that no better one will mend.
constexpr double kPlain = 1e-6;

// The settings of the same search on normal scores.
AdditiveNoiseParams of_scores(AdditiveNoiseParams params) {
  if (!params.checkpoint.empty()) params.checkpoint += ".scores";
  return params;
}

// The numbers of levels without order stand for no quantity, and missing cells have no score.
Matrix as_normal_scores(const GraphTable& table, const MatrixView& values) {
  Matrix scores = values;
  for (Index j = 0; j < values.cols(); ++j) {
    if (table.kind(j) == ColumnKind::nominal) continue;
    std::vector<int> rows;
    for (Index i = 0; i < values.rows(); ++i) {
      if (!std::isnan(values(i, j))) rows.push_back(static_cast<int>(i));
    }
    if (static_cast<Index>(rows.size()) == values.rows()) {
      scores.col(j) = normal_scores(values.col(j));
    } else {
      scores.col(j)(rows) = normal_scores(Vector(values.col(j)(rows)));
    }
  }
  return scores;
}

// On the scale of normal scores; `scores` has the values.
GraphTable scored_table(const GraphTable& table, Matrix& scores) {
  scores = as_normal_scores(table, table.values);
  GraphTable result{scores, table.kinds, {}, {}, table.rows};
  for (const Matrix& draw : table.draws) result.draws.push_back(as_normal_scores(table, draw));
  return result;
}

}  // namespace

const Description& AdditiveNoiseParams::description() {
  using P = AdditiveNoiseParams;
  static const Description list =
      Describe<P>()
          .field("equations", &P::equations,
                 "of the parents: kernels, linear (Gaussian, in closed form), or auto (by a test)")
          .field("noise", &P::noise, "the distribution of the noise: any, or gaussian")
          .field("scale", &P::scale, "where noise adds: original, normal-scores of the columns, or auto (by a test)")
          .field("penalty", &P::penalty, "what an edge must be worth, in units of ln N / 2N nats", at_least(0))
          .field("confidence", &P::confidence, "standard errors by which the other direction must be worse",
                 at_least(0))
          .field("max_parents", &P::max_parents, "at most so many parents of a variable", at_least(1))
          .field("max_rows", &P::max_rows, "rows used, drawn at random; 0: all of them", at_least(0))
          .field("draws", &P::draws, "tables with the missing cells drawn; scores are means over them", at_least(1))
          .part(&P::regression, RegressionParams::description())
          .done();
  return list;
}

void check_checkpoint(const GraphTable& table, const AdditiveNoiseParams& params) {
  if (params.checkpoint.empty()) return;
  ScoreKeeper(params.checkpoint, identity(table, params, NoiseScale::original));
  if (params.scale != NoiseScale::original) {
    ScoreKeeper(of_scores(params).checkpoint, identity(table, params, NoiseScale::normal_scores));
  }
}

AdditiveNoiseResult find_additive_noise_graph(const GraphTable& given, const GraphConstraints& constraints,
                                              const AdditiveNoiseParams& params, Progress& progress) {
  validate(params);
  given.check();
  const ByteMatrix& allowed = constraints.allowed;
  check(allowed.rows() == given.values.cols() && allowed.cols() == given.values.cols(),
        "[dag] {}×{} allowed edges for {} variables", allowed.rows(), allowed.cols(), given.values.cols());
  const bool drawing = given.draws.empty() && given.has_missing();
  Matrix rows_used;
  GraphTable table = drawing ? drawn_table(given, params.max_rows, Key{params.seed}.split(0), rows_used) : given;
  if (drawing) table.draws = impute(table.values, table.kinds, params.draws, Key{params.seed}.split(3));
  std::optional<ScaledSearch> original, scored;
  const AdditiveNoiseParams of_scale = of_scores(params);
  Matrix scores;
  const auto on_scores = [&]() -> ScaledSearch& {
    if (!scored) {
      scored.emplace(scored_table(table, scores), identity(given, params, NoiseScale::normal_scores), constraints,
                     of_scale, progress);
    }
    return *scored;
  };
  const auto finish = [&](AdditiveNoiseResult result, NoiseScale scale) {
    result.scale = scale;
    result.fits = (original ? original->fits() : 0) + (scored ? scored->fits() : 0);
    return result;
  };
  if (params.scale == NoiseScale::normal_scores) {
    const bool plain = params.only_if_additive && on_scores().sketch().additivity.p_value < kPlain;
    return finish(plain ? on_scores().given_up() : on_scores().find(), NoiseScale::normal_scores);
  }
  original.emplace(table, identity(given, params, NoiseScale::original), constraints, params, progress);
  if (params.only_if_additive && original->sketch().additivity.p_value < kPlain) {
    const bool better =
        params.scale == NoiseScale::automatic && on_scores().sketch().explained > original->sketch().explained;
    ScaledSearch& search = better ? *scored : *original;
    if (search.sketch().additivity.p_value < kPlain) {
      return finish(search.given_up(), better ? NoiseScale::normal_scores : NoiseScale::original);
    }
  }
  AdditiveNoiseResult result = original->find();
  const bool enough = params.scale == NoiseScale::original || !result.additivity.suspicious || result.cut_short ||
                      result.linear;  // which leaves nothing for another scale to explain
  if (enough || on_scores().sketch().explained <= original->sketch().explained) {
    return finish(std::move(result), NoiseScale::original);
  }
  return finish(on_scores().find(), NoiseScale::normal_scores);
}

}  // namespace fansite::causal
