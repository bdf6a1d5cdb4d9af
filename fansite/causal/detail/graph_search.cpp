// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/detail/graph_search.h"

#include <algorithm>
#include <limits>
#include <set>

#include "fansite/base/detail/single_threaded_blas.h"
#include "fansite/base/parallel.h"
#include "fansite/base/sets.h"
#include "fansite/causal/detail/score_file.h"
#include "fansite/causal/orientation.h"

namespace fansite::causal {
namespace {

constexpr double kLeastGain = 1e-9;           // nats; less is rounding
constexpr Index kMostCells = Index{1} << 25;  // of rows' scores in memory: 128 MB, 6700 scores of 5000 rows
constexpr double kImpossible = -std::numeric_limits<double>::infinity();

std::vector<int>& parents_of(ParentSets& parents, int node) { return parents[static_cast<std::size_t>(node)]; }
const std::vector<int>& parents_of(const ParentSets& parents, int node) {
  return parents[static_cast<std::size_t>(node)];
}

std::vector<int> with(std::vector<int> set, int member) {
  set.insert(std::upper_bound(set.begin(), set.end(), member), member);
  return set;
}

// The edges of a directed path, if there is one.
std::vector<Edge> path_between(const ParentSets& parents, int from, int to) {
  for (const int parent : parents_of(parents, to)) {
    if (!reaches(parents, from, parent)) continue;
    std::vector<Edge> path = parent == from ? std::vector<Edge>() : path_between(parents, from, parent);
    path.emplace_back(parent, to);
    return path;
  }
  return {};
}

}  // namespace

bool has_edge(const ParentSets& parents, int from, int to) {
  return std::binary_search(parents_of(parents, to).begin(), parents_of(parents, to).end(), from);
}

bool reaches(const ParentSets& parents, int from, int to) {
  std::vector<int> waiting = {to};
  std::vector<char> seen(parents.size(), 0);
  while (!waiting.empty()) {
    const int node = waiting.back();
    waiting.pop_back();
    if (node == from) return true;
    for (const int parent : parents_of(parents, node)) {
      if (seen[static_cast<std::size_t>(parent)]) continue;
      seen[static_cast<std::size_t>(parent)] = 1;
      waiting.push_back(parent);
    }
  }
  return false;
}

Dag dag_of(const ParentSets& parents) {
  std::vector<Edge> edges;
  for (std::size_t j = 0; j < parents.size(); ++j) {
    for (const int i : parents[j]) edges.emplace_back(i, static_cast<int>(j));
  }
  return Dag(static_cast<int>(parents.size()), edges);
}

// ---- Scores ---------------------------------------------------------------------------------------------------------

void LocalScores::prepare(const std::vector<Query>& queries, const Progress& progress) {
  std::map<std::vector<int>, std::vector<int>> children;  // of each set of parents: they share the work
  std::set<Query> asked;
  for (const Query& query : queries) {
    if (known_.contains(query) || !asked.insert(query).second) continue;
    children[query.second].push_back(query.first);
  }
  std::vector<ScoreGroup> work;
  for (auto& [parents, targets] : children) work.push_back({parents, std::move(targets)});
  std::vector<std::vector<double>> found(work.size());
  std::vector<std::vector<Eigen::VectorXf>> found_rows(work.size());
  const SingleThreadedBlas one_thread_each;
  parallel_for(static_cast<Index>(work.size()), [&](Index i) {
    const ScoreGroup& group = work[static_cast<std::size_t>(i)];
    std::vector<double>& scores = found[static_cast<std::size_t>(i)];
    if (keeper_ != nullptr) {
      if (auto kept = keeper_->means(group)) {
        scores = std::move(*kept);
        return;
      }
    }
    throw_if_interrupted(progress);
    if (equations_.linear()) {
      scores = equations_.entropies(group.children, group.parents);
    } else {
      for (const Vector& rows : equations_.surprisals(group.children, group.parents, distribution_)) {
        scores.push_back(rows.mean());
        found_rows[static_cast<std::size_t>(i)].push_back(rows.cast<float>());
      }
    }
    if (keeper_ != nullptr) keeper_->add_means(group, scores);
  });
  for (std::size_t i = 0; i < work.size(); ++i) {
    const auto& [parents, targets] = work[i];
    for (std::size_t t = 0; t < targets.size(); ++t) {
      known_[{targets[t], parents}] = found[i][t];
      const bool room = static_cast<Index>(rows_.size() + 1) * equations_.rows() <= kMostCells;
      if (room && !found_rows[i].empty()) rows_[{targets[t], parents}] = std::move(found_rows[i][t]);
    }
  }
}

Eigen::VectorXf LocalScores::rows(int child, const std::vector<int>& parents, const Progress& progress) const {
  const ScoreGroup alone{parents, {child}};
  if (keeper_ != nullptr) {
    if (const auto kept = keeper_->rows(alone, equations_.rows())) {
      return Eigen::VectorXf::Map(kept->data(), equations_.rows());
    }
  }
  throw_if_interrupted(progress);
  const auto known = rows_.find({child, parents});
  const Eigen::VectorXf scores =
      known != rows_.end()
          ? known->second
          : Eigen::VectorXf(equations_.surprisals(alone.children, parents, distribution_).front().cast<float>());
  if (keeper_ != nullptr) keeper_->add_rows(alone, {scores.begin(), scores.end()});
  return scores;
}

// ---- Search ---------------------------------------------------------------------------------------------------------

GraphSearch::GraphSearch(LocalScores& scores, GraphConstraints constraints, double penalty, int max_parents,
                         const Progress& progress)
    : scores_(scores),
      constraints_(std::move(constraints)),
      penalty_(penalty),
      max_parents_(max_parents),
      progress_(progress) {
  auto& [allowed, required, links, apart] = constraints_;
  std::sort(required.begin(), required.end());
  required.erase(std::unique(required.begin(), required.end()), required.end());
  for (auto& [i, j] : links) {
    if (i > j) std::swap(i, j);
  }
  std::sort(links.begin(), links.end());
  for (const auto& [from, to] : required) allowed(from, to) = 1;
  allowed.diagonal().setZero();
  for (Index j = 0; j < allowed.cols(); ++j) {
    for (Index i = 0; i < allowed.rows(); ++i) {
      if (allowed(i, j)) pairs_.emplace_back(static_cast<int>(i), static_cast<int>(j));
    }
  }
  at_.resize(static_cast<std::size_t>(allowed.cols()));
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    at_[static_cast<std::size_t>(pairs_[p].first)].push_back(p);
    at_[static_cast<std::size_t>(pairs_[p].second)].push_back(p);
  }
}

