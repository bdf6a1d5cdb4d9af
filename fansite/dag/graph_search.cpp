// SPDX-License-Identifier: Apache-2.0
#include "fansite/dag/graph_search.h"

#include <algorithm>

#include "fansite/parallel.h"
#include "fansite/single_threaded_blas.h"

namespace fansite::dag {
namespace {

constexpr double kLeastGain = 1e-9;  // nats; less is rounding

std::vector<int>& of(ParentSets& parents, int node) { return parents[static_cast<std::size_t>(node)]; }
const std::vector<int>& of(const ParentSets& parents, int node) { return parents[static_cast<std::size_t>(node)]; }

std::vector<int> with(std::vector<int> set, int member) {
  set.insert(std::upper_bound(set.begin(), set.end(), member), member);
  return set;
}

std::vector<int> without(std::vector<int> set, int member) {
  std::erase(set, member);
  return set;
}

}  // namespace

bool has_edge(const ParentSets& parents, int from, int to) {
  return std::binary_search(of(parents, to).begin(), of(parents, to).end(), from);
}

bool reaches(const ParentSets& parents, int from, int to) {
  std::vector<int> waiting = {to};
  std::vector<char> seen(parents.size(), 0);
  while (!waiting.empty()) {
    const int node = waiting.back();
    waiting.pop_back();
    if (node == from) return true;
    for (const int parent : of(parents, node)) {
      if (seen[static_cast<std::size_t>(parent)]) continue;
      seen[static_cast<std::size_t>(parent)] = 1;
      waiting.push_back(parent);
    }
  }
  return false;
}

// ---- Scores ---------------------------------------------------------------------------------------------------------

void LocalScores::prepare(std::vector<Query> queries, const Progress& progress) {
  std::map<std::vector<int>, std::vector<int>> children;  // of each set of parents: they share the work
  for (Query& query : queries) {
    if (!known_.try_emplace(query, 0.0).second) continue;
    children[std::move(query.second)].push_back(query.first);
  }
  const std::vector<std::pair<std::vector<int>, std::vector<int>>> work(children.begin(), children.end());
  std::vector<std::vector<double>> found(work.size());
  const SingleThreadedBlas one_thread_each;
  parallel_for(static_cast<Index>(work.size()), [&](Index i) {
    throw_if_interrupted(progress);
    const auto& [parents, targets] = work[static_cast<std::size_t>(i)];
    const Residuals residuals = regression_.residuals(targets, parents);
    for (Index t = 0; t < residuals.left_out.cols(); ++t) {
      found[static_cast<std::size_t>(i)].push_back(surprisals(residuals.left_out.col(t), law_).mean());
    }
  });
  for (std::size_t i = 0; i < work.size(); ++i) {
    for (std::size_t t = 0; t < found[i].size(); ++t) known_[{work[i].second[t], work[i].first}] = found[i][t];
  }
}

Vector LocalScores::rows(int child, const std::vector<int>& parents) const {
  return surprisals(regression_.residuals(std::span(&child, 1), parents).left_out.col(0), law_);
}

// ---- Search ---------------------------------------------------------------------------------------------------------

GraphSearch::GraphSearch(LocalScores& scores, GraphConstraints constraints, double price, int max_parents,
                         const Progress& progress)
    : scores_(scores),
      constraints_(std::move(constraints)),
      price_(price),
      max_parents_(max_parents),
      progress_(progress) {
  auto& [allowed, required, links, apart] = constraints_;
  std::sort(required.begin(), required.end());
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
}

ParentSets GraphSearch::start() const {
  ParentSets parents(static_cast<std::size_t>(constraints_.allowed.cols()));
  for (const auto& [from, to] : constraints_.required) of(parents, to) = with(of(parents, to), from);
  for (const auto& [i, j] : constraints_.required_links) {
    if (has_edge(parents, i, j) || has_edge(parents, j, i)) continue;
    const bool forward = constraints_.allowed(i, j) && !reaches(parents, j, i);
    of(parents, forward ? j : i) = with(of(parents, forward ? j : i), forward ? i : j);
  }
  return parents;
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
  return std::none_of(of(parents, to).begin(), of(parents, to).end(),
                      [&](int other) { return constraints_.apart(from, other) != 0; });
}

void GraphSearch::prepare_steps(const ParentSets& parents) {
  std::vector<LocalScores::Query> queries;
  for (std::size_t j = 0; j < parents.size(); ++j) queries.emplace_back(static_cast<int>(j), parents[j]);
  for (const auto& [i, j] : pairs_) {
    if (has_edge(parents, i, j)) {
      queries.emplace_back(j, without(of(parents, j), i));
      if (may_become_parent(parents, j, i) && may_have_more(of(parents, i)))
        queries.emplace_back(i, with(of(parents, i), j));
    } else if (!has_edge(parents, j, i) && may_have_more(of(parents, j)) && may_become_parent(parents, i, j)) {
      queries.emplace_back(j, with(of(parents, j), i));
    }
  }
  scores_.prepare(std::move(queries), progress_);
}

GraphSearch::Step GraphSearch::best_step(const ParentSets& parents, Edge kept) const {
  Step best;
  best.gain = kLeastGain;
  for (const auto& [i, j] : pairs_) {
    const std::vector<int>& of_j = of(parents, j);
    if (has_edge(parents, i, j)) {
      if (kept == Edge(i, j) || is_required(i, j)) continue;
      const double removed = scores_(j, of_j) - scores_(j, without(of_j, i)) + price_;
      if (removed > best.gain && !is_required_link(i, j)) best = {Kind::remove, {i, j}, removed};
      if (!may_become_parent(parents, j, i) || !may_have_more(of(parents, i))) continue;
      const double reversed = removed - price_ + scores_(i, of(parents, i)) - scores_(i, with(of(parents, i), j));
      if (reversed <= best.gain) continue;
      ParentSets open = parents;
      of(open, j) = without(of_j, i);
      if (!reaches(open, i, j)) best = {Kind::reverse, {i, j}, reversed};
    } else if (!has_edge(parents, j, i) && may_have_more(of_j) && may_become_parent(parents, i, j)) {
      const double added = scores_(j, of_j) - scores_(j, with(of_j, i)) - price_;
      if (added > best.gain && !reaches(parents, j, i)) best = {Kind::add, {i, j}, added};
    }
  }
  return best;
}

void GraphSearch::climb(ParentSets& parents, Edge kept) {
  while (true) {
    throw_if_interrupted(progress_);
    prepare_steps(parents);
    const Step step = best_step(parents, kept);
    if (step.gain <= kLeastGain) return;
    const auto [i, j] = step.edge;
    if (step.kind == Kind::add) of(parents, j) = with(of(parents, j), i);
    if (step.kind != Kind::add) of(parents, j) = without(of(parents, j), i);
    if (step.kind == Kind::reverse) of(parents, i) = with(of(parents, i), j);
  }
}

bool GraphSearch::reverse(ParentSets& parents, Edge edge) {
  const auto [i, j] = edge;
  if (is_required(i, j) || !may_become_parent(parents, j, i)) return false;
  of(parents, j) = without(of(parents, j), i);
  // j → i closes a cycle with every other path i → … → j: their last edges go.
  for (const int parent : std::vector<int>(of(parents, j))) {
    if (!reaches(parents, i, parent)) continue;
    if (is_required(parent, j) || is_required_link(parent, j)) return false;
    of(parents, j) = without(of(parents, j), parent);
  }
  of(parents, i) = with(of(parents, i), j);
  return true;
}

double GraphSearch::total(const ParentSets& parents) {
  std::vector<LocalScores::Query> queries;
  for (std::size_t j = 0; j < parents.size(); ++j) queries.emplace_back(static_cast<int>(j), parents[j]);
  scores_.prepare(queries, progress_);
  double sum = 0;
  for (const auto& [child, of_child] : queries)
    sum += scores_(child, of_child) + price_ * static_cast<double>(of_child.size());
  return sum;
}

}  // namespace fansite::dag
