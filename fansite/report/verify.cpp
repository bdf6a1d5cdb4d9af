// SPDX-License-Identifier: Apache-2.0
#include "fansite/report/verify.h"

#include <algorithm>
#include <vector>

#include "fansite/base/error.h"
#include "fansite/base/text.h"
#include "fansite/boundary/links.h"
#include "fansite/report/detail/json_read.h"
#include "fansite/report/detail/json_text.h"
#include "fansite/report/detail/settings.h"
#include "fansite/report/json.h"

namespace fansite {
namespace {

using report::Json;

// The lines of a result but the last key, what it cost.
std::vector<std::string_view> lasting_lines(std::string_view json) {
  std::vector<std::string_view> lines;
  while (!json.empty()) {
    const std::size_t end = std::min(json.find('\n'), json.size());
    const std::string_view line = json.substr(0, end);
    json.remove_prefix(std::min(end + 1, json.size()));
    if (line.starts_with("\"timing\": ")) break;
    lines.push_back(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
  }
  return lines;
}

// The key that a line belongs to: its own, or that of the list it is an entry of.
std::string key_of(const std::vector<std::string_view>& lines, std::size_t line) {
  for (std::size_t i = std::min(line + 1, lines.size()); i-- > 0;) {
    if (lines[i].starts_with('"')) return std::string(lines[i].substr(1, lines[i].find('"', 1) - 1));
  }
  return "format";
}

// Two lines from a little before they part.
std::string parting(std::string_view line, std::string_view other) {
  const auto [end, unused] = std::mismatch(line.begin(), line.end(), other.begin(), other.end());
  const auto place = static_cast<std::size_t>(end - line.begin());
  return place < 16 ? excerpt(line) : "…" + excerpt(line.substr(place - 16));
}

// Without the warning that a GPU was there and could not be used, which is no part of the answer.
std::string without_device_warning(std::string_view json, const std::string& where) {
  Json root = report::parse(json, where);
  Json& warnings = root["warnings"];
  Json kept = Json::array();
  for (const Json& warning : warnings) {
    if (!warning.is_string() || !warning.get<std::string>().starts_with("[device] ")) kept.push_back(warning);
  }
  warnings = std::move(kept);
  return laid_out(root.dump(), where);
}

Verification compare(std::string_view saved, std::string_view repeated) {
  const auto a = lasting_lines(saved), b = lasting_lines(repeated);
  const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (at == a.end() && other == b.end()) return {true, ""};
  const auto line = static_cast<std::size_t>(at - a.begin());
  const std::string_view theirs = at == a.end() ? "nothing" : *at, ours = other == b.end() ? "nothing" : *other;
  return {false, fmt::format("line {}, in \"{}\": the result has {}, the repeated run {}", line + 1,
                             key_of(at == a.end() ? b : a, line), parting(theirs, ours), parting(ours, theirs))};
}

void check_manifest(const Json& root, const std::string& where, const Dataset& data, const std::string& model) {
  const Json& manifest = root.at("manifest");
  check_data(manifest.at("data_hash") == fmt::format("{:016x}", hash_of(data)),
             "[verify] {} is the result of another table, or of this one loaded with other options (--missing, "
             "--no-header, --kind, --context, --weight, --group)",
             where);
  check_data(root.value("complete", true),
             "[verify] {} cannot be repeated: it was cut short by its time budget, and what time allows is never the "
             "same; run it again without",
             where);
  const bool with_model = manifest.contains("model_hash");
  check_data(!with_model || !model.empty(), "[verify] {} was made with a trained model; give it with --model", where);
  check_data(with_model || model.empty(), "[verify] {} was made without a trained model; leave --model out", where);
}

ByteMatrix links_in(const Json& root, const Dataset& data) {
  std::vector<int> targets;
  std::vector<std::vector<int>> others;
  for (const Json& link : root.at("links")) {
    targets.push_back(data.index_of(link.at(0).get<std::string>()));
    others.push_back({data.index_of(link.at(1).get<std::string>())});
  }
  return links(targets, others, data.variables());
}

// Where the result was computed, if that can be chosen here.
Device device_of(const Json& root) {
  const Json timing = root.value("timing", Json::object());
  return timing.value("device", std::string("cpu")) == "cpu" ? Device::cpu : Device::automatic;
}

std::string repeat_graph(const Json& root, const Dataset& data, const std::string& model, Progress& progress) {
  const Json& settings = root.at("settings");
  CausalGraphParams params = report::causal_graph_params(settings);
  params.run.model = model;
  params.run.device = device_of(root);
  const bool given = root.contains("links") && !settings.contains("boundaries");
  const ByteMatrix links = given ? links_in(root, data) : ByteMatrix();
  return to_json(
      causal_graph(data, given ? &links : nullptr, report::knowledge_in(settings, data.names), params, progress), {});
}

std::string repeat_boundaries(const Json& root, const Dataset& data, const std::string& model, Progress& progress) {
  const Json& settings = root.at("settings");
  BoundariesParams params = report::boundaries_params(settings);
  params.run.model = model;
  params.run.device = device_of(root);
  return to_json(markov_boundaries(data, report::knowledge_in(settings, data.names), params, progress), {});
}

std::string repeat_entropy(const Json& root, const Dataset& data, const std::string& model, Progress& progress) {
  EntropyParams params = report::entropy_params(root.at("settings"));
  params.run.model = model;
  params.run.device = device_of(root);
  std::vector<std::string> given;
  for (const Json& entry : root.at("given")) given.push_back(entry.at("name").get<std::string>());
  const EntropyModel fitted(data, params, progress);
  return to_json(fitted.information(root.at("target").get<std::string>(), given), {});
}

}  // namespace

Verification verify(std::string_view json, const std::string& where, const Dataset& data, const std::string& model,
                    Progress& progress) {
  const Json root = report::parse(json, where);
  const std::string repeated = report::read_fields(where, [&] {
    const auto format = root.at("format").get<std::string>();
    const bool boundaries = format == kBoundariesFormat, graph = format == kGraphFormat;
    check_data(boundaries || graph || format == kEntropyFormat,
               "[verify] {} has format {}; give a result of fansite mb, dag or entropy", where, excerpt(format));
    check_data(root.contains("manifest"), "[verify] {} does not say what it was made from; make it again", where);
    check_manifest(root, where, data, model);
    return boundaries ? repeat_boundaries(root, data, model, progress)
           : graph    ? repeat_graph(root, data, model, progress)
                      : repeat_entropy(root, data, model, progress);
  });
  const auto names_device = [](std::string_view text) { return text.find("\"[device] ") != std::string_view::npos; };
  Verification result = names_device(json) || names_device(repeated)
                            ? compare(without_device_warning(json, where), without_device_warning(repeated, where))
                            : compare(json, repeated);
  const auto version = root.at("manifest").value("version", std::string());
  if (!result.same && version != FANSITE_VERSION) {
    result.difference += fmt::format("; it was made by version {}, this is {}", excerpt(version), FANSITE_VERSION);
  }
  const auto device = root.value("timing", Json::object()).value("device", std::string("cpu"));
  if (!result.same && device != device_used()) {
    result.difference += fmt::format("; it was computed on {}, this on {}", excerpt(device), device_used());
  }
  return result;
}

std::string laid_out(std::string_view json, const std::string& where) {
  const Json root = report::parse(json, where);
  report::Lines lines;
  for (const auto& [key, value] : root.items()) {
    if (!value.is_array() || key == "variables") {
      lines.field(key, report::text(value));
      continue;
    }
    std::vector<std::string> entries;
    for (const Json& entry : value) entries.push_back(report::text(entry));
    lines.list(key, entries);
  }
  return lines.text();
}

TableRoles saved_roles(std::string_view json, const std::string& where) {
  const Json root = report::parse(json, where);
  return report::read_fields(
      where, [&] { return root.contains("settings") ? report::roles_in(root.at("settings")) : TableRoles(); });
}

}  // namespace fansite
