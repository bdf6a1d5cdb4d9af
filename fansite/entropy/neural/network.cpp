// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/neural/network.h"

#include <algorithm>
#include <cmath>

#include "fansite/base/parallel.h"

namespace fansite::neural {

void for_pieces(Index subsets, Index rows, const std::function<void(Index, Index, Index)>& piece) {
  const Index pieces = (rows + kRowsAtOnce - 1) / kRowsAtOnce;
  parallel_for(subsets * pieces, [&](std::ptrdiff_t p) {
    const Index first = p % pieces * kRowsAtOnce;
    piece(p / pieces, first, std::min(kRowsAtOnce, rows - first));
  });
}

template <class Real>
Rows<Real> gathered(const flow::CellColumns& rows, const flow::Subset& subset, Index first, Index count,
                    std::vector<char>& absent) {
  Rows<Real> result = Rows<Real>::Zero(kRowsAtOnce, static_cast<Index>(subset.size()));
  absent.assign(static_cast<std::size_t>(count), 0);
  for (std::size_t k = 0; k < subset.size(); ++k) {
    for (Index i = 0; i < count; ++i) {
      const float cell = (*rows.score)(first + i, subset[k]);
      if (std::isnan(cell)) {
        absent[static_cast<std::size_t>(i)] = 1;
      } else {
        result(i, static_cast<Index>(k)) = static_cast<Real>(cell);
      }
    }
  }
  return result;
}

template Rows<float> gathered<float>(const flow::CellColumns&, const flow::Subset&, Index, Index, std::vector<char>&);
template Rows<double> gathered<double>(const flow::CellColumns&, const flow::Subset&, Index, Index, std::vector<char>&);

}  // namespace fansite::neural
