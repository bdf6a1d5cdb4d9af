// SPDX-License-Identifier: Apache-2.0
//
// Files whole: read into memory, replaced in one step for writing.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "fansite/base/error.h"

namespace fansite {

class Progress;

/// The path is wrong: nothing is there, or nothing can be (exit code 2, FileNotFoundError and its kin in Python).
class PathError : public UsageError {
 public:
  PathError(const std::string& message, int code) : UsageError(message), code(code) {}
  int code;  ///< errno
};

/// The bytes of a file, read into memory: a mapped file that another process cuts short ends the program that looks at
/// it. "-" reads standard input to its end. A path that does not exist or is a directory is a PathError, a file that
/// cannot be read or that changes meanwhile an IoError. `progress` can stop the reading (Interrupted).
class FileView {
 public:
  /// Is given what has been read, at 64 KB and whenever that has doubled, and throws if the rest is not worth reading.
  using Look = std::function<void(std::string_view beginning)>;

  explicit FileView(const std::string& path, const Progress* progress = nullptr, const Look& look = {});
  FileView(const FileView&) = delete;
  FileView& operator=(const FileView&) = delete;
  std::string_view bytes() const { return {memory_.get(), size_}; }

 private:
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  void reserve(std::size_t bytes);
  void read(int fd, const std::string& where, const Progress* progress, const Look& look);

  std::unique_ptr<char, Free> memory_;  // not a string, which would be filled with zeros first
  std::size_t size_ = 0;
  std::size_t reserved_ = 0;
};

/// A file that appears whole or not at all, even if the machine stops: written under a temporary name beside `path`,
/// handed to the disk and renamed by commit(), and removed if that is not reached; one that a killed process left is
/// removed by the next to write there. Opening checks at once that the place is writable (a PathError if not), before
/// any long work. Devices and pipes, such as /dev/stdout, are written to directly.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  /// Appends; an IoError if the system refuses (a full disk).
  void write(std::string_view bytes);
  /// Nothing more will be written. What can fail has then been done, but for the name: files that belong together are
  /// all finished before the first is committed.
  void finish();
  /// Finishes the file and gives it its name; call once, last.
  void commit();

 private:
  void write_out(std::string_view bytes);
  [[noreturn]] void cannot_open(int code) const;
  [[noreturn]] void fail(int code) const;

  std::string path_;       // as the caller wrote it
  std::string target_;     // the file to replace, links resolved
  std::string temporary_;  // empty when writing straight to a device or pipe, and after commit()
  std::string buffer_;     // not yet written
  int fd_ = -1;
};

/// Asks the system to back fresh memory with large pages where it can: a table of 200 MB is then filled without 50 000
/// page faults. A hint, without effect on small buffers or when refused.
void prefer_large_pages(void* memory, std::size_t bytes);

}  // namespace fansite
