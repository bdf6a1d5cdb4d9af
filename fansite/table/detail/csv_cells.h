// SPDX-License-Identifier: Apache-2.0
//
// The grammar of one cell and one line of CSV. Apart from csv.cpp because a reader wants either the grammar or
// the organisation of the work, and in a header because every byte of a file passes through it and must be inlined.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

#include "fansite/base/matrix.h"

namespace fansite::csv {

inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// A stretch of text; plain pointers, because every byte of the file passes through here.
struct Span {
  const char* begin;
  const char* end;
  std::string_view view() const { return {begin, static_cast<std::size_t>(end - begin)}; }
};

inline bool is_blank(char c, char separator) { return c == ' ' || (c == '\t' && separator != '\t'); }

inline Span trimmed(Span text, char separator) {
  while (text.begin != text.end && is_blank(*text.begin, separator)) ++text.begin;
  while (text.begin != text.end && is_blank(text.end[-1], separator)) --text.end;
  return text;
}

/// The next line, without its end; moves `p` past it.
inline Span next_line(const char*& p, const char* end) {
  const auto* newline = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
  Span line{p, newline == nullptr ? end : newline};
  p = newline == nullptr ? end : newline + 1;
  if (line.begin != line.end && line.end[-1] == '\r') --line.end;
  return line;
}

inline bool is_blank_line(Span line, char separator) {
  line = trimmed(line, separator);
  return line.begin == line.end;
}

/// Where a cell ends whose text does at `p`: of several blanks that separate, the last; those at the end of a line
/// separate nothing.
inline const char* end_of_cell(const char* p, const char* end, char separator, bool lines) {
  if (separator != ' ') return p;
  const char* next = p;
  while (next != end && is_blank(*next, separator)) ++next;
  if (lines && next != end && *next == '\r' && (next + 1 == end || next[1] == '\n')) ++next;
  const bool line_ends = next == end || (lines && *next == '\n');
  return line_ends || next == p ? next : next - 1;
}

struct Cell {
  Span text;          // trimmed, without quotes; "" escapes stay as they are
  const char* after;  // the separator that ends the cell, or the end of the text
  bool quoted = false;
  bool well_formed = true;  // quotes are closed and nothing follows them
};

/// The cell that begins at `p`. With `lines`, unquoted line breaks end a cell too and quoted ones belong to it.
inline Cell cell_at(const char* p, const char* end, char separator, bool lines = false) {
  while (p != end && is_blank(*p, separator)) ++p;
  const auto ends_cell = [&](char c) {
    return c == separator || (lines && c == '\n') || (separator == ' ' && c == '\t');
  };
  Cell cell{{p, p}, p};
  if (p != end && *p == '"') {
    cell.quoted = true;
    const char* close = p + 1;
    while (close != end && (*close != '"' || (close + 1 != end && close[1] == '"'))) close += *close == '"' ? 2 : 1;
    cell.text = {p + 1, close};
    cell.well_formed = close != end;
    p = cell.well_formed ? close + 1 : end;
    while (p != end && !ends_cell(*p)) {
      if (!is_blank(*p, separator) && *p != '\r') cell.well_formed = false;
      ++p;
    }
    cell.after = end_of_cell(p, end, separator, lines);
    return cell;
  }
  while (p != end && !ends_cell(*p)) ++p;
  cell.text.end = p;
  cell.after = end_of_cell(p, end, separator, lines);
  if (lines && cell.text.begin != p && p[-1] == '\r' && (p == end || *p == '\n')) --cell.text.end;
  cell.text = trimmed(cell.text, separator);
  return cell;
}

inline bool equal_ignoring_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

/// Words for a cell that is not there, and what spreadsheets write in place of a number.
inline bool is_missing(std::string_view text) {
  if (text.empty()) return true;
  if (text.size() == 1) return text[0] == '?' || text[0] == '-' || text[0] == '.';
  if (text[0] == '#') {
    for (const std::string_view word :
         {"#n/a", "#na", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!", "#n/a n/a"}) {
      if (equal_ignoring_case(text, word)) return true;
    }
    return false;
  }
  if (text.size() > 4) return false;
  for (const std::string_view word : {"na", "n/a", "nan", "null", "none", "<na>"}) {
    if (equal_ignoring_case(text, word)) return true;
  }
  return false;
}

/// What a decimal beyond the range of double rounds to: infinity or zero, from the place of its first digit.
inline double beyond_range(std::string_view text) {
  const bool negative = text[0] == '-';
  const std::size_t exponent_at = std::min(text.find_first_of("eE"), text.size());
  const std::string_view digits = text.substr(negative ? 1 : 0, exponent_at - (negative ? 1 : 0));
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = std::min(digits.find_first_of("123456789"), digits.size());
  double magnitude = static_cast<double>(point) - static_cast<double>(first);
  if (exponent_at < text.size()) {
    std::string_view exponent = text.substr(exponent_at + 1);
    const double sign = exponent.starts_with('-') ? -1 : 1;
    double value = 0;
    for (const char c : exponent) value = c >= '0' && c <= '9' ? 10 * value + (c - '0') : value;
    magnitude += sign * value;
  }
  return std::copysign(magnitude > 0 ? std::numeric_limits<double>::infinity() : 0.0, negative ? -1.0 : 1.0);
}

/// The number that is all of `text`; a leading '+' is allowed.
inline bool parse_number(std::string_view text, double& value) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const auto [after, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (after != text.data() + text.size()) return false;
  if (code == std::errc::result_out_of_range) {
    value = beyond_range(text);
    return true;
  }
  return code == std::errc{};
}

inline bool parse_value(const Cell& cell, char separator, double& value) {
  if (!cell.well_formed) return false;
  const std::string_view text = cell.quoted ? trimmed(cell.text, separator).view() : cell.text.view();
  if (is_missing(text)) {
    value = kMissing;
    return true;
  }
  if (!parse_number(text, value)) return false;
  if (std::isnan(value)) value = kMissing;  // "-nan", as C prints it
  return true;
}

/// A decimal of at most 15 digits without an exponent, as most cells are; returns its end, or null for any other text.
/// Its digits are an integer below 2^53 and its power of ten is a double, so one division rounds correctly: the same
/// bits as from_chars in a third of the time.
inline const char* parse_short_decimal(const char* p, const char* end, double& value) {
  static constexpr double kPower[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const bool negative = p != end && *p == '-';
  p += negative;
  std::uint64_t digits = 0;  // may wrap around in a long number, which is then refused
  const char* begin = p;
  for (; p != end && *p >= '0' && *p <= '9'; ++p) digits = 10 * digits + static_cast<unsigned char>(*p - '0');
  std::ptrdiff_t count = p - begin, decimals = 0;
  if (p != end && *p == '.') {
    begin = ++p;
    for (; p != end && *p >= '0' && *p <= '9'; ++p) digits = 10 * digits + static_cast<unsigned char>(*p - '0');
    decimals = p - begin;
    count += decimals;
  }
  if (count == 0 || count > 15 || (p != end && (*p == 'e' || *p == 'E'))) return nullptr;
  const double magnitude = static_cast<double>(static_cast<std::int64_t>(digits)) / kPower[decimals];
  value = negative ? -magnitude : magnitude;
  return p;
}

/// Fills out[0..columns) from one line; false if anything about it is wrong, whose diagnosis is not worth time here.
inline bool parse_line(Span line, char separator, Index columns, double* out) {
  if (separator == ' ') line = trimmed(line, separator);
  const char* p = line.begin;
  for (Index column = 0; column < columns; ++column) {
    double value;
    while (p != line.end && is_blank(*p, separator)) ++p;
    const char* after = parse_short_decimal(p, line.end, value);
    if (after == nullptr) {
      const auto [number_end, code] = std::from_chars(p, line.end, value);
      if (code == std::errc{} && !std::isnan(value)) after = number_end;
    }
    if (after != nullptr && (after == line.end || *after == separator)) {
      p = after;
    } else {
      const Cell cell = cell_at(p, line.end, separator);
      if (!parse_value(cell, separator, value)) return false;
      p = cell.after;
    }
    out[column] = value;
    if (p == line.end) return column + 1 == columns;
    ++p;
  }
  return false;  // more cells than columns
}

}  // namespace fansite::csv
