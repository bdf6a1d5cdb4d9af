// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/file.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <new>
#include <utility>

#include "fansite/base/progress.h"

namespace fansite {
namespace {

std::string system_message(int code) { return std::strerror(code); }

/// Closes a descriptor when a constructor is left by an exception.
struct Descriptor {
  explicit Descriptor(int value) : fd(value) {}
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int fd;
};

/// Whether a read would return now; waits a tenth of a second for it.
bool is_readable(int fd) {
  pollfd wait{fd, POLLIN, 0};
  const int ready = ::poll(&wait, 1, 100);
  return ready > 0 || (ready < 0 && errno != EINTR);
}

constexpr std::size_t kFirstPiece = std::size_t{1} << 16;
constexpr std::size_t kLargestPiece = std::size_t{1} << 26;  // so that Ctrl-C is heard between pieces

/// Size and time of change of a regular file. A size of 0 tells nothing: files of /proc have it, whatever they hold.
class FileState {
 public:
  explicit FileState(int fd) : fd_(fd), known_(::fstat(fd, &before_) == 0 && S_ISREG(before_.st_mode)) {}

  std::size_t size() const { return known_ ? static_cast<std::size_t>(before_.st_size) : 0; }

  /// An IoError if somebody has written to the file since: part of what was read is old, part is new.
  void check_unchanged(const std::string& where) const {
    struct stat now {};
    if (!known_ || ::fstat(fd_, &now) != 0) return;
    const bool written = now.st_size > 0 && (now.st_mtim.tv_sec != before_.st_mtim.tv_sec ||
                                             now.st_mtim.tv_nsec != before_.st_mtim.tv_nsec);
    if (now.st_size == before_.st_size && !written) return;
    throw IoError(fmt::format("[read] {} changed while it was read. Read it again when nothing writes to it.", where));
  }

 private:
  int fd_;
  struct stat before_ {};
  bool known_;
};

/// Whether the system has no more of something: the same path would do at another time.
bool is_shortage(int code) {
  return code == ENOSPC || code == EDQUOT || code == EIO || code == ENOMEM || code == EMFILE || code == ENFILE;
}

void check_no_directory(bool is_directory, std::string_view operation, const std::string& path) {
  if (!is_directory) return;
  throw PathError(fmt::format("[{}] '{}' is a directory. Give the path of a file in it.", operation, path), EISDIR);
}

constexpr std::string_view kTemporary = ".tmp.";  // then the process number, and a dot and a number if that is taken

/// The process number in what follows ".tmp."; 0 if that is no name of ours.
pid_t process_number(std::string_view rest) {
  const char* const end = rest.data() + rest.size();
  pid_t process = 0;
  int attempt = 0;
  std::from_chars_result read = std::from_chars(rest.data(), end, process);
  if (read.ec == std::errc{} && read.ptr != end && *read.ptr == '.') {
    read = std::from_chars(read.ptr + 1, end, attempt);
  }
  return read.ec == std::errc{} && read.ptr == end && process > 0 ? process : 0;
}

bool is_running(pid_t process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

/// Removes the temporary files beside `target` of runs that were killed. A process of another container or machine is
/// not among ours, but holds the lock of its file.
void remove_leftovers(const std::filesystem::path& target) {
  const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
  const std::string prefix = target.filename().string() + std::string(kTemporary);
  std::error_code stop;  // what cannot be listed is left as it is
  for (std::filesystem::directory_iterator entry(folder, stop), end; !stop && entry != end; entry.increment(stop)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const pid_t process = process_number(std::string_view(name).substr(prefix.size()));
    // A killed run can have had our own number, as the first process of a container always has: the lock decides.
    if (process == 0 || (process != ::getpid() && is_running(process))) continue;
    const Descriptor file(::open(entry->path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file.fd >= 0 && ::flock(file.fd, LOCK_EX | LOCK_NB) == 0) ::unlink(entry->path().c_str());
  }
}

}  // namespace

FileView::FileView(const std::string& path, const Progress* progress, const Look& look) {
  if (path == "-") {
    read(STDIN_FILENO, "standard input", progress, look);
    return;
  }
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd < 0) {
    const int code = errno;
    const auto message = fmt::format("[read] cannot read '{}': {}. Check the path.", path, system_message(code));
    if (code == ENOENT || code == ENOTDIR || code == ENAMETOOLONG) throw PathError(message, code);
    throw IoError(message);
  }
  struct stat status {};
  check_no_directory(::fstat(file.fd, &status) == 0 && S_ISDIR(status.st_mode), "read", path);
  read(file.fd, "'" + path + "'", progress, look);
}

void FileView::reserve(std::size_t bytes) {
  auto* const memory = static_cast<char*>(std::realloc(memory_.get(), bytes));
  if (memory == nullptr) throw std::bad_alloc();
  static_cast<void>(memory_.release());  // realloc has freed or moved it
  memory_.reset(memory);
  reserved_ = bytes;
  prefer_large_pages(memory, bytes);
}

void FileView::read(int fd, const std::string& where, const Progress* progress, const Look& look) {
  const FileState state(fd);
  std::size_t next_look = kFirstPiece;
  reserve(kFirstPiece);
  for (;;) {
    if (size_ == next_look) {
      if (look) look(bytes());
      next_look *= 2;
    }
    if (size_ == reserved_) {
      if (size_ > state.size()) state.check_unchanged(where);  // or a file that grows is followed for ever
      reserve(std::max(2 * size_, state.size() + 1));          // one byte more, to see the end
    }
    do {
      if (progress != nullptr) throw_if_interrupted(*progress);
    } while (progress != nullptr && !is_readable(fd));
    const std::size_t piece = std::min({reserved_ - size_, next_look - size_, kLargestPiece});
    const ssize_t got = ::read(fd, memory_.get() + size_, piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw IoError(
          fmt::format("[read] reading {} failed: {}. Check the file and its disk.", where, system_message(errno)));
    }
    if (got == 0) break;
    size_ += static_cast<std::size_t>(got);
  }
  state.check_unchanged(where);
}

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  check(!path_.empty(), "[write] the name of the output file is empty. Give a path.");
  struct stat status {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  check_no_directory(exists && S_ISDIR(status.st_mode), "write", path_);

