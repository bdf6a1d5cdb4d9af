// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/detail/pairs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <span>

#include "fansite/base/parallel.h"
#include "fansite/base/random.h"
#include "fansite/base/special.h"
#include "fansite/boundary/detail/search_checkpoint.h"
#include "fansite/boundary/fdr.h"

namespace fansite {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

// The facts that sets hold, each once.
std::vector<Pair> facts_in(const Search& search, const Sets& sets) {
  std::set<Pair> facts;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    for (const int z : sets[s]) facts.insert(fact_of(search, search.targets[s], z));
  }
  return {facts.begin(), facts.end()};
}

// Those that are not known already, for the data to decide.
std::vector<Pair> open_facts(const Search& search, std::vector<Pair> facts) {
  std::erase_if(facts, [&](const Pair& fact) { return search.is_known(fact.first, fact.second); });
  return facts;
}

void take_out(const Search& search, Pair fact, Sets& sets) {
  const auto [a, b] = fact;
  if (search.searched(a)) sets[search.slot(a)] = without(sets[search.slot(a)], b);
  if (!search.directed() && search.searched(b)) sets[search.slot(b)] = without(sets[search.slot(b)], a);
}

// Takes out what makes a target's set larger than the estimator knows: the members with the largest p-values, but none
// that is known to be one. Returns them, the most certain first.
template <class PValue>
std::vector<int> limit_by_evidence(const Search& search, std::size_t slot, std::vector<int>& set, PValue&& p_value) {
  if (static_cast<int>(set.size()) <= search.estimator.largest_set()) return {};
  std::vector<double> worth;
  for (const int z : set) {
    const bool known = contains(search.known[slot], z);
    worth.push_back(known ? std::numeric_limits<double>::infinity() : -p_value(z));
  }
  return take_out_weakest(set, worth, search.estimator.largest_set());
}

// Of the members proposed, keeps those whose evidence given `sets` stands up to the whole table. Returns the largest
// p-value kept.
double decide_by_gains(const Search& search, const Sets& proposed, Sets& sets, std::vector<char>& limited) {
  const std::vector<Pair> facts = open_facts(search, facts_in(search, proposed));
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

// What held-out rows say of a pair, known from before an interruption or found out.
PairEvidence evidence_of(const Search& search, const Sets& sets, Pair fact) {
  if (search.keeper == nullptr) return search.estimator.pair_evidence(pair_query(search, sets, fact));
  if (const auto known = search.keeper->tested(fact)) return *known;
  PairEvidence evidence = search.estimator.pair_evidence(pair_query(search, sets, fact));
  search.keeper->add(fact, evidence);
  search.keeper->write_if_due();
  return evidence;
}

// The share of resamples of the rows (bootstrap, Poisson weights) in which each pair would be admitted. The networks
// stay as they are, so this is how much the answer hangs on which rows judge it, not on which were learnt from.
std::vector<double> stability(const Search& search, const std::vector<PairEvidence>& evidence, double hypotheses) {
  constexpr int kResamples = 100;
  const auto pairs = static_cast<Index>(evidence.size());
  Index units = 0;
  for (const PairEvidence& pair : evidence) units = std::max<Index>(units, pair.scores.size());
  Eigen::MatrixXf scores = Eigen::MatrixXf::Zero(units, pairs);
  for (Index i = 0; i < pairs; ++i) {
    const Eigen::ArrayXf& rows = evidence[static_cast<std::size_t>(i)].scores;
    if (rows.size() > 0) scores.col(i) = rows;
  }
  std::vector<int> count(evidence.size(), 0);
  for (int resample = 0; resample < kResamples; ++resample) {
    Random random(Key{}.split(static_cast<std::uint64_t>(resample)));
    Eigen::VectorXf weights(scores.rows());
    for (float& weight : weights) weight = static_cast<float>(random.poisson(1));
    std::vector<double> p_values(evidence.size());
    parallel_for(pairs, [&](Index i) {
      const Eigen::ArrayXd weighted = (scores.col(i).array() * weights.array()).cast<double>();
      const double squares = (weighted * scores.col(i).array().cast<double>()).sum();
      const auto at = static_cast<std::size_t>(i);
      p_values[at] = squares > 0 ? normal_tail(weighted.sum() / std::sqrt(squares) / evidence[at].inflation) : 1.0;
    });
    std::vector<double> sorted = p_values;
    std::sort(sorted.begin(), sorted.end());
    const double fdr = search.params.fdr;
    const std::size_t admitted = benjamini_hochberg(sorted, nulls(sorted, hypotheses, fdr), fdr);
    const double threshold = admitted == 0 ? 0.0 : std::min(sorted[admitted - 1], fdr);
    for (std::size_t i = 0; i < p_values.size(); ++i) {
      if (admitted > 0 && p_values[i] <= threshold) ++count[i];
    }
  }
  std::vector<double> share;
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    const bool known = evidence[i].scores.size() > 0;
    share.push_back(known ? count[i] / double{kResamples} : kNotKnown);
  }
  return share;
}

// The q-value of each pair; the certain do not pay for one that chance explains.
std::vector<double> adjusted(const Search& search, std::span<const PairEvidence> evidence, double hypotheses) {
  std::vector<std::size_t> order(evidence.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return evidence[a].p_value < evidence[b].p_value; });
  std::vector<double> sorted;
  for (const std::size_t i : order) sorted.push_back(evidence[i].p_value);
  const std::vector<double> q = q_values(sorted, nulls(sorted, hypotheses, search.params.fdr));
  std::vector<double> result(evidence.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    result[order[rank]] = std::max(sorted[rank], q[rank]);
  }
  return result;
}

