// SPDX-License-Identifier: Apache-2.0
//
// Files whole: mapped for reading, replaced in one step for writing.
#pragma once

#include <cstddef>
#include <cstdio>
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

/// The bytes of a file, memory-mapped while this lives; "-" reads standard input to its end. A path that does not exist
/// or is a directory is a PathError, one that cannot be read an IoError. `progress` can stop the wait for a pipe
/// (Interrupted).
class FileView {
 public:
  explicit FileView(const std::string& path, const Progress* progress = nullptr);
  ~FileView();
  FileView(const FileView&) = delete;
  FileView& operator=(const FileView&) = delete;
  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
  std::string buffer_;  // what could not be mapped: pipes, standard input
  void* mapping_ = nullptr;
};

/// A file that appears whole or not at all: written under a temporary name beside `path`, renamed by commit(), and
/// removed if that is not reached; one that a killed process left is removed by the next to write there. Opening checks
/// at once that the place is writable (a PathError if not), before any
/// long work. Devices and pipes, such as /dev/stdout, are written to directly.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  /// Appends; an IoError if the system refuses (a full disk).
  void write(std::string_view bytes);
  /// Closes the file and gives it its name; call once, last.
  void commit();

 private:
  [[noreturn]] void fail(int code) const;

  std::string path_;       // as the caller wrote it
  std::string target_;     // the file to replace, links resolved
  std::string temporary_;  // empty when writing straight to a device or pipe, and after commit()
  std::FILE* file_ = nullptr;
};

/// Asks the system to back fresh memory with large pages where it can: a table of 200 MB is then filled without 50 000
/// page faults. A hint, without effect on small buffers or when refused.
void prefer_large_pages(void* memory, std::size_t bytes);

}  // namespace fansite
