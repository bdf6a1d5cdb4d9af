// SPDX-License-Identifier: Apache-2.0
//
// In place of backend/cuda where there is no CUDA to build it with.
#include "fansite/entropy/flow/accelerator.h"

namespace fansite::flow {

const Accelerator* built_in_accelerator(std::string& why_not) {
  why_not = "this program was built without CUDA, for want of nvcc";
  return nullptr;
}

}  // namespace fansite::flow
