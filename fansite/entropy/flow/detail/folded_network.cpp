// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/detail/folded_network.h"

#include <cmath>
#include <numbers>

#include "fansite/base/error.h"

namespace fansite::flow {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

FoldedNetwork::FoldedNetwork(const Weights& weights, const GaussianBase& base) : shape(weights.shape()), base(base) {
  check(base.empty() || base.mean().size() == shape.variables, "[density] a base of {} variables for a flow of {}",
        base.mean().size(), shape.variables);
  constexpr double kLog2e = std::numbers::log2e;
  const Layout& layout = weights.layout;
  const float* values = weights.values.data();
  const int outputs = 3 * shape.sigmoids;
  pair = Index{shape.blocks} * outputs;

  for (int r = 0; r < shape.ranks; ++r) {
    w1_row.push_back(static_cast<Index>(w1.size()));
    const auto hidden = [&](Index tensor, int b) {
      return double{values[tensor + r * layout.hidden_stride + layout.hidden_at(b)]};
    };
    for (int i = 0; i < layout.inputs(r); ++i) {
      for (int b = 0; b < shape.blocks; ++b) {
        w1.push_back(static_cast<float>(hidden(layout.s1, b) * values[layout.w1_at(b, r, i)] * kLog2e));
      }
    }
    for (int b = 0; b < shape.blocks; ++b) b1.push_back(static_cast<float>(hidden(layout.b1, b) * kLog2e));
  }

  std::vector<double> scaled(at(shape.outputs));  // of one variable and output c: V·s2
  const auto v = [&](int c, int l) {
    return double{values[layout.v + c * layout.output_stride + layout.output_at(l)]};
  };
  for (int j = 0; j < shape.variables; ++j) {
    const auto output = [&](Index tensor, int l) {
      return double{values[tensor + j * layout.output_stride + layout.output_at(l)]};
    };
    const Index row = static_cast<Index>(g.size());
    g_row.push_back(row);
    g.resize(at(row + pair * layout.fan_in(j)));
    for (int c = 0; c < outputs; ++c) {
      double bias = values[layout.c + c];
      for (int l = 0; l < shape.outputs; ++l) {
        bias += v(c, l) * output(layout.b2, l);
        scaled[at(l)] = v(c, l) * output(layout.s2, l);
      }
      g0.push_back(static_cast<float>(bias * kLog2e));
      for (int r = 0; r < layout.fan_in(j); ++r) {
        for (int b = 0; b < shape.blocks; ++b) {
          double sum = 0;
          for (int l = 0; l < shape.outputs; ++l) sum += scaled[at(l)] * values[layout.w2_at(j, l, b, r)];
          g[at(row + r * pair + b * outputs + c)] = static_cast<float>(sum * kLog2e);
        }
      }
    }
  }
}

FoldedNetwork::FoldedNetwork(const GaussianBase& base) : base(base), only_base(true) {
  check(!base.empty(), "[density] a density needs a network or a base");
  shape.variables = static_cast<int>(base.mean().size());
  shape.ranks = shape.variables - 1;
  shape.blocks = 0;
  shape.sigmoids = 1;  // σ(x), so that z = x
  const double slope = std::log(std::expm1(1 - 1e-6));
  for (int j = 0; j < shape.variables; ++j) {
    for (const double q : {slope, 0.0, 0.0}) g0.push_back(static_cast<float>(q * std::numbers::log2e));
  }
}

void check_subset(const Shape& shape, std::span<const int> subset, std::size_t s) {
  check(subset.size() <= at(shape.ranks) + 1, "[log_density] subset {} has {} variables; this network allows {}", s,
        subset.size(), shape.ranks + 1);
  for (std::size_t p = 0; p < subset.size(); ++p) {
    check(0 <= subset[p] && subset[p] < shape.variables,
          "[log_density] subset {} has variable {}; this network knows 0 to {}", s, subset[p], shape.variables - 1);
    check(p == 0 || subset[p - 1] < subset[p],
          "[log_density] subset {} has variable {} before {}; use ascending order, none twice", s,
          p == 0 ? 0 : subset[p - 1], subset[p]);
  }
}

}  // namespace fansite::flow
