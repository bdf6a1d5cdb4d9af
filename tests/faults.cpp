// SPDX-License-Identifier: Apache-2.0
//
// Loaded into the program by LD_PRELOAD: one call to the system fails, as on a full disk or without memory.
//   FAULT_DIR=D       calls on files below the folder D count: opening for writing, writing, resizing, handing to the
//                     disk, renaming
//   FAULT_AT=N        the N-th of them fails
//   FAULT_KILL_AT=N   instead of the N-th of them the process is killed
//   FAULT_ALLOC_AT=N  the N-th request for a megabyte of memory or more fails
//   FAULT_COUNT=F     at the end the file F has both counts, and what the failed call was
// test_cli_faults.cpp uses it.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t kLarge = std::size_t{1} << 20;

std::atomic<long> calls = 0, allocations = 0;
std::atomic<const char*> failed = "nothing";

/// The function that ours stands before. Found without allocating: malloc itself asks.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

long number(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? 0 : std::atol(text);
}

bool below_the_folder(const char* path) {
  const char* const folder = std::getenv("FAULT_DIR");
  if (folder == nullptr) return false;
  // The program gives paths relative to the folder, where it runs, or whole ones.
  return path[0] != '/' || std::strncmp(path, folder, std::strlen(folder)) == 0;
}

bool below_the_folder(int fd) {
  std::array<char, 64> link;
  std::array<char, PATH_MAX> path;
  std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", fd);
  const ssize_t length = ::readlink(link.data(), path.data(), path.size() - 1);
  if (length <= 0 || path[0] != '/') return false;  // a pipe or a socket
  path[static_cast<std::size_t>(length)] = '\0';
  return below_the_folder(path.data());
}

bool fails(const char* call, int code) {
  const long call_number = ++calls;
  if (call_number == number("FAULT_KILL_AT")) ::kill(::getpid(), SIGKILL);
  if (call_number != number("FAULT_AT")) return false;
  failed = call;
  errno = code;
  return true;
}

bool allocation_fails(const char* call, std::size_t bytes) {
  if (bytes < kLarge || ++allocations != number("FAULT_ALLOC_AT")) return false;
  failed = call;
  errno = ENOMEM;
  return true;
}

bool writes(int flags) { return (flags & O_ACCMODE) != O_RDONLY; }

__attribute__((destructor)) void report() {
  const char* const path = std::getenv("FAULT_COUNT");
  if (path == nullptr) return;
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) return;
  std::fprintf(file, "%ld %ld %s\n", calls.load(), allocations.load(), failed.load());
  std::fclose(file);
}

}  // namespace

extern "C" {

// ---- Files ----------------------------------------------------------------------------------------------------------

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    va_list more;
    va_start(more, flags);
    mode = va_arg(more, mode_t);
    va_end(more);
  }
  static auto* const real = next<int(const char*, int, ...)>("open");
  return writes(flags) && below_the_folder(path) && fails("open", ENOSPC) ? -1 : real(path, flags, mode);
}

ssize_t write(int fd, const void* bytes, size_t size) {
  static auto* const real = next<ssize_t(int, const void*, size_t)>("write");
  return below_the_folder(fd) && fails("write", ENOSPC) ? -1 : real(fd, bytes, size);
}

ssize_t writev(int fd, const struct iovec* pieces, int count) {
  static auto* const real = next<ssize_t(int, const struct iovec*, int)>("writev");
  return below_the_folder(fd) && fails("writev", ENOSPC) ? -1 : real(fd, pieces, count);
}

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  static auto* const real = next<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  return below_the_folder(fd) && fails("pwrite", ENOSPC) ? -1 : real(fd, bytes, size, offset);
}

int ftruncate(int fd, off_t size) noexcept {
  static auto* const real = next<int(int, off_t)>("ftruncate");
  return below_the_folder(fd) && fails("ftruncate", EIO) ? -1 : real(fd, size);
}

int fsync(int fd) {
  static auto* const real = next<int(int)>("fsync");
  return below_the_folder(fd) && fails("fsync", EIO) ? -1 : real(fd);
}

int fdatasync(int fd) {
  static auto* const real = next<int(int)>("fdatasync");
  return below_the_folder(fd) && fails("fdatasync", EIO) ? -1 : real(fd);
}

int rename(const char* from, const char* to) noexcept {
  static auto* const real = next<int(const char*, const char*)>("rename");
  return below_the_folder(from) && fails("rename", EIO) ? -1 : real(from, to);
}

// ---- Memory; operator new asks malloc -------------------------------------------------------------------------------

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) noexcept { return allocation_fails("malloc", bytes) ? nullptr : __libc_malloc(bytes); }

void* calloc(size_t count, size_t bytes) noexcept {
  return allocation_fails("calloc", count * bytes) ? nullptr : __libc_calloc(count, bytes);
}

void* realloc(void* memory, size_t bytes) noexcept {
  return allocation_fails("realloc", bytes) ? nullptr : __libc_realloc(memory, bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  return allocation_fails("aligned_alloc", bytes) ? nullptr : __libc_memalign(alignment, bytes);
}

int posix_memalign(void** memory, size_t alignment, size_t bytes) noexcept {
  if (allocation_fails("posix_memalign", bytes)) return ENOMEM;
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}

void* mmap(void* place, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  static auto* const real = next<void*(void*, size_t, int, int, int, off_t)>("mmap");
  return allocation_fails("mmap", bytes) ? MAP_FAILED : real(place, bytes, protection, flags, fd, offset);
}

}  // extern "C"
