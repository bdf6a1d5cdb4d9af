// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/density.h"

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/entropy/flow/batch.h"
#include "fansite/entropy/flow/detail/denormals.h"
#include "fansite/entropy/flow/detail/density_kernel.h"
#include "fansite/entropy/flow/detail/folded_network.h"

namespace fansite::flow {
namespace {

using kernel::kRows;
using kernel::kRowStep;

/// Subsets that a piece of work goes through. Each piece starts without a prefix: 2 % more work than in one go (1800
/// random subsets of 6 out of 30).
constexpr std::size_t kChunk = 32;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// The first of a trial's columns in the network's order.
int first_of(const Trial& trial) {
  int first = trial.columns.front().variable;
  for (const TrialColumn& column : trial.columns) first = std::min(first, column.variable);
  return first;
}

// ---- Queries --------------------------------------------------------------------------------------------------------

/// The subsets asked for with their ranks, and the order in which neighbours share the longest prefixes.
struct Queries {
  std::vector<int> variable, rank;  // of all subsets, one after the other; a subset's last variable has rank −1
  std::vector<std::size_t> start;   // of each subset, and the end of the last
  std::vector<std::size_t> order;   // of subsets: lexicographic
  std::size_t longest = 0;

  std::size_t size(std::size_t s) const { return start[s + 1] - start[s]; }
  std::span<const int> indices(std::size_t s) const { return std::span(variable).subspan(start[s], size(s)); }
  std::span<const int> ranks(std::size_t s) const { return std::span(rank).subspan(start[s], size(s)); }
};

Queries prepare(const Shape& shape, std::span<const Subset> subsets) {
  Queries q;
  q.start.push_back(0);
  for (std::size_t s = 0; s < subsets.size(); ++s) {
    const Subset& subset = subsets[s];
    check_subset(shape, subset, s);
    q.variable.insert(q.variable.end(), subset.begin(), subset.end());
    q.rank.resize(q.variable.size(), -1);
    q.start.push_back(q.variable.size());
    q.longest = std::max(q.longest, subset.size());
    if (!subset.empty()) assign_ranks(shape, subset, std::span(q.rank).subspan(q.start[s], subset.size() - 1));
  }
  q.order.resize(subsets.size());
  std::iota(q.order.begin(), q.order.end(), std::size_t{0});
  std::sort(q.order.begin(), q.order.end(), [&](std::size_t s, std::size_t t) {
    const std::size_t common = std::min(q.size(s), q.size(t));
    for (std::size_t p = 0; p < common; ++p) {
      const std::size_t i = q.start[s] + p, j = q.start[t] + p;
      if (q.variable[i] != q.variable[j]) return q.variable[i] < q.variable[j];
      if (q.rank[i] != q.rank[j]) return q.rank[i] < q.rank[j];
    }
    return q.size(s) < q.size(t);
  });
  return q;
}

// ---- Evaluation -----------------------------------------------------------------------------------------------------

/// The members of one subset on one block of rows, each with its term and hidden values. A member's term depends on the
/// (variable, rank) pairs before it and on its own variable; its hidden values on its own rank too. Going on to another
/// subset computes what comes after their common prefix, and always in the same way.
class Walk {
 public:
  Walk(const FoldedNetwork& folded, const CellColumns& table, Index first_row, Index longest)
      : folded_(folded),
        table_(table),
        first_row_(first_row),
        count_(std::min<Index>(kRows, table.rows() - first_row)),
        rows_((count_ + kRowStep - 1) / kRowStep * kRowStep),
        variable_(at(longest)),
        rank_(at(longest)),
        weights_(at(longest)),
        factor_(at(folded.base.empty() ? 0 : longest * longest)),
        coefficients_(at(longest)),
        log_scale_(at(longest + 1)) {
    const Index hidden = longest * folded.shape.blocks, scratch = 3 * folded.shape.sigmoids + 2;
    memory_ = hwy::AllocateAligned<float>(at((2 * longest + (longest + 1) + hidden + scratch + 3) * kRows));
    values_ = memory_.get();
    innovations_ = folded.base.empty() ? values_ : values_ + longest * kRows;
    sums_ = values_ + 2 * longest * kRows;
    hidden_ = sums_ + (longest + 1) * kRows;
    scratch_ = hidden_ + hidden * kRows;
    cells_ = scratch_ + scratch * kRows;
    std::fill_n(sums_, kRows, 0.0f);
  }

