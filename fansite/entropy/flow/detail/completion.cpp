// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/detail/completion.h"

#include "fansite/entropy/flow/detail/nodes.h"

namespace fansite::flow {
namespace {

// The cells that draws begin from are right but for what is not linear, and most of a cell's set is present.
constexpr int kSweeps = 5;

std::vector<int> drawn_rows(const EnsembleDensity& density, int variable) {
  std::vector<int> rows;
  for (Index i = 0; i < density.rows(); ++i) {
    if (density.drawn(i, variable)) rows.push_back(static_cast<int>(i));
  }
  return rows;
}

}  // namespace

void redraw(EnsembleDensity& density, const std::vector<std::vector<int>>& given, Key key, const Progress& progress) {
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t v = 0; v < given.size(); ++v) {
      throw_if_interrupted(progress);
      const auto variable = static_cast<int>(v);
      const std::vector<int> rows = drawn_rows(density, variable);
      if (given[v].empty() || rows.empty()) continue;
      Random random(key.split(static_cast<std::uint64_t>(sweep)).split(v));
      std::vector<float> uniforms;
      for (std::size_t i = 0; i < rows.size(); ++i) uniforms.push_back(static_cast<float>(random.uniform()));
      density.replace(rows, drawn_cells(density, variable, given[v], rows, uniforms));
    }
  }
}

}  // namespace fansite::flow
