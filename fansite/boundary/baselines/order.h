// SPDX-License-Identifier: Apache-2.0
//
// In which order a set of members is given back. Rankings are scored by it, and published figures rest on each
// program's own.
#pragma once

#include <vector>

#include "fansite/base/parameters.h"

namespace fansite {

enum class MemberOrder {
  kept,   ///< the method's own: order of admission, or of strength
  index,  ///< ascending
  pyset   ///< as CPython lists a set of these numbers, which some published figures were made with
};
constexpr auto enum_names(MemberOrder) {
  return std::to_array<EnumName<MemberOrder>>(
      {{MemberOrder::kept, "kept"}, {MemberOrder::index, "index"}, {MemberOrder::pyset, "pyset"}});
}

std::vector<int> in_order(std::vector<int> members, MemberOrder order);

/// list(set(members)) of CPython 3.7 and later; none of them negative.
std::vector<int> pyset_order(const std::vector<int>& members);

}  // namespace fansite
