// SPDX-License-Identifier: Apache-2.0
#include "fansite/graph/knowledge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <deque>
#include <iterator>
#include <set>

#include "fansite/base/error.h"
#include "fansite/base/text.h"

namespace fansite {
namespace {

using Kind = Statement::Kind;
using Pair = std::pair<int, int>;

std::size_t at(int variable) { return static_cast<std::size_t>(variable); }

Pair ordered(int i, int j) { return {std::min(i, j), std::max(i, j)}; }

bool has(const std::vector<int>& ascending, int value) {
  return std::binary_search(ascending.begin(), ascending.end(), value);
}

void insert(std::vector<int>& ascending, int value) {
  const auto place = std::lower_bound(ascending.begin(), ascending.end(), value);
  if (place == ascending.end() || *place != value) ascending.insert(place, value);
}

void merge(std::vector<int>& ascending, const std::vector<int>& more) {
  std::vector<int> merged;
  std::set_union(ascending.begin(), ascending.end(), more.begin(), more.end(), std::back_inserter(merged));
  ascending = std::move(merged);
}

/// "line 7", "lines 2, 5 and 9"; of many, the first few.
std::string lines_text(const std::vector<int>& lines) {
  constexpr std::size_t kShown = 6;
  if (lines.size() == 1) return fmt::format("line {}", lines[0]);
  std::string text = "lines ";
  const std::size_t shown = std::min(lines.size(), kShown);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) text += i + 1 == lines.size() ? " and " : ", ";
    text += fmt::format("{}", lines[i]);
  }
  if (lines.size() > shown) text += fmt::format(" and {} more", lines.size() - shown);
  return text;
}

bool is_symmetric(Kind kind) {
  return kind == Kind::require_link || kind == Kind::in_boundary || kind == Kind::not_in_boundary;
}

/// Sorted, each once with its first line, pairs without direction in ascending order.
std::vector<Statement> canonical(std::vector<Statement> statements, int variables) {
  const auto exists = [&](int variable) { return 0 <= variable && variable < variables; };
  for (std::size_t i = 0; i < statements.size(); ++i) {
    Statement& s = statements[i];
    if (s.line == 0) s.line = static_cast<int>(i) + 1;
    bool valid = false;
    switch (s.kind) {
      case Kind::forbid:
        valid = (exists(s.a) || s.a == Statement::kAny) && (exists(s.b) || s.b == Statement::kAny) &&
                (s.a != s.b || s.a == Statement::kAny);
        break;
      case Kind::tier:
        valid = exists(s.a) && s.b >= 0;
        break;
      case Kind::tier_within:
        s.a = Statement::kAny;
        valid = s.b >= 0;
        break;
      case Kind::root:
      case Kind::sink:
        s.b = Statement::kAny;
        valid = exists(s.a);
        break;
      default:
        valid = exists(s.a) && exists(s.b) && s.a != s.b;
    }
    check(valid, "[knowledge] statement {} is about {} and {}, which is no pair, variable or tier of a table of {}",
          i + 1, s.a, s.b, variables);
    if (is_symmetric(s.kind) && s.a > s.b) std::swap(s.a, s.b);
  }
  std::sort(statements.begin(), statements.end(), [](const Statement& x, const Statement& y) {
    const auto order = x <=> y;
    return order != 0 ? order < 0 : x.line < y.line;
  });
  statements.erase(std::unique(statements.begin(), statements.end()), statements.end());
  return statements;
}

}  // namespace

// ---- What follows ---------------------------------------------------------------------------------------------------

// From the statements to their consequences. Edges are excluded and required until nothing new follows:
//   required i → j excludes every edge that would close a cycle with the required ones;
//   a required link with one direction excluded requires the other;
//   i → k required and j not in the boundary of i excludes j → k, since parents of one child are;
//   a pair in each other's boundary with only one way left, the link or one common child, requires that.
// Each rule is sound. Together they find everything unless a boundary statement leaves a choice: a pair in each other's
// boundary with several ways left, or a link of open direction beside pairs that are out of each other's boundary.
// Those would take a search over graphs, and nothing depends on finding all.
class Knowledge::Closure {
 public:
  explicit Closure(Knowledge& knowledge) : k_(knowledge), descendants_(knowledge.variables()) {}

