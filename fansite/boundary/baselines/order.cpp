// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/baselines/order.h"

#include <algorithm>

namespace fansite {
namespace {

// CPython's open addressing: a run of slots is looked at before the next jump.
class PySet {
 public:
  void insert(int key) {
    place(key);
    ++used_;
    if (5 * used_ < 3 * (slots_.size() - 1)) return;
    std::vector<int> old = keys();
    std::size_t size = 8;
    while (size <= 4 * used_) size *= 2;
    slots_.assign(size, kFree);
    for (const int moved : old) place(moved);
  }

  std::vector<int> keys() const {
    std::vector<int> result = slots_;
    std::erase(result, kFree);
    return result;
  }

 private:
  static constexpr int kFree = -1;
  static constexpr std::size_t kRun = 9;

  void place(int key) {
    const std::size_t mask = slots_.size() - 1;
    auto perturb = static_cast<std::size_t>(key);
    for (std::size_t i = perturb & mask;; perturb >>= 5, i = (5 * i + 1 + perturb) & mask) {
      const std::size_t last = i + kRun <= mask ? i + kRun : i;
      const auto begin = slots_.begin() + static_cast<std::ptrdiff_t>(i);
      const auto end = slots_.begin() + static_cast<std::ptrdiff_t>(last) + 1;
      const auto free = std::find(begin, end, kFree);
      if (free == end) continue;
      *free = key;
      return;
    }
  }

  std::vector<int> slots_ = std::vector<int>(8, kFree);
  std::size_t used_ = 0;
};

}  // namespace

std::vector<int> pyset_order(const std::vector<int>& members) {
  PySet set;
  for (const int member : members) set.insert(member);
  return set.keys();
}

std::vector<int> in_order(std::vector<int> members, MemberOrder order) {
  if (order == MemberOrder::pyset) return pyset_order(members);
  if (order == MemberOrder::index) std::sort(members.begin(), members.end());
  return members;
}

}  // namespace fansite
