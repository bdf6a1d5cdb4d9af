// SPDX-License-Identifier: Apache-2.0
#include "fansite/report/compare_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "fansite/base/duration.h"
#include "fansite/base/file.h"
#include "fansite/base/text.h"
#include "fansite/run/compare_summary.h"

namespace fansite {
namespace {

// Writing takes a twentieth of the time at most, and a power cut costs at most twenty times what writing takes.
constexpr double kShareOfWriting = 0.05;

// As wide as a terminal shows it: one column for each character of these words.
std::size_t width(std::string_view text) {
  std::size_t characters = 0;
  for (const char c : text) characters += (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;
  return characters;
}

// The first column to the left, figures to the right.
std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width(row[c]));
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string blanks(widths[c] - width(row[c]), ' ');
      line += c == 0 ? row[c] + blanks : "  " + blanks + row[c];
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

const std::string kNone = "–";

std::string percent(double share, int digits = 1) {
  return std::isnan(share) ? kNone : fmt::format("{:.{}f}", 100 * share, digits);
}

// Shares in percent as `eval` prints them; a distance as it is.
std::string score_text(const std::string& name, const MeanAndSpread& score, bool several) {
  if (std::isnan(score.mean)) return kNone;
  const double scale = name == "SHD" ? 1 : 100;
  const std::string mean = fmt::format("{:.1f}", scale * score.mean);
  return several ? fmt::format("{}±{:.1f}", mean, scale * score.standard_deviation) : mean;
}

std::string status_text(const MethodSummary& summary, int expected) {
  std::string words;
  const auto add = [&](int count, std::string_view what) {
    if (count > 0) words += fmt::format("{}{} {}", words.empty() ? "" : ", ", count, what);
  };
  if (summary.done == expected) return "done";
  add(summary.done, "done");
  add(summary.timeouts, "out of time");
  add(summary.refused, "refused");
  add(summary.failed, "failed");
  return words.empty() ? "waits" : words;
}

double mean_with_others(const Matrix& overlap, Index method) {
  double sum = 0;
  int count = 0;
  for (Index other = 0; other < overlap.cols(); ++other) {
    if (other == method || std::isnan(overlap(method, other))) continue;
    sum += overlap(method, other);
    ++count;
  }
  return count > 0 ? sum / count : std::nan("");
}

class FileKeeper final : public CompareWatcher {
 public:
  FileKeeper(std::string file, CompareWatcher& next) : file_(std::move(file)), next_(next) {}
  void begins(const CompareResult& so_far, const CompareCell& cell) override { next_.begins(so_far, cell); }
  void ended(const CompareResult& so_far) override {
    if (!file_.empty()) newest_ = so_far;  // a copy: Interrupted leaves nothing else to write from
    if (kShareOfWriting * since_.seconds() >= cost_) keep();
    next_.ended(so_far);
  }
  /// Writes what there is, unless it is written already.
  void keep() {
    if (!newest_ || newest_->cells.size() == kept_) return;
    const Stopwatch writing;
    OutputFile output(file_);
    output.write(to_json(*newest_, timing_of(watch_)));
    output.commit();
    kept_ = newest_->cells.size();
    cost_ = writing.seconds();
    since_ = Stopwatch();
  }

