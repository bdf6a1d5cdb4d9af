// SPDX-License-Identifier: Apache-2.0
//
// What is known before looking at the data: edges that cannot or must be there, tiers, roots, sinks, and pairs in or
// out of each other's Markov boundary. What follows is worked out, and contradictions are refused, when it is read;
// docs/knowledge.md has the format and says what is guaranteed.
#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "fansite/base/bit_matrix.h"
#include "fansite/base/matrix.h"

namespace fansite {

/// One thing that a user says. Pairs without direction may come in either order.
struct Statement {
  enum class Kind {
    forbid,          ///< no edge a → b; kAny stands for every variable
    require,         ///< the edge a → b
    require_link,    ///< an edge between a and b, in one direction or the other
    tier,            ///< a is in tier b; no edge leads from a later tier to an earlier one
    tier_within,     ///< no edges inside tier b; a is not used
    root,            ///< a has no parents
    sink,            ///< a has no children
    in_boundary,     ///< a and b are in each other's Markov boundary: an edge, or a common child
    not_in_boundary  ///< they are not
  };
  static constexpr int kAny = -1;

  Kind kind;
  int a = kAny;
  int b = kAny;
  int line = 0;  ///< where it stands, for messages; no part of its meaning

  friend bool operator==(const Statement& x, const Statement& y) {
    return x.kind == y.kind && x.a == y.a && x.b == y.b;
  }
  friend std::strong_ordering operator<=>(const Statement& x, const Statement& y) {
    return std::tie(x.kind, x.a, x.b) <=> std::tie(y.kind, y.a, y.b);
  }
};

class Knowledge {
 public:
  /// Nothing is known.
  Knowledge() = default;
  /// From statements about the variables called `names`; without lines, their places in the list are named. Throws a
  /// DataError when they contradict each other.
  Knowledge(std::vector<std::string> names, std::vector<Statement> statements, std::string source = "the statements");
  /// From a file's bytes: lines of our own, CSV with the header from,to,kind, or Tetrad's knowledge, told apart by what
  /// is in them. Throws a DataError that names the line.
  static Knowledge parse(std::string_view bytes, const std::string& file, const std::vector<std::string>& names);

  int variables() const { return static_cast<int>(names_.size()); }
  bool empty() const { return statements_.empty(); }
  /// Sorted, each once.
  const std::vector<Statement>& statements() const { return statements_; }

  /// Of edges, with what follows: whether i → j may be there, must be there, or some edge between i and j must or may.
  bool allows(int from, int to) const { return from != to && (empty() || allowed_.at(from, to)); }
  bool requires_edge(int from, int to) const { return required_.contains({from, to}); }
  bool requires_link(int i, int j) const;
  bool may_neighbour(int i, int j) const { return allows(i, j) || allows(j, i); }
  /// Of boundaries, symmetric, with what follows. Most pairs are neither in nor out.
  bool in_boundary(int i, int j) const;
  bool out_of_boundary(int i, int j) const;

  /// Required edges (from, to), and links (i < j) whose direction is open.
  std::vector<std::pair<int, int>> required_edges() const;
  std::vector<std::pair<int, int>> open_links() const;
  /// The variables known to be in the boundary of i, ascending.
  std::vector<int> known_boundary(int i) const;
  /// 1 where allows(i, j).
  ByteMatrix allowed() const;
  /// Symmetric; 0 on the diagonal and where out_of_boundary(i, j).
  ByteMatrix boundary_candidates() const;

  /// What a graph does against the knowledge, one sentence each; none means that every line is satisfied. `undirected`
  /// (empty, or nonzero where an edge's direction is open) completes a partially directed graph.
  std::vector<std::string> violations(const ByteMatrix& directed, const ByteMatrix& undirected = {}) const;
  /// The same of boundaries, one per variable; only those of `targets` are judged unless that is empty.
  std::vector<std::string> violations_of_boundaries(const std::vector<std::vector<int>>& boundaries,
                                                    const std::vector<int>& targets = {}) const;

  /// The same about the variables in another order: at each place which of these comes there.
  Knowledge in_order(const std::vector<int>& order) const;

  /// Our own format; parses back to the same value.
  std::string to_text() const;
  /// The same variables and the same statements, in whatever order and lines.
  friend bool operator==(const Knowledge& x, const Knowledge& y) {
    return x.names_ == y.names_ && x.statements_ == y.statements_;
  }

 private:
  using Pair = std::pair<int, int>;
  using Lines = std::vector<int>;  // ascending, each once
  struct Reason {
    std::string text;
    Lines lines;
  };
  class Closure;

  int line_of(Statement::Kind kind, int a, int b) const;  // 0 if it is not stated
  const std::string& name(int variable) const { return names_[static_cast<std::size_t>(variable)]; }
  std::string edge(int from, int to) const;
  std::string both(int i, int j) const;
  std::vector<int> required_path(int from, int to) const;
  Reason why_excluded(int from, int to) const;
  bool may_share_child(int i, int j) const;
  int required_common_child(int i, int j) const;

  using PerVariable = std::vector<std::vector<int>>;  // ascending lists of variables

  std::vector<std::string> names_;
  std::string source_;
  std::vector<Statement> statements_;
  std::vector<int> tier_of_;                          // −1 where none is stated
  BitMatrix allowed_;                                 // unless empty()
  std::map<Pair, Lines> required_;                    // each with the lines that it follows from
  std::map<Pair, Lines> links_;                       // (i < j), directed since or not
  PerVariable required_parents_, required_children_;  // of required_
  PerVariable linked_;                                // of links_
  PerVariable said_in_, said_out_;                    // of the statements about boundaries
};

/// Knowledge::parse of a file; "-" is standard input.
Knowledge load_knowledge(const std::string& path, const std::vector<std::string>& names);

}  // namespace fansite
