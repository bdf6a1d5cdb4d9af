// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/neural/detail/networks.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "fansite/base/parallel.h"
#include "fansite/causal/neural/detail/networks_kernel.h"

namespace fansite::causal {
namespace {

// Scratch of the thread, kept from one call to the next: a call takes some 20 µs.
double* scratch(Index size) {
  thread_local hwy::AlignedFreeUniquePtr<double[]> memory;
  thread_local Index room = 0;
  if (room < size) {
    memory = hwy::AllocateAligned<double>(static_cast<std::size_t>(size));
    room = size;
  }
  return memory.get();
}

}  // namespace

NetworkRows::NetworkRows(Index rows, Index variables)
    : rows_(rows),
      variables_(variables),
      room_(blocks()),
      values_(hwy::AllocateAligned<double>(
          static_cast<std::size_t>(std::max<Index>(1, room_ * variables * kernel::kErrorStride)))) {
  std::fill_n(values_.get(), room_ * variables * kernel::kErrorStride, 0.0);
}

NetworkRows::NetworkRows(const MatrixView& values) : NetworkRows(values.rows(), values.cols()) {
  std::vector<int> order(static_cast<std::size_t>(rows_));
  std::iota(order.begin(), order.end(), 0);
  fill(values, order);
}

Index NetworkRows::blocks() const { return (rows_ + kernel::kErrorRows - 1) / kernel::kErrorRows; }
Index NetworkRows::rows_of(Index block) const {
  return std::min(kernel::kErrorRows, rows_ - block * kernel::kErrorRows);
}
const double* NetworkRows::values(Index block) const { return place(block * kernel::kErrorRows, 0); }
double* NetworkRows::place(Index row, Index variable) const {
  const Index block = row / kernel::kErrorRows;
  return values_.get() + (block * variables_ + variable) * kernel::kErrorStride + row % kernel::kErrorRows;
}

void NetworkRows::fill(const MatrixView& values, std::span<const int> order) {
  rows_ = static_cast<Index>(order.size());
  assert(values.cols() == variables_ && blocks() <= room_);
  for (Index block = 0; block < blocks(); ++block) {
    const int* from = order.data() + block * kernel::kErrorRows;
    const Index size = rows_of(block);
    for (Index j = 0; j < variables_; ++j) {
      const double* column = values.col(j).data();
      double* to = place(block * kernel::kErrorRows, j);
      for (Index k = 0; k < size; ++k) to[k] = column[from[k]];
      std::fill(to + size, to + kernel::kErrorRows, 0.0);
    }
  }
}

SquaredError::SquaredError(const NetworksShape& shape, Team* team)
    : shape_(shape), team_(team), errors_(static_cast<std::size_t>(shape.variables)) {}

// Every variable has sums of its own, block after block; which thread they are taken by does not matter.
void SquaredError::of_children(const NetworkRows& rows, std::span<const double> parameters, std::span<double> gradient,
                               Index first, Index last) {
  kernel::ErrorChild child;
  child.inputs = shape_.variables;
  child.hidden = shape_.hidden;
  child.scratch = scratch(kernel::error_scratch(shape_.hidden));
  std::fill(errors_.begin() + first, errors_.begin() + last, 0.0);
  if (!gradient.empty()) {
    std::fill(gradient.begin() + shape_.weights(first), gradient.begin() + shape_.weights(last), 0.0);
  }
  for (Index block = 0; block < rows.blocks(); ++block) {
    child.values = rows.values(block);
    child.rows = rows.rows_of(block);
    for (Index j = first; j < last; ++j) {
      child.variable = static_cast<int>(j);
      child.parameters = parameters.data() + shape_.weights(j);
      child.gradient = gradient.empty() ? nullptr : gradient.data() + shape_.weights(j);
      errors_[static_cast<std::size_t>(j)] += kernel::half_squared_error(child);
    }
  }
}

double SquaredError::operator()(const NetworkRows& rows, std::span<const double> parameters, std::span<double> gradient,
                                const std::function<void()>& beside) {
  assert(static_cast<Index>(parameters.size()) == shape_.size());
  // Children that read a block one after the other find it in the cache; four groups a thread keep all of them busy.
  const Index threads = team_ != nullptr ? team_->size() : 1;
  const Index group = std::clamp<Index>(shape_.variables / (4 * threads), 1, 8);
  const int groups = static_cast<int>((shape_.variables + group - 1) / group), first = beside ? 1 : 0;
  const auto piece = [&](int place) {
    if (place < first) return beside();
    const Index from = (place - first) * group;
    of_children(rows, parameters, gradient, from, std::min(from + group, shape_.variables));
  };
  if (team_ != nullptr) {
    team_->run(groups + first, piece);
  } else {
    for (int i = 0; i < groups + first; ++i) piece(i);
  }
  double sum = 0;
  for (const double error : errors_) sum += error;
  return sum;
}

double squared_error_reference(const NetworksShape& shape, const MatrixView& values, std::span<const double> parameters,
                               std::span<double> gradient) {
  std::fill(gradient.begin(), gradient.end(), 0.0);
  const auto at = [&](Index place) { return parameters[static_cast<std::size_t>(place)]; };
  const auto add = [&](Index place, double value) {
    if (!gradient.empty()) gradient[static_cast<std::size_t>(place)] += value;
  };
  const Index d = shape.variables;
  const int h = shape.hidden;
  std::vector<double> hidden(static_cast<std::size_t>(h));
  double error = 0;
  for (Index n = 0; n < values.rows(); ++n) {
    for (Index j = 0; j < d; ++j) {
      double output = at(shape.output_bias(j));
      for (int k = 0; k < h; ++k) {
        double z = at(shape.biases(j) + k);
        for (Index i = 0; i < d; ++i) z += values(n, i) * at(shape.weights(j) + i * h + k);
        hidden[static_cast<std::size_t>(k)] = 1 / (1 + std::exp(-z));
        output += at(shape.output_weights(j) + k) * hidden[static_cast<std::size_t>(k)];
      }
      const double r = output - values(n, j);
      error += 0.5 * r * r;
      add(shape.output_bias(j), r);
      for (int k = 0; k < h; ++k) {
        const double unit = hidden[static_cast<std::size_t>(k)];
        const double by_sum = r * at(shape.output_weights(j) + k) * unit * (1 - unit);
        add(shape.output_weights(j) + k, r * unit);
        add(shape.biases(j) + k, by_sum);
        for (Index i = 0; i < d; ++i) add(shape.weights(j) + i * h + k, by_sum * values(n, i));
      }
    }
  }
  return error;
}

}  // namespace fansite::causal
