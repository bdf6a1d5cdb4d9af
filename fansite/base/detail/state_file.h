// SPDX-License-Identifier: Apache-2.0
//
// Files that interrupted work continues from: a container (container.h) that says what its state was computed from,
// written every few seconds.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "fansite/base/detail/container.h"
#include "fansite/base/matrix.h"
#include "fansite/base/stopwatch.h"

namespace fansite {

/// What a state was computed from. It is of no use to work on anything else.
struct StateIdentity {
  Index rows = 0, variables = 0;
  std::uint64_t data_hash = 0;  ///< of the table's values
  std::string settings;         ///< the work, and what enters the state of its settings, in words

  bool operator==(const StateIdentity&) const = default;
};
/// The version of fansite becomes one of the settings: another may compute other bits.
/// `values_hash`: of the values, if it is known already.
StateIdentity identity_of(const MatrixView& values, std::string_view settings,
                          std::optional<std::uint64_t> values_hash = {});
/// The first fields of the header.
OrderedJson header_of(const StateIdentity& identity);
StateIdentity read_identity(const Contents& contents);

/// Fields of the header, each checked; a DataError names one that is missing or not what it should be.
class HeaderFields {
 public:
  explicit HeaderFields(const Contents& contents) : contents_(contents) {}

  std::int64_t number(const char* key, std::int64_t least, std::int64_t most) const;
  int integer(const char* key, int least, int most = std::numeric_limits<int>::max()) const {
    return static_cast<int>(number(key, least, most));
  }
  bool flag(const char* key) const;
  std::string text(const char* key) const;
  std::uint64_t hexadecimal(const char* key) const;

 private:
  const Json& at(const char* key) const;
  [[noreturn]] void wrong(const char* key) const;

  const Contents& contents_;
};

class StateFile {
 public:
  /// A UsageError if the place cannot be written.
  StateFile(FileKind kind, std::string path, StateIdentity identity);

  /// Reads what is there, if anything is. A DataError for a file that is damaged or something else, a UsageError for
  /// one of another table or with other settings.
  using Reader = std::function<void(Contents&, const StateIdentity&)>;
  void load(const Reader& reader) const;
  /// A UsageError unless the state is of the same work.
  void check_settings(bool same) const;
  [[noreturn]] void damaged(std::string_view what) const;

  /// Whether it is time to write again: once a second at most, and a thirtieth of the time.
  bool due() const { return written_.seconds() >= wait_; }
  void write(const std::function<void(const Sink&)>& writer);

  const std::string& path() const { return path_; }
  const StateIdentity& identity() const { return identity_; }

 private:
  FileKind kind_;
  std::string path_;
  StateIdentity identity_;
  Stopwatch written_;  // since it was
  double wait_ = 1;    // seconds
};

}  // namespace fansite
