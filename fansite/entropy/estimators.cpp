// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/estimators.h"

#include "fansite/entropy/flow/fit.h"
#include "fansite/entropy/gaussian.h"

namespace fansite {

MethodList<EstimatorMethod>& entropy_estimators() {
  static MethodList<EstimatorMethod> list("entropy estimator", "estimator",
                                          {gaussian_estimator(), flow::flow_estimator()});
  return list;
}

}  // namespace fansite
