// SPDX-License-Identifier: Apache-2.0
//
// Any numbers in a table are looked at, or refused with a DataError: what is found of its rows and columns is finite
// and in range, and words are UTF-8. The first byte is the number of columns, the second how bytes become numbers.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>

#include "fansite/base/error.h"
#include "fansite/base/text.h"
#include "fansite/report/inspect_json.h"
#include "fansite/report/inspect_text.h"
#include "fansite/table/relations.h"
#include "fansite/table/row_dependence.h"
#include "fansite/table/summary.h"

namespace {

using namespace fansite;

void require(bool ok) {
  if (!ok) std::abort();
}

// What tables hold at worst, whole numbers, and small multiples of a sixteenth.
double number(std::uint8_t byte, bool whole) {
  constexpr double kOdd[] = {std::numeric_limits<double>::quiet_NaN(), 1e308, -1e308, 5e-324, -0.0, 1e5, 1e-9, 999};
  if (byte >= 256 - std::size(kOdd)) return kOdd[256 - 1 - byte];
  return whole ? static_cast<double>(byte) : static_cast<double>(static_cast<std::int8_t>(byte)) / 16;
}

Matrix numbers(const std::uint8_t* bytes, std::size_t size) {
  const Index columns = 1 + bytes[0] % 8;
  const bool raw = bytes[1] % 4 == 3;  // eight bytes are a number
  const std::size_t width = raw ? 8 : 1;
  const auto rows = static_cast<Index>((size - 2) / width) / columns;
  Matrix values(rows, columns);
  for (Index i = 0; i < rows * columns; ++i) {
    const std::uint8_t* at = bytes + 2 + static_cast<std::size_t>(i) * width;
    double value = number(*at, bytes[1] % 4 == 1);
    if (raw) std::memcpy(&value, at, sizeof value);
    values(i / columns, i % columns) = value;
  }
  return values;
}

void look_at_rows(const Dataset& data, const TableFacts& facts) {
  const RowDependence rows = row_dependence(data, facts);
  require(rows.copies >= 0 && rows.near_copies >= 0 && rows.copies + rows.near_copies < rows.rows);
  require(std::isfinite(rows.inflation) && rows.inflation >= 1 && rows.block >= 1 && rows.block < rows.rows);
  require(rows.worth() > 0 && rows.worth() <= 1 && rows.worth_of_block() > 0 && rows.worth_of_block() <= 1);
  require(rows.first_of.empty() || std::ssize(rows.first_of) == rows.rows);
  for (std::size_t i = 0; i < rows.first_of.size(); ++i) {
    const auto first = static_cast<std::size_t>(rows.first_of[i]);
    require(first <= i && rows.first_of[first] == rows.first_of[i]);
  }
  for (const std::string& sentence : rows.sentences(data.names)) require(is_utf8(sentence));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 2) return 0;
  const Dataset data{default_names(1 + bytes[0] % 8), numbers(bytes, size)};
  const TableFacts facts(data);
  try {
    throw_if_fatal(facts.findings);
    look_at_rows(data, facts);
    const TableSummary summary = summarise(data, facts);
    require(is_utf8(to_text(summary)) && is_utf8(to_json(summary)));
    for (const Relation& relation : surest_relations(data, facts))
      require(relation.p_value >= 0 && relation.p_value <= 1);
  } catch (const DataError& error) {
    require(is_utf8(error.what()));
  }
  return 0;
}
