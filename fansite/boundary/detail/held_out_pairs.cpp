// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/detail/held_out_pairs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fansite/base/parallel.h"
#include "fansite/base/resample.h"
#include "fansite/base/special.h"
#include "fansite/boundary/detail/search_checkpoint.h"
#include "fansite/boundary/fdr.h"

namespace fansite {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

// Pairs and what held-out rows have said of them so far.
class PairTests {
 public:
  /// `facts`: those that the data decide. Of those not tested the p-value is 1.
  PairTests(const Search& search, std::vector<Pair> facts, Progress& progress)
      : search_(search),
        progress_(progress),
        facts_(std::move(facts)),
        evidence_(facts_.size()),
        asked_(facts_.size(), 0) {}

  const std::vector<Pair>& facts() const { return facts_; }
  const std::vector<PairEvidence>& evidence() const { return evidence_; }
  bool asked(std::size_t fact) const { return asked_[fact] != 0; }

  std::vector<double> q_values() const;
  /// The share of resamples of the rows (bootstrap, Poisson weights) in which each pair would be admitted. The networks
  /// stay as they are, so this is how much the answer hangs on which rows judge it, not on which were learnt from.
  std::vector<double> stability() const;

  /// Those of these sets. An answer from before an interruption counts.
  void test_members(const Sets& given);
  /// Step 2 of decide_on_held_out_rows.
  void test_given_less(Sets given);
  /// Step 3.
  void test_missed(const Sets& proposed);

 private:
  bool holds(const Sets& sets, Pair fact) const;
  std::vector<char> admitted() const;
  /// To what the estimator knows.
  void limit(Sets& sets) const;
  std::vector<std::size_t> missed(const Sets& given, const std::vector<char>& in) const;
  std::vector<char> weaker_half(const std::vector<char>& rejected, const Sets& given) const;
  void test(const char* stage, const std::vector<std::size_t>& which, const Sets& given, bool keeps);

  const Search& search_;
  Progress& progress_;
  std::vector<Pair> facts_;
  std::vector<PairEvidence> evidence_;
  std::vector<char> asked_;
};

bool PairTests::holds(const Sets& sets, Pair fact) const {
  const auto [a, b] = fact;
  if (search_.searched(a) && contains(sets[search_.slot(a)], b)) return true;
  return !search_.directed() && search_.searched(b) && contains(sets[search_.slot(b)], a);
}

std::vector<double> PairTests::q_values() const {
  std::vector<std::size_t> order(facts_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return evidence_[a].p_value < evidence_[b].p_value; });
  std::vector<double> sorted;
  for (const std::size_t i : order) sorted.push_back(evidence_[i].p_value);
  const auto hypotheses = static_cast<double>(facts_.size());
  const std::vector<double> q = fansite::q_values(sorted, nulls(sorted, hypotheses, search_.params.fdr));
  std::vector<double> result(facts_.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    result[order[rank]] = std::max(sorted[rank], q[rank]);  // the certain do not pay for one that chance explains
  }
  return result;
}

std::vector<char> PairTests::admitted() const {
  std::vector<char> result;
  for (const double q : q_values()) result.push_back(q <= search_.params.fdr ? 1 : 0);
  return result;
}

std::vector<double> PairTests::stability() const {
  const auto pairs = static_cast<Index>(evidence_.size());
  Index units = 0;
  for (const PairEvidence& pair : evidence_) units = std::max<Index>(units, pair.scores.size());
  Eigen::MatrixXf scores = Eigen::MatrixXf::Zero(units, pairs);
  for (Index i = 0; i < pairs; ++i) {
    const Eigen::ArrayXf& rows = evidence_[static_cast<std::size_t>(i)].scores;
    if (rows.size() > 0) scores.col(i) = rows;
  }
  std::vector<int> count(evidence_.size(), 0);
  const Eigen::MatrixXf all_weights = resampling_weights(units);
  for (int resample = 0; resample < kResamples; ++resample) {
    const auto weights = all_weights.col(resample);
    std::vector<double> p_values(evidence_.size());
    parallel_for(pairs, [&](Index i) {
      const Eigen::ArrayXd weighted = (scores.col(i).array() * weights.array()).cast<double>();
      const double squares = (weighted * scores.col(i).array().cast<double>()).sum();
      const auto at = static_cast<std::size_t>(i);
      p_values[at] = squares > 0 ? normal_tail(weighted.sum() / std::sqrt(squares) / evidence_[at].inflation) : 1.0;
    });
    std::vector<double> sorted = p_values;
    std::sort(sorted.begin(), sorted.end());
    const double fdr = search_.params.fdr;
    const std::size_t in = benjamini_hochberg(sorted, nulls(sorted, static_cast<double>(pairs), fdr), fdr);
    const double threshold = in == 0 ? 0.0 : std::min(sorted[in - 1], fdr);
    for (std::size_t i = 0; i < p_values.size(); ++i) {
      if (in > 0 && p_values[i] <= threshold) ++count[i];
    }
  }
  std::vector<double> share;
  for (std::size_t i = 0; i < evidence_.size(); ++i) {
    const bool known = evidence_[i].scores.size() > 0;
    share.push_back(known ? count[i] / double{kResamples} : kNotKnown);
  }
  return share;
}