  Index count() const { return count_; }
  /// Σ ln σ of the base over the members of the subset last asked for.
  double log_scale(std::size_t members) const { return log_scale_[members]; }

  /// From now on a variable's cells are these, one for each row of the block.
  void replace(int variable, const CellRow& cells) {
    replaced_.insert_or_assign(variable, cells);
    const auto place = std::find(variable_.begin(), variable_.begin() + static_cast<Index>(members_), variable);
    members_ = at(place - variable_.begin());
  }

  /// The sum of a subset's terms, for each row.
  const float* sum(std::span<const int> indices, std::span<const int> ranks) {
    for (std::size_t p = 0; p < indices.size(); ++p) {
      const bool last = p + 1 == indices.size();
      const bool same = p < members_ && variable_[p] == indices[p];
      if (same && (last || rank_[p] == ranks[p])) continue;
      if (!same) compute_term(p, indices[p]);
      members_ = p + 1;
      rank_[p] = ranks[p];
      if (last) break;
      prefetch_term(p + 1, indices[p + 1]);
      compute_hidden(p);
    }
    return sums_ + static_cast<Index>(indices.size()) * kRows;
  }

 private:
  /// A variable's cells, from the first row of the block on; ends only where the column has intervals.
  CellRow cells_of(int variable) const {
    const auto other = replaced_.find(variable);
    if (other != replaced_.end()) return other->second;
    const auto of = [&](const Table* table) { return table->data() + variable * table->rows() + first_row_; };
    if (!table_.is_coarse(variable)) return of(table_.score);
    return {of(table_.score), of(table_.low), of(table_.high)};
  }

  void compute_term(std::size_t p, int variable) {
    const Index place = static_cast<Index>(p);
    const CellRow cells = cells_of(variable);
    kernel::density_load(cells.score, count_, rows_, values_ + place * kRows);
    if (!folded_.only_base) {
      for (std::size_t q = 0; q < p; ++q) weights_[q] = folded_.block(variable, rank_[q]);
    }
    variable_[p] = variable;
    if (!folded_.base.empty()) compute_innovation(p);
    kernel::TermStep step;
    step.rows = rows_;
    step.before = folded_.only_base ? 0 : place;
    step.nodes = folded_.shape.blocks;
    step.sigmoids = folded_.shape.sigmoids;
    step.weights = weights_.data();
    step.bias = folded_.g0.data() + variable * 3 * folded_.shape.sigmoids;
    step.hidden = hidden_;
    step.values = innovations_ + place * kRows;
    step.sum_before = sums_ + place * kRows;
    step.sum = sums_ + (place + 1) * kRows;
    step.scratch = scratch_;
    if (cells.low != nullptr) {
      compute_cells(p, cells, step);
    } else {
      kernel::density_term(step);
    }
  }

  /// u_p = (x_p − mean − Σ_q l_pq u_q) / l_pp with the Cholesky factor of the members' covariance.
  void compute_innovation(std::size_t p) {
    const Index longest = static_cast<Index>(variable_.size()), place = static_cast<Index>(p);
    folded_.base.factor_row(variable_, static_cast<int>(p), factor_.data(), longest);
    const double* row = factor_.data() + place * longest;
    log_scale_[p + 1] = log_scale_[p] + std::log(row[p]);
    predict(p, {1, folded_.base.mean()[variable_[p]], row[p]}, values_ + place * kRows, innovations_ + place * kRows);
  }

  /// u = (x − shift − factor · Σ_q l_pq u_q) / scale.
  void predict(std::size_t p, const GaussianBase::Prediction& from, const float* values, float* result) {
    const Index longest = static_cast<Index>(variable_.size()), place = static_cast<Index>(p);
    const double* row = factor_.data() + place * longest;
    const double inverse = 1 / from.scale;
    for (std::size_t q = 0; q < p; ++q) coefficients_[q] = static_cast<float>(-row[q] * from.factor * inverse);
    kernel::InnovationStep step;
    step.rows = rows_;
    step.before = place;
    step.coefficients = coefficients_.data();
    step.scale = static_cast<float>(inverse);
    step.shift = static_cast<float>(-from.shift * inverse);
    step.values = values;
    step.innovations = innovations_;
    step.result = result;
    kernel::density_innovation(step);
  }

