// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "fansite/base/error.h"
#include "fansite/base/text.h"
#include "fansite/report/compare_report.h"
#include "fansite/report/detail/json_read.h"
#include "fansite/report/detail/settings.h"
#include "fansite/run/compare_summary.h"

namespace fansite {
namespace {

using report::add_parameters;
using report::Json;
using report::Lines;
using report::number;
using report::text;

Json settings_of(const CompareResult& result) {
  Json settings;
  settings["kind"] = name(result.kind);
  settings["methods"] = Json::array();
  for (const ComparedMethod& method : result.methods) settings["methods"].push_back(method.label);
  settings["orders"] = result.params.orders;
  settings["limit"] = result.params.limit;
  settings["seed"] = result.params.seed;
  if (result.setting) {
    settings["simulate"] = Json::object();
    add_parameters(*result.setting, settings["simulate"]);
    settings["simulate"].erase("seed");
  }
  report::add_roles(result.roles, settings);
  return settings;
}

// With every parameter, so that what was compared is known when defaults have changed.
std::vector<std::string> method_lines(const CompareResult& result) {
  std::vector<std::string> lines;
  for (const ComparedMethod& method : result.methods) {
    Json entry = {{"label", method.label}, {"method", method.method()}, {"settings", Json::object()}};
    if (method.kind == CompareKind::graph) {
      add_parameters(method.graph.options, entry["settings"]);
      if (graph_methods().at(method.method()).can.needs_boundaries) {
        entry["settings"]["boundaries"] = {{"method", method.graph.boundaries.method}};
        add_parameters(method.graph.boundaries.options, entry["settings"]["boundaries"]);
      }
    } else {
      add_parameters(method.boundaries.options, entry["settings"]);
    }
    lines.push_back(text(entry));
  }
  return lines;
}

std::string hex(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

std::vector<std::string> table_lines(const CompareResult& result) {
  std::vector<std::string> lines;
  for (const ComparedTable& table : result.tables) {
    Json entry = Json::object();
    if (result.setting) entry["seed"] = table.seed;
    entry["data_hash"] = hex(table.hash);
    if (table.truth) entry["true_edges"] = table.truth->edges();
    lines.push_back(text(entry));
  }
  return lines;
}

Json scores_json(const CompareResult& result, const std::vector<double>& scores) {
  Json json = Json::object();
  for (std::size_t s = 0; s < scores.size(); ++s) json[score_names(result.kind)[s]] = number(scores[s]);
  return json;
}

std::vector<std::string> cell_lines(const CompareResult& result) {
  std::vector<std::string> lines;
  for (const CompareCell& cell : result.cells) {
    Json entry;
    entry["table"] = cell.table;
    entry["order"] = cell.order;
    entry["method"] = result.methods[static_cast<std::size_t>(cell.method)].label;
    entry["status"] = name(cell.status);
    if (!cell.reason.empty()) entry["reason"] = cell.reason;
    if (!cell.scores.empty()) entry["scores"] = scores_json(result, cell.scores);
    if (cell.status == CellStatus::done) entry["found"] = cell.found;
    lines.push_back(text(entry));
  }
  return lines;
}

std::vector<std::string> summary_lines(const CompareResult& result, const std::vector<MethodSummary>& all,
                                       const std::vector<AloneClaims>& alone) {
  std::vector<std::string> lines;
  for (std::size_t m = 0; m < all.size(); ++m) {
    const MethodSummary& summary = all[m];
    Json entry = {{"method", result.methods[m].label},
                  {"done", summary.done},
                  {"timeout", summary.timeouts},
                  {"refused", summary.refused},
                  {"failed", summary.failed}};
    if (!summary.reason.empty()) entry["reason"] = summary.reason;
    for (std::size_t s = 0; s < summary.scores.size(); ++s) {
      entry["scores"][score_names(result.kind)[s]] = {{"mean", number(summary.scores[s].mean)},
                                                      {"sd", number(summary.scores[s].standard_deviation)}};
    }
    entry["pairs"] = number(summary.pairs);
    entry["over_orders"] = summary.over_orders ? number(*summary.over_orders) : Json(nullptr);
    entry["alone"] = alone[m].pairs;
    if (alone[m].true_pairs) entry["alone_true"] = *alone[m].true_pairs;
    lines.push_back(text(entry));
  }
  return lines;
}

Json rows_of(const Matrix& matrix) {
  Json rows = Json::array();
  for (Index i = 0; i < matrix.rows(); ++i) {
    Json row = Json::array();
    for (Index j = 0; j < matrix.cols(); ++j) row.push_back(number(matrix(i, j)));
    rows.push_back(row);
  }
  return rows;
}

std::vector<std::string> alone_lines(const CompareResult& result, const std::vector<AloneClaims>& alone) {
  std::vector<std::string> lines;
  const auto name_of = [&](int variable) { return result.names[static_cast<std::size_t>(variable)]; };
  for (std::size_t m = 0; m < alone.size(); ++m) {
    Json pairs = Json::array();
    for (const auto& [a, b] : alone[m].of_table) pairs.push_back({name_of(a), name_of(b)});
    lines.push_back(text({{"method", result.methods[m].label}, {"pairs", pairs}}));
  }
  return lines;
}

Json cell_costs(const CompareResult& result, const std::vector<MethodSummary>& all) {
  Json seconds = Json::array(), memory = Json::array(), methods = Json::object();
  for (const CompareCell& cell : result.cells) {
    seconds.push_back(cell.seconds);
    memory.push_back(cell.peak_memory_mb);
  }
  for (std::size_t m = 0; m < all.size(); ++m) {
    methods[result.methods[m].label] = {{"seconds", number(all[m].seconds)}, {"peak_memory_mb", all[m].peak_memory_mb}};
  }
  return {{"cell_seconds", seconds}, {"cell_peak_memory_mb", memory}, {"methods", methods}};
}

}  // namespace

std::string to_json(const CompareResult& result, const RunTiming& timing) {
  const std::vector<MethodSummary> all = summaries(result);
  const std::vector<AloneClaims> alone = alone_claims(result);
  Lines lines;
  report::add_head(lines, kComparisonFormat, result.names, result.rows, settings_of(result), result.warnings);
  Json manifest = {{"version", FANSITE_VERSION}};
  if (!result.setting && !result.tables.empty()) manifest["data_hash"] = hex(result.tables.front().hash);
  manifest["seed"] = result.params.seed;
  lines.field("manifest", text(manifest));
  report::add_unfinished(lines, result.complete()
                                    ? std::string()
                                    : fmt::format("{} of {} cells are missing",
                                                  result.expected_cells() - static_cast<int>(result.cells.size()),
                                                  result.expected_cells()));
  lines.list("methods", method_lines(result));
  lines.list("tables", table_lines(result));
  lines.list("cells", cell_lines(result));
  lines.list("summary", summary_lines(result, all, alone));
  Json agreement = {{"overlap", rows_of(overlaps(result))}};
  if (result.kind == CompareKind::graph) agreement["directions"] = rows_of(same_directions(result));
  lines.field("agreement", text(agreement));
  if (result.expected_tables == 1) lines.list("alone", alone_lines(result, alone));
  RunTiming total = timing;
  // Each cell has begun the count of memory anew.
  for (const MethodSummary& summary : all)
    total.peak_memory_mb = std::max(total.peak_memory_mb, summary.peak_memory_mb);
  report::add_timing(lines, cell_costs(result, all), total);
  return lines.text();
}

// ---- Back -----------------------------------------------------------------------------------------------------------

std::vector<std::string> compared_variables(std::string_view json, const std::string& where) {
  const Json root = report::parse(json, where);
  return report::read_fields(where, [&] {
    const Json& settings = root.at("settings");
    settings.at("kind").get<std::string>();
    settings.at("orders").get<int>();
    const std::size_t methods = root.at("summary").size();
    for (const Json& entry : root.at("summary")) {
      entry.at("method").get<std::string>();
      for (const char* count : {"done", "timeout", "refused", "failed", "alone"}) entry.at(count).get<int>();
    }
    const Json& overlap = root.at("agreement").at("overlap");
    const bool square = overlap.is_array() && overlap.size() == methods &&
                        std::all_of(overlap.begin(), overlap.end(),
                                    [&](const Json& row) { return row.is_array() && row.size() == methods; });
    check_data(square && root.at("tables").is_array(), "[read] {}: the overlaps are not of its {} methods", where,
               methods);
    return root.at("variables").get<std::vector<std::string>>();
  });
}

namespace {

std::uint64_t parse_hash(const std::string& text, const std::string& where) {
  std::uint64_t hash = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  check_data(error == std::errc() && end == text.data() + text.size(), "[compare] {}: '{}' is no hash of a table",
             where, excerpt(text));
  return hash;
}

// Throws unless what is saved can be a part of this comparison.
void check_same_tables(const Json& root, const std::string& where, const ComparedTables& tables,
                       const CompareParams& params) {
  const auto format = root.at("format").get<std::string>();
  check_data(format == kComparisonFormat, "[compare] {} has format {}; it is no comparison of methods", where,
             excerpt(format));
  const auto version = root.at("version").get<std::string>();
  check_data(version == FANSITE_VERSION,
             "[compare] {} was made by version {}, this is {}; delete it, or write elsewhere", where, excerpt(version),
             FANSITE_VERSION);
  const Json& settings = root.at("settings");
  Json simulate = Json::object();
  if (tables.data == nullptr) {
    add_parameters(tables.setting, simulate);
    simulate.erase("seed");
  }
  const bool same = settings.value("simulate", Json::object()) == simulate &&
                    (tables.data == nullptr || root.at("tables").empty() ||
                     root.at("tables").at(0).at("data_hash") == hex(hash_of(*tables.data)));
  check_data(same, "[compare] {} is of another {}; delete it, or write elsewhere", where,
             tables.data != nullptr ? "table, or of this one loaded with other options" : "simulated setting");
  const std::string seed = settings.at("seed").dump();
  check_data(settings.at("seed").get<std::uint64_t>() == params.seed,
             "[compare] {} is of seed {}; add --seed {}, or delete it", where, seed, seed);
}

CompareCell cell_in(const Json& entry, std::size_t variables, const std::string& where) {
  CompareCell cell;
  cell.order = entry.at("order").get<int>();
  cell.status = parse<CellStatus>(entry.at("status").get<std::string>(), "status");
  cell.reason = entry.value("reason", std::string());
  if (cell.status != CellStatus::done) return cell;
  entry.at("found").get_to(cell.found);
  bool inside = cell.found.size() == variables;
  for (const std::vector<int>& list : cell.found) {
    for (const int other : list) inside = inside && other >= 0 && std::cmp_less(other, variables);
  }
  check_data(inside, "[compare] {} names variables that it does not have", where);
  return cell;
}

}  // namespace

SavedCells::SavedCells(std::string_view json, const std::string& where, const ComparedTables& tables,
                       const CompareParams& params)
    : new_limit_(params.limit) {
  const Json root = report::parse(json, where);
  cells_ = report::read_fields(where, [&] {
    check_same_tables(root, where, tables, params);
    limit_ = root.at("settings").at("limit").get<double>();
    const Json &seconds = root.at("timing").at("cell_seconds"), &memory = root.at("timing").at("cell_peak_memory_mb");
    std::vector<Cell> cells;
    for (const Json& entry : root.at("cells")) {
      const Json& table = root.at("tables").at(entry.at("table").get<std::size_t>());
      Cell saved{parse_hash(table.at("data_hash").get<std::string>(), where), entry.at("method").get<std::string>(),
                 cell_in(entry, root.at("variables").size(), where)};
      saved.cell.seconds = seconds.at(cells.size()).get<double>();
      saved.cell.peak_memory_mb = memory.at(cells.size()).get<double>();
      cells.push_back(std::move(saved));
    }
    return cells;
  });
}

KnownCells SavedCells::known() const& {
  const auto infinite = [](double limit) { return limit > 0 ? limit : Budget::never(); };
  const bool more_time = infinite(new_limit_) > infinite(limit_);
  return [this, more_time](std::uint64_t table, int order, const std::string& label) -> const CompareCell* {
    for (const Cell& saved : cells_) {
      if (saved.table != table || saved.cell.order != order || saved.label != label) continue;
      const bool again =
          saved.cell.status == CellStatus::failed || (saved.cell.status == CellStatus::timeout && more_time);
      return again ? nullptr : &saved.cell;
    }
    return nullptr;
  };
}

}  // namespace fansite
