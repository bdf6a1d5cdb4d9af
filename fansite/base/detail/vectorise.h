// SPDX-License-Identifier: Apache-2.0
//
// FANSITE_VECTOR_CLONES compiles a function once per instruction set and picks one at run time. It is for element-wise
// loops only: each element's operations stay the same and in order, and contraction is off, so the bits do not change.
//
#pragma once

#include <cstddef>  // brings __GLIBC__, on whose run-time dispatch (ifunc) the clones rest

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(FANSITE_NO_VECTOR_CLONES)
#define FANSITE_VECTOR_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define FANSITE_VECTOR_CLONES  // sanitizers cannot start before the dispatcher, clang 14 has no clones
#endif
