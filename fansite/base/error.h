// SPDX-License-Identifier: Apache-2.0
//
// Errors that callers can cause. A message names the operation, the place and the fix:
//   "[load_csv] genes.csv line 17: 40 cells, expected 41. Is a separator missing?"
// Our own mistakes are asserts.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace fansite {

/// Base of everything the library throws on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The call is wrong: an unknown name, an option out of range (exit code 2, ValueError in Python).
class UsageError : public Error {
 public:
  using Error::Error;
};

/// The data are wrong: a malformed file, text in a number column, a missing cell (exit code 3, ValueError).
class DataError : public Error {
 public:
  using Error::Error;
};

/// The system refused: a file that cannot be written, a full disk (exit code 1, OSError).
class IoError : public Error {
 public:
  using Error::Error;
};

/// The caller asked to stop (exit code 130, KeyboardInterrupt).
class Interrupted : public Error {
 public:
  using Error::Error;
};

/// Throws a UsageError unless `ok`.
template <class... Args>
void check(bool ok, fmt::format_string<Args...> message, Args&&... args) {
  if (!ok) throw UsageError(fmt::format(message, std::forward<Args>(args)...));
}

/// Throws a DataError unless `ok`.
template <class... Args>
void check_data(bool ok, fmt::format_string<Args...> message, Args&&... args) {
  if (!ok) throw DataError(fmt::format(message, std::forward<Args>(args)...));
}

}  // namespace fansite