  /// The term of a column with intervals. What is predicted is not the score but the normal variable under it.
  void compute_cells(std::size_t p, const CellRow& cells, const kernel::TermStep& term) {
    float *low = cells_, *high = cells_ + kRows, *number = cells_ + 2 * kRows;
    kernel::density_load(cells.low, count_, rows_, low);
    kernel::density_load(cells.high, count_, rows_, high);
    kernel::CellsStep step;
    step.term = term;
    step.column = values_ + static_cast<Index>(p) * kRows;
    step.low = low;
    step.high = high;
    if (!folded_.base.empty()) {
      const Index longest = static_cast<Index>(variable_.size());
      const double* row = factor_.data() + static_cast<Index>(p) * longest;
      const auto prediction = folded_.base.prediction(variable_[p], row, static_cast<int>(p));
      predict(p, prediction, step.column, number);
      step.term.values = number;
      step.scale = static_cast<float>(1 / prediction.scale);
      step.log_scale = static_cast<float>(std::log(prediction.scale));
      log_scale_[p + 1] = log_scale_[p];  // not of intervals
    }
    kernel::density_cells(step);
  }

  void compute_hidden(std::size_t p) {
    if (folded_.only_base) return;
    const Index nodes = folded_.shape.blocks;
    for (std::size_t q = 0; q <= p; ++q) weights_[q] = folded_.input(rank_[p], variable_[q]);
    kernel::HiddenStep step;
    step.rows = rows_;
    step.inputs = static_cast<Index>(p) + 1;
    step.nodes = nodes;
    step.weights = weights_.data();
    step.bias = folded_.b1.data() + rank_[p] * nodes;
    step.values = values_;
    step.hidden = hidden_ + static_cast<Index>(p) * nodes * kRows;
    kernel::density_hidden(step);
  }

  /// The pairs' blocks lie all over the second-level cache.
  void prefetch_term(std::size_t p, int variable) const {
    if (folded_.only_base) return;
    for (std::size_t q = 0; q < p; ++q) {
      const float* block = folded_.block(variable, rank_[q]);
      for (Index i = 0; i < folded_.pair; i += 16) __builtin_prefetch(block + i);
    }
  }

  const FoldedNetwork& folded_;
  const CellColumns& table_;
  Index first_row_;     // of the block
  Index count_, rows_;  // of the block, and rounded up to steps
  std::map<int, CellRow> replaced_;

  hwy::AlignedFreeUniquePtr<float[]> memory_;
  float* values_ = nullptr;       // [member][kRows]
  float* innovations_ = nullptr;  // [member][kRows]: with a base; without, the values
  float* sums_ = nullptr;         // [member + 1][kRows]: of the terms before each member
  float* hidden_ = nullptr;       // [member][α][kRows]
  float* scratch_ = nullptr;      // of the kernel
  float* cells_ = nullptr;        // [3][kRows]: ends of intervals, and numbers as a base predicts them

