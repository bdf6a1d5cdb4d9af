// SPDX-License-Identifier: Apache-2.0
//
// What is computed: column k of L is (K[:, p] − Σ_{t<k} L[p, t] L[:, t]) / √v_p, terms subtracted in ascending t, where
// p has the largest remaining variance v_p. Each entry has its own fixed chain of operations, so how the work is cut
// into batches, blocks, threads and vectors does not change a bit.
//
// How it is made fast: one column at a time, the sum above reads all of L for every column and waits for memory. So the
// sums of a whole batch of likely next pivots are brought up to date together, reading L once; when the true next pivot
// is not in the batch, a new batch is made. Rows move to the front as they become pivots, so that only those still
// random are worked on.
#include "fansite/simulate/detail/gaussian_process.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "fansite/base/detail/vectorise.h"
#include "fansite/base/parallel.h"
#include "fansite/base/special.h"

namespace fansite {
namespace {

constexpr double kVarianceLeft = 1e-12;
constexpr std::ptrdiff_t kLanes = 256;  // rows of a block: a column of it is 2 KB, four and their factors fit L1
constexpr std::ptrdiff_t kSteps = 64;   // columns of L that a block reuses from L2
constexpr std::ptrdiff_t kSmallBatch = 8;
constexpr std::ptrdiff_t kLargeBatch = 64;
constexpr std::ptrdiff_t kTogether = 4;  // columns that share each value of L once it is in a register

std::size_t at(std::ptrdiff_t i) { return static_cast<std::size_t>(i); }

// ---- Element-wise kernels -------------------------------------------------------------------------------------------

// columns[c] −= Σ_t factor[t] · coefficients[t][c] for kTogether columns, t ascending.
FANSITE_VECTOR_CLONES void subtract_from_four(double* __restrict columns, const double* __restrict factor,
                                              const double* __restrict coefficients, std::ptrdiff_t steps) {
  std::ptrdiff_t t = 0;
  for (; t + 4 <= steps; t += 4) {
    const double* __restrict l = factor + t * kLanes;
    const double* __restrict w = coefficients + t * kTogether;
    const double w00 = w[0], w01 = w[1], w02 = w[2], w03 = w[3], w10 = w[4], w11 = w[5], w12 = w[6], w13 = w[7];
    const double w20 = w[8], w21 = w[9], w22 = w[10], w23 = w[11], w30 = w[12], w31 = w[13], w32 = w[14], w33 = w[15];
    for (std::ptrdiff_t i = 0; i < kLanes; ++i) {
      const double l0 = l[i], l1 = l[kLanes + i], l2 = l[2 * kLanes + i], l3 = l[3 * kLanes + i];
      columns[i] = (((columns[i] - l0 * w00) - l1 * w10) - l2 * w20) - l3 * w30;
      columns[kLanes + i] = (((columns[kLanes + i] - l0 * w01) - l1 * w11) - l2 * w21) - l3 * w31;
      columns[2 * kLanes + i] = (((columns[2 * kLanes + i] - l0 * w02) - l1 * w12) - l2 * w22) - l3 * w32;
      columns[3 * kLanes + i] = (((columns[3 * kLanes + i] - l0 * w03) - l1 * w13) - l2 * w23) - l3 * w33;
    }
  }
  for (; t < steps; ++t) {
    const double* __restrict l = factor + t * kLanes;
    for (std::ptrdiff_t c = 0; c < kTogether; ++c) {
      const double w = coefficients[t * kTogether + c];
      for (std::ptrdiff_t i = 0; i < kLanes; ++i) columns[c * kLanes + i] -= l[i] * w;
    }
  }
}

// column −= Σ_t factor[t] · coefficients[t], t ascending.
FANSITE_VECTOR_CLONES void subtract_from_one(double* __restrict column, const double* __restrict factor,
                                             const double* __restrict coefficients, std::ptrdiff_t steps) {
  std::ptrdiff_t t = 0;
  for (; t + 4 <= steps; t += 4) {
    const double* __restrict l = factor + t * kLanes;
    const double w0 = coefficients[t], w1 = coefficients[t + 1], w2 = coefficients[t + 2], w3 = coefficients[t + 3];
    for (std::ptrdiff_t i = 0; i < kLanes; ++i) {
      column[i] = (((column[i] - l[i] * w0) - l[kLanes + i] * w1) - l[2 * kLanes + i] * w2) - l[3 * kLanes + i] * w3;
    }
  }
  for (; t < steps; ++t) {
    for (std::ptrdiff_t i = 0; i < kLanes; ++i) column[i] -= factor[t * kLanes + i] * coefficients[t];
  }
}

FANSITE_VECTOR_CLONES void add_square_distance(double* __restrict sum, const double* __restrict x, double centre) {
  for (std::ptrdiff_t i = 0; i < kLanes; ++i) sum[i] += (x[i] - centre) * (x[i] - centre);
}

// Squared distances to kernel values. From e^−700 on the kernel is 0 to any purpose, so it is not followed further
// down.
FANSITE_VECTOR_CLONES void to_kernel(double* __restrict values) {
  for (std::ptrdiff_t i = 0; i < kLanes; ++i) values[i] = values[i] < 1400.0 ? -0.5 * values[i] : -700.0;
  portable::exp(values, kLanes);
}

// A finished column: scaled to L, its squares off the variances, its share of the draw added.
FANSITE_VECTOR_CLONES void finish_column(double* __restrict column, double* __restrict variance,
                                         double* __restrict draw, double root, double z) {
  for (std::ptrdiff_t i = 0; i < kLanes; ++i) {
    column[i] = column[i] / root;
    variance[i] -= column[i] * column[i];
    draw[i] += column[i] * z;
  }
}

// ---- The factor -----------------------------------------------------------------------------------------------------

// A place is where a row stands now: places before step() hold the pivots, in order.
class PivotedDraw {
 public:
  PivotedDraw(const std::vector<const double*>& inputs, Index points, const Progress& progress)
      : progress_(progress), points_(points), blocks_((points + kLanes - 1) / kLanes) {
    const std::size_t padded = at(blocks_ * kLanes);
    row_at_.resize(padded);
    std::iota(row_at_.begin(), row_at_.end(), 0);
    variance_.assign(padded, 1.0);
    draw_.assign(padded, 0.0);
    slot_at_.assign(padded, -1);
    for (const double* input : inputs) {
      coordinates_.emplace_back(padded, 0.0);
      std::copy(input, input + points, coordinates_.back().begin());
    }
    factor_.resize(at(blocks_));
    batch_.resize(at(blocks_));
  }

