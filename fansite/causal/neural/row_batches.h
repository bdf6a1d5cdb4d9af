// SPDX-License-Identifier: Apache-2.0
//
// A table as small networks are trained on it: standardised, in single precision, handed out in batches of rows that
// come in a new random order each time through.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/base/random.h"

namespace fansite::causal {

class RowBatches {
 public:
  /// These columns with mean 0 and variance 1 (dividing by N); a constant one is 0. Of fewer rows than `batch` there is
  /// one batch, of all. Rows left over are not used this time through.
  RowBatches(const Matrix& values, const std::vector<int>& columns, int batch, Key key);

  int variables() const { return static_cast<int>(values_.rows()); }
  int rows() const { return static_cast<int>(values_.cols()); }
  int batch() const { return batch_; }
  const Eigen::MatrixXf& values() const { return values_; }  ///< variables × rows

  /// Goes from step to step; each piece of work has its own.
  class Cursor {
   public:
    explicit Cursor(const RowBatches& batches) : batches_(batches) {}
    /// The rows of this step's batch, the same for every cursor; until the next call.
    std::span<const int> rows(std::int64_t step);

   private:
    const RowBatches& batches_;
    std::int64_t epoch_ = -1;
    std::vector<int> order_;
  };

 private:
  Eigen::MatrixXf values_;
  int batch_;
  Key key_;
};

}  // namespace fansite::causal
