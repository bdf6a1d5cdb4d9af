// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/random.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "fansite/base/detail/vectorise.h"
#include "fansite/base/error.h"
#include "fansite/base/special.h"

namespace fansite {
namespace {

// The third counter word keeps the blocks that derive keys apart from those that give numbers.
constexpr std::uint32_t kDraw = 0;
constexpr std::uint32_t kSplit = 0x53504c54;  // "SPLT"

std::array<std::uint32_t, 4> block(Key key, std::uint64_t counter, std::uint32_t purpose) {
  return philox({static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), purpose, 0},
                {static_cast<std::uint32_t>(key.value), static_cast<std::uint32_t>(key.value >> 32)});
}

constexpr int kBlocks = 16;

// Blocks counter .. counter+15 of a stream, side by side.
FANSITE_VECTOR_CLONES void fill_blocks(Key key, std::uint64_t counter, std::uint32_t* out) {
  std::uint32_t c0[kBlocks], c1[kBlocks], c2[kBlocks], c3[kBlocks];
  for (int i = 0; i < kBlocks; ++i) {
    const std::uint64_t at = counter + static_cast<std::uint64_t>(i);
    c0[i] = static_cast<std::uint32_t>(at);
    c1[i] = static_cast<std::uint32_t>(at >> 32);
    c2[i] = kDraw;
    c3[i] = 0;
  }
  std::uint32_t k0 = static_cast<std::uint32_t>(key.value), k1 = static_cast<std::uint32_t>(key.value >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kBlocks; ++i) {
      const std::uint32_t a_high = static_cast<std::uint32_t>(std::uint64_t{0xD2511F53u} * c0[i] >> 32);
      const std::uint32_t b_high = static_cast<std::uint32_t>(std::uint64_t{0xCD9E8D57u} * c2[i] >> 32);
      const std::uint32_t a_low = 0xD2511F53u * c0[i], b_low = 0xCD9E8D57u * c2[i];
      c0[i] = b_high ^ c1[i] ^ k0;
      c1[i] = b_low;
      c2[i] = a_high ^ c3[i] ^ k1;
      c3[i] = a_low;
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  for (int i = 0; i < kBlocks; ++i) {
    out[4 * i] = c0[i];
    out[4 * i + 1] = c1[i];
    out[4 * i + 2] = c2[i];
    out[4 * i + 3] = c3[i];
  }
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

Key Key::split(std::uint64_t i) const {
  const auto words = block(*this, i, kSplit);
  return {words[0] | std::uint64_t{words[1]} << 32};
}

// One block for a stream's first words, many at once for those after: most streams are short, long ones must be fast.
void Random::refill() {
  if (block_ == 0) {
    const auto words = block(key_, block_++, kDraw);
    std::copy(words.begin(), words.end(), buffer_.begin());
    filled_ = 4;
  } else {
    fill_blocks(key_, block_, buffer_.data());
    block_ += kBlocks;
    filled_ = 4 * kBlocks;
  }
  used_ = 0;
}

std::uint32_t Random::redraw(std::uint64_t product, std::uint32_t n) {
  check(n > 0, "[random] below(0) has no value to draw");
  const std::uint32_t reject = (0u - n) % n;
  while (static_cast<std::uint32_t>(product) < reject) product = std::uint64_t{bits()} * n;
  return static_cast<std::uint32_t>(product >> 32);
}

double Random::uniform() {
  const std::uint64_t low = bits();
  const std::uint64_t high = bits();
  const std::uint64_t word = (high << 32 | low) >> 12;  // 52 bits: with 53 the largest value would round to 1
  return static_cast<double>(word) * 0x1p-52 + 0x1p-53;
}

double Random::normal() { return normal_quantile(uniform()); }

double Random::laplace() {
  const double u = uniform() - 0.5;
  return u < 0 ? portable::log(1.0 + 2.0 * u) : -portable::log(1.0 - 2.0 * u);
}

double Random::gumbel() { return -portable::log(-portable::log(uniform())); }

double Random::exponential() { return -portable::log(uniform()); }

int Random::poisson(double mean) {  // events before the time `mean`, by the gaps between them
  int events = -1;
  for (double time = 0; time < mean; time += exponential()) ++events;
  return std::max(events, 0);
}

std::vector<int> Random::permutation(int n) {
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[below(static_cast<std::uint32_t>(i))]);
  }
  return order;
}

std::vector<int> Random::subset(int n, int k) {
  check(0 <= k && k <= n, "[random] a subset of {} out of {} does not exist", k, n);
  // Floyd's method: k draws whatever n is.
  std::unordered_set<int> chosen;
  for (int top = n - k; top < n; ++top) {
    const int draw = static_cast<int>(below(static_cast<std::uint32_t>(top) + 1));
    if (!chosen.insert(draw).second) chosen.insert(top);
  }
  std::vector<int> result(chosen.begin(), chosen.end());
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace fansite
