// SPDX-License-Identifier: Apache-2.0
//
// Estimators with held-out rows that answer by heart: what searches and tests make of their answers is known.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>

#include "fansite/boundary/detail/growth.h"
#include "support.h"

namespace fansite {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr Index kRows = 400;

/// Σ s / √Σ s² = z, for z up to √kRows.
inline Eigen::ArrayXf scores_of(double z) {
  const auto swing = static_cast<float>(std::sqrt(static_cast<double>(kRows) / (z * z) - 1));
  Eigen::ArrayXf scores(kRows);
  for (Index i = 0; i < kRows; ++i) scores[i] = 1 + (i % 2 == 0 ? swing : -swing);
  return scores;
}

inline PairEvidence evidence_of(double p_value, double z = 5, double votes = 0.5) {
  PairEvidence evidence;
  evidence.p_value = p_value;
  evidence.votes = votes;
  evidence.scores = scores_of(z);
  return evidence;
}

/// Ranks by one function of target and set, and judges by another; both know no networks and no rows.
class ByHeart : public SearchEstimator {
 public:
  using Entropy = std::function<double(int target, const std::vector<int>& given)>;

  explicit ByHeart(int variables) : flat(static_cast<std::size_t>(variables), 0), largest(variables - 1) {}

  std::vector<char> flat;                 ///< per variable: it says nothing
  int largest;                            ///< set
  double error = 0.01;                    ///< standard error of every information
  std::map<Pair, PairEvidence> evidence;  ///< of the pair {a, b} as asked; else of {b, a}; else there is none
  std::function<PairEvidence(const PairQuery&)> judge;  ///< instead of `evidence`, if there is one
  Entropy seen;                                         ///< what the frontier ranks by; empty: `entropy`
  mutable std::vector<PairQuery> asked;                 ///< in no order
  virtual double entropy(int target, const std::vector<int>& given) const = 0;

  std::string_view name() const override { return "by heart"; }
  int variables() const override { return static_cast<int>(flat.size()); }
  Index rows() const override { return kRows; }
  bool held_out() const override { return true; }
  double p_value(double, int) const override { return kNan; }
  bool informative(int variable) const override { return flat[static_cast<std::size_t>(variable)] == 0; }
  int frontier_size() const override { return variables(); }
  int largest_set() const override { return largest; }

  using EntropyEstimator::conditional_entropy;
  std::vector<EntropyEstimate> conditional_entropy(std::span<const EntropyQuery> queries) const override {
    std::vector<EntropyEstimate> answers;
    for (const EntropyQuery& query : queries) answers.push_back({entropy(query.target, query.given), error});
    return answers;
  }

  using EntropyEstimator::mutual_information;
  std::vector<EntropyEstimate> mutual_information(std::span<const InformationQuery> queries) const override {
    std::vector<EntropyEstimate> answers;
    for (const InformationQuery& query : queries) {
      std::vector<int> all = query.given;
      all.insert(all.end(), query.about.begin(), query.about.end());
      answers.push_back({entropy(query.target, query.given) - entropy(query.target, all), error});
    }
    return answers;
  }

  PairEvidence pair_evidence(const PairQuery& query) const override {
    {
      const std::lock_guard lock(mutex_);
      asked.push_back(query);
    }
    if (judge) return judge(query);
    for (const Pair& pair : {Pair(query.a, query.b), Pair(query.b, query.a)}) {
      if (const auto found = evidence.find(pair); found != evidence.end()) return found->second;
    }
    return evidence_of(1.0, 0.01);
  }

  std::unique_ptr<Frontier> open(std::span<const int> targets, const Candidates& candidates,
                                 const Progress&) const override {
    return std::make_unique<Growing>(*this, targets, candidates);
  }

 private:
  class Growing final : public Frontier {
   public:
    Growing(const ByHeart& estimator, std::span<const int> targets, const Candidates& candidates)
        : estimator_(estimator),
          targets_(targets.begin(), targets.end()),
          candidates_(candidates),
          sets_(targets.size()) {}

