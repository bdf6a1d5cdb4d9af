// SPDX-License-Identifier: Apache-2.0
//
// Results read back from JSON.
#pragma once

#include <string>
#include <string_view>

#include "fansite/base/error.h"
#include "fansite/report/detail/json_text.h"

namespace fansite::report {

/// A result's JSON; a DataError if it is none.
inline Json parse(std::string_view json, const std::string& where) {
  Json result = Json::parse(json, nullptr, false);
  check_data(!result.is_discarded() && result.is_object(),
             "[read] {} is not a JSON result of fansite; was it written completely?", where);
  return result;
}

/// Runs a reader of JSON values; whatever is missing or of the wrong type becomes one sentence.
template <class Reader>
auto read_fields(const std::string& where, const Reader& reader) {
  try {
    return reader();
  } catch (const nlohmann::json::exception& error) {
    std::string_view reason = error.what();  // "[json.exception.out_of_range.403] key 'format' not found"
    if (const auto end = reason.find("] "); end != std::string_view::npos) reason.remove_prefix(end + 2);
    throw DataError(fmt::format("[read] {} lacks a field or has one of the wrong type: {}. Give a result of fansite.",
                                where, reason));
  }
}

}  // namespace fansite::report
