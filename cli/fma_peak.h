// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fansite::cli {

/// Multiply-adds that one thread does in registers, both operations counted, in 10⁹ a second; measured in some 50 ms.
double fma_peak_gflops();

}  // namespace fansite::cli