  std::size_t members_ = 0;           // whose terms are computed …
  std::vector<int> variable_, rank_;  // … for these; those with a rank have hidden values
  std::vector<const float*> weights_;
  std::vector<double> factor_;  // [member][longest], of the base
  std::vector<float> coefficients_;
  std::vector<double> log_scale_;  // Σ ln σ of the members before each
};

}  // namespace

Density::Density(std::shared_ptr<const FoldedNetwork> network) : folded_(std::move(network)) {}
Density::Density(const GaussianBase& base) : folded_(std::make_shared<const FoldedNetwork>(base)) {}

Density::Density(const Weights& weights, const GaussianBase& base)
    : folded_(std::make_shared<const FoldedNetwork>(weights, base)) {}
Density::~Density() = default;
Density::Density(Density&&) noexcept = default;
Density& Density::operator=(Density&&) noexcept = default;

const Shape& Density::shape() const { return folded_->shape; }

void Density::log_density(const CellColumns& rows, std::span<const Subset> subsets,
                          Eigen::Ref<Eigen::MatrixXf> out) const {
  check(rows.cols() == shape().variables, "[log_density] rows of {} values; this network has {} variables", rows.cols(),
        shape().variables);
  check(out.rows() == rows.rows() && out.cols() == static_cast<Index>(subsets.size()),
        "[log_density] a result of {}×{} for {} rows and {} subsets; make it as large", out.rows(), out.cols(),
        rows.rows(), subsets.size());
  const Queries queries = prepare(shape(), subsets);
  const double term_constant = kernel::density_term_constant();
  const Index blocks = (rows.rows() + kRows - 1) / kRows;
  const Index chunks = static_cast<Index>((subsets.size() + kChunk - 1) / kChunk);
  parallel_for(chunks * blocks, [&](std::ptrdiff_t piece) {
    const FlushDenormals flush;
    const Index first_row = piece % blocks * kRows;
    Walk walk(*folded_, rows, first_row, static_cast<Index>(queries.longest));
    const std::size_t first = at(piece / blocks) * kChunk, last = std::min(first + kChunk, subsets.size());
    for (std::size_t i = first; i < last; ++i) {
      const std::size_t s = queries.order[i];
      float* column = &out(first_row, static_cast<Index>(s));
      for (Index row = 0; row < walk.count(); row += 16) __builtin_prefetch(column + row, 1);
      const float* sum = walk.sum(queries.indices(s), queries.ranks(s));
      const double shift = static_cast<double>(queries.size(s)) * term_constant - walk.log_scale(queries.size(s));
      kernel::density_store(sum, static_cast<float>(shift), walk.count(), column);
    }
  });
}

Eigen::MatrixXf Density::log_density(const CellColumns& rows, std::span<const Subset> subsets) const {
  Eigen::MatrixXf out(rows.rows(), static_cast<Index>(subsets.size()));
  log_density(rows, subsets, out);
  return out;
}

Eigen::MatrixXf Density::log_density(const CellColumns& rows, const Subset& subset,
                                     std::span<const Trial> trials) const {
  check(rows.cols() == shape().variables, "[log_density] rows of {} values; this network has {} variables", rows.cols(),
        shape().variables);
  Index combinations = 1;
  std::vector<Index> stride(trials.size());  // between the results of a trial's next values
  for (std::size_t k = trials.size(); k-- > 0;) {
    for (const TrialColumn& column : trials[k].columns) {
      check(column.values.rows() == rows.rows(), "[log_density] {} rows of values to try for a table of {}",
            column.values.rows(), rows.rows());
      check(std::find(subset.begin(), subset.end(), column.variable) != subset.end(),
            "[log_density] variable {} is to be tried but not in the subset", column.variable);
    }
    stride[k] = combinations;
    combinations *= trials[k].options();
  }
  // The last in the network's order changes most often.
  std::vector<std::size_t> nesting(trials.size());
  std::iota(nesting.begin(), nesting.end(), std::size_t{0});
  std::sort(nesting.begin(), nesting.end(),
            [&](std::size_t k, std::size_t l) { return first_of(trials[k]) < first_of(trials[l]); });

  const Queries queries = prepare(shape(), {&subset, 1});
  const double term_constant = kernel::density_term_constant();
  Eigen::MatrixXf out(rows.rows(), combinations);
  parallel_for((rows.rows() + kRows - 1) / kRows, [&](std::ptrdiff_t block) {
    const FlushDenormals flush;
    const Index first_row = block * kRows;
    Walk walk(*folded_, rows, first_row, static_cast<Index>(queries.longest));
    const auto go_through = [&](const auto& self, std::size_t level, Index column) -> void {
      if (level == nesting.size()) {
        const float* sum = walk.sum(queries.indices(0), queries.ranks(0));
        const double shift = static_cast<double>(subset.size()) * term_constant - walk.log_scale(subset.size());
        kernel::density_store(sum, static_cast<float>(shift), walk.count(), &out(first_row, column));
        return;
      }
      const Trial& trial = trials[nesting[level]];
      for (Index v = 0; v < trial.options(); ++v) {
        for (const TrialColumn& column : trial.columns) {
          const auto of = [&](const Eigen::MatrixXf& values) { return &values(first_row, v); };
          const bool coarse = column.low.size() > 0;
          walk.replace(column.variable, coarse ? CellRow(of(column.values), of(column.low), of(column.high))
                                               : CellRow(of(column.values)));
        }
        self(self, level + 1, column + v * stride[nesting[level]]);
      }
    };
    go_through(go_through, 0, 0);
  });
  return out;
}

}  // namespace fansite::flow
