// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/estimators.h"

#include "fansite/entropy/flow/fit.h"
#include "fansite/entropy/gaussian.h"
#include "fansite/entropy/neural/estimators.h"

namespace fansite {

MethodList<EstimatorMethod>& entropy_estimators() {
  static MethodList<EstimatorMethod> list("entropy estimator", "estimator",
                                          {gaussian_estimator(), flow::flow_estimator(), neural::naf_estimator(),
                                           neural::bnaf_estimator(), neural::ace_estimator()});
  return list;
}

}  // namespace fansite
