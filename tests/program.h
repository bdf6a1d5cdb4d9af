// SPDX-License-Identifier: Apache-2.0
//
// Runs the fansite program as its users do, each test in a directory of its own.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace fansite {

using Json = nlohmann::ordered_json;

struct Call {
  std::vector<std::string> arguments;
  std::string directory = ".";
  std::string input = {};                  ///< on standard input
  bool keep_input_open = false;            ///< after it, as a terminal does
  std::string output_to = {};              ///< a path for standard output, instead of Outcome::out
  std::function<bool()> interrupted = {};  ///< asked every few milliseconds; the first true sends the signal
  int interrupt_signal = SIGINT;
  std::vector<std::string> environment = {};  ///< NAME=VALUE, beside our own
  double timeout = 240;                       ///< seconds until SIGKILL
  std::size_t memory = 0;                     ///< bytes of address space that it may have; 0: no limit
};

struct Outcome {
  std::string out, err;
  int code = -1;   ///< −1 if a signal ended it
  int signal = 0;  ///< that signal
  /// Of all processors, by what was computed: other work on the machine does not count.
  double seconds_after_interrupt = -1;

  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    std::istringstream stream(err);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }
  Json json() const { return Json::parse(out); }
};

namespace program_detail {

inline void set_blocking(int fd, bool blocking) {
  const int flags = ::fcntl(fd, F_GETFL);
  ::fcntl(fd, F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

/// A pipe that other children do not inherit.
struct Pipe {
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  }
  ~Pipe() {
    close(0);
    close(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close(std::size_t end) {
    if (ends[end] >= 0) ::close(std::exchange(ends[end], -1));
  }
  std::array<int, 2> ends{-1, -1};
};

/// In the child: between fork and exec nothing may allocate.
[[noreturn]] inline void become_program(const Call& call, char* const* argv, char* const* environment, const Pipe& in,
                                        const Pipe& out, const Pipe& err) {
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGPIPE, SIG_DFL);
  const rlimit limit{call.memory, call.memory};
  if (call.memory > 0 && ::setrlimit(RLIMIT_AS, &limit) != 0) ::_exit(127);
  const int target = call.output_to.empty() ? out.ends[1] : ::open(call.output_to.c_str(), O_WRONLY | O_CLOEXEC);
  if (target >= 0 && ::chdir(call.directory.c_str()) == 0) {
    ::dup2(in.ends[0], STDIN_FILENO);
    ::dup2(target, STDOUT_FILENO);
    ::dup2(err.ends[1], STDERR_FILENO);
    ::execve(FANSITE_PROGRAM, argv, environment);
  }
  ::_exit(127);
}

/// Processor time of a child that has not been waited for.
inline double computed_by(pid_t child) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(child, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Appends what is there; closes the pipe at its end.
inline void drain(Pipe& pipe, std::string& text) {
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const ssize_t got = ::read(pipe.ends[0], buffer.data(), buffer.size());
    if (got > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(got));
      continue;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) pipe.close(0);
    return;
  }
}

}  // namespace program_detail

inline Outcome run_program(const Call& call) {
  using namespace program_detail;
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  ::signal(SIGPIPE, SIG_IGN);  // a program may end without reading its input
  Pipe in, out, err;
  std::vector<std::string> words = {FANSITE_PROGRAM}, added = call.environment;
  words.insert(words.end(), call.arguments.begin(), call.arguments.end());
  std::vector<char*> argv, environment;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
  for (std::string& entry : added) environment.push_back(entry.data());
  environment.push_back(nullptr);

  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) become_program(call, argv.data(), environment.data(), in, out, err);
  in.close(0);
  out.close(1);
  err.close(1);
  for (const int fd : {in.ends[1], out.ends[0], err.ends[0]}) set_blocking(fd, false);

  Outcome outcome;
  const auto start = Clock::now();
  std::optional<double> computed_before;  // the interrupt
  std::size_t fed = 0;
  while (out.ends[0] >= 0 || err.ends[0] >= 0) {
    if (fed < call.input.size() && in.ends[1] >= 0) {
      const ssize_t put = ::write(in.ends[1], call.input.data() + fed, call.input.size() - fed);
      if (put > 0) fed += static_cast<std::size_t>(put);
      if (put < 0 && errno == EPIPE) fed = call.input.size();
    }
    if (fed == call.input.size() && !call.keep_input_open) in.close(1);
    std::array<pollfd, 2> waits{{{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}}};
    ::poll(waits.data(), waits.size(), 5);
    if (out.ends[0] >= 0) drain(out, outcome.out);
    if (err.ends[0] >= 0) drain(err, outcome.err);
    if (call.interrupted && !computed_before && call.interrupted()) {
      computed_before = computed_by(child);
      ::kill(child, call.interrupt_signal);
    }
    if (seconds_since(start) > call.timeout) ::kill(child, SIGKILL);
  }
  int status = 0;
  rusage used{};
  while (::wait4(child, &status, 0, &used) < 0 && errno == EINTR) {
  }
  if (computed_before) {
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    const double computed = seconds(used.ru_utime) + seconds(used.ru_stime) - *computed_before;
    outcome.seconds_after_interrupt = std::max(0.0, computed / std::max(1u, std::thread::hardware_concurrency()));
  }
  if (WIFEXITED(status)) outcome.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  return outcome;
}