  Vector run(Key key) {
    Random random(key);
    while (step_ < points_) {
      throw_if_interrupted(progress_);
      const std::ptrdiff_t pivot = largest_variance();
      if (variance_[at(pivot)] < kVarianceLeft) break;
      if (slot_at_[at(pivot)] < 0) make_batch();
      move_to_front(pivot);
      append_column(random.normal());
    }
    Vector result(points_);
    for (std::ptrdiff_t place = 0; place < points_; ++place) result(row_at_[at(place)]) = draw_[at(place)];
    return result;
  }

 private:
  // Whether the row at place a is a better pivot than the one at place b.
  bool before(std::ptrdiff_t a, std::ptrdiff_t b) const {
    if (variance_[at(a)] != variance_[at(b)]) return variance_[at(a)] > variance_[at(b)];
    return row_at_[at(a)] < row_at_[at(b)];
  }

  std::ptrdiff_t largest_variance() const {
    std::ptrdiff_t best = step_;
    for (std::ptrdiff_t place = step_ + 1; place < points_; ++place) {
      if (variance_[at(place)] >= variance_[at(best)] && before(place, best)) best = place;
    }
    return best;
  }

  double factor(std::ptrdiff_t place, std::ptrdiff_t t) const {
    return factor_[at(place / kLanes)][at(t * kLanes + place % kLanes)];
  }

