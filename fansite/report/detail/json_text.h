// SPDX-License-Identifier: Apache-2.0
//
// JSON values as the text of a result.
#pragma once

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "fansite/base/parameters.h"
#include "fansite/base/version.h"
#include "fansite/causal/hidden_causes.h"
#include "fansite/graph/knowledge.h"
#include "fansite/report/timing.h"

namespace fansite::report {

using Json = nlohmann::ordered_json;

/// JSON has no infinities: a determined target's entropy of −∞ is null.
inline Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

/// Names may hold any bytes; those that are not UTF-8 become U+FFFD.
inline std::string text(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// A JSON object with one key a line, and one entry of a list a line, so that results can be compared as text.
class Lines {
 public:
  void field(std::string_view key, const std::string& value) { add(fmt::format("\"{}\": {}", key, value)); }
  void list(std::string_view key, const std::vector<std::string>& entries) {
    std::string line = fmt::format("\"{}\": [", key);
    for (std::size_t i = 0; i < entries.size(); ++i) line += (i == 0 ? "\n  " : ",\n  ") + entries[i];
    add(line + (entries.empty() ? "]" : "\n]"));
  }
  std::string text() const { return "{\n" + lines_ + "\n}\n"; }

 private:
  void add(const std::string& line) { lines_ += (lines_.empty() ? "" : ",\n") + line; }
  std::string lines_;
};

/// What every result begins with.
inline void add_head(Lines& lines, std::string_view format, const std::vector<std::string>& names, Index rows,
                     const Json& settings, const std::vector<std::string>& warnings) {
  lines.field("format", fmt::format("\"{}\"", format));
  lines.field("version", text(FANSITE_VERSION));
  lines.field("variables", text(names));
  lines.field("rows", std::to_string(rows));
  lines.field("settings", text(settings));
  std::vector<std::string> sentences;
  for (const std::string& warning : warnings) sentences.push_back(text(warning));
  lines.list("warnings", sentences);
}

/// What else decides the bits of a result: with the settings, enough to repeat the run.
struct Manifest {
  std::uint64_t data_hash = 0;
  std::optional<std::uint64_t> model_hash;  ///< of a trained model that was given
  std::uint64_t seed = 0;
};
inline void add_manifest(Lines& lines, const Manifest& manifest) {
  Json json = {{"version", FANSITE_VERSION}, {"data_hash", fmt::format("{:016x}", manifest.data_hash)}};
  if (manifest.model_hash) json["model_hash"] = fmt::format("{:016x}", *manifest.model_hash);
  json["seed"] = manifest.seed;
  lines.field("manifest", text(json));
}

/// Where an answer was cut short; nothing if it was not.
inline void add_unfinished(Lines& lines, const std::string& sentence) {
  lines.field("complete", sentence.empty() ? "true" : "false");
  if (!sentence.empty()) lines.field("unfinished", text(sentence));
}

/// What a method reports beside its answer; nothing where there is nothing.
inline void add_details(Lines& lines, const std::vector<std::pair<std::string, Value>>& details) {
  if (details.empty()) return;
  Json json = Json::object();
  for (const auto& [key, value] : details) {
    json[key] = std::visit(
        [](const auto& held) {
          if constexpr (std::is_same_v<std::decay_t<decltype(held)>, double>) {
            return number(held);
          } else {
            return Json(held);
          }
        },
        value);
  }
  lines.field("details", text(json));
}

/// The last key: a phase's seconds each, then what the run cost as a whole.
inline void add_timing(Lines& lines, const Json& phases, const RunTiming& timing) {
  Json json = phases;
  json["total_seconds"] = timing.total_seconds;
  json["peak_memory_mb"] = timing.peak_memory_mb;
  json["threads"] = timing.threads;
  json["machine"] = timing.machine;
  json["device"] = timing.device;
  lines.field("timing", text(json));
}

/// The lines of knowledge that were satisfied; nothing where there is none.
inline void add_knowledge(Json& settings, const Knowledge& knowledge) {
  if (knowledge.empty()) return;
  settings["knowledge"] = Json::array();
  std::istringstream stream(knowledge.to_text());
  for (std::string line; std::getline(stream, line);) settings["knowledge"].push_back(line);
}

/// Pairs of which a graph leaves over what is related.
inline Json to_json(const std::vector<causal::HiddenCause>& hidden, const std::vector<std::string>& names) {
  Json list = Json::array();
  for (const causal::HiddenCause& pair : hidden) {
    list.push_back({{"a", names[static_cast<std::size_t>(pair.a)]},
                    {"b", names[static_cast<std::size_t>(pair.b)]},
                    {"correlation", number(pair.correlation)},
                    {"p_value", number(pair.p_value)}});
  }
  return list;
}

}  // namespace fansite::report
