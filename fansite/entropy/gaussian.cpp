// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/gaussian.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>
#include <variant>

#include "fansite/base/error.h"
#include "fansite/base/special.h"
#include "fansite/entropy/detail/gaussian_kernel.h"

namespace fansite {
namespace {

using kernel::kBlock;
constexpr double kDetermined = GaussianEstimator::kDetermined;

// ½ ln(before/after) of two variances of the target; a determined target's variance counts as kDetermined, so gains
// stay finite: "at least this much".
double entropy_drop(double before, double after) {
  return 0.5 * std::log(std::max(before, kDetermined) / std::max(after, kDetermined));
}

// By the delta method: the information density of a Gaussian pair has variance r², r² = 1 − e^{−2·gain}.
double gain_standard_error(double gain, Index rows) {
  return std::sqrt(-std::expm1(-2.0 * gain) / static_cast<double>(rows));
}

// Forward selection for one target: the Cholesky rows of the members over all candidates.
template <class Real>
class GrowingSet {
 public:
  GrowingSet(const Covariance& covariance, int target, const Candidates& candidates)
      : correlation_(&covariance.correlation),
        columns_(covariance.variables()),
        blocks_((columns_ + kBlock - 1) / kBlock),
        storage_(static_cast<std::size_t>(3 * blocks_ * kBlock), 0) {
    std::fill_n(variance(), blocks_ * kBlock, std::numeric_limits<Real>::infinity());
    kernel::SweepResult start;
    start.smallest_variance = 1.0;
    for (Index j = 0; j < columns_; ++j) {
      const auto at = static_cast<std::size_t>(j);
      if (!candidates.may_join(static_cast<int>(j), target) || covariance.scale(j) == 0) continue;
      variance()[at] = 1;
      this->covariance()[at] = static_cast<Real>(covariance.correlation(j, target));
      const Real explained = this->covariance()[at] * this->covariance()[at];
      if (explained > start.best) {
        start.best = explained;
        start.column = j;
      }
    }
    remember(start);
  }

  // Single precision holds variances to about 1e-7; below 1e-3 their ratios would lose the fourth digit. The caller
  // then starts again in double precision.
  static constexpr Index kFirstCapacity = 24;  // the default patience and some members, without moving
  static constexpr double kTrusted = sizeof(Real) == sizeof(float) ? 1e-3 : 0.0;
  bool trusted() const { return smallest_ >= kTrusted && target_variance_ >= kTrusted; }

  int best() const { return best_; }
  double best_gain() const { return entropy_drop(target_variance_, target_variance_ - explained_); }
  /// Share of the target's variance that the best candidate explains: the square of its partial correlation.
  double best_share() const { return std::min(explained_ / target_variance_, 1.0); }

  void add(int z) {
    const auto at = static_cast<std::size_t>(z);
    if (!std::isfinite(variance()[at])) return;  // determined by the set: conditioning on it changes nothing
    const Real sd = std::sqrt(variance()[at]);
    reserve_row();
    loadings_.resize(static_cast<std::size_t>(size_));
    const Real* own = factor_.get() + (z / kBlock) * capacity_ * kBlock + z % kBlock;
    for (Index i = 0; i < size_; ++i) loadings_[static_cast<std::size_t>(i)] = own[i * kBlock];
    const double* correlations = correlation_->col(z).data();
    for (Index j = 0; j < columns_; ++j) row()[j] = static_cast<Real>(correlations[j]);

    kernel::Sweep<Real> sweep;
    sweep.blocks = blocks_;
    sweep.capacity = capacity_;
    sweep.size = size_;
    sweep.factor = factor_.get();
    sweep.variance = variance();
    sweep.covariance = covariance();
    sweep.correlation = row();
    sweep.loadings = loadings_.data();
    sweep.inverse_sd = 1 / sd;
    sweep.target_loading = covariance()[at] / sd;
    sweep.determined = static_cast<Real>(kDetermined);
    target_variance_ -= static_cast<double>(sweep.target_loading) * static_cast<double>(sweep.target_loading);
    variance()[at] = std::numeric_limits<Real>::infinity();  // no longer a candidate
    remember(kernel::condition(sweep));
    ++size_;
  }