ParentSets GraphSearch::start() const {
  ParentSets parents(static_cast<std::size_t>(constraints_.allowed.cols()));
  for (const auto& [from, to] : constraints_.required) parents_of(parents, to) = with(parents_of(parents, to), from);
  direct_links(parents, 0);
  return parents;
}

ParentSets GraphSearch::start_along(const std::vector<int>& order) const {
  ParentSets parents = start();
  for (std::size_t j = 0; j < order.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      const int from = order[i], to = order[j];
      if (has_edge(parents, from, to) || !may_have_more(parents_of(parents, to))) continue;
      if (!may_become_parent(parents, from, to) || reaches(parents, to, from)) continue;
      parents_of(parents, to) = with(parents_of(parents, to), from);
    }
  }
  return parents;
}

// The required links from this one on, each in the first direction that leaves one for the rest; false if none does.
bool GraphSearch::direct_links(ParentSets& parents, std::size_t first) const {
  if (first == constraints_.required_links.size()) return true;
  const auto [i, j] = constraints_.required_links[first];
  if (has_edge(parents, i, j) || has_edge(parents, j, i)) return direct_links(parents, first + 1);
  for (const auto& [from, to] : {Edge(i, j), Edge(j, i)}) {
    if (!may_become_parent(parents, from, to) || reaches(parents, to, from)) continue;
    parents_of(parents, to) = with(parents_of(parents, to), from);
    if (direct_links(parents, first + 1)) return true;
    parents_of(parents, to) = without(parents_of(parents, to), from);
  }
  return false;
}

bool GraphSearch::is_required(int from, int to) const {
  return std::binary_search(constraints_.required.begin(), constraints_.required.end(), Edge(from, to));
}

bool GraphSearch::is_required_link(int from, int to) const {
  const Edge link = std::minmax(from, to);
  return std::binary_search(constraints_.required_links.begin(), constraints_.required_links.end(), link);
}

// Whether the new parent may share the child with those it has.
bool GraphSearch::may_become_parent(const ParentSets& parents, int from, int to) const {
  if (!constraints_.allowed(from, to)) return false;
  if (constraints_.apart.size() == 0) return true;
  return std::none_of(parents_of(parents, to).begin(), parents_of(parents, to).end(),
                      [&](int other) { return constraints_.apart(from, other) != 0; });
}

void GraphSearch::climb(ParentSets& parents, Edge kept) {
  Climb one(*this, std::move(parents), kept);
  climb(std::span(&one, 1));
  parents = one.parents();
}

