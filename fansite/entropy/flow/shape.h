// SPDX-License-Identifier: Apache-2.0
//
// The shape of a FANS network: which hidden nodes and outputs exist, and which of them a subset of variables uses.
// Variables and ranks count from 0 here; the paper counts from 1.
#pragma once

#include <span>
#include <vector>

namespace fansite::flow {

/// Variables in ascending order, none twice.
using Subset = std::vector<int>;

struct Shape {
  int variables = 0;  ///< d
  int blocks = 6;     ///< α, hidden nodes of each rank
  int ranks = 0;      ///< R: d−1 is the full version, fewer the compact one
  int outputs = 20;   ///< L, outputs of each variable
  int sigmoids = 4;   ///< k, sigmoids in the map of each variable

  int hidden() const { return blocks * ranks; }
  bool full() const { return ranks == variables - 1; }
  bool operator==(const Shape&) const = default;
};

/// The largest prefix that the paper trains on: M = d−1 up to 20, 20 below 100 variables, 30 from there on.
int paper_max_size(int variables);

/// As in the paper: full with L = 20 below 100 variables, compact with R = 2M and L = 16 from there on.
Shape paper_shape(int variables);

/// The largest set that a search may ask about: with its target, and with one variable more if there is one, the
/// network still has a density for it.
int largest_set(const Shape& shape);

/// Throws a UsageError for a shape that cannot exist.
void validate(const Shape& shape);

/// The ranks of all but the last variable of `subset`, strictly increasing: ⌈R·i/(d−1)⌉ with collisions resolved from
/// the left, then from the right. In the full version a variable's rank is its own number. `ranks` has room for one
/// fewer than the subset has variables; the subset has at most R+1.
void assign_ranks(const Shape& shape, std::span<const int> subset, std::span<int> ranks);
std::vector<int> ranks_of(const Shape& shape, std::span<const int> subset);

}  // namespace fansite::flow
