// SPDX-License-Identifier: Apache-2.0
//
// Remembers what questions about few variables were answered. Safe to use from several threads. Answers must be
// functions of the key alone: which of them are remembered depends on the threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fansite {

template <class Answer>
class QueryCache {
 public:
  using Key = std::vector<int>;

  /// Of a pair, in either order, or of one variable, with others in any order.
  static Key key(int a, int b, std::span<const int> others) { return sorted({std::min(a, b), std::max(a, b)}, others); }
  static Key key(int variable, std::span<const int> others) { return sorted({variable}, others); }

  /// The answer to a question, from memory or from `compute()`.
  template <class Compute>
  Answer get(Key key, const Compute& compute) const {
    Shard& shard = shards_[Hash{}(key) % kShards];
    {
      const std::lock_guard lock(shard.mutex);
      const auto known = shard.answers.find(key);
      if (known != shard.answers.end()) return known->second;
    }
    const Answer answer = compute();
    const std::lock_guard lock(shard.mutex);
    if (shard.answers.size() < kMost) shard.answers.emplace(std::move(key), answer);
    return answer;
  }

 private:
  static constexpr std::size_t kShards = 16;     // so that threads seldom wait for each other
  static constexpr std::size_t kMost = 1 << 16;  // in a shard: 100 MB in all, then nothing more is remembered

  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t h = 0xcbf29ce484222325;
      for (const int v : key) h = (h ^ static_cast<std::uint64_t>(v)) * 0x9e3779b97f4a7c15;
      return static_cast<std::size_t>(h ^ (h >> 32));
    }
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<Key, Answer, Hash> answers;
  };

  static Key sorted(Key first, std::span<const int> others) {
    const auto fixed = static_cast<std::ptrdiff_t>(first.size());
    first.insert(first.end(), others.begin(), others.end());
    std::sort(first.begin() + fixed, first.end());
    return first;
  }

  mutable std::array<Shard, kShards> shards_;
};

}  // namespace fansite
