// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/content_order.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "fansite/base/parallel.h"

namespace fansite {
namespace {

using Keys = std::vector<std::uint64_t>;

// The finaliser of SplitMix64: every bit of the input reaches every bit of the output.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Equal numbers have equal bits: −0 is 0, and all that is missing is alike.
std::uint64_t bits_of(double cell) {
  if (std::isnan(cell)) return ~std::uint64_t{0};
  return std::bit_cast<std::uint64_t>(cell + 0.0);
}

Keys column_keys(const Matrix& values, const Keys& rows) {
  Keys keys(static_cast<std::size_t>(values.cols()), 0);
  parallel_for(values.cols(), [&](std::ptrdiff_t j) {
    std::uint64_t sum = 0;
    for (Index i = 0; i < values.rows(); ++i) sum += mixed(bits_of(values(i, j)) ^ rows[static_cast<std::size_t>(i)]);
    keys[static_cast<std::size_t>(j)] = mixed(sum);
  });
  return keys;
}

// In blocks of rows, so that each thread adds to keys of its own; sums of integers do not depend on the division.
Keys row_keys(const Matrix& values, const Keys& columns) {
  constexpr Index kBlock = 1024;
  Keys keys(static_cast<std::size_t>(values.rows()), 0);
  parallel_for((values.rows() + kBlock - 1) / kBlock, [&](std::ptrdiff_t block) {
    const Index end = std::min(values.rows(), (block + 1) * kBlock);
    for (Index j = 0; j < values.cols(); ++j) {
      for (Index i = block * kBlock; i < end; ++i) {
        keys[static_cast<std::size_t>(i)] += mixed(bits_of(values(i, j)) ^ columns[static_cast<std::size_t>(j)]);
      }
    }
    for (Index i = block * kBlock; i < end; ++i) {
      keys[static_cast<std::size_t>(i)] = mixed(keys[static_cast<std::size_t>(i)]);
    }
  });
  return keys;
}

std::vector<int> sorted_by(const Keys& keys) {
  std::vector<int> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)]; });
  return order;
}

}  // namespace

ContentOrder content_order(const Dataset& data) {
  const Keys rough = row_keys(data.values, Keys(static_cast<std::size_t>(data.values.cols()), 0));
  const Keys rows = row_keys(data.values, column_keys(data.values, rough));
  return {.rows = sorted_by(rows), .columns = sorted_by(column_keys(data.values, rows))};
}

Dataset in_order(const Dataset& data, const ContentOrder& order) {
  Dataset ordered = data;
  for (std::size_t j = 0; j < order.columns.size(); ++j) {
    const auto from = static_cast<std::size_t>(order.columns[j]);
    ordered.names[j] = data.names[from];
    if (!data.columns.empty()) ordered.columns[j] = data.columns[from];
  }
  parallel_for(data.variables(), [&](std::ptrdiff_t j) {
    ordered.values.col(j) = data.values.col(order.columns[static_cast<std::size_t>(j)])(order.rows);
  });
  if (data.weights.size() > 0) ordered.weights = data.weights(order.rows);
  std::unordered_map<int, int> number_of;
  for (std::size_t i = 0; i < data.groups.size(); ++i) {
    const int group = data.groups[static_cast<std::size_t>(order.rows[i])];
    ordered.groups[i] = number_of.emplace(group, static_cast<int>(number_of.size())).first->second;
  }
  return ordered;
}

std::vector<int> inverse(const std::vector<int>& permutation) {
  std::vector<int> places(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    places[static_cast<std::size_t>(permutation[i])] = static_cast<int>(i);
  }
  return places;
}

}  // namespace fansite