 private:
  void reserve_row() {
    if (size_ < capacity_) return;
    const Index wider = std::max(kFirstCapacity, 2 * capacity_);
    auto factor = std::make_unique_for_overwrite<Real[]>(static_cast<std::size_t>(blocks_ * wider * kBlock));
    for (Index b = 0; b < blocks_; ++b) {
      std::copy_n(factor_.get() + b * capacity_ * kBlock, size_ * kBlock, factor.get() + b * wider * kBlock);
    }
    factor_ = std::move(factor);
    capacity_ = wider;
  }

  void remember(const kernel::SweepResult& sweep) {
    smallest_ = std::min(smallest_, sweep.smallest_variance);
    explained_ = sweep.best;
    best_ = target_variance_ > kDetermined ? static_cast<int>(sweep.column) : -1;
  }

  Real* variance() { return storage_.data(); }                       // σ²_{j|S}
  Real* covariance() { return storage_.data() + blocks_ * kBlock; }  // σ_{jT|S}
  Real* row() { return storage_.data() + 2 * blocks_ * kBlock; }     // correlations of the newest member

  const Matrix* correlation_;  // a pointer, so that sets can be assigned
  Index columns_, blocks_;
  Index capacity_ = 0, size_ = 0;
  std::vector<Real> storage_;       // variance, covariance and row, in one piece
  std::unique_ptr<Real[]> factor_;  // [block][capacity][64], rows beyond size_ not written yet
  std::vector<Real> loadings_;
  double target_variance_ = 1.0;
  double smallest_ = 1.0;   // smallest candidate variance seen
  double explained_ = 0.0;  // by the best candidate
  int best_ = -1;
};

// Backward elimination for one target: the Cholesky factor of the members' correlations. The explicit inverse would be
// shorter but not safe: with columns of very different conditional variances (1 and 1e-8, as in a dense graph whose
// variances explode) its rounding alone makes useless members look useful.
class ShrinkingSet {
 public:
  ShrinkingSet(const Matrix& correlation, int target, const std::vector<int>& members) {
    const auto k = static_cast<Index>(members.size());
    factor_ = Matrix::Zero(k, k);
    loadings_.resize(k);
    for (Index i = 0; i < k; ++i) {
      const int a = members[static_cast<std::size_t>(i)];
      for (Index j = 0; j < i; ++j) {
        const double sum =
            correlation(a, members[static_cast<std::size_t>(j)]) - factor_.row(i).head(j).dot(factor_.row(j).head(j));
        factor_(i, j) = sum / factor_(j, j);
      }
      // A member that the others determine keeps this much variance, so that nothing divides by zero; it is worth
      // nothing.
      factor_(i, i) = std::sqrt(std::max(1.0 - factor_.row(i).head(i).squaredNorm(), kDetermined));
      loadings_(i) = (correlation(a, target) - factor_.row(i).head(i).dot(loadings_.head(i))) / factor_(i, i);
    }
  }

  double target_variance() const { return 1.0 - loadings_.squaredNorm(); }
  const Vector& loadings() const { return loadings_; }
  /// The same for another variable in the target's place; `members` as given to the constructor.
  Vector loadings_of(const Matrix& correlation, int variable, const std::vector<int>& members) const {
    Vector result(factor_.rows());
    for (Index i = 0; i < result.size(); ++i) result(i) = correlation(members[static_cast<std::size_t>(i)], variable);
    factor_.triangularView<Eigen::Lower>().solveInPlace(result);
    return result;
  }

  /// The target's variance given all members but one, for each: σ² + β_m²/(R⁻¹)_mm.
  Vector target_variance_without_each() const {
    const Index k = factor_.rows();
    const auto lower = factor_.triangularView<Eigen::Lower>();
    const Vector slope = lower.transpose().solve(loadings_);
    const Matrix inverse_factor = lower.solve(Matrix::Identity(k, k));
    const Vector inverse_diagonal = inverse_factor.colwise().squaredNorm();
    return target_variance() + slope.array().square() / inverse_diagonal.array();
  }

  // Takes row m out of the factor and rotates what is left back to a triangle (a downdate by Givens rotations).
  void remove(Index m) {
    const Index k = factor_.rows();
    for (Index i = m; i + 1 < k; ++i) factor_.row(i) = factor_.row(i + 1).eval();
    for (Index i = m; i + 1 < k; ++i) {
      const double length = std::hypot(factor_(i, i), factor_(i, i + 1));
      const double c = factor_(i, i) / length;
      const double s = factor_(i, i + 1) / length;
      const auto rotate = [&](double& a, double& b) {
        const double rotated = c * a + s * b;
        b = c * b - s * a;
        a = rotated;
      };
      for (Index row = i; row + 1 < k; ++row) rotate(factor_(row, i), factor_(row, i + 1));
      rotate(loadings_(i), loadings_(i + 1));
    }
    factor_.conservativeResize(k - 1, k - 1);
    loadings_.conservativeResize(k - 1);
  }

