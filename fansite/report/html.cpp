// SPDX-License-Identifier: Apache-2.0
#include "fansite/report/html.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "fansite/base/error.h"
#include "fansite/base/text.h"
#include "fansite/report/compare_report.h"
#include "fansite/report/detail/json_text.h"
#include "fansite/report/detail/page_files.h"
#include "fansite/report/json.h"

namespace fansite {
namespace {

using report::Json;

// ---- What goes into the page ----------------------------------------------------------------------------------------

// Readers see at most four digits and downloads are for looking, not for computing on: six halve the page.
double rounded(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::general, 6);
  double result = value;
  std::from_chars(digits.data(), end.ptr, result);
  return result;
}

// JavaScript has doubles only: a seed above 2^53 would be shown as another one, so it goes as text.
constexpr std::uint64_t kExactInDoubles = std::uint64_t{1} << 53;

// Results are five levels deep. A text of brackets alone must not use up the stack when it is written.
constexpr int kDeepest = 32;

void fit_for_page(Json& value, const std::string& where, int depth = 0) {
  check_data(depth < kDeepest, "[report] {} is nested more than {} levels deep; it is no result of fansite", where,
             kDeepest);
  if (value.is_structured()) {
    for (Json& entry : value) fit_for_page(entry, where, depth + 1);
  } else if (value.is_number_float()) {
    value = report::number(rounded(value.get<double>()));
  } else if (value.is_number_unsigned() && value.get<std::uint64_t>() > kExactInDoubles) {
    value = std::to_string(value.get<std::uint64_t>());
  }
}

enum class Kind { boundaries, graph, comparison, plan };

struct Result {
  Kind kind = Kind::boundaries;
  std::string where;
  std::vector<std::string> names;
  Json root;
};

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return names;
}

Kind kind_of(const ResultText& text) {
  const std::string format = result_format(text.json, text.where);
  if (format == kBoundariesFormat) return Kind::boundaries;
  if (format == kGraphFormat) return Kind::graph;
  if (format == kPlanFormat) return Kind::plan;
  check_data(format == kComparisonFormat,
             "[report] {} has format '{}'. Give boundaries ({}), a graph ({}), a comparison ({}) or a plan ({}).",
             text.where, excerpt(format), kBoundariesFormat, kGraphFormat, kComparisonFormat, kPlanFormat);
  return Kind::comparison;
}

// The fields that the page relies on are read once by parsers that name what is wrong.
std::vector<std::string> checked_names(const ResultText& text, Kind kind) {
  switch (kind) {
    case Kind::boundaries:
      return parse_boundaries(text.json, text.where).names;
    case Kind::graph:
      return parse_graph(text.json, text.where).names;
    case Kind::comparison:
      return compared_variables(text.json, text.where);
    default:
      return {};  // a plan counts its variables and names none
  }
}

// What the page computes with; all else of a plan is shown as it is.
void check_plan(const Json& plan, const std::string& where) {
  const auto has = [&](std::string_view key, auto is_right) {
    const auto found = plan.find(key);
    check_data(found != plan.end() && is_right(*found),
               "[report] {} has no usable '{}'. Give a plan as `fansite plan --json` writes it.", where, key);
  };
  const auto is_number = [](const Json& value) { return value.is_number(); };
  const auto is_count = [](const Json& value) { return value.is_number_integer(); };
  const auto is_text = [](const Json& value) { return value.is_string(); };
  for (const std::string_view key : {"total_seconds", "within", "peak_memory_mb"}) has(key, is_number);
  for (const std::string_view key : {"variables", "threads"}) has(key, is_count);
  for (const std::string_view key : {"method", "estimator", "version"}) has(key, is_text);
  has("phases", [&](const Json& phases) {
    return phases.is_array() && std::all_of(phases.begin(), phases.end(), [&](const Json& phase) {
             return phase.is_object() && phase.contains("name") && is_text(phase["name"]) && phase.contains("what") &&
                    is_text(phase["what"]) && phase.contains("seconds") && is_number(phase["seconds"]);
           });
  });
}

Result read(const ResultText& text) {
  const Kind kind = kind_of(text);
  Result result{kind, text.where, checked_names(text, kind), Json::parse(text.json)};
  const auto rows = result.root.find("rows");
  check_data(rows != result.root.end() && rows->is_number_integer(),
             "[report] {} does not say how many rows it is about. Give a result of fansite.", text.where);
  if (kind == Kind::plan) check_plan(result.root, text.where);
  // d × d numbers, of which the edges have all that matter.
  result.root.erase("weights");
  // What each cell of a comparison found; its summary has what the page shows.
  result.root.erase("cells");
  fit_for_page(result.root, text.where);
  return result;
}

std::string data_hash(const Result& result) {
  const auto manifest = result.root.find("manifest");
  if (manifest == result.root.end() || !manifest->is_object()) return "";
  const auto hash = manifest->find("data_hash");
  return hash != manifest->end() && hash->is_string() ? hash->get<std::string>() : "";
}

bool is_simulated(const Result& result) {
  return result.kind == Kind::comparison && result.root.at("settings").contains("simulate");
}

std::size_t variable_count(const Result& result) {
  return result.kind == Kind::plan ? result.root.at("variables").get<std::size_t>() : result.names.size();
}

