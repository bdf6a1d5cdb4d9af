// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/methods.h"

#include <algorithm>
#include <utility>

#include "fansite/base/error.h"
#include "fansite/boundary/baselines/dat_moral.h"
#include "fansite/boundary/baselines/eemb.h"
#include "fansite/boundary/baselines/gs.h"
#include "fansite/boundary/baselines/iamb.h"
#include "fansite/boundary/baselines/kmb.h"
#include "fansite/boundary/baselines/s2tmb.h"
#include "fansite/boundary/baselines/stmb.h"
#include "fansite/boundary/baselines/tc.h"
#include "fansite/boundary/fansite.h"

namespace fansite {

MethodList<BoundaryMethod>& boundary_methods() {
  static MethodList<BoundaryMethod> list("boundary method", "method",
                                         {fansite_method(), iamb_method(), gs_method(), tc_method(), eemb_method(),
                                          stmb_method(), s2tmb_method(), kmb_method(), dat_moral_method()});
  return list;
}

SearchedTargets::SearchedTargets(const Dataset& data, const std::vector<std::string>& names,
                                 const std::vector<int>& copy_of)
    : all(names.empty()) {
  for (const std::string& name : names) {
    const int t = data.index_of(name);
    check(std::find(asked.begin(), asked.end(), t) == asked.end(), "[mb] target '{}' is asked for twice", name);
    asked.push_back(t);
  }
  const auto is_context = [&](int t) {
    return !data.columns.empty() && data.columns[static_cast<std::size_t>(t)].context;
  };
  for (int t = 0; all && t < data.variables(); ++t) {
    if (!is_context(t)) asked.push_back(t);
  }
  for (const int t : asked) {
    check(!is_context(t), "[mb] '{}' is context, which is never a target; leave it out of one of the two",
          data.names[static_cast<std::size_t>(t)]);
  }
  for (std::size_t z = 0; z < copy_of.size(); ++z) {
    if (copy_of[z] >= 0) excluded.push_back(static_cast<int>(z));
  }
  std::vector<char> seen(copy_of.size(), 0);
  for (const int t : asked) {
    const int original = copy_of[static_cast<std::size_t>(t)];
    const int column = original >= 0 ? original : t;
    if (std::exchange(seen[static_cast<std::size_t>(column)], 1) == 0) searched.push_back(column);
  }
}

}  // namespace fansite
