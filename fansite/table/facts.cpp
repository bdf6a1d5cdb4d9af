// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/facts.h"

#include "fansite/base/error.h"

namespace fansite {

TableFacts::TableFacts(const Dataset& data)
    : values_hash(hash_of(MatrixView(data.values))),
      findings(inspect(data)),
      copy_of(copies(findings, data.variables())),
      takes_part(copy_of.size(), 1) {
  hash = hash_of(data, values_hash);
  for (int j = 0; j < data.variables(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    const bool declared = !data.columns.empty() && data.columns[at].kind.has_value();
    kinds.push_back(declared ? *data.columns[at].kind : recognised_kind(data.values.col(j)));
  }
  for (std::size_t j = 0; j < copy_of.size(); ++j) {
    if (copy_of[j] >= 0) takes_part[j] = 0;
  }
  for (const Finding& finding : findings) {
    if (finding.kind != Finding::Kind::constant) continue;
    for (const int column : finding.columns) takes_part[static_cast<std::size_t>(column)] = 0;
  }
}

LearnableTable::LearnableTable(const Dataset& table, const TableFacts& facts) {
  std::vector<int> kept;
  for (int j = 0; j < table.variables(); ++j) {
    if (facts.takes_part[static_cast<std::size_t>(j)] != 0) kept.push_back(j);
  }
  check_data(!kept.empty(), "[flow] every column is constant; there is nothing to learn");
  data = take_columns(table, kept);
  const bool all = static_cast<int>(kept.size()) == table.variables();
  values_hash = all ? facts.values_hash : hash_of(MatrixView(data.values));
}

}  // namespace fansite
