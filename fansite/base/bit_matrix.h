// SPDX-License-Identifier: Apache-2.0
//
// A square matrix of bits, an eighth of a byte each, whose rows are combined 64 entries at a time. Internal.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fansite {

class BitMatrix {
 public:
  BitMatrix() = default;
  explicit BitMatrix(int size)
      : words_((static_cast<std::size_t>(size) + 63) / 64), bits_(static_cast<std::size_t>(size) * words_, 0) {}

  std::size_t words() const { return words_; }  ///< in a row; the bits past the end are 0
  std::uint64_t* row(int i) { return bits_.data() + static_cast<std::size_t>(i) * words_; }
  const std::uint64_t* row(int i) const { return bits_.data() + static_cast<std::size_t>(i) * words_; }
  bool at(int i, int j) const { return (row(i)[word_of(j)] & mask_of(j)) != 0; }
  void set(int i, int j) { row(i)[word_of(j)] |= mask_of(j); }
  void clear(int i, int j) { row(i)[word_of(j)] &= ~mask_of(j); }

  /// visit(j) for each bit of a word that is the `word`-th of a row.
  template <class Visit>
  static void for_each(std::uint64_t bits, std::size_t word, Visit visit) {
    for (; bits != 0; bits &= bits - 1) visit(static_cast<int>(64 * word) + std::countr_zero(bits));
  }

 private:
  static std::size_t word_of(int j) { return static_cast<std::size_t>(j) / 64; }
  static std::uint64_t mask_of(int j) { return std::uint64_t{1} << (static_cast<unsigned>(j) % 64); }

  std::size_t words_ = 0;
  std::vector<std::uint64_t> bits_;
};

}  // namespace fansite
