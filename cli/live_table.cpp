// SPDX-License-Identifier: Apache-2.0
#include "cli/live_table.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "fansite/base/duration.h"
#include "fansite/base/text.h"
#include "fansite/report/compare_report.h"

namespace fansite::cli {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(200);

// The bar draws nothing itself where the table does.
CommonOptions without_bar(CommonOptions options, bool on_terminal) {
  if (on_terminal) options.quiet = true;
  return options;
}

struct Screen {
  std::size_t rows = 24, columns = 80;
  Screen() {
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return;
    rows = size.ws_row;
    columns = size.ws_col;
  }
};

// A line that wraps would be two to the terminal and one to us.
std::string cut(std::string_view line, std::size_t columns) {
  std::string shown;
  for (std::size_t column = 0; !line.empty() && column < columns; ++column) {
    const std::size_t length = std::max<std::size_t>(utf8_character(line), 1);
    shown += line.substr(0, length);
    line.remove_prefix(std::min(length, line.size()));
  }
  return shown;
}

std::string cell_words(const CompareResult& result, const CompareCell& cell) {
  std::string words = result.methods[static_cast<std::size_t>(cell.method)].label;
  if (result.setting) words += fmt::format(", table {} of {}", cell.table + 1, result.expected_tables);
  if (result.params.orders > 1) words += fmt::format(", order {} of {}", cell.order + 1, result.params.orders);
  return words;
}

}  // namespace

LiveTable::LiveTable(const CommonOptions& options)
    : options_(options),
      on_terminal_(!options.quiet && !options.verbose && isatty(STDERR_FILENO) != 0),
      bar_(without_bar(options, on_terminal_)) {}

void LiveTable::begin(std::string_view stage, long total) {
  const std::lock_guard lock(mutex_);
  bar_.begin(cell_.empty() ? std::string(stage) : fmt::format("{}: {}", cell_, stage), total);
  stage_ = stage;
  total_ = total;
  done_ = 0;
  draw();
}

void LiveTable::advance(long steps) {
  bar_.advance(steps);
  if (!on_terminal_) return;
  const std::lock_guard lock(mutex_);
  done_ += steps;
  draw();
}

void LiveTable::already_done(long steps) {
  bar_.already_done(steps);
  const std::lock_guard lock(mutex_);
  done_ += steps;
}

void LiveTable::begins(const CompareResult& so_far, const CompareCell& cell) {
  const std::lock_guard lock(mutex_);
  cell_ = cell_words(so_far, cell);
  stage_.clear();
  start_ = Clock::now();
  if (on_terminal_ && lines_.empty()) lines_ = comparison_lines(so_far);
  draw();
}

void LiveTable::ended(const CompareResult& so_far) {
  const CompareCell& cell = so_far.cells.back();
  if (options_.verbose) {
    say(options_,
        fmt::format("{}: {} after {}", cell_words(so_far, cell),
                    cell.reason.empty() ? std::string(name(cell.status)) : cell.reason, duration_text(cell.seconds)));
  }
  if (!on_terminal_) return;
  const std::lock_guard lock(mutex_);
  lines_ = comparison_lines(so_far);
  draw();
}

void LiveTable::draw() {
  const auto now = Clock::now();
  if (!on_terminal_ || now - drawn_ < kRedraw) return;
  const Screen screen;
  std::vector<std::string> shown = lines_;
  shown.resize(std::min(shown.size(), screen.rows > 2 ? screen.rows - 2 : 0));
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::string doing = fmt::format("{}: {}", cell_, duration_text(seconds));
  if (!stage_.empty()) doing += fmt::format(", {}", stage_);
  if (total_ > 0 && !stage_.empty()) {
    doing += fmt::format(" {:.0f} %", 100 * std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_)));
  }
  shown.push_back(doing);
  std::string text = drawn_lines_ > 0 ? fmt::format("\033[{}A\r\033[J", drawn_lines_) : std::string();
  for (const std::string& line : shown) text += cut(line, screen.columns - 1) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
  drawn_ = now;
  drawn_lines_ = static_cast<int>(shown.size());
}

void LiveTable::clear() {
  bar_.end();
  const std::lock_guard lock(mutex_);
  if (drawn_lines_ == 0) return;
  fmt::print(stderr, "\033[{}A\r\033[J", drawn_lines_);
  std::fflush(stderr);
  drawn_lines_ = 0;
}

}  // namespace fansite::cli
