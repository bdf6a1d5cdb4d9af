// SPDX-License-Identifier: Apache-2.0
#include "fansite/graph/knowledge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <deque>

#include "fansite/base/text.h"
#include "fansite/graph/detail/knowledge_lists.h"

namespace fansite {

using namespace knowledge_lists;
using Kind = Statement::Kind;

// ---- Reasons --------------------------------------------------------------------------------------------------------

int Knowledge::line_of(Kind kind, int a, int b) const {
  const Statement wanted{kind, a, b};
  const auto found = std::lower_bound(statements_.begin(), statements_.end(), wanted);
  return found != statements_.end() && *found == wanted ? found->line : 0;
}

std::string Knowledge::edge(int from, int to) const {
  return fmt::format("'{}' → '{}'", excerpt(name(from)), excerpt(name(to)));
}

std::string Knowledge::both(int i, int j) const {
  return fmt::format("'{}' and '{}'", excerpt(name(i)), excerpt(name(j)));
}

// The shortest way along required edges, both ends included, or empty.
std::vector<int> Knowledge::required_path(int from, int to) const {
  std::map<int, int> parent{{from, from}};
  std::deque<int> frontier{from};
  while (!frontier.empty() && !parent.contains(to)) {
    const int node = frontier.front();
    frontier.pop_front();
    for (const int child : required_children_[at(node)]) {
      if (parent.emplace(child, node).second) frontier.push_back(child);
    }
  }
  if (!parent.contains(to)) return {};
  std::vector<int> path{to};
  while (path.back() != from) path.push_back(parent.at(path.back()));
  std::reverse(path.begin(), path.end());
  return path;
}

// Found again when it is asked for: to keep a reason for each of d² edges would cost more than all else. What is stated
// comes first, then what follows.
Knowledge::Reason Knowledge::why_excluded(int from, int to) const {
  constexpr int kAny = Statement::kAny;
  for (const auto& [a, b] : {Pair(from, to), Pair(kAny, to), Pair(from, kAny), Pair(kAny, kAny)}) {
    if (const int line = line_of(Kind::forbid, a, b)) return {fmt::format("line {} forbids it", line), {line}};
  }
  if (const int line = line_of(Kind::root, to, kAny)) {
    return {fmt::format("'{}' is a root (line {}), which has no parents", excerpt(name(to)), line), {line}};
  }
  if (const int line = line_of(Kind::sink, from, kAny)) {
    return {fmt::format("'{}' is a sink (line {}), which has no children", excerpt(name(from)), line), {line}};
  }
  const int tier_from = tier_of_[at(from)], tier_to = tier_of_[at(to)];
  if (tier_from >= 0 && tier_to >= 0 && tier_from >= tier_to) {
    const int line_from = line_of(Kind::tier, from, tier_from), line_to = line_of(Kind::tier, to, tier_to);
    Lines lines{line_from};
    insert(lines, line_to);
    if (tier_from > tier_to) {
      return {fmt::format("'{}' is in tier {} (line {}) and '{}' in the earlier tier {} (line {})", excerpt(name(from)),
                          tier_from, line_from, excerpt(name(to)), tier_to, line_to),
              lines};
    }
    if (const int within = line_of(Kind::tier_within, kAny, tier_from)) {
      const std::string members = lines_text(lines);
      insert(lines, within);
      return {fmt::format("both are in tier {} ({}), where line {} forbids edges", tier_from, members, within), lines};
    }
  }
  if (const int line = line_of(Kind::not_in_boundary, std::min(from, to), std::max(from, to))) {
    return {fmt::format("line {} says that they are not in each other's boundary", line), {line}};
  }
  if (const std::vector<int> path = required_path(to, from); !path.empty()) {
    constexpr std::size_t kShown = 12;
    Lines lines;
    std::string cycle = fmt::format("'{}'", excerpt(name(from)));
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (i + 1 < path.size()) merge(lines, required_.at({path[i], path[i + 1]}));
      if (i < kShown || i + 1 == path.size()) cycle += fmt::format(" → '{}'", excerpt(name(path[i])));
      if (i == kShown && i + 1 < path.size()) cycle += fmt::format(" → … ({} more)", path.size() - 1 - kShown);
    }
    return {fmt::format("it closes a cycle of required edges: {} ({})", cycle, lines_text(lines)), lines};
  }
  for (const int parent : required_parents_[at(to)]) {
    if (!has(said_out_[at(from)], parent)) continue;
    const int line = line_of(Kind::not_in_boundary, std::min(from, parent), std::max(from, parent));
    Lines lines = required_.at({parent, to});
    std::string text = fmt::format(
        "{} is required ({}) and line {} says that {} are not in each other's boundary, as two parents of "
        "one child are",
        edge(parent, to), lines_text(lines), line, both(std::min(from, parent), std::max(from, parent)));
    insert(lines, line);
    return {std::move(text), std::move(lines)};
  }
  assert(false);  // every excluded edge has one of these reasons
  return {"it is excluded", {}};
}