 private:
  Matrix factor_;    // L, lower: L Lᵀ = correlations of the members
  Vector loadings_;  // L⁻¹ times the members' correlations with the target
};

// What one set says about a pair of variables outside it, in units of unit-variance columns.
struct PairTest {
  double variance_a = 1, variance_b = 1;  // given the set
  double z = 0;                           // partial correlation as a standard normal score
};

// The normal score with the p-value of a partial correlation with ν degrees of freedom (Wallace 1959): within 0.02 for
// 6 degrees, 0.001 for 50, and never too small a p-value in the tail. Fisher's z is not good enough with few rows: 10
// of them and 100 columns of noise gave false pairs in 43 % of tables.
double normal_score(double r, double freedom) {
  if (freedom < 1) return 0.0;
  const double score = (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0) * std::sqrt(-freedom * std::log1p(-r * r));
  return r < 0 ? -score : score;
}

PairTest test_pair(const Covariance& covariance, int a, int b, const std::vector<int>& given) {
  const ShrinkingSet set(covariance.correlation, a, given);
  const Vector loadings_b = set.loadings_of(covariance.correlation, b, given);
  PairTest test;
  test.variance_a = std::max(set.target_variance(), kDetermined);
  test.variance_b = std::max(1.0 - loadings_b.squaredNorm(), kDetermined);
  const double partial = covariance.correlation(a, b) - set.loadings().dot(loadings_b);
  constexpr double kLargest = 1.0 - 1e-12;
  const double r = std::clamp(partial / std::sqrt(test.variance_a * test.variance_b), -kLargest, kLargest);
  test.z = normal_score(r, static_cast<double>(covariance.rows - 2 - static_cast<Index>(given.size())));
  return test;
}

// Let A and B be the sets of a and b. From a's side b still varies by σ²_{b|A}, from its own only by σ²_{b|B}, and what
// a test can see grows with that. If A and B are complete and the partial correlation given everything is μ, the two
// scores have means μ√f and μ√g and, with or without μ, correlation 1/√(fg), where f = σ²_{b|A}/σ²_{b|B}, g =
// σ²_{a|B}/σ²_{a|A}. The most powerful combination weighs them by √f − 1/√f and √g − 1/√g; for an edge that is the
// child's test alone.
double pair_score(const PairTest& from_a, const PairTest& from_b) {
  const double f = std::max(1.0, from_a.variance_b / from_b.variance_b);
  const double g = std::max(1.0, from_b.variance_a / from_a.variance_a);
  double weight_a = std::sqrt(f) - 1.0 / std::sqrt(f);
  double weight_b = std::sqrt(g) - 1.0 / std::sqrt(g);
  const double correlation = 1.0 / std::sqrt(f * g);
  if (1.0 - correlation < 1e-6) weight_a = weight_b = 1.0;  // the two tests are the same
  const double variance = weight_a * weight_a + weight_b * weight_b + 2.0 * correlation * weight_a * weight_b;
  return (weight_a * from_a.z + weight_b * from_b.z) / std::sqrt(variance);
}

class GaussianFrontier final : public Frontier {
 public:
  GaussianFrontier(const Covariance& covariance, std::span<const int> targets, const Candidates& candidates)
      : covariance_(covariance), candidates_(candidates), slots_(targets.size()) {
    for (std::size_t s = 0; s < targets.size(); ++s) slots_[s].target = targets[s];
  }

  void find_best(std::span<const int> slots, std::span<Candidate> best) override {
    for (std::size_t i = 0; i < slots.size(); ++i) best[i] = best_of_slot(slots_[static_cast<std::size_t>(slots[i])]);
  }

  void add(int s, int variable) override {
    Slot& slot = slots_[static_cast<std::size_t>(s)];
    slot.shrinking.reset();
    slot.members.push_back(variable);
    if (auto* wide = std::get_if<GrowingSet<double>>(&slot.growing)) {
      wide->add(variable);
    } else if (auto* narrow = std::get_if<GrowingSet<float>>(&slot.growing)) {
      narrow->add(variable);
      if (!narrow->trusted()) slot.growing = replay<double>(slot);
    }
  }

