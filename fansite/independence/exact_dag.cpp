// SPDX-License-Identifier: Apache-2.0
#include "fansite/independence/exact_dag.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>

#include "fansite/base/sets.h"

namespace fansite {
namespace {

using Mask = std::uint32_t;  // a set of places in the list of variables

constexpr double kBetter = 1e-9;

constexpr Mask bit(int place) { return Mask{1} << static_cast<unsigned>(place); }

std::vector<int> members(Mask mask, std::span<const int> variables) {
  std::vector<int> result;
  for (; mask != 0; mask &= mask - 1) result.push_back(variables[static_cast<std::size_t>(std::countr_zero(mask))]);
  std::sort(result.begin(), result.end());
  return result;
}

// ---- Exactly --------------------------------------------------------------------------------------------------------

// For one variable: the best parents among every set of the others.
class BestParents {
 public:
  BestParents(const LocalScore& score, std::span<const int> variables, int place, int max_parents) : place_(place) {
    const std::size_t sets = std::size_t{1} << (variables.size() - 1);
    score_.resize(sets);
    parents_.resize(sets);
    for (Mask packed = 0; packed < sets; ++packed) {
      const Mask all = unpacked(packed);
      bool known = false;
      for (Mask left = packed; left != 0; left &= left - 1) {  // what is best of a smaller set
        const Mask smaller = packed & ~(left & (~left + 1));
        if (known && score_[smaller] <= score_[packed] + kBetter) continue;
        score_[packed] = score_[smaller];
        parents_[packed] = parents_[smaller];
        known = true;
      }
      if (std::popcount(all) > max_parents) continue;
      const double own = score.score(variables[static_cast<std::size_t>(place)], members(all, variables));
      if (known && own <= score_[packed] + kBetter) continue;
      score_[packed] = own;
      parents_[packed] = all;
    }
  }

  double score(Mask allowed) const { return score_[packed(allowed)]; }
  Mask parents(Mask allowed) const { return parents_[packed(allowed)]; }

 private:
  // Sets of the others only: the variable's own bit is taken out.
  Mask packed(Mask all) const { return (all & low()) | ((all >> 1) & ~low()); }
  Mask unpacked(Mask packed) const { return (packed & low()) | ((packed & ~low()) << 1); }
  Mask low() const { return bit(place_) - 1; }

  int place_;
  std::vector<double> score_;
  std::vector<Mask> parents_;
};

void find_exactly(const LocalScore& score, const BestDagParams& params, BestDag& best) {
  const auto n = static_cast<int>(best.variables.size());
  std::vector<BestParents> choices;
  for (int i = 0; i < n; ++i) choices.emplace_back(score, best.variables, i, params.max_parents);
  // Every graph without cycles has a sink: the best of a set is the best of the rest and the sink's best parents there.
  const std::size_t sets = std::size_t{1} << best.variables.size();
  std::vector<double> value(sets, 0);
  std::vector<signed char> sink(sets, -1);
  for (Mask set = 1; set < sets; ++set) {
    for (int i = 0; i < n; ++i) {
      if ((set & bit(i)) == 0) continue;
      const Mask rest = set & ~bit(i);
      const double sum = value[rest] + choices[static_cast<std::size_t>(i)].score(rest);
      if (sink[set] >= 0 && sum <= value[set] + kBetter) continue;
      value[set] = sum;
      sink[set] = static_cast<signed char>(i);
    }
  }
  best.score = value[sets - 1];
  for (Mask set = static_cast<Mask>(sets - 1); set != 0;) {
    const int i = sink[set];
    set &= ~bit(i);
    best.parents[static_cast<std::size_t>(i)] =
        members(choices[static_cast<std::size_t>(i)].parents(set), best.variables);
  }
}

// ---- By hill climbing -----------------------------------------------------------------------------------------------

// One edge at a time is added, removed or turned, the best first, while the sum grows.
class Climber {
 public:
  Climber(const LocalScore& score, const BestDagParams& params, BestDag& best)
      : score_(score), params_(params), best_(best), count_(best.variables.size()) {
    for (std::size_t i = 0; i < count_; ++i) value_.push_back(score_.score(best_.variables[i], {}));
  }