// What held-out rows say of a pair, known from before an interruption or found out.
PairEvidence evidence_of(const Search& search, const Sets& given, Pair fact) {
  if (search.keeper == nullptr) return search.estimator.pair_evidence(pair_query(search, given, fact));
  if (const auto known = search.keeper->tested(fact)) return *known;
  PairEvidence evidence = search.estimator.pair_evidence(pair_query(search, given, fact));
  search.keeper->add(fact, evidence);
  search.keeper->write_if_due();
  return evidence;
}

// Later rounds are not kept: they take a fraction of the first, and ask the same pairs given other sets.
void PairTests::test(const char* stage, const std::vector<std::size_t>& which, const Sets& given, bool keeps) {
  progress_.begin(stage, static_cast<long>(which.size()));
  parallel_for(static_cast<Index>(which.size()), [&](Index k) {
    throw_if_interrupted(progress_);
    const std::size_t i = which[static_cast<std::size_t>(k)];
    asked_[i] = 1;
    const bool known = keeps && search_.keeper != nullptr && search_.keeper->tested(facts_[i]).has_value();
    evidence_[i] = keeps ? evidence_of(search_, given, facts_[i])
                         : search_.estimator.pair_evidence(pair_query(search_, given, facts_[i]));
    known ? progress_.already_done(1) : progress_.advance(1);
  });
}

void PairTests::test_members(const Sets& given) {
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    if (holds(given, facts_[i])) which.push_back(i);
  }
  test("testing", which, given, true);
}

// Of the pairs rejected, the weaker half of those in each target's set.
std::vector<char> PairTests::weaker_half(const std::vector<char>& rejected, const Sets& given) const {
  Sets of_slot(given.size());
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    const auto [a, b] = facts_[i];
    const auto place = static_cast<int>(i);
    if (rejected[i] == 0) continue;
    if (search_.searched(a) && contains(given[search_.slot(a)], b)) of_slot[search_.slot(a)].push_back(place);
    const bool other = !search_.directed() && search_.searched(b) && contains(given[search_.slot(b)], a);
    if (other) of_slot[search_.slot(b)].push_back(place);
  }
  std::vector<char> weaker(facts_.size(), 0);
  const auto p_value = [&](int i) { return evidence_[static_cast<std::size_t>(i)].p_value; };
  for (std::vector<int>& list : of_slot) {
    std::stable_sort(list.begin(), list.end(), [&](int x, int y) { return p_value(x) < p_value(y); });
    for (std::size_t k = list.size() / 2; k < list.size(); ++k) weaker[static_cast<std::size_t>(list[k])] = 1;
  }
  return weaker;
}

void PairTests::test_given_less(Sets given) {
  for (;;) {
    const std::vector<char> in = admitted();
    std::vector<char> rejected(facts_.size());
    for (std::size_t i = 0; i < facts_.size(); ++i) rejected[i] = in[i] == 0 && holds(given, facts_[i]) ? 1 : 0;
    const std::vector<char> weaker = weaker_half(rejected, given);
    std::vector<std::size_t> again;
    for (std::size_t i = 0; i < facts_.size(); ++i) {
      if (weaker[i] != 0) take_out(search_, facts_[i], given);
      if (weaker[i] == 0 && rejected[i] != 0) again.push_back(i);
    }
    if (again.empty()) return;
    test("testing again", again, given, false);
  }
}

void PairTests::limit(Sets& sets) const {
  for (std::size_t s = 0; s < sets.size(); ++s) {
    limit_by_evidence(search_, s, sets[s], [&](int z) {
      const auto fact = std::lower_bound(facts_.begin(), facts_.end(), fact_of(search_, search_.targets[s], z));
      return evidence_[static_cast<std::size_t>(fact - facts_.begin())].p_value;
    });
  }
}