/// A directory of its own for each test, in which the program runs; gone afterwards.
class ProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "fansite_cli.XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }

  void put(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
  }

  std::string content(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    EXPECT_TRUE(file.is_open()) << name << " is not there";
    return {std::istreambuf_iterator<char>(file), {}};
  }

  Json json(const std::string& name) const { return Json::parse(content(name)); }

  /// Everything below the directory, sorted.
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_)) {
      names.push_back(std::filesystem::relative(entry.path(), directory_).string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  /// One that was not `there`.
  bool has_temporary_file(const std::vector<std::string>& there = {}) const {
    const auto names = entries();
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name.find(".tmp.") != std::string::npos && !std::binary_search(there.begin(), there.end(), name);
    });
  }

  /// For Call::interrupted, of a call with --out: so long after its temporary file is there. Before that Ctrl-C is not
  /// heard, and a busy machine takes its time over it.
  std::function<bool()> once_at_work(std::chrono::milliseconds later) const {
    using Clock = std::chrono::steady_clock;
    return [this, later, there = entries(), begun = std::optional<Clock::time_point>()]() mutable {
      if (!begun && has_temporary_file(there)) begun = Clock::now();
      return begun && Clock::now() - *begun >= later;
    };
  }

  Outcome run(Call call) const {
    call.directory = directory_.string();
    return run_program(call);
  }
  Outcome run(std::vector<std::string> arguments) const { return run(Call{.arguments = std::move(arguments)}); }

  /// Runs what must work, and returns it.
  Outcome works(Call call) const {
    const Outcome outcome = run(call);
    EXPECT_EQ(outcome.code, 0) << command_line(call) << outcome.err;
    expect_plain_lines(outcome.err);
    EXPECT_FALSE(has_temporary_file()) << command_line(call);
    return outcome;
  }
  Outcome works(std::vector<std::string> arguments) const { return works(Call{.arguments = std::move(arguments)}); }

  /// Runs what must fail: this exit code, nothing on standard output, one sentence that has these phrases, and no file
  /// that was not there before.
  void fails(Call call, int code, const std::vector<std::string>& phrases) const {
    const auto before = entries();
    const Outcome outcome = run(call);
    SCOPED_TRACE(command_line(call) + outcome.err);
    EXPECT_EQ(outcome.signal, 0);
    EXPECT_EQ(outcome.code, code);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.lines().size(), 1u);
    EXPECT_TRUE(outcome.err.starts_with("fansite: "));
    expect_plain_lines(outcome.err);
    EXPECT_LE(outcome.err.size(), 400u);
    for (const std::string& phrase : phrases) EXPECT_THAT(outcome.err, testing::HasSubstr(phrase));
    EXPECT_EQ(entries(), before);
  }
  void fails(std::vector<std::string> arguments, int code, const std::vector<std::string>& phrases) const {
    fails(Call{.arguments = std::move(arguments)}, code, phrases);
  }

  /// Whole lines without escape codes or carriage returns.
  static void expect_plain_lines(const std::string& text) {
    EXPECT_TRUE(text.empty() || text.back() == '\n') << text;
    const auto control = std::find_if(text.begin(), text.end(), [](char c) {
      return (static_cast<unsigned char>(c) < ' ' && c != '\n') || c == '\x7F';
    });
    EXPECT_EQ(control, text.end()) << "a control character at " << control - text.begin() << " of: " << text;
  }

 private:
  static std::string command_line(const Call& call) {
    std::string line = "fansite";
    for (const std::string& word : call.arguments) line += " " + word;
    return line + "\n";
  }

  std::filesystem::path directory_;
};

// ---- Results --------------------------------------------------------------------------------------------------------

/// The text without its line of run times: what must not change between runs.
inline std::string without_timing(const std::string& json) {
  std::string kept;
  std::istringstream stream(json);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with("\"timing\"")) kept += line + '\n';
  }
  return kept;
}

inline const Json& boundary_of(const Json& result, const std::string& target) {
  for (const Json& boundary : result.at("boundaries")) {
    if (boundary.at("target") == target) return boundary;
  }
  throw std::runtime_error("no boundary of " + target);
}

/// In order of admission.
inline std::vector<std::string> members_of(const Json& result, const std::string& target) {
  std::vector<std::string> names;
  for (const Json& member : boundary_of(result, target).at("members")) names.push_back(member.at("name"));
  return names;
}

inline std::vector<std::string> warnings_of(const Json& result) { return result.at("warnings"); }

}  // namespace fansite
