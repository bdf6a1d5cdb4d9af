// SPDX-License-Identifier: Apache-2.0
//
// Numbers below 1e-38 make an instruction a hundred times slower and nothing here more accurate.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace fansite::flow {

/// While it lives, denormal numbers of this thread count as 0.
class FlushDenormals {
 public:
#if defined(__x86_64__)
  FlushDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | kFlushToZero | kDenormalsAreZero); }
  ~FlushDenormals() { _mm_setcsr(before_); }

 private:
  static constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;
  unsigned before_;

 public:
#else
  FlushDenormals() {}  // Arm's vector units are not slowed down by them
  ~FlushDenormals() {}
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;
};

}  // namespace fansite::flow