  // Starts the columns of the most likely next pivots: kernel values less all of L so far.
  void make_batch() {
    std::vector<std::ptrdiff_t> candidates(at(points_ - step_));
    std::iota(candidates.begin(), candidates.end(), step_);
    // Twice what was of use last time: smooth functions use few of a batch, rough ones nearly all.
    std::ptrdiff_t size = std::clamp(2 * (step_ - batch_step_), kSmallBatch, kLargeBatch);
    size = std::min(size, points_ - step_);
    std::nth_element(candidates.begin(), candidates.begin() + (size - 1), candidates.end(),
                     [&](std::ptrdiff_t a, std::ptrdiff_t b) { return before(a, b); });
    candidates.resize(at(size));
    std::fill(slot_at_.begin(), slot_at_.end(), -1);
    batch_step_ = step_;

    // Coefficients L[candidate, t] in the order in which the kernel reads them; a group that is not full is filled with
    // 0.
    const std::ptrdiff_t groups = (size + kTogether - 1) / kTogether;
    std::vector<double> coefficients(at(groups * step_ * kTogether), 0.0);
    for (std::ptrdiff_t slot = 0; slot < size; ++slot) {
      slot_at_[at(candidates[at(slot)])] = static_cast<int>(slot);
      double* target = coefficients.data() + slot / kTogether * step_ * kTogether + slot % kTogether;
      for (std::ptrdiff_t t = 0; t < step_; ++t) target[t * kTogether] = factor(candidates[at(slot)], t);
    }

    const std::ptrdiff_t first = step_ / kLanes;
    parallel_for(blocks_ - first, [&](std::ptrdiff_t i) {
      const std::ptrdiff_t block = first + i;
      std::vector<double>& columns = batch_[at(block)];
      columns.assign(at(groups * kTogether * kLanes), 0.0);
      for (std::ptrdiff_t slot = 0; slot < size; ++slot) {
        double* column = columns.data() + slot * kLanes;
        for (const std::vector<double>& x : coordinates_) {
          add_square_distance(column, x.data() + block * kLanes, x[at(candidates[at(slot)])]);
        }
        to_kernel(column);
      }
      for (std::ptrdiff_t t = 0; t < step_; t += kSteps) {
        throw_if_interrupted(progress_);
        const std::ptrdiff_t steps = std::min(kSteps, step_ - t);
        for (std::ptrdiff_t group = 0; group < groups; ++group) {
          subtract_from_four(columns.data() + group * kTogether * kLanes, factor_[at(block)].data() + t * kLanes,
                             coefficients.data() + (group * step_ + t) * kTogether, steps);
        }
      }
    });
  }

  // Exchanges the rows at `place` and at the current step in everything that is kept by place.
  void move_to_front(std::ptrdiff_t place) {
    if (place == step_) return;
    const std::size_t a = at(place), b = at(step_);
    std::swap(row_at_[a], row_at_[b]);
    std::swap(variance_[a], variance_[b]);
    std::swap(draw_[a], draw_[b]);
    std::swap(slot_at_[a], slot_at_[b]);
    for (std::vector<double>& x : coordinates_) std::swap(x[a], x[b]);
    const auto exchange = [&](std::vector<std::vector<double>>& columns) {
      std::vector<double>& from = columns[at(place / kLanes)];
      std::vector<double>& to = columns[at(step_ / kLanes)];
      const std::size_t from_lane = at(place % kLanes), to_lane = at(step_ % kLanes);
      for (std::size_t offset = 0; offset < to.size(); offset += kLanes) {
        std::swap(from[offset + from_lane], to[offset + to_lane]);
      }
    };
    exchange(factor_);
    exchange(batch_);
  }

  // Column step_ of L, whose pivot stands at place step_: what the batch lacks since it was made, then the scaling.
  void append_column(double z) {
    const std::ptrdiff_t slot = slot_at_[at(step_)], missing = step_ - batch_step_;
    const double root = std::sqrt(variance_[at(step_)]);
    double coefficients[kLargeBatch];  // a batch serves at most as many steps as it has columns
    for (std::ptrdiff_t t = 0; t < missing; ++t) coefficients[t] = factor(step_, batch_step_ + t);
    const std::ptrdiff_t first = step_ / kLanes;
    for (std::ptrdiff_t block = first; block < blocks_; ++block) {
      double* column = batch_[at(block)].data() + slot * kLanes;
      subtract_from_one(column, factor_[at(block)].data() + batch_step_ * kLanes, coefficients, missing);
      if (block == first) {  // rows that were pivots before have no share in this column
        std::fill(column, column + step_ % kLanes, 0.0);
      }
      finish_column(column, variance_.data() + block * kLanes, draw_.data() + block * kLanes, root, z);
      factor_[at(block)].insert(factor_[at(block)].end(), column, column + kLanes);
    }
    ++step_;
  }

  const Progress& progress_;
  std::ptrdiff_t points_, blocks_;
  std::ptrdiff_t step_ = 0, batch_step_ = 0;      // columns of L so far, and when the batch was made
  std::vector<Index> row_at_;                     // place → row of the caller
  std::vector<double> variance_, draw_;           // by place
  std::vector<int> slot_at_;                      // place → column of the batch, or −1
  std::vector<std::vector<double>> coordinates_;  // [input][place]
  std::vector<std::vector<double>> factor_;       // [block][column of L · kLanes + lane]
  std::vector<std::vector<double>> batch_;        // [block][slot · kLanes + lane]
};

}  // namespace

Vector draw_gaussian_process(const std::vector<const double*>& inputs, Index points, Key key,
                             const Progress& progress) {
  return PivotedDraw(inputs, points, progress).run(key);
}

}  // namespace fansite
