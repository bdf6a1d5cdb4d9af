// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/weights.h"

namespace fansite::flow {
namespace {

Index whole_vectors(Index floats) { return (floats + Layout::kChunk - 1) / Layout::kChunk * Layout::kChunk; }

// Calls visit(index in the packed values, number of the plain parameters) for every parameter that exists.
template <class P, class Visit>
void for_each_parameter(const Layout& layout, P& p, Visit&& visit) {
  const Shape& shape = layout.shape;
  for (int b = 0; b < shape.blocks; ++b) {
    for (int r = 0; r < shape.ranks; ++r) {
      const Index node = Index{b} * shape.ranks + r;
      for (int i = 0; i < layout.inputs(r); ++i) visit(layout.w1_at(b, r, i), p.w1(node, i));
      visit(layout.s1 + r * layout.hidden_stride + layout.hidden_at(b), p.s1[node]);
      visit(layout.b1 + r * layout.hidden_stride + layout.hidden_at(b), p.b1[node]);
    }
  }
  for (int j = 0; j < shape.variables; ++j) {
    for (int l = 0; l < shape.outputs; ++l) {
      const Index row = Index{j} * shape.outputs + l;
      for (int b = 0; b < shape.blocks; ++b) {
        for (int r = 0; r < layout.fan_in(j); ++r)
          visit(layout.w2_at(j, l, b, r), p.w2(row, Index{b} * shape.ranks + r));
      }
      visit(layout.s2 + j * layout.output_stride + layout.output_at(l), p.s2[row]);
      visit(layout.b2 + j * layout.output_stride + layout.output_at(l), p.b2[row]);
    }
  }
  for (int q = 0; q < 3 * shape.sigmoids; ++q) {
    for (int l = 0; l < shape.outputs; ++l) visit(layout.v + q * layout.output_stride + layout.output_at(l), p.v(q, l));
    visit(layout.c + q, p.c[q]);
  }
}

}  // namespace

Layout::Layout(const Shape& s) : shape(s) {
  validate(shape);
  groups = (shape.blocks + kGroup - 1) / kGroup;
  quad = shape.outputs > kChunk && shape.outputs % kChunk > 0 && shape.outputs % kChunk <= kQuad;
  chunks = quad ? shape.outputs / kChunk : (shape.outputs + kChunk - 1) / kChunk;
  hidden_stride = Index{kGroupStride} * groups;
  output_stride = Index{kChunk} * (chunks + (quad ? 1 : 0));
  group_block = Index{kGroup} * kChunk * chunks + (quad ? kQuadBlock : 0);
  w2_block = group_block * groups;

  Index end = 0;
  const auto reserve = [&](Index floats) {
    const Index start = end;
    end = whole_vectors(end + floats);
    return start;
  };
  w2 = end;
  for (int j = 0; j < shape.variables; ++j) w2_blocks.push_back(reserve(w2_block * fan_in(j)));
  w1 = end;
  for (int r = 0; r < shape.ranks; ++r) w1_rows.push_back(reserve(hidden_stride * inputs(r)));
  s1 = reserve(hidden_stride * shape.ranks);
  b1 = reserve(hidden_stride * shape.ranks);
  s2 = reserve(output_stride * shape.variables);
  b2 = reserve(output_stride * shape.variables);
  v = reserve(output_stride * 3 * shape.sigmoids);
  c = reserve(3 * shape.sigmoids);
  size = end;
}

Index Layout::w1_at(int block, int rank, int variable) const {
  return w1_rows[static_cast<std::size_t>(rank)] + variable * hidden_stride + hidden_at(block);
}

Index Layout::w2_at(int variable, int output, int block, int rank) const {
  const Index start = w2_blocks[static_cast<std::size_t>(variable)] + rank * w2_block + (block / kGroup) * group_block;
  const int b = block % kGroup;
  const int chunk = output / kChunk;
  if (chunk < chunks) return start + (Index{chunk} * kGroup + b) * kChunk + output % kChunk;
  return start + Index{chunks} * kGroup * kChunk + kQuadPlaces[b] * kQuad + output % kChunk;
}

Weights pack(const Parameters& parameters) {
  Weights weights{Layout(parameters.shape), {}};
  weights.values.assign(static_cast<std::size_t>(weights.layout.size), 0.0f);
  for_each_parameter(weights.layout, parameters, [&](Index place, const double& value) {
    weights.values[static_cast<std::size_t>(place)] = static_cast<float>(value);
  });
  return weights;
}

Parameters unpack(const Layout& layout, const float* values) {
  Parameters parameters = zero_parameters(layout.shape);
  for_each_parameter(layout, parameters, [&](Index place, double& value) { value = values[place]; });
  return parameters;
}

Parameters unpack(const Weights& weights) { return unpack(weights.layout, weights.values.data()); }

}  // namespace fansite::flow
