// SPDX-License-Identifier: Apache-2.0
//
// Numbers that other data almost surely do not have, the same on every machine.
#pragma once

#include <cstdint>
#include <string_view>

#include "fansite/base/matrix.h"

namespace fansite {

// FNV-1a, a number at a time, with a fold so that high bits reach low ones.
class Hash {
 public:
  void add(std::uint64_t number) {
    state_ = (state_ ^ number) * 0x100000001b3u;
    state_ ^= state_ >> 32;
  }
  void add(std::string_view text) {
    add(text.size());
    for (const char c : text) add(static_cast<unsigned char>(c));
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

std::uint64_t hash_of(const MatrixView& values);  ///< bit by bit
std::uint64_t hash_of(std::string_view bytes);

}  // namespace fansite
