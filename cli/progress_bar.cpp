// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_bar.h"

#include <fmt/core.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace fansite::cli {
namespace {

volatile std::sig_atomic_t stop_requested = 0;

void request_stop(int signal) {
  stop_requested = 1;
  std::signal(signal, SIG_DFL);  // a second one ends the program at once
}

constexpr auto kQuietFor = std::chrono::milliseconds(300);  // short work never draws a bar
constexpr auto kRedraw = std::chrono::milliseconds(100);

}  // namespace

ProgressBar::ProgressBar(bool quiet) : visible_(!quiet && isatty(STDERR_FILENO) != 0) {
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
  start_ = drawn_ = Clock::now();
}

void ProgressBar::advance(long steps) {
  if (!visible_) return;
  const std::lock_guard lock(mutex_);
  done_ += steps;
  draw();
}

bool ProgressBar::interrupted() const { return stop_requested != 0; }

void ProgressBar::draw() {
  const auto now = Clock::now();
  if (now - start_ < kQuietFor || now - drawn_ < kRedraw || total_ <= 0) return;
  drawn_ = now;
  on_screen_ = true;
  constexpr int kWidth = 30;
  const double share = static_cast<double>(done_) / static_cast<double>(total_);
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double left = share > 0 ? elapsed * (1.0 - share) / share : 0.0;
  const int filled = static_cast<int>(share * kWidth);
  fmt::print(stderr, "\r\033[K{} [{}{}] {}/{}  {:.0f} s left", stage_,
             std::string(static_cast<std::size_t>(filled), '#'),
             std::string(static_cast<std::size_t>(kWidth - filled), '.'), done_, total_, left);
  std::fflush(stderr);
}

void ProgressBar::clear() {
  if (!on_screen_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  on_screen_ = false;
}

}  // namespace fansite::cli
