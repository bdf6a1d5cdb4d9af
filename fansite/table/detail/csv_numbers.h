// SPDX-License-Identifier: Apache-2.0
//
// Numbers as spreadsheets and other countries write them, and dates, which are no numbers.
#pragma once

#include <string_view>

namespace fansite::csv {

enum class Notation {
  plain,          // 1234.5
  commas,         // 1,234.5, or plain
  decimal_comma,  // 1.234,5 or 1234,5; without a comma whole numbers only
};

struct NumberStyle {
  Notation notation = Notation::plain;
  bool percent = false;  // every number ends in %, and 12 % is 0.12
};

/// The number that is all of `text`, which has no blanks around it.
bool parse_styled(std::string_view text, NumberStyle style, double& value);

/// 2020-01-31, 31.1.2020, 1/31/20, 31-Jan-2020, each also with a time, or a time alone.
bool is_date(std::string_view text);

}  // namespace fansite::csv