  void climb() {
    while (step()) {
    }
    for (std::size_t i = 0; i < count_; ++i) std::sort(best_.parents[i].begin(), best_.parents[i].end());
    best_.score = 0;
    for (const double value : value_) best_.score += value;
  }

 private:
  enum class Move { add, remove, turn };
  struct Choice {
    double gain = kBetter;
    Move move = Move::add;
    std::size_t from = 0, to = 0;
  };

  bool step() {
    Choice best;
    for (std::size_t from = 0; from < count_; ++from) {
      for (std::size_t to = 0; to < count_; ++to) {
        if (from != to) consider(from, to, best);
      }
    }
    if (best.gain <= kBetter) return false;
    if (best.move != Move::add) set_parents(best.to, without(best_.parents[best.to], best_.variables[best.from]));
    if (best.move == Move::add) set_parents(best.to, with(best_.parents[best.to], best_.variables[best.from]));
    if (best.move == Move::turn) set_parents(best.from, with(best_.parents[best.from], best_.variables[best.to]));
    return true;
  }

  void consider(std::size_t from, std::size_t to, Choice& best) const {
    const int source = best_.variables[from], target = best_.variables[to];
    if (!contains(best_.parents[to], source)) {
      const bool linked = contains(best_.parents[from], target);
      if (linked || full(to) || leads(to, from, count_)) return;
      const double gain = score_.score(target, with(best_.parents[to], source)) - value_[to];
      if (gain > best.gain) best = {gain, Move::add, from, to};
      return;
    }
    const double removed = score_.score(target, without(best_.parents[to], source)) - value_[to];
    if (removed > best.gain) best = {removed, Move::remove, from, to};
    if (full(from) || leads(from, to, to)) return;  // another way there would close a cycle
    const double turned = removed + score_.score(source, with(best_.parents[from], target)) - value_[from];
    if (turned > best.gain) best = {turned, Move::turn, from, to};
  }

  // Whether a directed path leads from one to the other; without the edge from the first straight into `no_edge_to`.
  bool leads(std::size_t from, std::size_t to, std::size_t no_edge_to) const {
    std::vector<char> seen(count_, 0);
    std::vector<std::size_t> open = {from};
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      for (std::size_t next = 0; next < count_; ++next) {
        if (seen[next] != 0 || !contains(best_.parents[next], best_.variables[at])) continue;
        if (at == from && next == no_edge_to) continue;
        if (next == to) return true;
        seen[next] = 1;
        open.push_back(next);
      }
    }
    return false;
  }

  bool full(std::size_t node) const { return static_cast<int>(best_.parents[node].size()) >= params_.max_parents; }
  static std::vector<int> with(std::vector<int> set, int member) {
    set.push_back(member);
    return set;
  }
  void set_parents(std::size_t node, std::vector<int> parents) {
    value_[node] = score_.score(best_.variables[node], parents);
    best_.parents[node] = std::move(parents);
  }

  const LocalScore& score_;
  const BestDagParams& params_;
  BestDag& best_;
  std::size_t count_;
  std::vector<double> value_;
};

}  // namespace

bool BestDag::has_edge(int from, int to) const {
  const auto found = std::find(variables.begin(), variables.end(), to);
  return found != variables.end() && contains(parents[static_cast<std::size_t>(found - variables.begin())], from);
}

BestDag best_dag(const LocalScore& score, std::span<const int> variables, const BestDagParams& params) {
  assert(params.max_exact <= 20 && params.max_parents >= 0);
  BestDag best;
  best.variables.assign(variables.begin(), variables.end());
  best.parents.resize(variables.size());
  best.exact = static_cast<int>(variables.size()) <= params.max_exact;
  if (best.exact && !variables.empty()) find_exactly(score, params, best);
  if (!best.exact) Climber(score, params, best).climb();
  best.parents_limited = std::any_of(best.parents.begin(), best.parents.end(), [&](const auto& set) {
    return static_cast<int>(set.size()) >= params.max_parents;
  });
  return best;
}

}  // namespace fansite
