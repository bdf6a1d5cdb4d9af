// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/run_lock.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "fansite/base/error.h"
#include "fansite/base/text.h"

namespace fansite {
namespace {

constexpr const char* kFirstWord = "fansite-run";

/// Who holds a lock: its only line.
struct Owner {
  std::string host;
  pid_t process = 0;
  unsigned long long start = 0;  // of the process, in ticks since boot; numbers of processes are used again
  std::string since;
};

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "unknown";
  return name.data();
}

/// Field 22 of /proc/PID/stat, 0 if there is none. The name in field 2 may have blanks and brackets.
unsigned long long start_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(file, text, '\0');
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  unsigned long long start = 0;
  fields >> start;
  return start;
}

bool is_running(const Owner& owner) {
  const bool exists = ::kill(owner.process, 0) == 0 || errno != ESRCH;
  return exists && start_of(owner.process) == owner.start;
}

std::string line_of_this_process() {
  return fmt::format("{} {} {} {} {:%Y-%m-%dT%H:%M:%SZ}\n", kFirstWord, host_name(), ::getpid(), start_of(::getpid()),
                     fmt::gmtime(std::time(nullptr)));
}

std::string content_of(int fd) {
  std::array<char, 1024> bytes;
  const ssize_t got = ::pread(fd, bytes.data(), bytes.size(), 0);
  return {bytes.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

/// False if the line is none of ours.
bool parse_owner(const std::string& line, Owner& owner) {
  std::istringstream words(line);
  std::string first;
  return words >> first >> owner.host >> owner.process >> owner.start >> owner.since && first == kFirstWord &&
         owner.process > 0;
}

[[noreturn]] void refuse(const std::string& result, const std::string& run) {
  throw UsageError(
      fmt::format("[--out] {} is being written by another run{}; wait for it, or use another --out", result, run));
}

/// Throws if the file belongs to a run that may still be there. `held`: somebody has the file's lock.
void check_free(const std::string& result, const std::string& lock, const std::string& line, bool held) {
  if (line.empty()) {  // made a moment ago, or by a run that was killed then
    if (held) refuse(result, "");
    return;
  }
  Owner owner;
  check(parse_owner(line, owner), "[--out] {} is in the way and is no lock of fansite; move it, or use another --out",
        lock);
  const bool here = owner.host == host_name();
  const std::string who = fmt::format("process {} since {}", owner.process, excerpt(owner.since));
  if (here && (held || is_running(owner))) refuse(result, fmt::format(" ({})", who));
  check(here, "[--out] {} is being written by a run on {} ({}); wait for it, or delete {} if that run is gone", result,
        excerpt(owner.host), who, lock);
}

bool needs_lock(const std::string& result) {
  if (result.empty() || result == "-") return false;
  std::error_code unknown;
  const auto status = std::filesystem::status(result, unknown);
  return !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
}

}  // namespace

RunLock::RunLock(const std::string& result) {
  if (!needs_lock(result)) return;
  // The same file may be reached through a link.
  std::error_code none;
  const auto real = std::filesystem::canonical(result, none);
  path_ = (none ? result : real.string()) + ".lock";
  for (int attempt = 0; attempt < 100 && !acquire(result); ++attempt) {
  }
}

bool RunLock::acquire(const std::string& result) {
  const int fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  if (fd < 0) return true;  // nothing can be written here
  // The lock of the file decides between runs that start in the same moment, and between containers, which do not see
  // each other's processes. Where file systems have none, the line in the file decides alone.
  const bool held = ::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  struct stat opened {
  }, named{};
  const bool removed = ::fstat(fd, &opened) != 0 || ::stat(path_.c_str(), &named) != 0 ||
                       opened.st_ino != named.st_ino || opened.st_dev != named.st_dev;
  try {
    if (!removed) check_free(result, path_, content_of(fd), held);
  } catch (...) {
    ::close(fd);
    throw;
  }
  if (removed) {
    ::close(fd);
    return false;
  }
  fd_ = fd;
  const std::string line = line_of_this_process();
  // A full disk leaves an empty file, which is a lock as well.
  [[maybe_unused]] const bool written =
      ::ftruncate(fd, 0) == 0 && ::pwrite(fd, line.data(), line.size(), 0) == static_cast<ssize_t>(line.size());
  return true;
}

RunLock::~RunLock() {
  if (fd_ < 0) return;
  ::unlink(path_.c_str());  // first, while nobody else can have it
  ::close(fd_);
}

}  // namespace fansite