  if (exists && !S_ISREG(status.st_mode)) {  // /dev/stdout, /dev/null, a named pipe: nothing there to replace
    fd_ = ::open(path_.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (fd_ < 0) cannot_open(errno);
    return;
  }

  target_ = path_;
  if (exists) {
    // A rename would replace a read-only file without asking, and a link instead of the file it points to.
    if (::access(path_.c_str(), W_OK) != 0) cannot_open(errno);
    std::error_code ignored;
    const auto real = std::filesystem::canonical(path_, ignored);
    if (!ignored) target_ = real.string();
  }
  const mode_t mode = exists ? (status.st_mode & 0777u) : 0666u;
  static std::mutex opening;  // between these lines a file of ours has no lock yet
  const std::lock_guard guard(opening);
  remove_leftovers(target_);
  // Usually the first name is free; another file of ours may have it.
  for (int attempt = 0; fd_ < 0 && attempt < 100; ++attempt) {
    temporary_ = fmt::format("{}{}{}", target_, kTemporary, ::getpid());
    if (attempt > 0) temporary_ += fmt::format(".{}", attempt);
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd_ < 0 && errno != EEXIST) break;
  }
  if (fd_ < 0) cannot_open(errno);
  ::flock(fd_, LOCK_EX | LOCK_NB);  // for remove_leftovers; where there are no locks, process numbers have to do
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view bytes) {
  assert(fd_ >= 0);
  if (buffer_.size() + bytes.size() < kFirstPiece) {
    buffer_ += bytes;
    return;
  }
  write_out(std::exchange(buffer_, {}));
  write_out(bytes);
}

void OutputFile::write_out(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail(errno);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

void OutputFile::finish() {
  if (fd_ < 0) return;
  write_out(std::exchange(buffer_, {}));
  // Before the new name: else a machine that stops may have the name with nothing in it. Some file systems cannot do
  // it, and say so.
  if (!temporary_.empty() && ::fsync(fd_) != 0 && is_shortage(errno)) fail(errno);
  // Network file systems say here that a disk is full.
  if (::close(std::exchange(fd_, -1)) != 0 && errno != EINTR) fail(errno);
}

void OutputFile::commit() {
  finish();
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

void OutputFile::cannot_open(int code) const {
  if (is_shortage(code)) fail(code);
  throw PathError(fmt::format("[write] cannot write '{}': {}. Give a path in an existing, writable directory.", path_,
                              system_message(code)),
                  code);
}

void OutputFile::fail(int code) const {
  throw IoError(
      fmt::format("[write] writing '{}' failed: {}. Free some space or write elsewhere.", path_, system_message(code)));
}

void prefer_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t kPage = std::uintptr_t{2} << 20;
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + kPage - 1) / kPage * kPage;
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / kPage * kPage;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

}  // namespace fansite