// Of the pairs that are within chance, the weaker half of those in each target's set.
std::vector<char> weaker_half(const Search& search, std::span<const Pair> facts, const std::vector<char>& rejected,
                              std::span<const PairEvidence> evidence, const Sets& given) {
  std::vector<std::vector<std::size_t>> of_slot(given.size());
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const auto [a, b] = facts[i];
    if (rejected[i] == 0) continue;
    if (search.searched(a) && contains(given[search.slot(a)], b)) of_slot[search.slot(a)].push_back(i);
    const bool other = !search.directed() && search.searched(b) && contains(given[search.slot(b)], a);
    if (other) of_slot[search.slot(b)].push_back(i);
  }
  std::vector<char> weaker(facts.size(), 0);
  for (std::vector<std::size_t>& list : of_slot) {
    std::stable_sort(list.begin(), list.end(),
                     [&](std::size_t x, std::size_t y) { return evidence[x].p_value < evidence[y].p_value; });
    for (std::size_t k = list.size() / 2; k < list.size(); ++k) weaker[list[k]] = 1;
  }
  return weaker;
}

// Given many others that do not count, no pair can be told from chance, least of all where rows are few. So the weaker
// half of what chance explains leaves the sets, and the other half is tested given what is left; until all that is left
// is admitted or nothing is. What was admitted given more stays so.
void test_given_less(const Search& search, std::span<const Pair> facts, Sets given, double hypotheses,
                     std::vector<PairEvidence>& evidence, Progress& progress) {
  std::vector<char> inside(facts.size(), 1);
  for (;;) {
    const std::span<const PairEvidence> open(evidence.data(), facts.size());
    const std::vector<double> q = adjusted(search, open, hypotheses);
    std::vector<char> rejected(facts.size(), 0);
    for (std::size_t i = 0; i < facts.size(); ++i) rejected[i] = inside[i] != 0 && q[i] > search.params.fdr ? 1 : 0;
    const std::vector<char> weaker = weaker_half(search, facts, rejected, open, given);
    std::vector<std::size_t> again;
    for (std::size_t i = 0; i < facts.size(); ++i) {
      if (weaker[i] != 0) {
        inside[i] = 0;
        take_out(search, facts[i], given);
      } else if (rejected[i] != 0) {
        again.push_back(i);
      }
    }
    if (again.empty()) return;
    progress.begin("testing again", static_cast<long>(again.size()));
    parallel_for(static_cast<Index>(again.size()), [&](Index k) {
      throw_if_interrupted(progress);
      const std::size_t i = again[static_cast<std::size_t>(k)];
      evidence[i] = search.estimator.pair_evidence(pair_query(search, given, facts[i]));
      progress.advance(1);
    });
  }
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

Confirmed decide_on_held_out_rows(const Search& search, const std::vector<Path>& paths, Progress& progress) {
  Sets best, needed;
  for (const Path& path : paths) {
    best.emplace_back(path.indices.begin(), path.indices.begin() + path.best);
    needed.push_back(path.needed);
  }
  const Sets proposed = reconciled(search, search.params.rule, best);
  const auto all = static_cast<double>(open_facts(search, facts_in(search, proposed)).size());
  Confirmed result;
  result.sets = reconciled(search, search.params.rule, needed);
  std::vector<Pair> facts = facts_in(search, result.sets);
  const auto first_known = std::stable_partition(
      facts.begin(), facts.end(), [&](const Pair& fact) { return !search.is_known(fact.first, fact.second); });
  const auto open = static_cast<std::size_t>(first_known - facts.begin());
  std::vector<PairEvidence> evidence(facts.size());
  progress.begin("testing", static_cast<long>(facts.size()));
  parallel_for(static_cast<Index>(facts.size()), [&](Index i) {
    throw_if_interrupted(progress);
    const auto at = static_cast<std::size_t>(i);
    evidence[at] = evidence_of(search, needed, facts[at]);
    progress.advance(1);
  });
  test_given_less(search, {facts.data(), open}, needed, all, evidence, progress);

  for (std::size_t i = open; i < facts.size(); ++i) {  // what the data say of it decides nothing
    result.tested[facts[i]] = {evidence[i].p_value, kNotKnown, evidence[i].votes, kNotKnown, true};
  }
  evidence.resize(open);
  const std::vector<double> stable = stability(search, evidence, all);
  const std::vector<double> q = adjusted(search, evidence, all);
  for (std::size_t i = 0; i < open; ++i) {
    const double p_value = evidence[i].p_value;
    const bool admitted = q[i] <= search.params.fdr;
    result.tested[facts[i]] = {p_value, q[i], evidence[i].votes, stable[i], admitted};
    if (admitted) result.threshold = std::max(result.threshold, p_value);
    if (!admitted) take_out(search, facts[i], result.sets);
  }
  // Those that only the other search proposed come last, the most certain first.
  for (std::size_t s = 0; s < best.size(); ++s) {
    const auto p_value = [&](int z) { return result.tested[fact_of(search, search.targets[s], z)].p_value; };
    const auto late = std::stable_partition(result.sets[s].begin(), result.sets[s].end(),
                                            [&](int z) { return contains(needed[s], z); });
    std::stable_sort(late, result.sets[s].end(), [&](int a, int b) { return p_value(a) < p_value(b); });
    result.left_out.push_back(limit_by_evidence(search, s, result.sets[s], p_value));
  }
  return result;
}

}  // namespace fansite
