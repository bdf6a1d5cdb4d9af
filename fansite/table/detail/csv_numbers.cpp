// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/detail/csv_numbers.h"

#include <array>
#include <string>

#include "fansite/base/text.h"
#include "fansite/table/detail/csv_cells.h"

namespace fansite::csv {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t digits_at(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  return count;
}

/// Bytes of 1,234,567 at the start of `text`: a first group of one to three digits, not 0, then groups of three.
std::size_t grouped_at(std::string_view text, char mark) {
  const std::size_t first = digits_at(text);
  if (first < 1 || first > 3 || text[0] == '0') return 0;
  std::size_t end = first;
  while (end < text.size() && text[end] == mark) {
    if (digits_at(text.substr(end + 1)) != 3) return 0;
    end += 4;
  }
  return end;
}

std::string without(std::string_view text, char mark) {
  std::string kept;
  for (const char c : text) {
    if (c != mark) kept += c;
  }
  return kept;
}

bool parse_commas(std::string_view text, double& value) {
  if (parse_number(text, value)) return true;
  const std::size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const std::size_t whole = grouped_at(text.substr(sign), ',');
  if (whole == 0) return false;
  const std::string_view rest = text.substr(sign + whole);
  if (!rest.empty() && (rest[0] != '.' || digits_at(rest.substr(1)) + 1 != rest.size())) return false;
  return parse_number(without(text, ','), value);
}

bool parse_decimal_comma(std::string_view text, double& value) {
  const std::size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const std::string_view body = text.substr(sign);
  const std::size_t plain = digits_at(body), grouped = grouped_at(body, '.');
  std::size_t at = std::max(plain, grouped);
  if (at < body.size() && body[at] == ',') {
    const std::size_t decimals = digits_at(body.substr(at + 1));
    if (decimals == 0) return false;
    at += 1 + decimals;
  } else if (at == 0) {
    return false;
  }
  if (at < body.size() && body[at] != 'e' && body[at] != 'E') return false;
  std::string point = without(text, '.');
  const std::size_t comma = point.find(',');
  if (comma != std::string::npos) point[comma] = '.';
  return parse_number(point, value);
}

/// As many digits as fit, up to `most`; their number, or −1 without any.
int number_at(std::string_view& text, std::size_t most, std::size_t& digits) {
  digits = digits_at(text);
  if (digits == 0 || digits > most) return -1;
  int number = 0;
  for (std::size_t i = 0; i < digits; ++i) number = 10 * number + (text[i] - '0');
  text.remove_prefix(digits);
  return number;
}

/// 9:05, 09:05:30.5, then nothing but a zone or am and pm.
bool is_time(std::string_view text) {
  std::size_t digits = 0;
  const int hours = number_at(text, 2, digits);
  if (hours < 0 || hours > 24 || !text.starts_with(':')) return false;
  text.remove_prefix(1);
  const int minutes = number_at(text, 2, digits);
  return minutes >= 0 && minutes < 60 && digits == 2 && text.find_first_not_of("0123456789:.+-ZzAaPpMm ") == text.npos;
}

bool month_name_at(std::string_view& text) {
  static constexpr std::array months = {"jan", "feb", "mar", "apr", "may", "jun",
                                        "jul", "aug", "sep", "oct", "nov", "dec"};
  for (const char* month : months) {
    if (text.size() < 3 || !equal_ignoring_case(text.substr(0, 3), month)) continue;
    text.remove_prefix(3);
    while (!text.empty() && ((text[0] | 0x20) >= 'a' && (text[0] | 0x20) <= 'z')) text.remove_prefix(1);
    return true;
  }
  return false;
}

bool is_day_or_month(int number) { return number >= 1 && number <= 31; }

/// A date at the start of `text`, which is moved past it.
bool date_at(std::string_view& text) {
  std::size_t digits = 0;
  const int first = number_at(text, 4, digits);
  if (first < 0 || text.empty()) return false;
  const char mark = text[0];
  if (mark != '-' && mark != '/' && mark != '.' && mark != ' ') return false;
  text.remove_prefix(1);
  const bool year_first = digits == 4;
  if (digits == 3 || (!year_first && !is_day_or_month(first))) return false;
  if (!month_name_at(text)) {
    const int second = number_at(text, 2, digits);
    if (mark == ' ' || !is_day_or_month(second)) return false;
    if (year_first && text.empty()) return second <= 12 && digits == 2;  // 2020-01
  }
  if (text.empty() || text[0] != mark) return false;
  text.remove_prefix(1);
  const int third = number_at(text, 4, digits);
  return year_first ? is_day_or_month(third) : third >= 0 && (digits == 2 || digits == 4);
}

}  // namespace

bool parse_styled(std::string_view text, NumberStyle style, double& value) {
  if (style.percent) {
    if (!text.ends_with('%')) return false;
    text.remove_suffix(1);
    text = trimmed({text.data(), text.data() + text.size()}, ',').view();
  }
  const bool parsed = style.notation == Notation::plain    ? parse_number(text, value)
                      : style.notation == Notation::commas ? parse_commas(text, value)
                                                           : parse_decimal_comma(text, value);
  if (parsed && style.percent) value /= 100;
  return parsed && !std::isnan(value);
}

bool is_date(std::string_view text) {
  if (is_time(text)) return true;
  if (!date_at(text)) return false;
  if (text.empty()) return true;
  return (text[0] == 'T' || text[0] == ' ') && is_time(text.substr(1));
}

}  // namespace fansite::csv
