// SPDX-License-Identifier: Apache-2.0
//
// Text that comes from files, made fit for messages and results.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fansite {

/// Bytes of the UTF-8 character that `text` begins with, 0 if it begins with none.
inline std::size_t utf8_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto tail = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  if (text.empty()) return 0;
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return tail(1) ? 2 : 0;
  if (first >= 0xE0 && first < 0xF0) {  // no overlong forms, no surrogates
    if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) >= 0xA0)) return 0;
    return tail(1) && tail(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first < 0xF5) {  // U+10000 to U+10FFFF
    if ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) >= 0x90)) return 0;
    return tail(1) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

inline bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_character(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// As CSV quotes it: quotes inside are doubled.
inline std::string in_quotes(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') quoted += c;
  }
  return quoted + '"';
}

/// `text` as a message may show it: valid UTF-8, no control characters, at most 40 characters.
inline std::string excerpt(std::string_view text) {
  std::string shown;
  for (int characters = 0; !text.empty(); ++characters) {
    if (characters == 40) return shown + "…";
    const std::size_t length = utf8_character(text);
    const bool printable = length > 1 || (length == 1 && text[0] >= ' ' && text[0] != '\x7F');
    if (printable) {
      shown += text.substr(0, length);
    } else {
      shown += '?';
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return shown;
}

/// 'a', 'b', 'c', 'd', 'e' and 12 more
std::string quoted_list(const std::vector<std::string>& names);

/// ASCII letters only; other bytes stay as they are.
std::string lower_case(std::string_view text);

/// The candidate nearest to `name` by edit distance, or "" when none is near.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace fansite
