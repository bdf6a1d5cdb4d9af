// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/baselines/stmb.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "fansite/base/sets.h"
#include "fansite/boundary/baselines/subsets.h"

namespace fansite {
namespace {

class Stmb {
 public:
  Stmb(const IndependenceTest& test, const ClassicalTarget& search, double alpha, int max_subset)
      : test_(test), search_(search), target_(search.target), alpha_(alpha), max_subset_(max_subset) {}

  ClassicalSet find() && {
    find_neighbours();
    const std::vector<int> candidates = neighbours_;
    for (const int y : candidates) find_spouses(y);
    drop_spouses();
    drop_neighbours();
    ClassicalSet found{neighbours_, {}, limited_};
    for (const int y : neighbours_) {
      for (const int x : spouses_[y]) {
        if (!contains(found.members, x)) found.members.push_back(x);
      }
    }
    return found;
  }

 private:
  bool independent(int a, const std::vector<int>& given) const {
    return test_.test(target_, a, given).independent_when_removing(alpha_);
  }

  // PC-simple: sets of one more variable each round, from a list that shrinks.
  void find_neighbours() {
    const std::vector<IndependenceVerdict> verdicts = test_.test_each(target_, search_.candidates, {});
    std::map<int, double> strength;
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      if (!verdicts[i].independent_when_adding(alpha_)) neighbours_.push_back(search_.candidates[i]);
      strength[search_.candidates[i]] = verdicts[i].strength;
    }
    int size = 1;
    for (; size <= max_subset_ && size < static_cast<int>(neighbours_.size()); ++size) {
      const std::vector<int> before = neighbours_;
      for (const int y : before) {
        const std::vector<int> others = without(neighbours_, y);
        const bool goes = any_subset(others, size, size, -1, [&](const std::vector<int>& set) {
          if (!independent(y, set)) return false;
          separator_[y] = set;
          return true;
        });
        if (goes) neighbours_ = others;
      }
    }
    limited_ = size < static_cast<int>(neighbours_.size());
    std::stable_sort(neighbours_.begin(), neighbours_.end(), [&](int a, int b) { return strength[a] > strength[b]; });
  }

  // What y makes dependent on the target is a spouse through y, unless it separates y from the target.
  void find_spouses(int y) {
    for (const int x : search_.candidates) {
      if (contains(neighbours_, x)) continue;
      std::vector<int> given = separator_[x];
      if (contains(given, y)) continue;
      given.push_back(y);
      if (test_.test(target_, x, given).independent_when_adding(alpha_)) continue;
      std::vector<int> pool = without(neighbours_, y);
      pool.push_back(x);
      if (static_cast<int>(pool.size()) > max_subset_) limited_ = true;
      const bool separates =
          any_subset(pool, 1, max_subset_, x, [&](const std::vector<int>& set) { return independent(y, set); });
      if (separates) {
        neighbours_ = without(neighbours_, y);
        spouses_[y].clear();
        return;
      }
      spouses_[y].push_back(x);
    }
  }

  void drop_spouses() {
    for (const int y : neighbours_) {
      const std::vector<int> candidates = spouses_[y];
      for (const int x : candidates) {
        if (contains(neighbours_, x)) continue;
        const std::vector<int> others = without(spouses_[y], x);
        if (independent(x, joined(neighbours_, others))) spouses_[y] = others;
      }
    }
  }

  void drop_neighbours() {
    const std::vector<int> candidates = neighbours_;
    for (const int y : candidates) {
      const std::vector<int> others = without(neighbours_, y);
      std::vector<int> given = others;
      for (const int other : others) given = joined(given, spouses_[other]);
      if (independent(y, without(given, y))) neighbours_ = others;
    }
  }

  static std::vector<int> joined(std::vector<int> set, const std::vector<int>& more) {
    for (const int z : more) {
      if (!contains(set, z)) set.push_back(z);
    }
    return set;
  }

  const IndependenceTest& test_;
  const ClassicalTarget& search_;
  int target_;
  double alpha_;
  int max_subset_;
  std::vector<int> neighbours_;                // the strongest first
  std::map<int, std::vector<int>> separator_;  // of those that are none
  std::map<int, std::vector<int>> spouses_;    // through each neighbour
  bool limited_ = false;
};

BoundaryAnswer run(const BoundaryProblem& problem, const Parameters& parameters) {
  return run_by_separating_sets(problem, parameters.as<SeparatingSetParams>(), "STMB", stmb);
}

}  // namespace

ClassicalSet stmb(const IndependenceTest& test, const ClassicalTarget& search, double alpha, int max_subset) {
  return Stmb(test, search, alpha, max_subset).find();
}

BoundaryMethod stmb_method() {
  BoundaryMethod row;
  row.name = "stmb";
  row.summary = "STMB: neighbours by small separating sets, then spouses, which may separate neighbours";
  row.citation =
      "Gao and Ji, Efficient Markov Blanket Discovery and Its Application, IEEE Transactions on Cybernetics "
      "47, 2017";
  row.can = classical_capabilities(true);
  row.parameters = SeparatingSetParams();
  row.run = run;
  return row;
}

}  // namespace fansite