// Those not admitted without which a set clearly tells less of its target.
std::vector<std::size_t> PairTests::missed(const Sets& given, const std::vector<char>& in) const {
  constexpr double kClear = 3;  // standard errors
  const auto largest = static_cast<std::size_t>(search_.estimator.largest_set());
  std::vector<InformationQuery> queries;
  std::vector<std::size_t> asked, result;
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    if (in[i] != 0) continue;
    const PairQuery pair = pair_query(search_, given, facts_[i]);
    if (std::max(pair.given_a.size(), pair.given_b.size()) >= largest) continue;  // there is no room
    queries.push_back({pair.a, {pair.b}, pair.given_a});
    asked.push_back(i);
    if (!pair.both_sides) continue;
    queries.push_back({pair.b, {pair.a}, pair.given_b});
    asked.push_back(i);
  }
  const std::vector<EntropyEstimate> gains = search_.estimator.mutual_information(queries);
  for (std::size_t q = 0; q < gains.size(); ++q) {
    const bool clear = gains[q].value > kClear * gains[q].standard_error;
    if (clear && (result.empty() || result.back() != asked[q])) result.push_back(asked[q]);
  }
  return result;
}

void PairTests::test_missed(const Sets& proposed) {
  Sets given = proposed;
  const std::vector<char> before = admitted();
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    if (before[i] == 0) take_out(search_, facts_[i], given);
  }
  limit(given);
  std::vector<std::size_t> others = missed(given, before);
  if (others.empty()) return;
  test("testing again", others, given, false);
  const std::vector<char> now = admitted();
  std::erase_if(others, [&](std::size_t i) { return now[i] == 0; });
  if (others.empty()) return;
  const auto join = [&](int target, int member) {
    if (!search_.searched(target)) return;
    std::vector<int>& set = given[search_.slot(target)];
    if (static_cast<int>(set.size()) < search_.estimator.largest_set()) set.push_back(member);
  };
  for (const std::size_t i : others) {
    join(facts_[i].first, facts_[i].second);
    if (!search_.directed()) join(facts_[i].second, facts_[i].first);
  }
  test("testing again", others, given, false);
  test_given_less(std::move(given));
}

}  // namespace

Confirmed decide_on_held_out_rows(const Search& search, const std::vector<Path>& paths, Progress& progress) {
  Sets best, needed;
  for (const Path& path : paths) {
    best.emplace_back(path.indices.begin(), path.indices.begin() + path.best);
    needed.push_back(path.needed);
  }
  Confirmed result;
  result.sets = reconciled(search, search.params.rule, best);
  PairTests tests(search, open_facts(search, result.sets), progress);
  tests.test_members(needed);
  tests.test_given_less(needed);
  tests.test_missed(result.sets);

  for (const Pair& fact : facts_in(search, result.sets)) {  // what the data say of what is known decides nothing
    if (!search.is_known(fact.first, fact.second)) continue;
    const PairEvidence evidence = evidence_of(search, needed, fact);
    result.tested[fact] = {evidence.p_value, kNotKnown, evidence.votes, kNotKnown, true};
  }
  const std::vector<double> stable = tests.stability(), q = tests.q_values();
  for (std::size_t i = 0; i < q.size(); ++i) {
    const PairEvidence& evidence = tests.evidence()[i];
    const bool admitted = q[i] <= search.params.fdr;
    if (tests.asked(i)) result.tested[tests.facts()[i]] = {evidence.p_value, q[i], evidence.votes, stable[i], admitted};
    if (admitted) result.threshold = std::max(result.threshold, evidence.p_value);
    if (!admitted) take_out(search, tests.facts()[i], result.sets);
  }
  // Those that only the other search proposed come last, the most certain first.
  for (std::size_t s = 0; s < best.size(); ++s) {
    const auto p_value = [&](int z) { return result.tested[fact_of(search, search.targets[s], z)].p_value; };
    const auto late = std::stable_partition(result.sets[s].begin(), result.sets[s].end(),
                                            [&](int z) { return contains(best[s], z); });
    std::stable_sort(late, result.sets[s].end(), [&](int a, int b) { return p_value(a) < p_value(b); });
    result.left_out.push_back(limit_by_evidence(search, s, result.sets[s], p_value));
  }
  return result;
}

}  // namespace fansite
