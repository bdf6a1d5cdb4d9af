// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/detail/pairs.h"

#include <algorithm>
#include <limits>
#include <set>

#include "fansite/base/parallel.h"
#include "fansite/boundary/fdr.h"

namespace fansite {

std::vector<Pair> facts_in(const Search& search, const Sets& sets) {
  std::set<Pair> facts;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    for (const int z : sets[s]) facts.insert(fact_of(search, search.targets[s], z));
  }
  return {facts.begin(), facts.end()};
}

std::vector<Pair> open_facts(const Search& search, const Sets& sets) {
  std::vector<Pair> facts = facts_in(search, sets);
  std::erase_if(facts, [&](const Pair& fact) { return search.is_known(fact.first, fact.second); });
  return facts;
}

void take_out(const Search& search, Pair fact, Sets& sets) {
  const auto [a, b] = fact;
  if (search.searched(a)) sets[search.slot(a)] = without(sets[search.slot(a)], b);
  if (!search.directed() && search.searched(b)) sets[search.slot(b)] = without(sets[search.slot(b)], a);
}

std::vector<int> limit_by_evidence(const Search& search, std::size_t slot, std::vector<int>& set,
                                   const std::function<double(int)>& p_value) {
  if (static_cast<int>(set.size()) <= search.estimator.largest_set()) return {};
  std::vector<double> worth;
  for (const int z : set) {
    const bool known = contains(search.known[slot], z);
    worth.push_back(known ? std::numeric_limits<double>::infinity() : -p_value(z));
  }
  return take_out_weakest(set, worth, search.estimator.largest_set());
}

namespace {

// Of the members proposed, keeps those whose evidence given `sets` stands up to the whole table. Returns the largest
// p-value kept.
double decide_by_gains(const Search& search, const Sets& proposed, Sets& sets, std::vector<char>& limited) {
  const std::vector<Pair> facts = open_facts(search, proposed);
  std::vector<double> p_values(facts.size());
  parallel_for(static_cast<Index>(facts.size()), [&](Index i) {
    const auto at = static_cast<std::size_t>(i);
    p_values[at] = search.estimator.pair_evidence(pair_query(search, sets, facts[at])).p_value;
  });
  std::vector<double> sorted = p_values;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t admitted = admissible_in_two_stages(sorted, search.hypotheses, search.params.fdr);
  const double threshold = admitted == 0 ? 0.0 : sorted[admitted - 1];

  sets = proposed;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (admitted == 0 || p_values[i] > threshold) take_out(search, facts[i], sets);
  }
  for (std::size_t s = 0; s < sets.size(); ++s) {
    const auto p_value = [&](int z) {
      const Pair fact = fact_of(search, search.targets[s], z);
      return p_values[static_cast<std::size_t>(std::lower_bound(facts.begin(), facts.end(), fact) - facts.begin())];
    };
    if (!limit_by_evidence(search, s, sets[s], p_value).empty()) limited[s] = 1;
  }
  return threshold;
}

// Growing by single best steps can stall: in a dense graph a target may find 8 of its 69 members. The others then find
// it, and from the set that they tell it of, its own search goes on. Three more rounds settle nearly all.
constexpr int kMoreRounds = 3;

}  // namespace

Sets reconciled(const Search& search, Symmetry rule, const Sets& sets) {
  Sets result = sets;
  if (rule == Symmetry::none) return result;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    const int t = search.targets[s];
    for (const int z : sets[s]) {
      if (!search.searched(z) || contains(sets[search.slot(z)], t)) continue;
      if (rule == Symmetry::or_) {
        result[search.slot(z)].push_back(t);
      } else {
        result[s] = without(result[s], z);
      }
    }
  }
  return result;
}

std::vector<char> limit_to_own(const Search& search, const Sets& own, Sets& sets) {
  std::vector<char> limited(sets.size(), 0);
  for (std::size_t s = 0; s < sets.size(); ++s) {
    if (static_cast<int>(sets[s].size()) <= search.estimator.largest_set()) continue;
    std::vector<InformationQuery> queries;
    for (const int z : sets[s]) {
      if (!contains(own[s], z)) queries.push_back({search.targets[s], {z}, own[s]});
    }
    const std::vector<EntropyEstimate> added = search.estimator.mutual_information(queries);
    std::vector<double> worth;
    std::size_t next = 0;
    for (const int z : sets[s]) {
      worth.push_back(contains(own[s], z) ? std::numeric_limits<double>::infinity() : added[next++].value);
    }
    take_out_weakest(sets[s], worth, search.estimator.largest_set());
    limited[s] = 1;
  }
  return limited;
}

PairQuery pair_query(const Search& search, const Sets& sets, Pair pair) {
  PairQuery query;
  query.a = pair.first;
  query.b = pair.second;
  query.most_rows = search.params.test_rows;
  if (!search.searched(query.a)) std::swap(query.a, query.b);
  query.both_sides = !search.directed() && search.searched(query.b);
  query.given_a = without(sets[search.slot(query.a)], query.b);
  if (query.both_sides) query.given_b = without(sets[search.slot(query.b)], query.a);
  return query;
}

Pair fact_of(const Search& search, int target, int member) {
  return search.directed() ? Pair(target, member) : Pair(std::minmax(target, member));
}

double search_calibrated(const Search& search, Sets& sets, Sets& own, std::vector<char>& limited, Boundaries& result,
                         Progress& progress) {
  for (int round = 0; round < kMoreRounds && search.params.rule != Symmetry::none; ++round) {
    if (progress.out_of_time()) break;
    Sets told = reconciled(search, Symmetry::or_, sets);
    limit_to_own(search, sets, told);
    std::vector<int> changed;
    for (std::size_t s = 0; s < sets.size(); ++s) {
      if (told[s] != sets[s]) changed.push_back(static_cast<int>(s));
    }
    if (changed.empty()) break;
    sets = std::move(told);
    grow_and_shrink(search, changed, sets, result, progress);
  }
  own = sets;
  limited.assign(sets.size(), 0);
  // Without the members that go, the others' evidence changes; so decide until nothing does. After the first time sets
  // only shrink: they agree, but for what was too much for one of them, and that must not come back for ever.
  double threshold = decide_by_gains(search, reconciled(search, search.params.rule, sets), sets, limited);
  for (Sets before = own; before != sets;) {
    before = sets;
    threshold = decide_by_gains(search, before, sets, limited);
  }
  return threshold;
}

}  // namespace fansite