  void drop_last(int s, int count) override {
    Slot& slot = slots_[static_cast<std::size_t>(s)];
    if (count == 0) return;
    slot.members.resize(slot.members.size() - static_cast<std::size_t>(count));
    slot.shrinking.reset();
    slot.growing = std::monostate{};
  }

  std::vector<Candidate> gains(int s) override {
    Slot& slot = slots_[static_cast<std::size_t>(s)];
    const Vector& loadings = shrinking(slot).loadings();
    std::vector<Candidate> result;
    double before = 1.0;
    for (std::size_t m = 0; m < slot.members.size(); ++m) {
      const double loading = loadings(static_cast<Index>(m));
      const double after = before - loading * loading;
      const double gain = entropy_drop(before, after);
      result.push_back({slot.members[m], gain, gain_standard_error(gain, covariance_.rows)});
      before = after;
    }
    return result;
  }

  std::vector<Candidate> losses(int s) override {
    Slot& slot = slots_[static_cast<std::size_t>(s)];
    const ShrinkingSet& set = shrinking(slot);
    const double all = set.target_variance();
    const Vector without = set.target_variance_without_each();
    std::vector<Candidate> result;
    result.reserve(slot.members.size());
    for (std::size_t m = 0; m < slot.members.size(); ++m) {
      const double loss = entropy_drop(without(static_cast<Index>(m)), all);
      result.push_back({slot.members[m], loss, gain_standard_error(loss, covariance_.rows)});
    }
    return result;
  }

  void remove(int s, int variable) override {
    Slot& slot = slots_[static_cast<std::size_t>(s)];
    const auto at = std::find(slot.members.begin(), slot.members.end(), variable);
    check(at != slot.members.end(), "[frontier] variable {} is not a member of the set", variable);
    shrinking(slot).remove(at - slot.members.begin());
    slot.members.erase(at);
    slot.growing = std::monostate{};  // rebuilt if the set grows again
  }

  const std::vector<int>& members(int s) const override { return slots_[static_cast<std::size_t>(s)].members; }

 private:
  struct Slot {
    int target = -1;
    std::vector<int> members;
    std::variant<std::monostate, GrowingSet<float>, GrowingSet<double>> growing;
    std::optional<ShrinkingSet> shrinking;
  };

  template <class Real>
  GrowingSet<Real> replay(const Slot& slot) const {
    GrowingSet<Real> set(covariance_, slot.target, candidates_);
    for (const int member : slot.members) set.add(member);
    return set;
  }

  Candidate best_of_slot(Slot& slot) {
    if (covariance_.scale(slot.target) == 0) return {};
    if (std::holds_alternative<std::monostate>(slot.growing)) {
      auto narrow = replay<float>(slot);
      if (narrow.trusted()) {
        slot.growing = std::move(narrow);
      } else {
        slot.growing = replay<double>(slot);
      }
    }
    const auto describe = [&](const auto& set) -> Candidate {
      if (set.best() < 0) return {};
      return {set.best(), set.best_gain(), std::sqrt(set.best_share() / static_cast<double>(covariance_.rows))};
    };
    if (const auto* narrow = std::get_if<GrowingSet<float>>(&slot.growing)) return describe(*narrow);
    return describe(std::get<GrowingSet<double>>(slot.growing));
  }

  ShrinkingSet& shrinking(Slot& slot) {
    if (!slot.shrinking) slot.shrinking.emplace(covariance_.correlation, slot.target, slot.members);
    return *slot.shrinking;
  }

