// SPDX-License-Identifier: Apache-2.0
#include "cli/fma_peak.h"
#include "fansite/base/stopwatch.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cli/fma_peak.cpp"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fansite::cli::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Operations of `rounds` rounds; the sum goes to `sink` so that none can be left out.
double multiply_add(long rounds, float* sink) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, 0.999f), term = hn::Set(d, 0.001f);
  // Ten sums in flight: two a cycle with a latency of four, and two to spare.
  // All different, or the compiler would compute one of them.
  const auto start = [&](float i) HWY_ATTR { return hn::Set(d, sink[0] + i); };
  auto s0 = start(0), s1 = start(1), s2 = start(2), s3 = start(3), s4 = start(4);
  auto s5 = start(5), s6 = start(6), s7 = start(7), s8 = start(8), s9 = start(9);
  for (long i = 0; i < rounds; ++i) {
    s0 = hn::MulAdd(s0, factor, term);
    s1 = hn::MulAdd(s1, factor, term);
    s2 = hn::MulAdd(s2, factor, term);
    s3 = hn::MulAdd(s3, factor, term);
    s4 = hn::MulAdd(s4, factor, term);
    s5 = hn::MulAdd(s5, factor, term);
    s6 = hn::MulAdd(s6, factor, term);
    s7 = hn::MulAdd(s7, factor, term);
    s8 = hn::MulAdd(s8, factor, term);
    s9 = hn::MulAdd(s9, factor, term);
  }
  const auto sum = hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(hn::Add(s4, s5), hn::Add(s6, s7)));
  sink[0] = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum, hn::Add(s8, s9)))) * 1e-6f;
  return static_cast<double>(rounds) * 10 * 2 * static_cast<double>(hn::Lanes(d));
}

}  // namespace fansite::cli::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fansite::cli {

HWY_EXPORT(multiply_add);

double fma_peak_gflops() {
  float sink = 1;
  double best = 0;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const Stopwatch watch;
    const double operations = HWY_DYNAMIC_DISPATCH(multiply_add)(1000000, &sink);
    const double seconds = watch.seconds();
    best = std::max(best, operations / seconds * 1e-9);
  }
  return sink == 0 ? 0 : best;
}

}  // namespace fansite::cli
#endif  // HWY_ONCE