void check_same_data(const Result& a, const Result& b) {
  const bool names_known = a.kind != Kind::plan && b.kind != Kind::plan;
  check_data(names_known ? sorted(a.names) == sorted(b.names) : variable_count(a) == variable_count(b),
             "[report] {} and {} have different variables; are they of the same data?", a.where, b.where);
  check_data(a.root.at("rows") == b.root.at("rows"),
             "[report] {} has {} rows and {} has {}; are they of the same data?", a.where, a.root.at("rows").dump(),
             b.where, b.root.at("rows").dump());
  const std::string hash_a = data_hash(a), hash_b = data_hash(b);
  check_data(hash_a.empty() || hash_b.empty() || hash_a == hash_b,
             "[report] {} and {} are of different tables: their data_hash is {} and {}", a.where, b.where,
             excerpt(hash_a), excerpt(hash_b));
}

// ---- Escaping -------------------------------------------------------------------------------------------------------

// For a script element that is data: without "<" nothing in it can end the element, and in JSON "<" stands in strings
// alone. U+2028 and U+2029 are line ends to old browsers.
std::string for_script(const Json& value) {
  const std::string json = report::text(value);
  std::string escaped;
  escaped.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = std::string_view(json).substr(i, 3);
    if (json[i] == '<') {
      escaped += "\\u003c";
    } else if (rest == "\u2028" || rest == "\u2029") {
      escaped += rest == "\u2028" ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      escaped += json[i];
    }
  }
  return escaped;
}

// For the text of an element; what is not UTF-8 becomes U+FFFD, control characters become blanks.
std::string for_element(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const std::size_t length = utf8_character(text);
    const char first = text[0];
    if (length == 0) {
      escaped += "\uFFFD";
    } else if (length > 1) {
      escaped += text.substr(0, length);
    } else if (first == '<') {
      escaped += "&lt;";
    } else if (first == '>') {
      escaped += "&gt;";
    } else if (first == '&') {
      escaped += "&amp;";
    } else {
      escaped += first < ' ' || first == '\x7F' ? ' ' : first;
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return escaped;
}

// 32 bytes in hexadecimal, as a Content-Security-Policy wants them: base64.
std::string source_hash(std::string_view hex) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned> bits;
  for (const char c : hex) {
    const unsigned nibble = static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
    for (unsigned bit = 8; bit > 0; bit /= 2) bits.push_back((nibble & bit) != 0);
  }
  std::string base64;
  for (std::size_t i = 0; i < bits.size(); i += 6) {
    unsigned digit = 0;
    for (std::size_t k = i; k < i + 6; ++k) digit = 2 * digit + (k < bits.size() ? bits[k] : 0);
    base64 += digits[digit];
  }
  return "'sha256-" + base64 + "='";
}

// As the page's script calls it.
constexpr std::string_view key_of(Kind kind) {
  switch (kind) {
    case Kind::boundaries:
      return "boundaries";
    case Kind::graph:
      return "graph";
    case Kind::comparison:
      return "comparison";
    default:
      return "plan";
  }
}

// ---- The page -------------------------------------------------------------------------------------------------------

std::string made_up_title(const Result& result) {
  return fmt::format("fansite report: {} variables, {} rows", variable_count(result), result.root.at("rows").dump());
}

// Replaces each {{name}} of the template; what is put in is not looked at again.
std::string fill(std::string_view page, const std::vector<std::pair<std::string_view, std::string_view>>& values) {
  std::string filled;
  for (;;) {
    const std::size_t begin = page.find("{{");
    filled += page.substr(0, begin);
    if (begin == std::string_view::npos) return filled;
    const std::size_t end = page.find("}}", begin);
    const std::string_view name = page.substr(begin + 2, end - begin - 2);
    for (const auto& [key, value] : values) {
      if (key == name) filled += value;
    }
    page.remove_prefix(end + 2);
  }
}

}  // namespace

std::string to_html(const std::vector<ResultText>& results, std::string_view title) {
  const report::PageFiles& files = report::page_files();
  check(!files.script.empty(),
        "[report] this fansite was built without D3, which draws the page: install Debian's package node-d3, or set "
        "FANSITE_D3 to a d3.min.js of version 5, and build it again.");
  check(!results.empty() && results.size() <= 4,
        "[report] give one result, or one each of boundaries, a graph, a comparison and a plan");
  std::vector<Result> read_results;
  Json data;
  for (const ResultText& text : results) {
    Result result = read(text);
    for (const Result& other : read_results) {
      check(other.kind != result.kind, "[report] {} and {} are both of format {}; give one result of each kind.",
            other.where, text.where, result.root.at("format").get<std::string>());
      // What was simulated is about tables of its own.
      if (!is_simulated(other) && !is_simulated(result)) check_same_data(other, result);
    }
    Json& whole = data[std::string(key_of(result.kind))] = std::move(result.root);
    result.root = {{"rows", whole.at("rows")}, {"manifest", whole.value("manifest", Json())}};
    if (result.kind == Kind::comparison) result.root["settings"] = whole.at("settings");
    if (result.kind == Kind::plan) result.root["variables"] = whole.at("variables");
    read_results.push_back(std::move(result));
  }

  const std::string policy = fmt::format(
      "default-src 'none'; script-src {}; style-src {}; img-src data: blob:; base-uri 'none'; form-action 'none'",
      source_hash(files.script_sha256), source_hash(files.style_sha256));
  const std::string shown_title = for_element(title.empty() ? made_up_title(read_results.front()) : title);
  const std::string json = for_script(data);
  return fill(
      files.html,
      {{"policy", policy}, {"title", shown_title}, {"style", files.style}, {"data", json}, {"script", files.script}});
}

}  // namespace fansite
