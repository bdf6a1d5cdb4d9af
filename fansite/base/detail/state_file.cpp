// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/detail/state_file.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "fansite/base/error.h"
#include "fansite/base/file.h"
#include "fansite/base/hash.h"
#include "fansite/base/version.h"

namespace fansite {

StateIdentity identity_of(const MatrixView& values, std::string_view settings,
                          std::optional<std::uint64_t> values_hash) {
  return {values.rows(), values.cols(), values_hash ? *values_hash : hash_of(values),
          fmt::format("fansite {}, {}", FANSITE_VERSION, settings)};
}

OrderedJson header_of(const StateIdentity& identity) {
  return {{"rows", identity.rows},
          {"variables", identity.variables},
          {"data_hash", fmt::format("{:016x}", identity.data_hash)},
          {"settings", identity.settings}};
}

StateIdentity read_identity(const Contents& contents) {
  const HeaderFields header(contents);
  StateIdentity identity;
  identity.rows = header.number("rows", 0, std::numeric_limits<Index>::max());
  identity.variables = header.number("variables", 0, std::numeric_limits<int>::max());
  identity.data_hash = header.hexadecimal("data_hash");
  identity.settings = header.text("settings");
  return identity;
}

std::int64_t HeaderFields::number(const char* key, std::int64_t least, std::int64_t most) const {
  const Json& json = at(key);
  if (json.is_number_unsigned() && std::in_range<std::int64_t>(json.get<std::uint64_t>())) {
    const auto value = json.get<std::int64_t>();
    if (least <= value && value <= most) return value;
  }
  wrong(key);
}

bool HeaderFields::flag(const char* key) const {
  if (!at(key).is_boolean()) wrong(key);
  return at(key).get<bool>();
}

std::string HeaderFields::text(const char* key) const {
  if (!at(key).is_string()) wrong(key);
  return at(key).get<std::string>();
}

std::uint64_t HeaderFields::hexadecimal(const char* key) const {
  const std::string digits = text(key);
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (code != std::errc{} || end != digits.data() + digits.size()) wrong(key);
  return value;
}

const Json& HeaderFields::at(const char* key) const {
  const auto found = contents_.header().find(key);
  if (found == contents_.header().end()) contents_.source().damaged(fmt::format("its header has no '{}'", key));
  return *found;
}

void HeaderFields::wrong(const char* key) const {
  contents_.source().damaged(fmt::format("'{}' in its header is not what it should be", key));
}

StateFile::StateFile(FileKind kind, std::string path, StateIdentity identity)
    : kind_(kind), path_(std::move(path)), identity_(std::move(identity)) {
  OutputFile{path_};
}

void StateFile::load(const Reader& reader) const {
  if (!std::filesystem::exists(path_)) return;
  const FileView file(path_);
  const Source source{kind_, path_};
  Contents contents(file.bytes(), source);
  const StateIdentity found = read_identity(contents);
  check(
      found.rows == identity_.rows && found.variables == identity_.variables && found.data_hash == identity_.data_hash,
      "[checkpoint] {} is the checkpoint of another table; delete it or choose another path", path_);
  check_settings(found.settings == identity_.settings);
  reader(contents, found);
}

void StateFile::check_settings(bool same) const {
  check(same,
        "[checkpoint] {} is the checkpoint of a search with other settings or by another version of fansite; delete it "
        "or choose another path",
        path_);
}

void StateFile::damaged(std::string_view what) const { Source{kind_, path_}.damaged(what); }

void StateFile::write(const std::function<void(const Sink&)>& writer) {
  written_.lap();
  OutputFile file(path_);
  writer([&](std::string_view bytes) { file.write(bytes); });
  file.commit();
  wait_ = std::max(1.0, 30 * written_.lap());
}

}  // namespace fansite
