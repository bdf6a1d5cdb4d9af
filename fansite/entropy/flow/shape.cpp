// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/shape.h"

#include <algorithm>
#include <cassert>

#include "fansite/base/error.h"

namespace fansite::flow {

int paper_max_size(int variables) { return std::min(variables - 1, variables < 100 ? 20 : 30); }

Shape paper_shape(int variables) {
  check(variables > 0, "[flow] a flow needs at least one variable, got {}", variables);
  Shape shape;
  shape.variables = variables;
  shape.ranks = variables - 1;
  if (variables >= 100) {
    shape.ranks = 2 * paper_max_size(variables);
    shape.outputs = 16;
  }
  return shape;
}

int largest_set(const Shape& shape) { return shape.full() ? shape.variables - 1 : shape.ranks - 1; }

void validate(const Shape& shape) {
  check(shape.variables > 0, "[flow] a flow needs at least one variable, got {}", shape.variables);
  check(shape.blocks > 0 && shape.blocks <= 1024, "[flow] {} blocks; use 1 to 1024", shape.blocks);
  check(shape.outputs > 0 && shape.outputs <= 1024, "[flow] {} outputs per variable; use 1 to 1024", shape.outputs);
  check(shape.sigmoids > 0 && shape.sigmoids <= 16, "[flow] {} sigmoids; use 1 to 16", shape.sigmoids);
  const int least = std::min(1, shape.variables - 1);
  check(least <= shape.ranks && shape.ranks < shape.variables, "[flow] {} ranks for {} variables; use {} to {}",
        shape.ranks, shape.variables, least, shape.variables - 1);
}

void assign_ranks(const Shape& shape, std::span<const int> subset, std::span<int> ranks) {
  const int count = static_cast<int>(subset.size()) - 1;
  assert(count <= shape.ranks && static_cast<int>(ranks.size()) >= count);
  if (shape.full()) {
    std::copy_n(subset.begin(), std::max(count, 0), ranks.begin());
    return;
  }
  const long long slots = shape.variables - 1;
  int next = 0;  // from the left: a taken rank moves the later ones up …
  for (int p = 0; p < count; ++p) {
    const long long scaled = static_cast<long long>(shape.ranks) * (subset[static_cast<std::size_t>(p)] + 1);
    const int rank = std::max(next, static_cast<int>((scaled + slots - 1) / slots) - 1);
    ranks[static_cast<std::size_t>(p)] = rank;
    next = rank + 1;
  }
  int last = shape.ranks - 1;  // … and from the right: what went past the end moves down
  for (int p = count - 1; p >= 0 && ranks[static_cast<std::size_t>(p)] > last; --p, --last) {
    ranks[static_cast<std::size_t>(p)] = last;
  }
}

std::vector<int> ranks_of(const Shape& shape, std::span<const int> subset) {
  check(!subset.empty(), "[flow] the empty subset has no ranks");
  check(static_cast<int>(subset.size()) <= shape.ranks + 1,
        "[flow] a subset of {} variables; a flow with {} ranks allows {}", subset.size(), shape.ranks, shape.ranks + 1);
  std::vector<int> ranks(subset.size() - 1);
  assign_ranks(shape, subset, ranks);
  return ranks;
}

}  // namespace fansite::flow
