// SPDX-License-Identifier: Apache-2.0
//
// Matrix products on the calling thread alone.
#pragma once

#include <cblas.h>

namespace fansite {

/// While it lives, BLAS does not split its work. We split it ourselves, in tiles that do not depend on the number of
/// threads; a BLAS that split it again would compete for the cores and could change the order of its sums.
class SingleThreadedBlas {
 public:
  SingleThreadedBlas() : threads_(openblas_get_num_threads()) { openblas_set_num_threads(1); }
  ~SingleThreadedBlas() { openblas_set_num_threads(threads_); }
  SingleThreadedBlas(const SingleThreadedBlas&) = delete;
  SingleThreadedBlas& operator=(const SingleThreadedBlas&) = delete;

 private:
  int threads_;
};

}  // namespace fansite
