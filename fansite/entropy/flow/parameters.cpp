// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/parameters.h"

#include <algorithm>
#include <cmath>

#include "fansite/base/special.h"

namespace fansite::flow {

Parameters zero_parameters(const Shape& shape) {
  validate(shape);
  const Index hidden = shape.hidden();
  const Index outputs = Index{shape.variables} * shape.outputs;
  Parameters p;
  p.shape = shape;
  p.w1 = Matrix::Zero(hidden, shape.variables);
  p.s1 = p.b1 = Vector::Zero(hidden);
  p.w2 = Matrix::Zero(outputs, hidden);
  p.s2 = p.b2 = Vector::Zero(outputs);
  p.v = Matrix::Zero(3 * shape.sigmoids, shape.outputs);
  p.c = Vector::Zero(3 * shape.sigmoids);
  return p;
}

Parameters initial_parameters(const Shape& shape, Key key) {
  Parameters p = zero_parameters(shape);
  // One stream per tensor, so that the size of one does not move the others.
  const auto fill = [&](std::uint64_t stream, auto& tensor, auto&& draw) {
    Random random(key.split(stream));
    std::generate_n(tensor.data(), tensor.size(), [&] { return draw(random); });
  };
  const auto normal = [](Random& random) { return kInitialSize * random.normal(); };
  const auto uniform = [](Random& random) { return random.uniform(-1, 1); };
  fill(0, p.w1, normal);
  fill(1, p.s1, uniform);
  fill(2, p.b1, uniform);
  fill(3, p.w2, normal);
  fill(4, p.s2, uniform);
  fill(5, p.b2, uniform);
  fill(6, p.v, [](Random& random) { return random.uniform(-kInitialSize, kInitialSize); });
  p.c.head(shape.sigmoids).setConstant(portable::log(portable::exp(1 - 1e-6) - 1));
  return p;
}

}  // namespace fansite::flow