 private:
  std::string file_;
  CompareWatcher& next_;
  Stopwatch watch_, since_;
  std::optional<CompareResult> newest_;
  std::size_t kept_ = 0;  // cells
  double cost_ = 0;       // seconds that the last writing took
};

}  // namespace

std::string to_csv(const CompareResult& result) {
  std::string csv = result.setting ? "seed,order,method,status,seconds,peak_memory_mb,pairs"
                                   : "order,method,status,seconds,peak_memory_mb,pairs";
  for (const std::string& score : score_names(result.kind)) csv += "," + score;
  csv += ",reason\n";
  for (const CompareCell& cell : result.cells) {
    if (result.setting) csv += fmt::format("{},", result.tables[static_cast<std::size_t>(cell.table)].seed);
    csv += fmt::format("{},{},{},{:.3f},{:.0f},", cell.order,
                       in_quotes(result.methods[static_cast<std::size_t>(cell.method)].label), name(cell.status),
                       cell.seconds, cell.peak_memory_mb);
    if (cell.status == CellStatus::done) csv += std::to_string(pairs_of(result.kind, cell));
    for (std::size_t s = 0; s < score_names(result.kind).size(); ++s) {
      const bool known = s < cell.scores.size() && !std::isnan(cell.scores[s]);
      csv += known ? fmt::format(",{}", cell.scores[s]) : std::string(",");
    }
    csv += fmt::format(",{}\n", cell.reason.empty() ? std::string() : in_quotes(cell.reason));
  }
  return csv;
}

std::vector<std::string> comparison_lines(const CompareResult& result) {
  const std::vector<MethodSummary> all = summaries(result);
  const std::vector<AloneClaims> alone = alone_claims(result);
  const Matrix overlap = overlaps(result);
  const int expected = result.expected_tables * result.params.orders;
  const bool truth = result.has_truth(), several = all.size() > 1, orders = result.params.orders > 1;
  std::vector<std::string> heads = {"method"};
  if (truth) heads.insert(heads.end(), score_names(result.kind).begin(), score_names(result.kind).end());
  heads.emplace_back("pairs");
  if (several) heads.insert(heads.end(), {"alone", "overlap"});
  if (orders) heads.emplace_back("orders");
  heads.insert(heads.end(), {"time", "memory", "cells"});
  std::vector<std::vector<std::string>> rows = {heads};
  for (std::size_t m = 0; m < all.size(); ++m) {
    const MethodSummary& summary = all[m];
    std::vector<std::string> row = {excerpt(result.methods[m].label)};
    for (std::size_t s = 0; truth && s < score_names(result.kind).size(); ++s) {
      row.push_back(summary.scores.empty() ? kNone
                                           : score_text(score_names(result.kind)[s], summary.scores[s], expected > 1));
    }
    const bool any = summary.done > 0;
    row.push_back(any ? fmt::format("{:.0f}", summary.pairs) : kNone);
    if (several) {
      const double others = mean_with_others(overlap, static_cast<Index>(m));
      row.push_back(std::isnan(others) ? kNone : std::to_string(alone[m].pairs));  // alone is no claim without others
      row.push_back(percent(others));
    }
    if (orders) row.push_back(summary.over_orders ? percent(*summary.over_orders) : kNone);
    row.push_back(any ? duration_text(summary.seconds) : kNone);
    row.push_back(any ? fmt::format("{:.0f} MB", summary.peak_memory_mb) : kNone);
    row.push_back(status_text(summary, expected));
    rows.push_back(std::move(row));
  }
  return aligned(rows);
}

std::vector<std::string> reasons(const CompareResult& result) {
  std::vector<std::string> sentences;
  const std::vector<MethodSummary> all = summaries(result);
  for (std::size_t m = 0; m < all.size(); ++m) {
    if (!all[m].reason.empty()) {
      sentences.push_back(fmt::format("{}: {}", excerpt(result.methods[m].label), all[m].reason));
    }
  }
  return sentences;
}

CompareResult compare_with_file(const ComparedTables& tables, const CompareParams& params, const std::string& file,
                                const std::string& earlier, Progress& progress, CompareWatcher& watcher) {
  const auto is_there = [](const std::string& path) { return !path.empty() && std::filesystem::exists(path); };
  const std::string from = is_there(file) ? file : is_there(earlier) ? earlier : std::string();
  const SavedCells saved = from.empty() ? SavedCells() : SavedCells(FileView(from).bytes(), from, tables, params);
  FileKeeper keeper(file, watcher);
  try {
    CompareResult result = compare(tables, params, saved.known(), progress, keeper);
    keeper.keep();  // until the caller has written the result, this is all there is
    return result;
  } catch (...) {
    keeper.keep();
    throw;
  }
}

}  // namespace fansite