void GraphSearch::climb(std::span<Climb> climbs, const std::function<void()>& after_round) {
  const auto settled = [](const Climb& climb) { return climb.settled(); };
  while (!std::all_of(climbs.begin(), climbs.end(), settled)) {
    throw_if_interrupted(progress_);
    if (progress_.out_of_time()) return;
    std::vector<LocalScores::Query> queries;
    for (const Climb& climb : climbs) climb.add_needed(queries);
    scores_.prepare(queries, progress_);
    for (Climb& climb : climbs) climb.step();
    after_round();
  }
}

bool GraphSearch::reverse(ParentSets& parents, Edge edge) {
  const auto [i, j] = edge;
  const auto must_stay = [&](Edge e) { return is_required(e.first, e.second) || is_required_link(e.first, e.second); };
  if (is_required(i, j) || !constraints_.allowed(j, i)) return false;
  ParentSets turned = parents;
  parents_of(turned, j) = without(parents_of(turned, j), i);
  for (const int other : parents_of(parents, i)) {
    if (constraints_.apart.size() == 0 || !constraints_.apart(j, other)) continue;
    if (must_stay({other, i})) return false;
    parents_of(turned, i) = without(parents_of(turned, i), other);
  }
  // j → i closes a cycle with every path i → … → j: the last edge that may go goes.
  for (std::vector<Edge> path = path_between(turned, i, j); !path.empty(); path = path_between(turned, i, j)) {
    const auto last = std::find_if_not(path.rbegin(), path.rend(), must_stay);
    if (last == path.rend()) return false;
    parents_of(turned, last->second) = without(parents_of(turned, last->second), last->first);
  }
  // One makes room if there are too many: the one that is missed least.
  if (!may_have_more(parents_of(turned, i))) {
    std::vector<LocalScores::Query> queries;
    for (const int other : parents_of(turned, i)) {
      if (!must_stay({other, i})) queries.emplace_back(i, with(without(parents_of(turned, i), other), j));
    }
    if (queries.empty()) return false;
    scores_.prepare(queries, progress_);
    parents_of(turned, i) = std::min_element(queries.begin(), queries.end(), [&](const auto& a, const auto& b) {
                              return scores_(a.first, a.second) < scores_(b.first, b.second);
                            })->second;
  } else {
    parents_of(turned, i) = with(parents_of(turned, i), j);
  }
  parents = std::move(turned);
  return true;
}

ByteMatrix GraphSearch::edges_without_direction(const ParentSets& parents) {
  const Dag dag = dag_of(parents);
  return oriented(dag, ByteMatrix::Zero(dag.nodes(), dag.nodes())).undirected;
}

std::optional<ParentSets> GraphSearch::equivalent(const ParentSets& parents, const ByteMatrix& undirected,
                                                  Edge edge) const {
  const int nodes = static_cast<int>(parents.size());
  if (!undirected(edge.first, edge.second)) return std::nullopt;
  // What hangs together without directions is chordal: ordered from one node on, each time by the most links to those
  // before (maximum cardinality search), it has no new colliders (Tarjan and Yannakakis, 1984).
  std::vector<int> place(parents.size(), -1), links(parents.size(), 0);
  for (int node = edge.second, count = 0; node >= 0; ++count) {
    place[static_cast<std::size_t>(node)] = count;
    int next = -1;
    for (int k = 0; k < nodes; ++k) {
      int& linked = links[static_cast<std::size_t>(k)];
      linked += undirected(node, k);
      if (place[static_cast<std::size_t>(k)] >= 0 || linked == 0) continue;
      if (next < 0 || linked > links[static_cast<std::size_t>(next)]) next = k;
    }
    node = next;
  }
  ParentSets result = parents;
  for (int j = 0; j < nodes; ++j) {
    for (const int i : parents_of(parents, j)) {
      if (!undirected(i, j) || place[static_cast<std::size_t>(i)] < place[static_cast<std::size_t>(j)] ||
          place[static_cast<std::size_t>(j)] < 0) {
        continue;
      }
      if (is_required(i, j)) return std::nullopt;
      parents_of(result, j) = without(parents_of(result, j), i);
      if (!may_become_parent(result, j, i)) return std::nullopt;
      parents_of(result, i) = with(parents_of(result, i), j);
    }
  }
  for (const std::vector<int>& set : result) {
    if (static_cast<int>(set.size()) > max_parents_) return std::nullopt;
  }
  return result;
}

double GraphSearch::total(const ParentSets& parents) {
  std::vector<LocalScores::Query> queries;
  for (std::size_t j = 0; j < parents.size(); ++j) queries.emplace_back(static_cast<int>(j), parents[j]);
  scores_.prepare(queries, progress_);
  double sum = 0;
  for (const auto& [child, parents_of_child] : queries)
    sum += scores_(child, parents_of_child) + penalty_ * static_cast<double>(parents_of_child.size());
  return sum;
}

