// SPDX-License-Identifier: Apache-2.0
//
// Private. Methods work on the table in the order of its contents (table/content_order.h); here their answers are put
// in the table's own.
#pragma once

#include <vector>

#include "fansite/boundary/methods.h"
#include "fansite/causal/methods.h"

namespace fansite {

/// `order`: at each place of the method's table, which column of the user's stands there. Boundaries stay in the order
/// of the targets that were searched.
void to_table_order(BoundaryAnswer& answer, const std::vector<int>& order);
void to_table_order(GraphAnswer& answer, const std::vector<int>& order);

/// Links among the user's columns for the method's table.
ByteMatrix to_content_order(const ByteMatrix& links, const std::vector<int>& order);

}  // namespace fansite
