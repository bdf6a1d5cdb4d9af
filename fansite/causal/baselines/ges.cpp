// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/baselines/ges.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "fansite/base/parallel.h"
#include "fansite/base/sets.h"
#include "fansite/causal/detail/equivalence_class.h"
#include "fansite/causal/detail/skeleton.h"
#include "fansite/independence/gaussian_bic.h"
#include "fansite/independence/tests.h"

namespace fansite::causal {
namespace {

constexpr double kLeastGain = 1e-9;  // less is rounding

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// Insert(x, y, set) or Delete(x, y, set), as Chickering writes them.
struct Operator {
  double gain = 0;
  int x = 0, y = 0;
  std::vector<int> set = {};     // neighbours of y that the operator directs
  std::vector<int> clique = {};  // Insert: what must block the paths from y to x …
  std::vector<int> path = {};    // … and one that it did not block when last asked

  bool better_than(const Operator& other) const {
    return std::tie(other.gain, x, y, set) < std::tie(gain, other.x, other.y, other.set);
  }
};

std::vector<int> joined(std::vector<int> a, const std::vector<int>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// A DAG of the class that satisfies the knowledge; nothing if none does.
std::optional<Dag> satisfying(const PartialDag& graph, const Knowledge& knowledge) {
  PartialDag told = graph;
  const auto all_allowed = [&](const ByteMatrix& directed) {
    for (int i = 0; i < directed.rows(); ++i) {
      for (int j = 0; j < directed.rows(); ++j) {
        if (directed(i, j) && !knowledge.allows(i, j)) return false;
      }
    }
    return true;
  };
  for (int i = 0; i < graph.directed.rows(); ++i) {
    for (int j = 0; j < graph.directed.rows(); ++j) {
      if (!told.undirected(i, j) || knowledge.allows(j, i)) continue;
      told.directed(i, j) = 1;
      told.undirected(i, j) = told.undirected(j, i) = 0;
    }
  }
  told = closed_under_meek_rules(std::move(told));
  if (!all_allowed(told.directed)) return std::nullopt;
  std::optional<Dag> dag = consistent_extension(told);
  if (!dag) return std::nullopt;
  const PartialDag own = oriented(*dag, ByteMatrix::Zero(dag->nodes(), dag->nodes()));
  if (own.directed != graph.directed || own.undirected != graph.undirected) return std::nullopt;
  return dag;
}

class Ges {
 public:
  Ges(const LocalScore& score, double edge_price, const ByteMatrix& links, const Knowledge& knowledge,
      const GesParams& params, Progress& progress)
      : score_(score),
        price_(edge_price),
        links_(links),
        knowledge_(knowledge),
        params_(params),
        progress_(progress),
        class_(variables()),
        operators_(at(variables())),
        limited_(at(variables()), 0) {}

  GesResult run() && {
    start_with_required();
    progress_.begin("adding edges", 1);
    const int added = climb(&Ges::insertions);
    progress_.advance(1);
    progress_.begin("taking edges away", 1);
    const int taken = climb(&Ges::deletions);
    progress_.advance(1);
    return result(added, taken);
  }

 private:
  int variables() const { return static_cast<int>(links_.rows()); }

  // ---- Operators ----------------------------------------------------------------------------------------------------

  double gain(int y, const std::vector<int>& parents, int x) const {
    return score_.score(y, joined(parents, {x})) - score_.score(y, parents) - price_;
  }

  // Every set of `open`, from place `next` on, with which the clique stays one.
  template <class Visit>
  void for_each_clique(const std::vector<int>& clique, const std::vector<int>& open, std::size_t next,
                       const Visit& visit) const {
    visit(clique);
    for (std::size_t k = next; k < open.size(); ++k) {
      const bool fits =
          std::all_of(clique.begin(), clique.end(), [&](int node) { return class_.linked(node, open[k]); });
      if (fits) for_each_clique(joined(clique, {open[k]}), open, k + 1, visit);
    }
  }

  bool too_many(int y, std::size_t others) const {
    return class_.parents(y).size() + others + 1 > at(params_.max_parents);
  }

  // Clique by clique of neighbours, since all that can be added beside one are scored at once.
  std::vector<Operator> insertions(int y) {
    std::vector<Operator> found;
    std::vector<std::pair<int, std::vector<int>>> candidates;  // x, and the neighbours of y that are linked to it
    for (int x = 0; x < variables(); ++x) {
      if (!links_(x, y) || class_.linked(x, y) || !knowledge_.may_neighbour(x, y)) continue;
      candidates.emplace_back(x, class_.linked_neighbours(x, y));
    }
    for_each_clique({}, class_.neighbours(y), 0, [&](const std::vector<int>& clique) {
      std::vector<int> added;
      std::vector<const std::vector<int>*> near;
      for (const auto& [x, linked] : candidates) {
        if (!std::includes(clique.begin(), clique.end(), linked.begin(), linked.end())) continue;
        added.push_back(x);
        near.push_back(&linked);
      }
      if (added.empty()) return;
      if (too_many(y, clique.size())) {
        limited_[at(y)] = 1;
        return;
      }
      const std::vector<int> given = joined(clique, class_.parents(y));
      const std::vector<double> scores = score_.score_each(y, given, added);
      const double least = score_.score(y, given) + price_;
      for (std::size_t k = 0; k < added.size(); ++k) {
        if (scores[k] - least <= kLeastGain) continue;
        std::vector<int> set = clique;
        for (const int node : *near[k]) std::erase(set, node);
        found.push_back({scores[k] - least, added[k], y, std::move(set), clique});
      }
    });
    return found;
  }

  std::vector<Operator> deletions(int y) {
    std::vector<Operator> found;
    for (const int x : joined(class_.parents(y), class_.neighbours(y))) {
      if (knowledge_.requires_link(x, y)) continue;
      const std::vector<int> near = class_.linked_neighbours(x, y), parents = without(class_.parents(y), x);
      for_each_clique({}, near, 0, [&](const std::vector<int>& clique) {
        const double gained = -gain(y, joined(clique, parents), x);
        if (gained <= kLeastGain) return;
        std::vector<int> set = near;
        for (const int node : clique) std::erase(set, node);
        found.push_back({gained, x, y, set});
      });
    }
    return found;
  }

  // ---- Climbing -----------------------------------------------------------------------------------------------------

  using List = std::vector<Operator> (Ges::*)(int);

  void list(const std::vector<int>& nodes, List operators) {
    parallel_for(static_cast<std::ptrdiff_t>(nodes.size()), [&](std::ptrdiff_t k) {
      throw_if_interrupted(progress_);
      const int y = nodes[static_cast<std::size_t>(k)];
      std::vector<Operator>& own = operators_[at(y)];
      own = (this->*operators)(y);
      std::sort(own.begin(), own.end(), [](const Operator& a, const Operator& b) { return a.better_than(b); });
    });
  }

  // Applies the best operator until none gains; how many.
  int climb(List operators) {
    const bool insert = operators == &Ges::insertions;
    std::vector<int> stale(at(variables()));
    for (int y = 0; y < variables(); ++y) stale[at(y)] = y;
    for (int steps = 0;; ++steps) {
      throw_if_interrupted(progress_);
      list(stale, operators);
      const std::optional<Operator> best = apply_best(insert, stale);
      if (!best) return steps;
      // An operator into y rests on y's own edges, and on whether its neighbours are linked to x and to each other.
      for (const int end : {best->x, best->y}) stale = joined(std::move(stale), class_.neighbours(end));
      std::sort(stale.begin(), stale.end());
      stale.erase(std::unique(stale.begin(), stale.end()), stale.end());
    }
  }

  // Each variable's operators in turn, the best of all first; what cannot be done now stays for later.
  std::optional<Operator> apply_best(bool insert, std::vector<int>& changed) {
    const auto worse = [](const Operator* a, const Operator* b) { return b->better_than(*a); };
    std::priority_queue<Operator*, std::vector<Operator*>, decltype(worse)> first(worse);
    for (std::vector<Operator>& own : operators_) {
      if (!own.empty()) first.push(own.data());
    }
    while (!first.empty()) {
      Operator* best = first.top();
      first.pop();
      std::vector<Operator>& own = operators_[at(best->y)];
      if (best != &own.back()) first.push(best + 1);
      if (insert && !is_blocked(*best)) continue;
      if (try_to_apply(*best, insert, changed)) return *best;
      ++refused_;
    }
    return std::nullopt;
  }

  // In dense graphs most operators wait for a path to be blocked: the one that was open is looked at first.
  bool is_blocked(Operator& insertion) const {
    if (class_.is_path(insertion.path)) return false;
    insertion.path = class_.open_path(insertion.y, insertion.x, insertion.clique);
    return insertion.path.empty();
  }

  bool try_to_apply(const Operator& best, bool insert, std::vector<int>& changed) {
    const auto apply = [&](EquivalenceClass& to) {
      return insert ? to.insert(best.x, best.y, best.set) : to.remove(best.x, best.y, best.set);
    };
    if (knowledge_.empty()) {
      changed = apply(class_);
      return true;
    }
    EquivalenceClass next = class_;
    changed = apply(next);
    if (!satisfying(next.graph(), knowledge_)) return false;
    class_ = std::move(next);
    return true;
  }

  // ---- Beginning and end --------------------------------------------------------------------------------------------

  // One by one along an order that they allow; required links of either direction follow it.
  void start_with_required() {
    std::vector<std::pair<int, int>> edges = knowledge_.required_edges();
    if (edges.empty() && knowledge_.open_links().empty()) return;
    const std::vector<int> order = Dag(variables(), edges).topological_order();
    std::vector<int> rank(at(variables()));
    for (std::size_t k = 0; k < order.size(); ++k) rank[at(order[k])] = static_cast<int>(k);
    for (const auto& [i, j] : knowledge_.open_links()) {
      edges.push_back(rank[at(i)] < rank[at(j)] ? std::pair(i, j) : std::pair(j, i));
    }
    class_ = EquivalenceClass(Dag(variables(), edges));
    check_data(satisfying(class_.graph(), knowledge_).has_value(),
               "[knowledge] ges finds no class of graphs that has the required edges and satisfies the rest; "
               "fansite-anm may");
  }

  GesResult result(int added, int taken) {
    const PartialDag graph = class_.graph();
    std::optional<Dag> told = knowledge_.empty() ? consistent_extension(graph) : satisfying(graph, knowledge_);
    Dag dag = *std::move(told);
    ByteMatrix decided = ByteMatrix::Zero(variables(), variables());
    Matrix gains = Matrix::Zero(variables(), variables());
    double total = 0;
    for (int j = 0; j < variables(); ++j) {
      const std::vector<int>& parents = dag.parents(j);
      total += score_.score(j, parents) - price_ * static_cast<double>(parents.size());
      for (const int i : parents) {
        decided(i, j) = !knowledge_.allows(j, i);
        gains(i, j) = gain(j, without(parents, i), i);
      }
    }
    return {.graph = oriented(dag, decided),
            .dag = dag,
            .gains = std::move(gains),
            .score = total,
            .added = added,
            .taken = taken,
            .limited = std::any_of(limited_.begin(), limited_.end(), [](char c) { return c != 0; }),
            .refused = refused_};
  }

  const LocalScore& score_;
  double price_;
  const ByteMatrix& links_;
  const Knowledge& knowledge_;
  const GesParams& params_;
  Progress& progress_;
  EquivalenceClass class_;
  std::vector<std::vector<Operator>> operators_;  // into each variable that gain something, the best first
  std::vector<char> limited_;                     // per variable, so that threads write apart
  int refused_ = 0;
};

GraphAnswer run(const GraphProblem& problem, const Parameters& parameters) {
  const Context& context = problem.context;
  const auto& params = parameters.as<GesParams>();
  check_no_boundary_statements(context.knowledge(), "ges");
  const GaussianBic score(context.covariance());
  const double price = 0.5 * (params.penalty - 1) * std::log(static_cast<double>(context.covariance()->rows));
  GesResult found = ges(score, price, links_with_scale(problem), context.knowledge(), params, context.progress());
  GraphAnswer answer;
  answer.how = fmt::format("BIC of linear equations; {} edges added, {} taken away again", found.added, found.taken);
  answer.details = {{"score", found.score},
                    {"added", std::int64_t{found.added}},
                    {"taken", std::int64_t{found.taken}},
                    {"max_parents_reached", found.limited}};
  if (!context.knowledge().empty()) answer.details.emplace_back("refused", std::int64_t{found.refused});
  if (params.dag) found.graph = {found.dag.adjacency(), ByteMatrix::Zero(found.dag.nodes(), found.dag.nodes())};
  answer.weights = edge_weights(found.graph, found.gains + found.gains.transpose());
  answer.graph = std::move(found.graph);
  return answer;
}

}  // namespace

const Description& GesParams::description() {
  using P = GesParams;
  static const Description list =
      Describe<P>()
          .field("penalty", &P::penalty, "what an edge must gain, in units of ln N / 2 (BIC)", at_least(0))
          .field("max_parents", &P::max_parents, "at most so many parents of a variable", at_least(1))
          .field("dag", &P::dag, "a direction for every edge, decided by the data or not")
          .done();
  return list;
}

GesResult ges(const LocalScore& score, double edge_price, const ByteMatrix& links, const Knowledge& knowledge,
              const GesParams& params, Progress& progress) {
  validate(params);
  return Ges(score, edge_price, links, knowledge, params, progress).run();
}

GraphMethod ges_method() {
  GraphMethod row;
  row.name = "ges";
  row.summary = "greedy equivalence search with the BIC of linear equations; what it cannot tell stays undirected";
  row.citation = "Chickering, JMLR 2002";
  row.can = covariance_capabilities();
  row.can.satisfies_knowledge = true;
  row.parameters = GesParams();
  row.run = run;
  return row;
}

}  // namespace fansite::causal
