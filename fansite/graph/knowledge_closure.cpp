// SPDX-License-Identifier: Apache-2.0
//
// From the statements of knowledge.h to what follows from them, and the contradictions that this shows.
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <compare>
#include <cstdint>
#include <deque>
#include <set>

#include "fansite/base/error.h"
#include "fansite/base/text.h"
#include "fansite/graph/detail/knowledge_lists.h"
#include "fansite/graph/knowledge.h"

namespace fansite {
namespace {

using namespace knowledge_lists;
using Kind = Statement::Kind;

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
    return std::is_neq(order) ? std::is_lt(order) : x.line < y.line;
  });
  statements.erase(std::unique(statements.begin(), statements.end()), statements.end());
  return statements;
}

}  // namespace

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

}  // namespace fansite
