// SPDX-License-Identifier: Apache-2.0
//
// Any bytes parse as CSV or throw a DataError, the same for every chunk size; what parses writes and reads back, labels
// too.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "fansite/base/error.h"
#include "fansite/base/text.h"
#include "fansite/table/csv.h"
#include "fansite/table/findings.h"

namespace {

using namespace fansite;

struct Outcome {
  std::string error;
  Dataset data;
};

Outcome parse(std::string_view text, const CsvOptions& options) {
  try {
    return {"", parse_csv(text, "fuzz", options)};
  } catch (const DataError& error) {
    return {error.what(), {}};
  }
}

void require(bool ok) {
  if (!ok) std::abort();
}

bool same(const Dataset& a, const Dataset& b) {
  // Missing cells are NaN in both; everything else compares by value.
  const auto cells_a = a.values.array(), cells_b = b.values.array();
  return a.names == b.names && a.columns == b.columns && a.rows() == b.rows() && a.variables() == b.variables() &&
         (cells_a == cells_b || (cells_a.isNaN() && cells_b.isNaN())).all();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const bool header : {true, false}) {
    for (const char separator : {'\0', '\t', ' '}) {
      const Outcome whole = parse(text, {.header = header, .separator = separator});
      const Outcome pieces = parse(text, {.header = header, .separator = separator, .chunk_bytes = 7});
      require(whole.error == pieces.error && is_utf8(whole.error));
      if (!whole.error.empty()) continue;
      require(same(whole.data, pieces.data));
      require(same(whole.data, parse_csv(to_csv(whole.data), "again")));
      inspect(whole.data);
    }
    // Whatever a column holds that is left out, the others are as they were.
    const Outcome all = parse(text, {.header = header});
    const auto first = [](const std::vector<std::string>& names) {
      std::vector<char> out(names.size(), 0);
      out.front() = 1;
      return out;
    };
    const Outcome others = parse(text, {.header = header, .left_out = first});
    require(!all.error.empty() || (others.error.empty() && others.data.names == all.data.names));
    // Columns of labels by request, and none at all.
    parse(text, {.header = header, .labels = {"a", "x1"}});
    const Outcome numbers = parse(text, {.header = header, .text = false});
    require(!numbers.error.empty() || numbers.data.columns.empty());
  }
  return 0;
}
