// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/methods.h"

#include "fansite/causal/baselines/cosmo.h"
#include "fansite/causal/baselines/dagma.h"
#include "fansite/causal/baselines/dat.h"
#include "fansite/causal/baselines/ges.h"
#include "fansite/causal/baselines/marvel.h"
#include "fansite/causal/baselines/notears.h"
#include "fansite/causal/baselines/pc.h"
#include "fansite/causal/dcd/methods.h"
#include "fansite/causal/fansite_anm.h"

namespace fansite {

MethodList<GraphMethod>& graph_methods() {
  static MethodList<GraphMethod> list(
      "graph method", "method",
      {causal::fansite_anm(), causal::fansite_dcd_method(), causal::sdcd_method(), causal::pc_method(),
       causal::ges_method(), causal::marvel_method(), causal::dagma_method(), causal::notears_method(),
       causal::cosmo_method(), causal::dat_method()});
  return list;
}

}  // namespace fansite