// ---- Questions ------------------------------------------------------------------------------------------------------

bool Knowledge::requires_link(int i, int j) const {
  return requires_edge(i, j) || requires_edge(j, i) || links_.contains(ordered(i, j));
}

bool Knowledge::may_share_child(int i, int j) const {
  const std::uint64_t *row_i = allowed_.row(i), *row_j = allowed_.row(j);
  for (std::size_t w = 0; w < allowed_.words(); ++w) {
    if ((row_i[w] & row_j[w]) != 0) return true;
  }
  return false;
}

int Knowledge::required_common_child(int i, int j) const {
  const std::vector<int>&of_i = required_children_[at(i)], &of_j = required_children_[at(j)];
  const auto shared = std::find_if(of_i.begin(), of_i.end(), [&](int child) { return has(of_j, child); });
  return shared == of_i.end() ? -1 : *shared;
}

bool Knowledge::in_boundary(int i, int j) const {
  if (empty() || i == j) return false;
  return has(said_in_[at(i)], j) || requires_link(i, j) || required_common_child(i, j) >= 0;
}

// i and j are in each other's boundary if and only if there is an edge between them or a common child.
bool Knowledge::out_of_boundary(int i, int j) const {
  if (empty() || i == j) return i == j;
  return has(said_out_[at(i)], j) || (!may_neighbour(i, j) && !may_share_child(i, j));
}

std::vector<std::pair<int, int>> Knowledge::required_edges() const {
  std::vector<Pair> edges;
  for (const auto& [edge, lines] : required_) edges.push_back(edge);
  return edges;
}

std::vector<std::pair<int, int>> Knowledge::open_links() const {
  std::vector<Pair> links;
  for (const auto& [link, lines] : links_) {
    if (allows(link.first, link.second) && allows(link.second, link.first)) links.push_back(link);
  }
  return links;
}

std::vector<int> Knowledge::known_boundary(int i) const {
  if (empty()) return {};
  std::vector<int> members = said_in_[at(i)];
  merge(members, required_parents_[at(i)]);
  merge(members, required_children_[at(i)]);
  for (const int child : required_children_[at(i)]) merge(members, required_parents_[at(child)]);
  merge(members, linked_[at(i)]);
  std::erase(members, i);
  return members;
}

Knowledge Knowledge::in_order(const std::vector<int>& order) const {
  if (empty()) return *this;
  std::vector<int> place(order.size());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    names.push_back(name(order[i]));
  }
  std::vector<Statement> statements = statements_;
  for (Statement& s : statements) {
    const bool of_tier = s.kind == Kind::tier || s.kind == Kind::tier_within;
    if (s.a != Statement::kAny) s.a = place[static_cast<std::size_t>(s.a)];
    if (s.b != Statement::kAny && !of_tier) s.b = place[static_cast<std::size_t>(s.b)];
  }
  return Knowledge(std::move(names), std::move(statements), source_);
}

ByteMatrix Knowledge::allowed() const {
  ByteMatrix matrix(variables(), variables());
  for (int to = 0; to < variables(); ++to) {
    for (int from = 0; from < variables(); ++from) matrix(from, to) = allows(from, to);
  }
  return matrix;
}

ByteMatrix Knowledge::boundary_candidates() const {
  ByteMatrix matrix(variables(), variables());
  for (int j = 0; j < variables(); ++j) {
    matrix(j, j) = 0;
    for (int i = 0; i < j; ++i) matrix(i, j) = matrix(j, i) = !out_of_boundary(i, j);
  }
  return matrix;
}

}  // namespace fansite
