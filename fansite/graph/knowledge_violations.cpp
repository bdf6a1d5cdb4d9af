// SPDX-License-Identifier: Apache-2.0
//
// What graphs and boundaries do against the knowledge.
#include <fmt/format.h>

#include <algorithm>

#include "fansite/base/error.h"
#include "fansite/base/text.h"
#include "fansite/graph/detail/knowledge_lists.h"
#include "fansite/graph/knowledge.h"

namespace fansite {

using namespace knowledge_lists;
using Kind = Statement::Kind;

std::vector<std::string> Knowledge::violations(const ByteMatrix& directed, const ByteMatrix& undirected) const {
  const bool complete = undirected.size() == 0;
  std::vector<std::string> found;
  if (empty()) return found;
  check(directed.rows() == variables() && directed.cols() == variables() &&
            (complete || (undirected.rows() == variables() && undirected.cols() == variables())),
        "[knowledge] the graph has {} nodes, the knowledge is about {}", directed.rows(), variables());
  const auto is_open = [&](int i, int j) { return !complete && (undirected(i, j) != 0 || undirected(j, i) != 0); };
  const auto is_linked = [&](int i, int j) { return directed(i, j) != 0 || directed(j, i) != 0 || is_open(i, j); };
  const auto common_child = [&](int i, int j) {
    for (int k = 0; k < variables(); ++k) {
      if (directed(i, k) != 0 && directed(j, k) != 0) return k;
    }
    return -1;
  };
  const auto report = [&](const std::string& sentence) { found.push_back(fmt::format("{}: {}.", source_, sentence)); };

  for (int to = 0; to < variables(); ++to) {
    for (int from = 0; from < variables(); ++from) {
      if (from == to) continue;
      if (directed(from, to) != 0 && !allows(from, to)) {
        report(fmt::format("the graph has {}, but {}", edge(from, to), why_excluded(from, to).text));
      }
      if (from > to || !is_open(from, to)) continue;
      const bool forth = allows(from, to), back = allows(to, from);
      if (!forth && !back) {
        report(fmt::format("the graph has an edge between {}, but both directions are excluded: {}, for {}; {}, for {}",
                           both(from, to), edge(from, to), why_excluded(from, to).text, edge(to, from),
                           why_excluded(to, from).text));
      } else if (!forth || !back) {
        const Pair only = forth ? Pair(from, to) : Pair(to, from);
        report(fmt::format("the graph leaves the direction of an edge open that can only be {}: against the other, {}",
                           edge(only.first, only.second), why_excluded(only.second, only.first).text));
      }
    }
  }
  for (const auto& [required, lines] : required_) {
    const auto [from, to] = required;
    if (directed(from, to) == 0 && !is_open(from, to)) {
      report(fmt::format("the graph lacks {}, required by {}", edge(from, to), lines_text(lines)));
    }
  }
  for (const auto& [i, j] : open_links()) {
    if (!is_linked(i, j)) {
      report(
          fmt::format("the graph lacks an edge between {}, required by {}", both(i, j), lines_text(links_.at({i, j}))));
    }
  }
  for (const Statement& s : statements_) {
    if (s.kind == Kind::in_boundary && !requires_link(s.a, s.b) && !is_linked(s.a, s.b) && common_child(s.a, s.b) < 0) {
      report(
          fmt::format("{} are not in each other's boundary, but line {} says that they are", both(s.a, s.b), s.line));
    }
    if (s.kind != Kind::not_in_boundary) continue;
    if (const int child = common_child(s.a, s.b); child >= 0) {
      report(fmt::format("{} are parents of '{}', but line {} says that they are not in each other's boundary",
                         both(s.a, s.b), excerpt(name(child)), s.line));
    }
  }
  return found;
}

std::vector<std::string> Knowledge::violations_of_boundaries(const std::vector<std::vector<int>>& boundaries,
                                                             const std::vector<int>& targets) const {
  std::vector<std::string> found;
  if (empty()) return found;
  check(boundaries.size() == names_.size(), "[knowledge] there are {} boundaries, the knowledge is about {} variables",
        boundaries.size(), names_.size());
  const auto report = [&](int target, const char* verb, int member, const std::string& reason) {
    found.push_back(fmt::format("{}: the boundary of '{}' {} '{}', but {}.", source_, excerpt(name(target)), verb,
                                excerpt(name(member)), reason));
  };
  const auto judge = [&](int i) {
    std::vector<int> members = boundaries[at(i)];
    std::sort(members.begin(), members.end());
    check(members.empty() || (members.front() >= 0 && members.back() < variables()),
          "[knowledge] a member of the boundary of '{}' is no variable", excerpt(name(i)));
    for (const int j : members) {
      if (i == j || !out_of_boundary(i, j)) continue;
      const int line = line_of(Kind::not_in_boundary, std::min(i, j), std::max(i, j));
      report(i, "has", j,
             line != 0 ? fmt::format("line {} says that they are not in each other's boundary", line)
                       : "neither an edge between them nor a common child is possible");
    }
    for (const int j : known_boundary(i)) {
      if (has(members, j)) continue;
      const int line = line_of(Kind::in_boundary, std::min(i, j), std::max(i, j));
      const auto required = required_.find(requires_edge(i, j) ? Pair(i, j) : Pair(j, i));
      const auto link = links_.find(ordered(i, j));
      if (line != 0) {
        report(i, "lacks", j, fmt::format("line {} says that they are in each other's boundary", line));
      } else if (required != required_.end()) {
        report(i, "lacks", j,
               fmt::format("{} is required by {}", edge(required->first.first, required->first.second),
                           lines_text(required->second)));
      } else if (link != links_.end()) {
        report(i, "lacks", j, fmt::format("an edge between them is required by {}", lines_text(link->second)));
      } else {
        const int child = required_common_child(i, j);
        Lines lines = required_.at({i, child});
        merge(lines, required_.at({j, child}));
        report(i, "lacks", j,
               fmt::format("{} require both to be parents of '{}'", lines_text(lines), excerpt(name(child))));
      }
    }
  };
  for (const int i : targets) {
    check(0 <= i && i < variables(), "[knowledge] there is no variable {} among {}", i, variables());
    judge(i);
  }
  for (int i = 0; targets.empty() && i < variables(); ++i) judge(i);
  return found;
}

}  // namespace fansite
