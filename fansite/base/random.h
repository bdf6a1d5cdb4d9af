// SPDX-License-Identifier: Apache-2.0
//
// Randomness as a value. A Key names a stream of numbers; split it to name others. Nothing is global and nothing
// depends on threads or machines: the same key gives the same bits everywhere (Philox4x32-10, Salmon et al., SC 2011).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace fansite {

/// One Philox4x32-10 block: 128 bits that depend on counter and key alone.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

struct Key {
  std::uint64_t value = 0;  ///< the seed, for the first key

  /// The i-th key under this one; keys with different paths give independent streams.
  Key split(std::uint64_t i) const;
};

/// Draws from the stream of one key, one after the other.
class Random {
 public:
  explicit Random(Key key) : key_(key) {}

  std::uint32_t bits() {
    if (used_ == filled_) refill();
    return buffer_[static_cast<std::size_t>(used_++)];
  }
  /// Uniform on {0, …, n−1}, without bias; n > 0.
  std::uint32_t below(std::uint32_t n) {
    // Lemire (2019): the high word of bits·n is uniform once the few low words that would favour some values are
    // redrawn.
    const std::uint64_t product = std::uint64_t{bits()} * n;
    return static_cast<std::uint32_t>(product) <= n ? redraw(product, n) : static_cast<std::uint32_t>(product >> 32);
  }
  /// Uniform on (0, 1): an odd multiple of 2⁻⁵³, never 0 or 1.
  double uniform();
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  bool coin() { return (bits() & 1u) != 0; }
  double normal();           ///< mean 0, variance 1
  double laplace();          ///< location 0, scale 1, variance 2
  double gumbel();           ///< location 0, scale 1, mean 0.5772, variance π²/6
  double exponential();      ///< mean 1, variance 1
  int poisson(double mean);  ///< in time proportional to the mean

  /// A uniformly random order of 0..n−1.
  std::vector<int> permutation(int n);
  /// k of 0..n−1, every subset equally likely, in ascending order.
  std::vector<int> subset(int n, int k);

 private:
  void refill();
  std::uint32_t redraw(std::uint64_t product, std::uint32_t n);

  Key key_;
  std::uint64_t block_ = 0;  // next counter
  int used_ = 0;             // words of buffer_ already handed out …
  int filled_ = 0;           // … out of so many
  std::array<std::uint32_t, 64> buffer_;
};

}  // namespace fansite