  void run() {
    const std::size_t variables = k_.names_.size();
    k_.tier_of_.assign(variables, -1);
    k_.required_parents_.resize(variables);
    k_.required_children_.resize(variables);
    k_.linked_.resize(variables);
    k_.said_in_.resize(variables);
    k_.said_out_.resize(variables);
    allow_everything();
    apply_tiers();
    std::vector<Statement> by_line = k_.statements_;
    std::stable_sort(by_line.begin(), by_line.end(), [](auto& x, auto& y) { return x.line < y.line; });
    for (const Statement& s : by_line) apply(s);
    for (const auto& [link, lines] : k_.links_) settle_link(link);
    for (int i = 0; i < k_.variables(); ++i) {
      if (!k_.said_in_[at(i)].empty()) narrowed_.insert(i);
    }
    settle();
  }

 private:
  [[noreturn]] void fail(const Lines& lines, const std::string& sentence) const {
    throw DataError(fmt::format("[knowledge] {} {}: {}", k_.source_, lines_text(lines), sentence));
  }

  void allow_everything() {
    k_.allowed_ = BitMatrix(k_.variables());
    for (int i = 0; i < k_.variables(); ++i) {
      std::uint64_t* row = k_.allowed_.row(i);
      for (std::size_t w = 0; w < k_.allowed_.words(); ++w) {
        const std::size_t rest = k_.names_.size() - 64 * w;
        row[w] = rest >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << rest) - 1;
      }
      k_.allowed_.clear(i, i);
    }
  }

  void apply_tiers() {
    std::map<int, std::vector<int>> tiers;
    for (const Statement& s : k_.statements_) {
      if (s.kind == Kind::tier) {
        const int other = k_.tier_of_[at(s.a)];
        if (other >= 0) {
          const int line = k_.line_of(Kind::tier, s.a, other);
          const bool after = line < s.line;
          fail({std::max(line, s.line)},
               fmt::format("'{}' is put in tier {}, but line {} puts it in tier {}. A variable has one tier.",
                           excerpt(k_.name(s.a)), after ? s.b : other, std::min(line, s.line), after ? other : s.b));
        }
        k_.tier_of_[at(s.a)] = s.b;
        tiers[s.b].push_back(s.a);
      }
      if (s.kind == Kind::tier_within && !tiers.contains(s.b)) {
        fail({s.line}, fmt::format("edges are forbidden within tier {}, but no variable is in it.", s.b));
      }
    }
    std::vector<std::uint64_t> earlier(k_.allowed_.words(), 0);
    for (const auto& [tier, members] : tiers) {
      std::vector<std::uint64_t> here(earlier.size(), 0);
      for (const int i : members) here[at(i) / 64] |= std::uint64_t{1} << (at(i) % 64);
      const bool within_forbidden = k_.line_of(Kind::tier_within, Statement::kAny, tier) != 0;
      for (const int i : members) {
        std::uint64_t* row = k_.allowed_.row(i);
        for (std::size_t w = 0; w < earlier.size(); ++w) row[w] &= ~(earlier[w] | (within_forbidden ? here[w] : 0));
      }
      for (std::size_t w = 0; w < earlier.size(); ++w) earlier[w] |= here[w];
    }
  }

  void exclude_children_of(int i) { std::fill_n(k_.allowed_.row(i), k_.allowed_.words(), 0); }

  void exclude_parents_of(int j) {
    for (int i = 0; i < k_.variables(); ++i) k_.allowed_.clear(i, j);
  }

  void apply(const Statement& s) {
    switch (s.kind) {
      case Kind::forbid:
        if (s.a != Statement::kAny && s.b != Statement::kAny) {
          k_.allowed_.clear(s.a, s.b);
        } else if (s.a != Statement::kAny) {
          exclude_children_of(s.a);
        } else if (s.b != Statement::kAny) {
          exclude_parents_of(s.b);
        } else {
          for (int i = 0; i < k_.variables(); ++i) exclude_children_of(i);
        }
        break;
      case Kind::root:
        exclude_parents_of(s.a);
        break;
      case Kind::sink:
        exclude_children_of(s.a);
        break;
      case Kind::require:
        to_require_.push_back({{s.a, s.b}, {s.line}});
        break;
      case Kind::require_link:
        add_link(s.a, s.b, {s.line});
        break;
      case Kind::in_boundary:
      case Kind::not_in_boundary: {
        const bool in = s.kind == Kind::in_boundary;
        const int opposite = k_.line_of(in ? Kind::not_in_boundary : Kind::in_boundary, s.a, s.b);
        if (opposite != 0 && opposite <= s.line) {
          fail({s.line}, fmt::format("{} are said {}to be in each other's boundary, but line {} says the opposite.",
                                     k_.both(s.a, s.b), in ? "" : "not ", opposite));
        }
        auto& lists = in ? k_.said_in_ : k_.said_out_;
        insert(lists[at(s.a)], s.b);
        insert(lists[at(s.b)], s.a);
        if (!in) {
          k_.allowed_.clear(s.a, s.b);
          k_.allowed_.clear(s.b, s.a);
        }
        break;
      }
      case Kind::tier:
      case Kind::tier_within:
        break;
    }
  }

  void settle() {
    while (!to_require_.empty() || !narrowed_.empty()) {
      if (!to_require_.empty()) {
        const auto [edge, lines] = std::move(to_require_.front());
        to_require_.pop_front();
        require(edge.first, edge.second, lines);
      } else {
        const int i = *narrowed_.begin();
        narrowed_.erase(narrowed_.begin());
        for (const int j : k_.said_in_[at(i)]) settle_boundary(i, j);
      }
    }
  }

  void require(int from, int to, const Lines& lines) {
    if (k_.requires_edge(from, to)) return;
    if (!k_.allows(from, to)) refuse_required(from, to, lines);
    k_.required_[{from, to}] = lines;
    insert(k_.required_children_[at(from)], to);
    insert(k_.required_parents_[at(to)], from);

    // `to` and what follows it now follow `from` and what precedes it.
    const std::size_t words = k_.required_children_[at(to)].empty() ? 0 : descendants_.words();
    for (int above = 0; above < k_.variables(); ++above) {
      if (above != from && !descendants_.at(above, from)) continue;
      for (std::size_t w = 0; w < words; ++w) {
        const std::uint64_t fresh = descendants_.row(to)[w] & ~descendants_.row(above)[w];
        descendants_.row(above)[w] |= fresh;
        BitMatrix::for_each(fresh, w, [&](int below) { exclude(below, above); });
      }
      if (!descendants_.at(above, to)) {
        descendants_.set(above, to);
        exclude(to, above);
      }
    }
    for (const int other : k_.said_out_[at(from)]) exclude(other, to);
  }

  void exclude(int from, int to) {
    if (!k_.allows(from, to)) return;
    assert(!k_.requires_edge(from, to));
    k_.allowed_.clear(from, to);
    if (!k_.said_in_[at(from)].empty()) narrowed_.insert(from);
    if (has(k_.linked_[at(from)], to)) settle_link(ordered(from, to));
  }

  void add_link(int i, int j, const Lines& lines) {
    k_.links_[ordered(i, j)] = lines;
    insert(k_.linked_[at(i)], j);
    insert(k_.linked_[at(j)], i);
  }

  void settle_link(const Pair& link) {
    const auto [i, j] = link;
    const bool forth = k_.allows(i, j), back = k_.allows(j, i);
    if (forth && back) return;
    if (!forth && !back) refuse_link(link);
    const Pair remaining = forth ? Pair(i, j) : Pair(j, i);
    if (k_.required_.contains(remaining)) return;
    Lines lines = k_.links_.at(link);
    merge(lines, k_.why_excluded(remaining.second, remaining.first).lines);
    to_require_.push_back({remaining, std::move(lines)});
  }

  void settle_boundary(int i, int j) {
    if (k_.requires_link(i, j) || k_.required_common_child(i, j) >= 0) return;
    const bool link = k_.may_neighbour(i, j);
    std::vector<int> children;  // that they may have in common; two are enough to know
    for (std::size_t w = 0; w < k_.allowed_.words() && children.size() < 2; ++w) {
      BitMatrix::for_each(k_.allowed_.row(i)[w] & k_.allowed_.row(j)[w], w, [&](int k) { children.push_back(k); });
    }
    if (children.size() + (link ? 1 : 0) > 1) return;

    const int line = k_.line_of(Kind::in_boundary, std::min(i, j), std::max(i, j));
    if (!link && children.empty()) {
      const Lines lines = why_no_other_way(i, j, -1, k_.variables());
      fail({line}, fmt::format("{} are said to be in each other's boundary, but neither an edge between them nor a "
                               "common child is possible{}.",
                               k_.both(std::min(i, j), std::max(i, j)),
                               lines.empty() ? "" : fmt::format(" ({})", lines_text(lines))));
    }
    // For a message that may never be needed, the reasons against a few of the other children will do.
    constexpr int kEnough = 100;
    Lines lines = why_no_other_way(i, j, link ? -1 : children[0], kEnough);
    insert(lines, line);
    if (link) {
      add_link(i, j, lines);
      settle_link(ordered(i, j));
    } else {
      to_require_.push_back({{i, children[0]}, lines});
      to_require_.push_back({{j, children[0]}, lines});
    }
  }

  /// The lines that exclude every edge between i and j, unless one is allowed, and their first common children except
  /// `spared`.
  Lines why_no_other_way(int i, int j, int spared, int children) const {
    Lines lines;
    if (!k_.may_neighbour(i, j)) {
      merge(lines, k_.why_excluded(i, j).lines);
      merge(lines, k_.why_excluded(j, i).lines);
    }
    for (int k = 0; k < std::min(children, k_.variables()); ++k) {
      if (k == i || k == j || k == spared) continue;
      merge(lines, (k_.allows(i, k) ? k_.why_excluded(j, k) : k_.why_excluded(i, k)).lines);
    }
    return lines;
  }

  [[noreturn]] void refuse_required(int from, int to, const Lines& lines) const {
    const bool stated = k_.line_of(Kind::require, from, to) != 0;
    const Reason reason = k_.why_excluded(from, to);
    fail(lines, fmt::format("{}{}{}, but {}. Remove one of these lines.", stated ? "" : "together they require ",
                            k_.edge(from, to), stated ? " is required" : "", reason.text));
  }

  [[noreturn]] void refuse_link(const Pair& link) const {
    const auto [i, j] = link;
    const Lines& lines = k_.links_.at(link);
    fail(lines, fmt::format("{} an edge between {}, but both directions are excluded: {}, for {}; {}, for {}. Remove "
                            "one of these lines.",
                            lines.size() == 1 ? "it requires" : "together they require", k_.both(i, j), k_.edge(i, j),
                            k_.why_excluded(i, j).text, k_.edge(j, i), k_.why_excluded(j, i).text));
  }

  Knowledge& k_;
  BitMatrix descendants_;  // along required edges
  std::deque<std::pair<Pair, Lines>> to_require_;
  std::set<int> narrowed_;  // variables in boundary statements that have lost a possible child
};

Knowledge::Knowledge(std::vector<std::string> names, std::vector<Statement> statements, std::string source)
    : names_(std::move(names)), source_(std::move(source)) {
  statements_ = canonical(std::move(statements), variables());
  if (!statements_.empty()) Closure(*this).run();
}

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

// ---- Verification ---------------------------------------------------------------------------------------------------

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
