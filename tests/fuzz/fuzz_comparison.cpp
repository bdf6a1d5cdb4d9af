// SPDX-License-Identifier: Apache-2.0
//
// Any bytes are cells of a comparison (fansite.comparison/1) that can be gone on from, or throw a DataError; what is a
// comparison becomes a page. The table is the one that the seeds are of.
#include <cstdint>
#include <string>

#include "comparison_input.h"
#include "fansite/report/compare_report.h"
#include "fansite/report/html.h"
#include "text_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace fansite;
  static const Dataset data = comparison_table();
  static const ComparedTables tables{.data = &data, .truth = {}, .setting = {}, .seeds = {}};
  static const std::uint64_t hash = hash_of(data);
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  read([&] {
    const SavedCells saved(text, "fuzz", tables, comparison_params());
    const KnownCells known = saved.known();
    for (int order = -1; order < 3; ++order) {
      const CompareCell* cell = known(hash, order, "tc");
      if (cell == nullptr || cell->status != CellStatus::done) continue;
      require(cell->found.size() == data.names.size());
      for (const std::vector<int>& found : cell->found) {
        for (const int variable : found) require(0 <= variable && variable < data.variables());
      }
    }
  });
  read([&] { compared_variables(text, "fuzz"); });
  read([&] { require(to_html({{text, "fuzz"}}).find("<script>alert") == std::string::npos); });
  return 0;
}
