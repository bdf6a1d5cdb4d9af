// SPDX-License-Identifier: Apache-2.0
//
// In place of backend/cuda where there is no CUDA to build it with.
#include "fansite/entropy/flow/accelerator.h"

namespace fansite::flow {

const BuiltIn& built_in_accelerator() {
  static const BuiltIn nothing{nullptr, "this program was built without CUDA", false};
  return nothing;
}

}  // namespace fansite::flow
