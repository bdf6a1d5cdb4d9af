// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/neural/row_batches.h"

#include <algorithm>
#include <cmath>

#include "fansite/base/error.h"

namespace fansite::causal {
namespace {

// By the largest number first: squares of 1e300 are none.
Vector standardised(const Vector& column) {
  const double largest = column.cwiseAbs().maxCoeff();
  if (!(largest > 0)) return Vector::Zero(column.size());
  Vector centred = column / largest;
  centred.array() -= centred.mean();
  const double size = centred.cwiseAbs().maxCoeff();
  if (!(size > 0)) return Vector::Zero(column.size());
  centred /= size;
  return centred / std::sqrt(centred.squaredNorm() / static_cast<double>(column.size()));
}

}  // namespace

RowBatches::RowBatches(const Matrix& values, const std::vector<int>& columns, int batch, Key key)
    : values_(static_cast<Index>(columns.size()), values.rows()),
      batch_(static_cast<int>(std::min<Index>(batch, values.rows()))),
      key_(key) {
  check_data(values.rows() >= 2, "[networks] a table of {} row{}; 2 or more are needed", values.rows(),
             values.rows() == 1 ? "" : "s");
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Vector column = values.col(columns[i]);
    check_data(column.allFinite(), "[networks] a value is missing or not finite; drop its row or fill it in");
    values_.row(static_cast<Index>(i)) = standardised(column).cast<float>().transpose();
  }
}

std::span<const int> RowBatches::Cursor::rows(std::int64_t step) {
  const std::int64_t in_epoch = batches_.rows() / batches_.batch_;
  const std::int64_t epoch = step / in_epoch;
  if (epoch != epoch_) {
    order_ = Random(batches_.key_.split(static_cast<std::uint64_t>(epoch))).permutation(batches_.rows());
    epoch_ = epoch;
  }
  const auto size = static_cast<std::size_t>(batches_.batch_);
  return std::span<const int>(order_).subspan(static_cast<std::size_t>(step % in_epoch) * size, size);
}

}  // namespace fansite::causal
