// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/neural/detail/networks.h"

#include <algorithm>
#include <cassert>
#include <cmath>

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
      stride_((rows + kernel::kErrorRowStep - 1) / kernel::kErrorRowStep * kernel::kErrorRowStep),
      values_(hwy::AllocateAligned<double>(static_cast<std::size_t>(std::max<Index>(1, stride_ * variables)))) {
  std::fill_n(values_.get(), stride_ * variables, 0.0);
}

NetworkRows::NetworkRows(const MatrixView& values) : NetworkRows(values.rows(), values.cols()) {
  for (Index j = 0; j < variables_; ++j) std::copy_n(values.col(j).data(), rows_, values_.get() + j * stride_);
}

void NetworkRows::fill(const MatrixView& values, std::span<const int> order) {
  assert(values.cols() == variables_ && static_cast<Index>(order.size()) <= stride_);
  rows_ = static_cast<Index>(order.size());
  for (Index j = 0; j < variables_; ++j) {
    const double* column = values.col(j).data();
    double* to = values_.get() + j * stride_;
    for (Index k = 0; k < rows_; ++k) to[k] = column[order[static_cast<std::size_t>(k)]];
    std::fill(to + rows_, to + stride_, 0.0);
  }
}

SquaredError::SquaredError(const NetworksShape& shape, Team* team)
    : shape_(shape), team_(team), errors_(static_cast<std::size_t>(shape.variables)) {}

double SquaredError::operator()(const NetworkRows& rows, std::span<const double> parameters, std::span<double> gradient,
                                const std::function<void()>& beside) {
  assert(static_cast<Index>(parameters.size()) == shape_.size());
  const int children = static_cast<int>(shape_.variables), first = beside ? 1 : 0;
  const auto piece = [&](int place) {
    if (place < first) return beside();
    const int j = place - first;
    kernel::ErrorChild child;
    child.variable = j;
    child.inputs = shape_.variables;
    child.hidden = shape_.hidden;
    child.values = rows.values();
    child.stride = rows.stride();
    child.rows = rows.rows();
    child.parameters = parameters.data() + shape_.weights(j);
    child.gradient = gradient.empty() ? nullptr : gradient.data() + shape_.weights(j);
    child.scratch = scratch(kernel::error_scratch(shape_.hidden));
    errors_[static_cast<std::size_t>(j)] = kernel::half_squared_error(child);
  };
  if (team_ != nullptr) {
    team_->run(children + first, piece);
  } else {
    for (int i = 0; i < children + first; ++i) piece(i);
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
