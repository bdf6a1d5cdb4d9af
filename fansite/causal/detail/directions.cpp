// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/detail/directions.h"

#include <algorithm>
#include <optional>
#include <span>

namespace fansite::causal {
namespace {

// Edges that are turned round side by side. Where one leads to a better graph, what was computed for those after it is
// thrown away, but for the scores, most of which the next round asks for again.
constexpr std::size_t kSideBySide = 32;

// The best graph in which an edge is turned round; none: it cannot be. Not known: time ran out.
struct TurnedRound {
  std::optional<ParentSets> graph;
  bool known = false;
};

// From this graph with the edge alone turned, and from the nearest one of the same equivalence class that has it
// turned.
std::vector<TurnedRound> turned_round(GraphSearch& search, const Climb& from, const ByteMatrix& undirected,
                                      std::span<const Edge> edges, Progress& progress) {
  std::vector<Climb> climbs;
  std::vector<std::size_t> edge_of;  // per climb
  std::vector<TurnedRound> result(edges.size());
  if (progress.out_of_time()) return result;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const Edge reverse = {edges[e].second, edges[e].first};
    ParentSets alone = from.parents();
    if (search.reverse(alone, edges[e])) {
      climbs.push_back(from.elsewhere(std::move(alone), reverse));
      edge_of.push_back(e);
    }
    if (std::optional<ParentSets> equivalent = search.equivalent(from.parents(), undirected, edges[e])) {
      climbs.push_back(from.elsewhere(std::move(*equivalent), reverse));
      edge_of.push_back(e);
    }
  }
  const auto known = [&](std::size_t edge) {
    for (std::size_t c = 0; c < climbs.size(); ++c) {
      if (edge_of[c] == edge && !climbs[c].settled()) return false;
    }
    return true;
  };
  const auto tell = [&] {
    for (std::size_t e = 0; e < edges.size(); ++e) {
      if (result[e].known || !known(e)) continue;
      result[e].known = true;
      progress.advance(1);
    }
  };
  tell();
  search.climb(climbs, tell);
  for (std::size_t c = 0; c < climbs.size(); ++c) {
    auto& [best, is_known] = result[edge_of[c]];
    if (!is_known) continue;
    if (!best || search.total(climbs[c].parents()) < search.total(*best)) best = climbs[c].parents();
  }
  return result;
}

std::vector<Edge> edges_of(const ParentSets& parents) {
  std::vector<Edge> edges;
  for (std::size_t to = 0; to < parents.size(); ++to) {
    for (const int from : parents[to]) edges.emplace_back(from, static_cast<int>(to));
  }
  return edges;
}

// From the end of a climb on.
Weighed weigh_from(GraphSearch& search, Climb climb, Progress& progress) {
  Weighed result;
  for (bool settled = false; !settled;) {
    settled = true;
    result.best = climb.parents();
    result.turned.clear();
    result.open.clear();
    const std::vector<Edge> edges = edges_of(result.best);
    const ByteMatrix undirected = GraphSearch::edges_without_direction(result.best);
    const double total = search.total(result.best);
    progress.begin("weighing directions", static_cast<long>(edges.size()));
    for (std::size_t first = 0; first < edges.size() && settled; first += kSideBySide) {
      const auto some = std::span(edges).subspan(first, std::min(kSideBySide, edges.size() - first));
      std::vector<TurnedRound> turned = turned_round(search, climb, undirected, some, progress);
      for (std::size_t e = 0; e < some.size(); ++e) {
        auto& [graph, known] = turned[e];
        if (!known) result.open.insert(some[e]);  // a hurried search would make it look too certain
        if (!known || !graph) continue;
        if (search.total(*graph) < total - 1e-9) {
          climb = climb.elsewhere(std::move(*graph), {-1, -1});
          search.climb(std::span(&climb, 1));
          settled = false;
          break;
        }
        result.turned[some[e]] = std::move(*graph);
      }
    }
  }
  return result;
}

}  // namespace

Weighed weigh_directions(GraphSearch& search, const std::vector<ParentSets>& starts, Progress& progress) {
  progress.begin("searching graphs", 1);
  std::vector<Climb> climbs(1, Climb(search, search.start()));
  for (const ParentSets& start : starts) climbs.emplace_back(search, start);
  search.climb(climbs);
  progress.advance(1);
  Weighed best = weigh_from(search, climbs.front(), progress);
  for (std::size_t c = 1; c < climbs.size() && !progress.out_of_time(); ++c) {
    Weighed other = weigh_from(search, std::move(climbs[c]), progress);
    if (other.open.empty() && search.total(other.best) < search.total(best.best) - 1e-9) best = std::move(other);
  }
  return best;
}

}  // namespace fansite::causal
