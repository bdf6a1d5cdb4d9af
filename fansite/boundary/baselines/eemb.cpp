// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/baselines/eemb.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "fansite/base/sets.h"
#include "fansite/boundary/baselines/subsets.h"

namespace fansite {
namespace {

class Eemb {
 public:
  Eemb(const IndependenceTest& test, const ClassicalTarget& search, double alpha, int max_subset)
      : test_(test), target_(search.target), alpha_(alpha), max_subset_(max_subset) {
    const std::vector<IndependenceVerdict> verdicts = test.test_each(target_, search.candidates, {});
    std::map<int, double> strength;
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      const int z = search.candidates[i];
      (verdicts[i].independent_when_adding(alpha) ? separated_ : related_).push_back(z);
      strength[z] = verdicts[i].strength;
    }
    std::stable_sort(related_.begin(), related_.end(), [&](int a, int b) { return strength[a] > strength[b]; });
  }

  ClassicalSet find() && {
    for (const int candidate : related_) add(candidate);
    for (const int neighbour : neighbours_) check_spouses(neighbour);
    check_neighbours();
    ClassicalSet found{neighbours_, {}, limited_};
    for (const int neighbour : neighbours_) {
      for (const int spouse : spouses_[neighbour]) {
        if (!contains(found.members, spouse)) found.members.push_back(spouse);
      }
    }
    return found;
  }

 private:
  bool independent(int a, int b, const std::vector<int>& given) const {
    return test_.test(a, b, given).independent_when_removing(alpha_);
  }

  // Whether some subset of the pool, of `least` variables or more, makes `separates` true.
  template <class Separates>
  bool any(const std::vector<int>& pool, int least, int needed, const Separates& separates) {
    if (static_cast<int>(pool.size()) > max_subset_) limited_ = true;
    return any_subset(pool, least, max_subset_, needed, separates);
  }

  static std::vector<int> with(std::vector<int> set, int member) {
    if (!contains(set, member)) set.push_back(member);
    return set;
  }

  // ADDTRUE: the candidate joins the neighbours unless they separate it; with it, they may separate each other.
  void add(int candidate) {
    neighbours_.push_back(candidate);
    const std::vector<int> examined(neighbours_.rbegin(), neighbours_.rend());
    for (const int y : examined) {
      const std::vector<int> others = without(neighbours_, y);
      std::vector<int> separator;
      const bool goes = any(others, 1, y == candidate ? -1 : candidate, [&](const std::vector<int>& set) {
        separator = set;
        return independent(target_, y, set);
      });
      if (goes) separate(y, separator);
      if (goes && y == candidate) return;
      if (y == candidate) find_spouses(candidate);
    }
  }

  // y is no neighbour; if another neighbour makes it dependent again it may be a spouse through that one.
  void separate(int y, const std::vector<int>& separator) {
    neighbours_ = without(neighbours_, y);
    separator_[y] = separator;
    separated_.push_back(y);
    spouses_[y].clear();
    for (const int child : neighbours_) {
      if (!contains(separator, child)) try_spouse(y, child);
    }
  }

  void find_spouses(int child) {
    for (const int x : separated_) try_spouse(x, child);
  }

  void try_spouse(int x, int child) {
    const IndependenceVerdict verdict = test_.test(target_, x, with(separator_[x], child));
    if (verdict.independent_when_adding(alpha_)) return;
    spouses_[child].push_back(x);
    strength_[{child, x}] = verdict.strength;
  }

  // Candidates join one by one; after each, those in are examined from the last on, and go if goes(x, others, needed).
  template <class Goes>
  static std::vector<int> filtered(const std::vector<int>& candidates, const Goes& goes) {
    std::vector<int> members;
    for (const int joining : candidates) {
      members.push_back(joining);
      const std::vector<int> examined(members.rbegin(), members.rend());
      for (const int x : examined) {
        if (!goes(x, without(members, x), x == joining ? -1 : joining)) continue;
        members = without(members, x);
        if (x == joining) break;
      }
    }
    return members;
  }

  // RMFALSE of the spouses through one neighbour.
  void check_spouses(int child) {
    std::vector<int>& spouses = spouses_[child];
    std::stable_sort(spouses.begin(), spouses.end(), [&](int a, int b) {
      return strength_[{child, a}] > strength_[{child, b}];
    });
    spouses = filtered(spouses, [&](int x, const std::vector<int>& others, int needed) {
      return any_subset(others, 1, 1, needed,
                        [&](const std::vector<int>& set) { return independent(target_, x, with(set, child)); });
    });
    spouses = filtered(spouses, [&](int x, const std::vector<int>& others, int needed) {
      return any(others, 0, needed, [&](const std::vector<int>& set) { return independent(x, child, set); });
    });
    spouses = filtered(spouses, [&](int x, const std::vector<int>& others, int needed) {
      std::vector<int> pool = neighbours_;
      pool.insert(pool.end(), others.begin(), others.end());
      return any(pool, 1, needed, [&](const std::vector<int>& set) {
        const bool has_neighbour =
            std::any_of(set.begin(), set.end(), [&](int z) { return z != child && contains(neighbours_, z); });
        return has_neighbour && independent(target_, x, with(set, child));
      });
    });
  }

  // RMFALSE of the neighbours, each with its spouses. The pool is what was in when the last one joined.
  void check_neighbours() {
    const std::vector<int> candidates = std::exchange(neighbours_, {});
    for (const int candidate : candidates) {
      neighbours_.push_back(candidate);
      const std::vector<int> pool = neighbours_;
      for (std::size_t i = pool.size(); i-- > 0;) {
        const int y = pool[i];
        const bool goes = any(without(pool, y), 1, y == candidate ? -1 : candidate, [&](const std::vector<int>& set) {
          return independent(target_, y, with_spouses(set, y));
        });
        if (!goes) continue;
        neighbours_ = without(neighbours_, y);
        spouses_[y].clear();
      }
    }
  }

  std::vector<int> with_spouses(const std::vector<int>& set, int left_out) {
    std::vector<int> all = set;
    for (const int z : set) {
      for (const int spouse : spouses_[z]) all = with(std::move(all), spouse);
    }
    return without(all, left_out);
  }

  const IndependenceTest& test_;
  int target_;
  double alpha_;
  int max_subset_;
  std::vector<int> related_;                        // to the target at all, the strongest first
  std::vector<int> separated_;                      // from the target, by separator_
  std::vector<int> neighbours_;                     // of the target, in the order of related_
  std::map<int, std::vector<int>> separator_;       // of those separated
  std::map<int, std::vector<int>> spouses_;         // through each neighbour
  std::map<std::pair<int, int>, double> strength_;  // of (neighbour, spouse)
  bool limited_ = false;
};

BoundaryAnswer run(const BoundaryProblem& problem, const Parameters& parameters) {
  return run_by_separating_sets(problem, parameters.as<SeparatingSetParams>(), "EEMB", eemb);
}

}  // namespace

ClassicalSet eemb(const IndependenceTest& test, const ClassicalTarget& search, double alpha, int max_subset) {
  return Eemb(test, search, alpha, max_subset).find();
}

BoundaryMethod eemb_method() {
  BoundaryMethod row;
  row.name = "eemb";
  row.summary = "EEMB: neighbours and spouses by small separating sets, checked against each other";
  row.citation =
      "Wang, Ling, Yu and Wu, Towards Efficient and Effective Discovery of Markov Blankets for Feature "
      "Selection, Information Sciences 509, 2020";
  row.can = classical_capabilities(true);
  row.parameters = SeparatingSetParams();
  row.run = run;
  return row;
}

}  // namespace fansite
