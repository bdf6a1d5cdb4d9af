// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>

#include "fansite/error.h"

namespace fansite::cli {

void CommonOptions::add_to(CLI::App& command) {
  command.add_option("--threads", threads, "threads to use; 0: one per core")->capture_default_str();
  command.add_flag("--quiet", quiet, "say nothing but errors");
}

Output::Output(const std::string& path) {
  if (!path.empty() && path != "-") file_ = std::make_unique<OutputFile>(path);
}

void Output::write(std::string_view text) {
  if (file_) {
    file_->write(text);
    file_->commit();
    return;
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  flush_standard_output();
}

void flush_standard_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw IoError(fmt::format("[write] writing to standard output failed: {}. Free some space or write elsewhere.",
                            std::strerror(errno)));
}

std::string refuse_negative(const std::string& text) {
  return text.starts_with('-') ? fmt::format("{} is negative; use a number from 0 on", text) : "";
}

void say(const CommonOptions& options, const std::string& line) {
  if (!options.quiet) fmt::print(stderr, "{}\n", line);
}

std::string counted(long count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace fansite::cli
