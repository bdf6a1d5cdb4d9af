// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_bar.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "fansite/base/duration.h"

namespace fansite::cli {
namespace {

volatile std::sig_atomic_t stop_requested = 0;

void request_stop(int signal) {
  stop_requested = 1;
  std::signal(signal, SIG_DFL);  // a second one ends the program at once
}

constexpr auto kQuietFor = std::chrono::milliseconds(300);  // short work never draws a line
constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr auto kLogEvery = std::chrono::seconds(5);

double seconds(std::chrono::steady_clock::duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

ProgressBar::ProgressBar(const CommonOptions& options)
    : form_(options.quiet                ? Form::none
            : options.verbose            ? Form::log
            : isatty(STDERR_FILENO) != 0 ? Form::line
                                         : Form::none) {
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
}

ProgressBar::~ProgressBar() {
  clear();
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

void ProgressBar::begin(std::string_view stage, long total) {
  const std::lock_guard lock(mutex_);
  clear();
  stage_ = stage;
  total_ = total;
  done_ = 0;
  start_ = shown_ = Clock::now();
  if (form_ == Form::log) fmt::print(stderr, "{:>8.1f} s  {}: {} steps\n", seconds(start_ - first_), stage_, total_);
}

void ProgressBar::advance(long steps) {
  if (form_ == Form::none) return;
  const std::lock_guard lock(mutex_);
  done_ += steps;
  if (total_ > 0) show();
}

bool ProgressBar::interrupted() const { return stop_requested != 0; }

std::string ProgressBar::seconds_left(double share, Clock::time_point now) const {
  return share > 0 ? duration_text(seconds(now - start_) * (1 - share) / share) + " left" : std::string();
}

void ProgressBar::show() {
  const auto now = Clock::now();
  const double share = std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
  if (form_ == Form::log) {
    if (now - shown_ < kLogEvery) return;
    shown_ = now;
    fmt::print(stderr, "{:>8.1f} s  {}: {:.0f} %, {}\n", seconds(now - first_), stage_, 100 * share,
               seconds_left(share, now));
    return;
  }
  if (now - start_ < kQuietFor || now - shown_ < kRedraw) return;
  shown_ = now;
  on_screen_ = true;
  constexpr int kWidth = 30;
  const int filled = static_cast<int>(share * kWidth);
  fmt::print(stderr, "\r\033[K{} [{}{}] {:.0f} %  {}", stage_, std::string(static_cast<std::size_t>(filled), '#'),
             std::string(static_cast<std::size_t>(kWidth - filled), '.'), 100 * share, seconds_left(share, now));
  std::fflush(stderr);
}

void ProgressBar::clear() {
  if (!on_screen_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  on_screen_ = false;
}

}  // namespace fansite::cli
