// SPDX-License-Identifier: Apache-2.0
#include "fansite/simulate/detail/hidden_causes.h"

#include <algorithm>
#include <cstdint>

#include "fansite/base/matrix.h"

namespace fansite::hidden_causes {
namespace {

using Pairs = std::vector<std::pair<int, int>>;

Pairs pairs_among(const std::vector<int>& ascending) {
  Pairs result;
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = i + 1; j < ascending.size(); ++j) result.emplace_back(ascending[i], ascending[j]);
  }
  return result;
}

Pairs in_random_order(const Pairs& pairs, Random& random) {
  Pairs result;
  result.reserve(pairs.size());
  for (const int i : random.permutation(static_cast<int>(pairs.size()))) {
    result.push_back(pairs[static_cast<std::size_t>(i)]);
  }
  return result;
}

// The two, and at random one more that is open to both of them, if there is one.
std::vector<int> with_third(int a, int b, const ByteMatrix& closed, Random& random) {
  std::vector<int> children = {a, b}, open;
  for (int node = 0; node < closed.rows(); ++node) {
    if (node != a && node != b && closed(node, a) == 0 && closed(node, b) == 0) open.push_back(node);
  }
  if (!open.empty()) children.push_back(open[random.below(static_cast<std::uint32_t>(open.size()))]);
  std::sort(children.begin(), children.end());
  return children;
}

}  // namespace

Children draw(const Dag& observed, int count, Key key) {
  Children causes;
  if (count == 0) return causes;  // the lists of pairs are long
  const auto wanted = static_cast<std::size_t>(count);
  ByteMatrix closed = observed.adjacency().cwiseMax(observed.adjacency().transpose());  // adjacent, or with a cause
  Pairs apart, adjacent;
  for (int a = 0; a < observed.nodes(); ++a) {
    for (int b = a + 1; b < observed.nodes(); ++b) (closed(a, b) == 0 ? apart : adjacent).emplace_back(a, b);
  }
  Random random(key);
  std::size_t open = apart.size();
  for (const auto& [a, b] : in_random_order(apart, random)) {
    if (causes.size() == wanted) return causes;
    if (closed(a, b) != 0) continue;
    // Three children use up three pairs, and every later cause needs one.
    const bool enough = open >= 3 + (wanted - causes.size() - 1);
    causes.push_back(random.coin() && enough ? with_third(a, b, closed, random) : std::vector<int>{a, b});
    for (const auto& [from, to] : pairs_among(causes.back())) {
      closed(from, to) = closed(to, from) = 1;
      --open;
    }
  }
  for (const auto& [a, b] : in_random_order(adjacent, random)) {
    if (causes.size() == wanted) break;
    causes.push_back({a, b});
  }
  return causes;
}

Dag add(const Dag& observed, const Children& causes) {
  std::vector<std::pair<int, int>> edges;
  for (int from = 0; from < observed.nodes(); ++from) {
    for (const int to : observed.children(from)) edges.emplace_back(from, to);
  }
  int cause = observed.nodes();
  for (const std::vector<int>& children : causes) {
    for (const int child : children) edges.emplace_back(cause, child);
    ++cause;
  }
  return Dag(cause, edges);
}

std::vector<std::pair<int, int>> pairs(const Children& causes) {
  Pairs result;
  for (const std::vector<int>& children : causes) {
    const Pairs more = pairs_among(children);
    result.insert(result.end(), more.begin(), more.end());
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace fansite::hidden_causes
