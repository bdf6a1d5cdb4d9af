// SPDX-License-Identifier: Apache-2.0
//
// Conditional entropies H(T|S), in nats, behind one interface. The search asks in frontiers: a block of targets, each
// with a set that grows and shrinks, answered together so that an estimator can share work among them.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/base/progress.h"
#include "fansite/base/random.h"
#include "fansite/entropy/calibration.h"
#include "fansite/entropy/candidates.h"

namespace fansite {

struct Dataset;
struct TableFacts;

struct EntropyQuery {
  int target = 0;
  std::vector<int> given;
};

/// I(T; about | given) = H(T | given) − H(T | given, about).
struct InformationQuery {
  int target = 0;
  std::vector<int> about;
  std::vector<int> given;
};

struct EntropyEstimate {
  double value = 0;           ///< −∞ when the given variables determine the target
  double standard_error = 0;  ///< over rows
  Index rows = 0;             ///< that have all the cells it is made of; 0: all
};

/// Entropies and informations of sets of variables. −∞ or +∞ where one variable determines another.
class EntropyEstimator {
 public:
  virtual ~EntropyEstimator() = default;
  virtual std::string_view name() const = 0;
  virtual int variables() const = 0;
  virtual Index rows() const = 0;

  /// H(T|S) of each query.
  virtual std::vector<EntropyEstimate> conditional_entropy(std::span<const EntropyQuery> queries) const = 0;
  EntropyEstimate conditional_entropy(const EntropyQuery& query) const;

  /// The information of each query. Both entropies are over the same rows, so its standard error is that of the row by
  /// row difference, far smaller than either's.
  virtual std::vector<EntropyEstimate> mutual_information(std::span<const InformationQuery> queries) const = 0;
  EntropyEstimate mutual_information(const InformationQuery& query) const;

  /// Whether entropies of this target are on the scale of its column; if not, on that of its normal scores.
  /// Informations are the same on both.
  virtual bool original_scale(int) const { return true; }
  /// Whether rows are judged by what was not fitted to them. A closed form with few parameters is as good.
  virtual bool out_of_sample() const { return true; }
};

/// Throws a UsageError unless target and given are among `variables` variables, and distinct.
void validate(const EntropyQuery& query, int variables);

// ---- What the search asks -------------------------------------------------------------------------------------------

/// A variable and what it is worth: the entropy of the target that it takes away.
struct Candidate {
  int variable = -1;  ///< −1: there is none
  double gain = 0;
  double standard_error = 0;
};

/// Two variables, each with the set that its own search found, the other left out.
struct PairQuery {
  int a = -1;
  int b = -1;
  std::vector<int> given_a;
  std::vector<int> given_b;
  bool both_sides = true;  ///< false: b was not searched, given_b means nothing
  Index most_rows = 0;     ///< where rows are held out: to be asked, evenly spread; 0: all
};

/// The evidence of a pair, of the tests from both sides.
struct PairEvidence {
  /// The chance of evidence this strong if the two were independent given either set.
  double p_value = 1;
  /// Ensembles: the share of networks that speak for the pair on rows they have not seen; NaN: there are no networks.
  double votes = std::numeric_limits<double>::quiet_NaN();
  /// What each row says, or each group of rows, where the evidence is a sum over them: Σ s / √Σ s² is a z-score, of
  /// standard deviation `inflation` at most if there is nothing. Empty: it is no such sum.
  Eigen::ArrayXf scores;
  double inflation = 1;
};

/// A block of targets, one per slot, each with its current set S.
class Frontier {
 public:
  virtual ~Frontier() = default;
  /// For each slot asked for, the candidate z outside S (one that may join it) with the largest H(T|S) − H(T|S∪z), into
  /// the same place of `best`.
  virtual void find_best(std::span<const int> slots, std::span<Candidate> best) = 0;
  virtual void add(int slot, int variable) = 0;
  /// Takes the newest `count` members out again.
  virtual void drop_last(int slot, int count) = 0;
  /// For each member of the slot's S, in order of admission, what it adds to those before it.
  virtual std::vector<Candidate> gains(int slot) = 0;
  /// For each member of the slot's S, in order of admission, H(T|S∖z) − H(T|S).
  virtual std::vector<Candidate> losses(int slot) = 0;
  virtual void remove(int slot, int variable) = 0;
  virtual const std::vector<int>& members(int slot) const = 0;
};

/// An estimator that the search for boundaries can use.
class SearchEstimator : public EntropyEstimator {
 public:
  /// Whether entropies and informations are of rows that the estimator was not fitted to, but a frontier's gains are
  /// not and have no known distribution: the size of a set is then decided on the former.
  virtual bool held_out() const = 0;

  /// The chance of a gain this large from one variable that adds nothing to a set of `given` others; NaN if gains have
  /// no known distribution.
  virtual double p_value(double gain, int given) const = 0;

  /// "b is in the boundary of a" and "a is in the boundary of b" are one fact, seen from two sides with different
  /// power.
  virtual PairEvidence pair_evidence(const PairQuery& query) const = 0;

  /// Whether the variable can be in a boundary at all; constant columns cannot.
  virtual bool informative(int variable) const = 0;

  /// Starts a search for these targets with empty sets; `progress` can interrupt the frontier's work.
  virtual std::unique_ptr<Frontier> open(std::span<const int> targets, const Candidates& candidates,
                                         const Progress& progress) const = 0;
  /// How many targets a frontier should hold; the search runs the frontiers in parallel.
  virtual int frontier_size() const = 0;
  /// The largest set for which entropies mean anything with this many rows.
  virtual int largest_set() const = 0;

  /// Draws the table's absent cells, as conditions for what is present: answers then rest on all rows that have the
  /// variables asked about, whatever else they lack. First by a linear model of the table; called again, each variable
  /// given a set of others (`given`, per variable; those without one stay), best its boundary. False: nothing is
  /// absent, or this estimator has no use for draws. `data` is the table that it answers for.
  virtual bool complete(const Dataset&, const TableFacts&, const std::vector<std::vector<int>>&, Key, const Progress&) {
    return false;
  }
  /// This table with its absent cells as they were drawn, each time; those without order, by the linear model. Empty:
  /// none were.
  virtual std::vector<Matrix> completions(const Dataset&) const { return {}; }

  /// How well the distributions of these targets given these sets hold on rows that were not learnt from; nothing where
  /// that is not known.
  virtual std::optional<Calibration> calibration(std::span<const EntropyQuery> queries, Progress& progress) const;
  /// Densities computed so far, of one subset, row and network each; 0 where there are none.
  virtual std::int64_t evaluations() const { return 0; }
};

}  // namespace fansite
