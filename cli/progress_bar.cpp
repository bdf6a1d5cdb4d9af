// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_bar.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
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
constexpr auto kLogEvery = std::chrono::seconds(5);  // with --verbose
constexpr auto kTick = std::chrono::seconds(1);

double seconds(std::chrono::steady_clock::duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

ProgressBar::Form ProgressBar::form_for(const CommonOptions& options) {
  if (options.quiet) return Form::none;
  if (options.verbose) return Form::log;
  return isatty(STDERR_FILENO) != 0 ? Form::line : Form::sparse_log;
}

ProgressBar::ProgressBar(const CommonOptions& options, std::chrono::milliseconds log_every)
    : form_(form_for(options)),
      log_every_(form_ == Form::sparse_log ? Clock::duration(log_every) : Clock::duration(kLogEvery)) {
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
  if (form_ == Form::none) return;
  ticker_ = std::jthread([this](const std::stop_token& stop) {
    const auto tick = std::min<Clock::duration>(kTick, log_every_);
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex_);
    while (!stopped.wait_for(lock, stop, tick, [&] { return stop.stop_requested(); })) show();
  });
}

void ProgressBar::end() {
  if (ticker_.joinable()) {
    ticker_.request_stop();
    ticker_.join();
  }
  const std::lock_guard lock(mutex_);
  clear();
}

ProgressBar::~ProgressBar() {
  end();
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

void ProgressBar::begin(std::string_view stage, long total) {
  const std::lock_guard lock(mutex_);
  clear();
  stage_ = stage;
  start_ = Clock::now();
  left_ = TimeLeft(total, start_);
  if (form_ != Form::log) return;
  shown_ = start_;
  fmt::print(stderr, "{:>8.1f} s  {}: {} steps\n", seconds(start_ - first_), stage_, total);
}

void ProgressBar::advance(long steps) {
  if (form_ == Form::none) return;
  const std::lock_guard lock(mutex_);
  left_.advance(steps, Clock::now());
  show();
}

void ProgressBar::already_done(long steps) {
  const std::lock_guard lock(mutex_);
  left_.already_done(steps);
}

bool ProgressBar::interrupted() const { return stop_requested != 0; }

std::string ProgressBar::time_left(Clock::time_point now) const {
  const std::optional<double> left = left_.seconds(now);
  return left ? duration_text(*left) + " left in this stage" : std::string();
}

void ProgressBar::show() {
  const auto now = Clock::now();
  if (form_ == Form::line) {
    show_line(now);
  } else if (now - shown_ >= log_every_) {
    log(now);
  }
}

void ProgressBar::log(Clock::time_point now) {
  shown_ = now;
  if (stage_.empty()) {
    fmt::print(stderr, "{:>8.1f} s  working\n", seconds(now - first_));
    return;
  }
  const std::string left = time_left(now);
  fmt::print(stderr, "{:>8.1f} s  {}: {:.0f} %{}{}\n", seconds(now - first_), stage_, 100 * left_.share(),
             left.empty() ? "" : ", ", left);
}

void ProgressBar::show_line(Clock::time_point now) {
  if (stage_.empty() || now - start_ < kQuietFor || (on_screen_ && now - shown_ < kRedraw)) return;
  shown_ = now;
  on_screen_ = true;
  constexpr int kWidth = 30;
  const int filled = static_cast<int>(left_.share() * kWidth);
  fmt::print(stderr, "\r\033[K{} [{}{}] {:.0f} %  {}", stage_, std::string(static_cast<std::size_t>(filled), '#'),
             std::string(static_cast<std::size_t>(kWidth - filled), '.'), 100 * left_.share(), time_left(now));
  std::fflush(stderr);
}

void ProgressBar::clear() {
  if (!on_screen_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  on_screen_ = false;
}

}  // namespace fansite::cli
