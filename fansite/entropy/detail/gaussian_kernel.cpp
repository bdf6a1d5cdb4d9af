// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/detail/gaussian_kernel.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fansite/entropy/detail/gaussian_kernel.cpp"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fansite::kernel::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class Real>
SweepResult sweep_all(const Sweep<Real>& s) {
  // At most 16 lanes, so that four vectors in flight never exceed a block.
  const hn::CappedTag<Real, 16> d;
  using V = hn::Vec<decltype(d)>;
  const std::ptrdiff_t lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const V inverse_sd = hn::Set(d, s.inverse_sd);
  const V target_loading = hn::Set(d, s.target_loading);
  const V determined = hn::Set(d, s.determined);
  const V infinity = hn::Set(d, std::numeric_limits<Real>::infinity());

  const V first_lanes = hn::Iota(d, Real{0});
  V smallest = infinity;
  V best = hn::Zero(d);      // per lane: the largest explained variance …
  V best_column = infinity;  // … and the first column that has it
  for (std::ptrdiff_t block = 0; block < s.blocks; ++block) {
    Real* HWY_RESTRICT rows = s.factor + block * s.capacity * kBlock;
    Real* HWY_RESTRICT row_out = rows + s.size * kBlock;
    const auto finish = [&](std::ptrdiff_t offset, V sum) HWY_ATTR {
      const std::ptrdiff_t j = block * kBlock + offset;
      const V l = hn::Mul(sum, inverse_sd);
      hn::StoreU(l, d, row_out + offset);
      V variance = hn::NegMulAdd(l, l, hn::LoadU(d, s.variance + j));
      const V covariance = hn::NegMulAdd(l, target_loading, hn::LoadU(d, s.covariance + j));
      smallest = hn::Min(smallest, variance);
      variance = hn::IfThenElse(hn::Lt(variance, determined), infinity, variance);
      hn::StoreU(variance, d, s.variance + j);
      hn::StoreU(covariance, d, s.covariance + j);
      const V explained = hn::Div(hn::Mul(covariance, covariance), variance);
      const V column = hn::Add(first_lanes, hn::Set(d, static_cast<Real>(j)));
      best_column = hn::IfThenElse(hn::Gt(explained, best), column, best_column);
      best = hn::Max(best, explained);
    };
    for (std::ptrdiff_t offset = 0; offset < kBlock; offset += 4 * lanes) {
      // Four sums in flight hide the 4-cycle latency of an FMA.
      const Real* HWY_RESTRICT from = s.correlation + block * kBlock + offset;
      V sum0 = hn::LoadU(d, from);
      V sum1 = hn::LoadU(d, from + lanes);
      V sum2 = hn::LoadU(d, from + 2 * lanes);
      V sum3 = hn::LoadU(d, from + 3 * lanes);
      const Real* HWY_RESTRICT row = rows + offset;
      for (std::ptrdiff_t i = 0; i < s.size; ++i, row += kBlock) {
        const V loading = hn::Set(d, s.loadings[i]);
        sum0 = hn::NegMulAdd(loading, hn::LoadU(d, row), sum0);
        sum1 = hn::NegMulAdd(loading, hn::LoadU(d, row + lanes), sum1);
        sum2 = hn::NegMulAdd(loading, hn::LoadU(d, row + 2 * lanes), sum2);
        sum3 = hn::NegMulAdd(loading, hn::LoadU(d, row + 3 * lanes), sum3);
      }
      finish(offset, sum0);
      finish(offset + lanes, sum1);
      finish(offset + 2 * lanes, sum2);
      finish(offset + 3 * lanes, sum3);
    }
  }
  SweepResult result;
  const V winner = hn::MaxOfLanes(d, best);
  result.best = static_cast<double>(hn::GetLane(winner));
  if (result.best > 0) {
    const V columns = hn::IfThenElse(hn::Eq(best, winner), best_column, infinity);
    result.column = static_cast<std::ptrdiff_t>(hn::GetLane(hn::MinOfLanes(d, columns)));
  }
  result.smallest_variance = static_cast<double>(hn::GetLane(hn::MinOfLanes(d, smallest)));
  return result;
}

SweepResult condition_float(const Sweep<float>& sweep) { return sweep_all(sweep); }
SweepResult condition_double(const Sweep<double>& sweep) { return sweep_all(sweep); }

}  // namespace fansite::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fansite::kernel {

HWY_EXPORT(condition_float);
HWY_EXPORT(condition_double);

SweepResult condition(const Sweep<float>& sweep) { return HWY_DYNAMIC_DISPATCH(condition_float)(sweep); }
SweepResult condition(const Sweep<double>& sweep) { return HWY_DYNAMIC_DISPATCH(condition_double)(sweep); }

SweepResult condition_reference(const Sweep<double>& s) {
  SweepResult result;
  result.smallest_variance = std::numeric_limits<double>::infinity();
  for (std::ptrdiff_t j = 0; j < s.blocks * kBlock; ++j) {
    double* column = s.factor + (j / kBlock) * s.capacity * kBlock + j % kBlock;
    double sum = s.correlation[j];
    for (std::ptrdiff_t i = 0; i < s.size; ++i) sum -= s.loadings[i] * column[i * kBlock];
    const double l = sum * s.inverse_sd;
    column[s.size * kBlock] = l;
    s.variance[j] -= l * l;
    s.covariance[j] -= l * s.target_loading;
    result.smallest_variance = std::min(result.smallest_variance, s.variance[j]);
    if (s.variance[j] < s.determined) s.variance[j] = std::numeric_limits<double>::infinity();
    const double explained = s.covariance[j] * s.covariance[j] / s.variance[j];
    if (explained > result.best) {
      result.best = explained;
      result.column = j;
    }
  }
  return result;
}

}  // namespace fansite::kernel
#endif  // HWY_ONCE
