// SPDX-License-Identifier: Apache-2.0
//
// The streams of base/random.h on the device: word i of a key's stream, and Lemire's draw below n.
#pragma once

#include <cstdint>

namespace fansite::cuda {

struct Words {
  std::uint32_t word[4];
};

/// One Philox4x32-10 block.
__device__ inline Words philox(std::uint32_t c0, std::uint32_t c1, std::uint32_t c2, std::uint32_t k0,
                               std::uint32_t k1) {
  std::uint32_t c3 = 0;
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const std::uint32_t a_high = __umulhi(0xD2511F53u, c0), a_low = 0xD2511F53u * c0;
    const std::uint32_t b_high = __umulhi(0xCD9E8D57u, c2), b_low = 0xCD9E8D57u * c2;
    c0 = b_high ^ c1 ^ k0;
    c1 = b_low;
    c2 = a_high ^ c3 ^ k1;
    c3 = a_low;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

struct StreamKey {
  std::uint32_t k0, k1;
};

__device__ inline StreamKey split(unsigned long long key, unsigned long long i) {
  constexpr std::uint32_t kSplit = 0x53504c54;  // as in base/random.cpp
  const Words words = philox(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32), kSplit,
                             static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32));
  return {words.word[0], words.word[1]};
}

/// Blocks of four words, by number.
__device__ inline Words stream_block(StreamKey key, unsigned long long block) {
  return philox(static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, key.k0, key.k1);
}

__device__ inline std::uint32_t stream_word(StreamKey key, long long i) {
  const Words words = stream_block(key, static_cast<unsigned long long>(i) >> 2);
  const int part = static_cast<int>(i & 3);
  return part == 0 ? words.word[0] : part == 1 ? words.word[1] : part == 2 ? words.word[2] : words.word[3];
}

/// The uniform number that Random::uniform makes of the words i and i+1.
__device__ inline double stream_uniform(StreamKey key, long long i) {
  const unsigned long long low = stream_word(key, i), high = stream_word(key, i + 1);
  return static_cast<double>((high << 32 | low) >> 12) * 0x1p-52 + 0x1p-53;
}

/// The words of a stream one after the other, for a warp whose threads all draw the same: each keeps four of 128.
class WarpStream {
 public:
  __device__ explicit WarpStream(StreamKey key) : key_(key) { load(0); }

  __device__ std::uint32_t bits() {
    if (at_ >> 7 != window_) load(at_ >> 7);
    const int place = static_cast<int>(at_ & 127), part = place & 3;
    ++at_;
    const std::uint32_t mine = part == 0   ? words_.word[0]
                               : part == 1 ? words_.word[1]
                               : part == 2 ? words_.word[2]
                                           : words_.word[3];
    return __shfl_sync(0xffffffffu, mine, place >> 2);
  }
  /// Uniform on 0..n−1 (Lemire 2019), as Random::below.
  __device__ std::uint32_t below(std::uint32_t n) {
    unsigned long long product = static_cast<unsigned long long>(bits()) * n;
    if (static_cast<std::uint32_t>(product) <= n) {
      const std::uint32_t reject = (0u - n) % n;
      while (static_cast<std::uint32_t>(product) < reject) product = static_cast<unsigned long long>(bits()) * n;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }
  __device__ long long at() const { return at_; }
  __device__ void skip(long long words) { at_ += words; }

 private:
  __device__ void load(long long window) {
    window_ = window;
    words_ = stream_block(key_, static_cast<unsigned long long>(window) * 32 + (threadIdx.x & 31));
  }

  StreamKey key_;
  Words words_;
  long long at_ = 0, window_ = 0;
};

}  // namespace fansite::cuda
