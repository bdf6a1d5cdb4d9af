// SPDX-License-Identifier: Apache-2.0
//
// The plainest facts about a table: which two columns surely depend on each other, whatever a model of them says.
#pragma once

#include <vector>

#include "fansite/table/dataset.h"
#include "fansite/table/facts.h"

namespace fansite {

struct Relation {
  int other = -1;      ///< column; −1: none was compared
  double p_value = 1;  ///< over all pairs and functions
};

/// For every column the one that it most surely depends on: the largest correlation between z, |z| and z² of either's
/// normal scores, over the rows that have both. Independent columns have p-values that are too large, if anything
/// (Bonferroni). `independent`: the share of the rows that are. The first 2000 rows of 500
/// columns at most are compared.
std::vector<Relation> surest_relations(const Dataset& data, const TableFacts& facts, double independent = 1);

}  // namespace fansite