    void find_best(std::span<const int> slots, std::span<Candidate> best) override {
      for (std::size_t a = 0; a < slots.size(); ++a) {
        const int target = targets_[static_cast<std::size_t>(slots[a])];
        const std::vector<int>& set = members(slots[a]);
        best[a] = {};
        for (int z = 0; z < estimator_.variables(); ++z) {
          if (!candidates_.may_join(z, target) || contains(set, z)) continue;
          const double gain = seen(target, set) - seen(target, with(set, z));
          if (best[a].variable < 0 || gain > best[a].gain) best[a] = {z, gain, estimator_.error};
        }
      }
    }
    void add(int slot, int variable) override { set_of(slot).push_back(variable); }
    void drop_last(int slot, int count) override {
      set_of(slot).resize(members(slot).size() - static_cast<std::size_t>(count));
    }
    std::vector<Candidate> gains(int slot) override {
      std::vector<Candidate> result;
      std::vector<int> before;
      for (const int z : members(slot)) {
        result.push_back({z, seen(target(slot), before) - seen(target(slot), with(before, z)), estimator_.error});
        before.push_back(z);
      }
      return result;
    }
    std::vector<Candidate> losses(int slot) override {
      std::vector<Candidate> result;
      for (const int z : members(slot)) {
        const double without_it = seen(target(slot), without(members(slot), z));
        result.push_back({z, without_it - seen(target(slot), members(slot)), estimator_.error});
      }
      return result;
    }
    void remove(int slot, int variable) override { set_of(slot) = without(members(slot), variable); }
    const std::vector<int>& members(int slot) const override { return sets_[static_cast<std::size_t>(slot)]; }

   private:
    static std::vector<int> with(std::vector<int> set, int z) {
      set.push_back(z);
      return set;
    }
    double seen(int target, const std::vector<int>& set) const {
      return estimator_.seen ? estimator_.seen(target, set) : estimator_.entropy(target, set);
    }
    int target(int slot) const { return targets_[static_cast<std::size_t>(slot)]; }
    std::vector<int>& set_of(int slot) { return sets_[static_cast<std::size_t>(slot)]; }

    const ByHeart& estimator_;
    std::vector<int> targets_;
    Candidates candidates_;
    Sets sets_;
  };

  mutable std::mutex mutex_;
};

/// H(T|S) = 1 − Σ worth(T, z) over z in S. What nothing is said of costs a little. Powers of two keep sums exact.
class Additive final : public ByHeart {
 public:
  explicit Additive(int variables) : ByHeart(variables), worth(Matrix::Constant(variables, variables, -1.0 / 64)) {}
  Matrix worth;

  double entropy(int target, const std::vector<int>& given) const override {
    double value = 1;
    for (const int z : given) value -= worth(target, z);
    return value;
  }
  /// The frontier takes them in this order, whatever they are worth.
  void rank(const std::vector<int>& order) {
    seen = [order](int, const std::vector<int>& given) {
      double value = 0;
      for (const int z : given)
        value -= std::exp2(-static_cast<double>(std::find(order.begin(), order.end(), z) - order.begin()));
      return value;
    };
  }
  void both_ways(int a, int b, double value) { worth(a, b) = worth(b, a) = value; }
};

inline std::vector<int> all_of(const SearchEstimator& estimator) {
  std::vector<int> all(static_cast<std::size_t>(estimator.variables()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

struct Grown {
  std::vector<Path> paths;
  long steps = 0;
};
inline Grown grow(const SearchEstimator& estimator, const SearchParams& params = {}, std::vector<int> targets = {},
                  const std::vector<int>& excluded = {}) {
  if (targets.empty()) targets = all_of(estimator);
  NoProgress silent;
  Grown result;
  const Search search(estimator, params, targets, {targets, excluded, {}});
  Boundaries boundaries;
  result.paths = grow_paths(search, boundaries, silent);
  result.steps = boundaries.steps;
  return result;
}

inline Boundaries find(const SearchEstimator& estimator, const SearchParams& params = {},
                       const std::vector<int>& targets = {}, const std::vector<int>& excluded = {}) {
  NoProgress silent;
  return find_boundaries(estimator, params, {targets, excluded, {}}, silent);
}

inline SearchParams with_rule(Symmetry rule) {
  SearchParams params;
  params.rule = rule;
  return params;
}

}  // namespace fansite
