// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/neural/regressor_params.h"

namespace fansite::causal {

const Description& RegressorParams::description() {
  using P = RegressorParams;
  Range share = from_to(0, 1);
  share.most_itself = false;
  static const Description list =
      Describe<P>()
          .field("width", &P::width, "units of each hidden layer", from_to(1, 10000))
          .field("layers", &P::layers, "linear layers of each network, the last included", from_to(2, 100))
          .field("first_dropout", &P::first_dropout, "share of the first hidden layer's units that a step leaves out",
                 share)
          .field("dropout", &P::dropout, "share of the later hidden layers' units that a step leaves out", share)
          .field("rate", &P::rate, "learning rate of Adam", above(0))
          .field("steps", &P::steps, "training steps of each network", from_to(1, 1e9))
          .field("batch", &P::batch, "rows a step; all rows if there are fewer", at_least(1))
          .done();
  return list;
}

}  // namespace fansite::causal
