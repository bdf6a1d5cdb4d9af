// SPDX-License-Identifier: Apache-2.0
//
// One run for each result: two that write the same file would mix their checkpoints, and the later would win.
#pragma once

#include <string>

namespace fansite {

/// Holds RESULT.lock beside a result while this lives. A UsageError names the run that has it already, be it on this
/// machine or another. What a killed run left is taken over. "", "-", devices and pipes need no lock, and get none; nor
/// does a place where nothing can be written, which whoever writes the result says better.
class RunLock {
 public:
  explicit RunLock(const std::string& result);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  /// Opens and locks the file; false if its owner removed it in the meantime.
  bool acquire(const std::string& result);

  std::string path_;
  int fd_ = -1;
};

}  // namespace fansite
