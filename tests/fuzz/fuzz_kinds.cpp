// SPDX-License-Identifier: Apache-2.0
//
// Any bytes parse as kinds of columns or throw a DataError; what parses names each column once, writes and reads back.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "fansite/base/error.h"
#include "fansite/base/text.h"
#include "fansite/table/roles.h"

namespace {

using namespace fansite;

void require(bool ok) {
  if (!ok) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  try {
    const std::vector<DeclaredKind> kinds = parse_kinds(text, "fuzz");
    std::string again;
    std::set<std::string> names;
    for (const auto& [column, kind] : kinds) {
      require(!column.empty() && is_utf8(column) && names.insert(column).second);
      again += in_quotes(column) + "=" + std::string(name(kind)) + "\n";
    }
    require(parse_kinds(again, "again") == kinds);
  } catch (const DataError& error) {
    require(is_utf8(error.what()));
  }
  try {
    parse_kind(text);
  } catch (const ParameterError& error) {
    require(is_utf8(error.what()));
  }
  return 0;
}
