// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/batch.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <utility>

#include "fansite/base/error.h"
#include "fansite/entropy/flow/base.h"

namespace fansite::flow {
namespace {

// Counts of each key to the place where its entries start, and their total at the end.
void to_starts(std::vector<int>& counts) {
  int end = 0;
  for (int& count : counts) end += std::exchange(count, end);
}

}  // namespace

SubsetSampler::SubsetSampler(int variables, SubsetKind kind, int max_size)
    : variables_(variables),
      kind_(kind),
      max_size_(max_size),
      columns_(variables),
      most_columns_(variables),
      chosen_((static_cast<std::size_t>(std::max(variables, 0)) + 63) / 64) {
  const int least = kind == SubsetKind::leaf ? 0 : 1;
  const int most = kind == SubsetKind::leaf ? variables - 1 : variables;
  check(least <= max_size && max_size <= most, "[flow] subsets of up to {} of {} variables; use {} to {}", max_size,
        variables, least, most);
}

SubsetSampler::SubsetSampler(std::vector<int> first_columns, int columns, SubsetKind kind, int max_size,
                             int most_columns)
    : SubsetSampler(static_cast<int>(first_columns.size()), kind,
                    std::min(max_size, static_cast<int>(first_columns.size()) - (kind == SubsetKind::leaf ? 1 : 0))) {
  columns_ = columns;
  most_columns_ = most_columns;
  first_ = std::move(first_columns);
  first_.push_back(columns);
}

// Variables to their columns. Of a set that is too wide some variables go, whichever chance says; never the last, which
// is the leaf.
void SubsetSampler::expand(Random& random, Subset& subset) const {
  int width = 0;
  for (const int variable : subset) width += this->width(variable);
  while (width > most_columns_ && subset.size() > 1) {
    const auto gone = subset.begin() + random.below(static_cast<std::uint32_t>(subset.size()) - 1);
    width -= this->width(*gone);
    subset.erase(gone);
  }
  const Subset variables = std::exchange(subset, {});
  for (const int variable : variables) {
    for (int k = 0; k < this->width(variable); ++k) {
      subset.push_back(first_[static_cast<std::size_t>(variable)] + k);
    }
  }
}

void SubsetSampler::draw(Random& random, Subset& subset) {
  const bool leaf = kind_ == SubsetKind::leaf;
  const int pool = leaf ? variables_ - 1 : variables_;
  const int size = leaf ? static_cast<int>(random.below(static_cast<std::uint32_t>(max_size_) + 1))
                        : 1 + static_cast<int>(random.below(static_cast<std::uint32_t>(max_size_)));
  // Floyd's method on a set of bits: as many draws as variables, or as those left out if they are fewer.
  const bool inverted = size > pool / 2;
  std::fill(chosen_.begin(), chosen_.end(), 0);
  const auto take = [&](int variable) {
    std::uint64_t& word = chosen_[static_cast<std::size_t>(variable) / 64];
    const std::uint64_t bit = std::uint64_t{1} << (variable % 64);
    const bool fresh = (word & bit) == 0;
    word |= bit;
    return fresh;
  };
  for (int top = pool - (inverted ? pool - size : size); top < pool; ++top) {
    if (!take(static_cast<int>(random.below(static_cast<std::uint32_t>(top) + 1)))) take(top);
  }
  subset.clear();
  for (std::size_t w = 0; w < chosen_.size(); ++w) {
    const int first = static_cast<int>(w) * 64;
    std::uint64_t word = chosen_[w];
    if (inverted)
      word = ~word & (pool - first >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << std::max(pool - first, 0)) - 1);
    for (; word != 0; word &= word - 1) subset.push_back(first + std::countr_zero(word));
  }
  if (leaf) subset.push_back(variables_ - 1);
  if (!first_.empty()) expand(random, subset);
}

void SubsetSampler::draw(Random& random, const CellRow& row, Subset& subset) {
  draw(random, subset);
  const auto absent = [&](int j) { return std::isnan(row.score[j]); };
  std::erase_if(subset, absent);
  if (!subset.empty()) return;
  int held = 0;
  for (int j = 0; j < columns_; ++j) held += absent(j) ? 0 : 1;
  check(held > 0, "[flow] a row without any cell to train on");
  int skip = static_cast<int>(random.below(static_cast<std::uint32_t>(held)));
  for (int j = 0; j < columns_; ++j) {
    if (!absent(j) && skip-- == 0) subset.push_back(j);
  }
}

void Batch::clear() {
  row_start.assign(1, 0);
  row.clear();
  variable.clear();
  rank.clear();
  value.clear();
  innovation.clear();
  low.clear();
  high.clear();
  log_scale = 0;
}

void Batch::add(std::span<const int> subset, const CellRow& cells) {
  assert(!subset.empty());
  const std::size_t first = variable.size();
  const std::size_t end = first + subset.size();
  row.resize(end, rows());
  variable.resize(end);
  value.resize(end);
  innovation.resize(end);
  rank.resize(end, -1);
  assign_ranks(shape, subset, std::span(rank).subspan(first, subset.size() - 1));
  for (std::size_t p = 0; p < subset.size(); ++p) {
    variable[first + p] = subset[p];
    value[first + p] = cells.score[subset[p]];
  }
  const bool based = base != nullptr && !base->empty();
  if (cells.low != nullptr) {
    low.resize(end);
    high.resize(end);
    const GaussianBase none;
    log_scale +=
        (based ? *base : none)
            .innovations(subset, cells, innovation.data() + first, low.data() + first, high.data() + first, scratch);
  } else if (based) {
    log_scale += base->innovations(subset, cells.score, innovation.data() + first, scratch);
  } else {
    std::copy_n(value.data() + first, subset.size(), innovation.data() + first);
  }
  row_start.push_back(terms());
}

void Batch::finish() {
  // A counting sort by variable and by rank at once. Starts are kept one place later, where filling moves them to.
  var_start.assign(static_cast<std::size_t>(shape.variables) + 2, 0);
  rank_start.assign(static_cast<std::size_t>(shape.ranks) + 2, 0);
  const std::size_t count = variable.size();
  for (std::size_t t = 0; t < count; ++t) {
    ++var_start[static_cast<std::size_t>(variable[t]) + 1];
    if (rank[t] >= 0) ++rank_start[static_cast<std::size_t>(rank[t]) + 1];
  }
  to_starts(var_start);
  to_starts(rank_start);
  by_variable.resize(count);
  by_rank.resize(count - static_cast<std::size_t>(rows()));
  for (std::size_t t = 0; t < count; ++t) {
    by_variable[static_cast<std::size_t>(var_start[static_cast<std::size_t>(variable[t]) + 1]++)] = static_cast<int>(t);
    if (rank[t] < 0) continue;
    by_rank[static_cast<std::size_t>(rank_start[static_cast<std::size_t>(rank[t]) + 1]++)] = static_cast<int>(t);
  }
  var_start.pop_back();
  rank_start.pop_back();
}

}  // namespace fansite::flow