  const Covariance& covariance_;
  Candidates candidates_;
  std::vector<Slot> slots_;
};

}  // namespace

std::vector<EntropyEstimate> GaussianEstimator::conditional_entropy(std::span<const EntropyQuery> queries) const {
  std::vector<EntropyEstimate> result;
  result.reserve(queries.size());
  const Matrix& correlation = covariance_.correlation;
  for (const EntropyQuery& query : queries) {
    validate(query, variables());
    // One Cholesky sweep over the given variables with the target last; a determined one adds nothing and is left out.
    std::vector<int> kept;
    Matrix factor(query.given.size() + 1, query.given.size() + 1);
    const auto row_of = [&](int variable) {
      const auto k = static_cast<Index>(kept.size());
      double variance = 1.0;
      for (Index i = 0; i < k; ++i) {
        double sum = correlation(kept[static_cast<std::size_t>(i)], variable);
        for (Index j = 0; j < i; ++j) sum -= factor(k, j) * factor(i, j);
        factor(k, i) = sum / factor(i, i);
        variance -= factor(k, i) * factor(k, i);
      }
      return variance;
    };
    for (const int variable : query.given) {
      const double variance = informative(variable) ? row_of(variable) : 0.0;
      if (variance < kDetermined) continue;
      factor(static_cast<Index>(kept.size()), static_cast<Index>(kept.size())) = std::sqrt(variance);
      kept.push_back(variable);
    }
    const double share = informative(query.target) ? row_of(query.target) : 0.0;
    EntropyEstimate estimate;
    if (share < kDetermined) {
      estimate.value = -std::numeric_limits<double>::infinity();
    } else {
      const double scale = covariance_.scale(query.target);
      estimate.value = 0.5 * (1.0 + std::log(2.0 * M_PI) + std::log(share)) + std::log(scale);
      // ln of a variance estimated with ν degrees of freedom has variance 2/ν.
      const auto freedom = static_cast<double>(rows() - 1 - static_cast<Index>(kept.size()));
      estimate.standard_error = std::sqrt(0.5 / std::max(freedom, 1.0));
    }
    result.push_back(estimate);
  }
  return result;
}

std::vector<EntropyEstimate> GaussianEstimator::mutual_information(std::span<const InformationQuery> queries) const {
  std::vector<EntropyQuery> entropies;
  for (const InformationQuery& query : queries) {
    EntropyQuery before{query.target, query.given};
    EntropyQuery after = before;
    after.given.insert(after.given.end(), query.about.begin(), query.about.end());
    entropies.push_back(std::move(before));
    entropies.push_back(std::move(after));
  }
  const std::vector<EntropyEstimate> values = conditional_entropy(entropies);
  std::vector<EntropyEstimate> result(queries.size());
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const double before = values[2 * q].value;
    if (std::isinf(before)) continue;  // nothing was left to tell
    result[q].value = std::max(0.0, before - values[2 * q + 1].value);
    result[q].standard_error = gain_standard_error(result[q].value, rows());
  }
  return result;
}

double GaussianEstimator::p_value(double gain, int given) const {
  const auto freedom = static_cast<double>(rows() - 2 - given);
  if (freedom < 1) return 1.0;
  return f1_tail(freedom * std::expm1(2.0 * gain), freedom);
}

PairEvidence GaussianEstimator::pair_evidence(const PairQuery& query) const {
  const PairTest from_a = test_pair(covariance_, query.a, query.b, query.given_a);
  const double score =
      query.both_sides ? pair_score(from_a, test_pair(covariance_, query.a, query.b, query.given_b)) : from_a.z;
  PairEvidence evidence;
  evidence.p_value = 2.0 * normal_tail(std::abs(score));
  return evidence;
}

std::unique_ptr<Frontier> GaussianEstimator::open(std::span<const int> targets, const Candidates& candidates,
                                                  const Progress&) const {
  check(candidates.variables() == variables(), "[frontier] {} candidate flags for {} variables", candidates.variables(),
        variables());
  return std::make_unique<GaussianFrontier>(covariance_, targets, candidates);
}

int GaussianEstimator::largest_set() const {
  // A test of one more member needs at least one degree of freedom: N − |S| − 2 ≥ 1 before it joins.
  return static_cast<int>(std::clamp<Index>(rows() - 3, 0, variables() - 1));
}

EstimatorMethod gaussian_estimator() {
  EstimatorMethod row;
  row.name = "gaussian";
  row.summary = "closed form from the correlations; linear relations with noise of any distribution";
  row.citation = "Cover and Thomas, Elements of Information Theory, 2006, chapter 8";
  row.can = {.handles_missing_cells = true,
             .handles_context = true,
             .handles_weights = true,
             .handles_groups = true,
             .column_kinds = {"continuous", "ordered", "atoms", "nominal"}};
  row.fit = [](const Context& context, const Parameters&, double) -> std::optional<FittedEstimator> {
    FittedEstimator fitted;
    fitted.estimator = std::make_unique<GaussianEstimator>(context.covariance());
    return fitted;
  };
  return row;
}

}  // namespace fansite