// ---- One climb ------------------------------------------------------------------------------------------------------

Climb::Climb(const GraphSearch& search, ParentSets parents, Edge kept)
    : search_(&search),
      parents_(std::move(parents)),
      kept_(kept),
      gains_(search.pairs_.size(), {kImpossible, kImpossible}),
      stale_(search.pairs_.size(), 1) {}

Climb Climb::elsewhere(ParentSets parents, Edge kept) const {
  Climb other = *this;
  other.kept_ = kept;
  other.settled_ = false;
  for (std::size_t j = 0; j < parents.size(); ++j) {
    if (parents[j] != parents_[j]) other.changed(static_cast<int>(j));
  }
  other.parents_ = std::move(parents);
  return other;
}

void Climb::changed(int node) {
  for (const std::size_t pair : search_->at_[static_cast<std::size_t>(node)]) stale_[pair] = 1;
}

void Climb::add_needed(std::vector<LocalScores::Query>& queries) const {
  if (settled_) return;
  for (std::size_t p = 0; p < stale_.size(); ++p) {
    if (!stale_[p]) continue;
    const auto [i, j] = search_->pairs_[p];
    const std::vector<int>&of_i = parents_of(parents_, i), &of_j = parents_of(parents_, j);
    queries.emplace_back(i, of_i);
    queries.emplace_back(j, of_j);
    if (has_edge(parents_, i, j)) {
      queries.emplace_back(j, without(of_j, i));
      if (search_->may_become_parent(parents_, j, i) && search_->may_have_more(of_i)) {
        queries.emplace_back(i, with(of_i, j));
      }
    } else if (!has_edge(parents_, j, i) && search_->may_have_more(of_j) &&
               search_->may_become_parent(parents_, i, j)) {
      queries.emplace_back(j, with(of_j, i));
    }
  }
}

// Gains of all steps that what changed may have changed.
void Climb::look_again() {
  const LocalScores& scores = search_->scores_;
  for (std::size_t p = 0; p < stale_.size(); ++p) {
    if (!stale_[p]) continue;
    stale_[p] = 0;
    const auto [i, j] = search_->pairs_[p];
    const std::vector<int>&of_i = parents_of(parents_, i), &of_j = parents_of(parents_, j);
    gains_[p] = {kImpossible, kImpossible};
    auto& [once, reversed] = gains_[p];
    if (has_edge(parents_, i, j)) {
      once = scores(j, of_j) - scores(j, without(of_j, i)) + search_->penalty_;
      if (search_->may_become_parent(parents_, j, i) && search_->may_have_more(of_i)) {
        reversed = once - search_->penalty_ + scores(i, of_i) - scores(i, with(of_i, j));
      }
    } else if (!has_edge(parents_, j, i) && search_->may_have_more(of_j) &&
               search_->may_become_parent(parents_, i, j)) {
      once = scores(j, of_j) - scores(j, with(of_j, i)) - search_->penalty_;
    }
  }
}

Climb::Step Climb::best_step() const {
  Step best;
  best.gain = kLeastGain;
  for (std::size_t p = 0; p < gains_.size(); ++p) {
    const auto [once, reversed] = gains_[p];
    if (once <= best.gain && reversed <= best.gain) continue;
    const auto [i, j] = search_->pairs_[p];
    if (!has_edge(parents_, i, j)) {
      if (!reaches(parents_, j, i)) best = {Kind::add, {i, j}, once};
      continue;
    }
    if (kept_ == Edge(i, j) || search_->is_required(i, j)) continue;
    if (once > best.gain && !search_->is_required_link(i, j)) best = {Kind::remove, {i, j}, once};
    if (reversed <= best.gain) continue;
    ParentSets open = parents_;
    parents_of(open, j) = without(parents_of(parents_, j), i);
    if (!reaches(open, i, j)) best = {Kind::reverse, {i, j}, reversed};
  }
  return best;
}

void Climb::step() {
  if (settled_) return;
  look_again();
  const Step step = best_step();
  if (step.gain <= kLeastGain) {
    settled_ = true;
    return;
  }
  const auto [i, j] = step.edge;
  if (step.kind == Kind::add) parents_of(parents_, j) = with(parents_of(parents_, j), i);
  if (step.kind != Kind::add) parents_of(parents_, j) = without(parents_of(parents_, j), i);
  if (step.kind == Kind::reverse) parents_of(parents_, i) = with(parents_of(parents_, i), j);
  changed(j);
  if (step.kind == Kind::reverse) changed(i);
}

}  // namespace fansite::causal
