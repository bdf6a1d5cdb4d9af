// SPDX-License-Identifier: Apache-2.0
//
// Models and checkpoints to bytes and files.
#include <cmath>
#include <utility>

#include "fansite/base/detail/container.h"
#include "fansite/base/error.h"
#include "fansite/base/file.h"
#include "fansite/base/text.h"
#include "fansite/entropy/flow/detail/model_checks.h"
#include "fansite/entropy/flow/detail/model_fields.h"
#include "fansite/entropy/flow/model_file.h"

namespace fansite::flow {
namespace {

using namespace model_format;

// ---- Fields into JSON -----------------------------------------------------------------------------------------------

template <class T>
OrderedJson encode(const T& value);

template <class T>
OrderedJson encode_number(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return nullptr;
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  }
  return value;  // the shortest digits that read back as this very number
}

template <class T>
OrderedJson encode_list(const T& values) {
  OrderedJson list = OrderedJson::array();
  for (const auto& value : values) list.push_back(encode(value));
  return list;
}

/// Puts every field it is given into an object.
struct FieldWriter {
  OrderedJson& object;
  template <class T>
  void operator()(const char* key, const T& value) const {
    object[key] = encode(value);
  }
};

template <class T>
OrderedJson encode(const T& value) {
  if constexpr (HasFields<const T>) {
    OrderedJson object;
    fields(FieldWriter{object}, value);
    return object;
  } else if constexpr (std::is_arithmetic_v<T>) {
    return encode_number(value);
  } else if constexpr (std::is_enum_v<T>) {
    return name(value);
  } else if constexpr (std::is_same_v<T, CurvePoint>) {
    return {encode(value.step), encode(value.training), encode(value.held_out)};
  } else if constexpr (std::is_same_v<T, Hex<const std::uint64_t>>) {
    return fmt::format("{:016x}", value.number);
  } else if constexpr (std::is_same_v<T, std::string>) {
    // Names of columns may hold any bytes, JSON only UTF-8: a name that is none is a list of its bytes.
    if (is_utf8(value)) return value;
    return encode_list(std::vector<unsigned char>(value.begin(), value.end()));
  } else {
    return encode_list(value);
  }
}

// ---- Files ----------------------------------------------------------------------------------------------------------

/// Lists every array it is given as a block.
struct ArrayWriter {
  std::vector<Block>& blocks;
  template <class T>
  void operator()(std::string name, const std::vector<T>& values) const {
    blocks.push_back({std::move(name), std::span(values)});
  }
  void operator()(const std::string& name, const GaussianBase& base) const {
    const auto span = [](const auto& m) { return std::span(m.data(), static_cast<std::size_t>(m.size())); };
    blocks.push_back({name + "/mean", span(base.mean())});
    blocks.push_back({name + "/covariance", span(base.covariance())});
  }
};

void require_good(const char* operation, const std::string& problem) {
  check(problem.empty(), "[{}] this is not what a training gives, {}. Train it again.", operation, problem);
}

void write(const Ensemble& ensemble, const Sink& sink) {
  std::vector<Block> blocks;
  arrays(ArrayWriter{blocks}, ensemble);
  write_container(FileKind::model, encode(ensemble), blocks, sink);
}

void write(const Checkpoint& checkpoint, const Sink& sink) {
  std::vector<Block> blocks;
  arrays(ArrayWriter{blocks}, checkpoint.ensemble);
  OrderedJson header = encode(checkpoint.ensemble), states = OrderedJson::array();
  for (std::size_t m = 0; m < checkpoint.under_way.size(); ++m) {
    const auto& state = checkpoint.under_way[m];
    states.push_back(state ? encode(*state) : OrderedJson());
    const auto block = [&](const char* name, const std::vector<float>& values) {
      blocks.push_back({fmt::format("under_way/{}/{}", m, name), std::span(values)});
    };
    if (state) arrays(block, *state);
  }
  header["under_way"] = std::move(states);
  write_container(FileKind::checkpoint, std::move(header), blocks, sink);
}

void save(const auto& value, const std::string& path) {
  OutputFile file(path);
  write(value, [&](std::string_view bytes) { file.write(bytes); });
  file.commit();
}

std::string bytes_of(const auto& value) {
  std::string bytes;
  write(value, [&](std::string_view more) { bytes += more; });
  return bytes;
}

}  // namespace

std::string to_bytes(const Ensemble& ensemble) {
  require_good("save_model", problem_with(ensemble, FileKind::model));
  return bytes_of(ensemble);
}

std::string to_bytes(const Checkpoint& checkpoint) {
  require_good("save_checkpoint", problem_with(checkpoint));
  return bytes_of(checkpoint);
}

void save_model(const Ensemble& ensemble, const std::string& path) {
  require_good("save_model", problem_with(ensemble, FileKind::model));
  save(ensemble, path);
}

void save_checkpoint(const Checkpoint& checkpoint, const std::string& path) {
  require_good("save_checkpoint", problem_with(checkpoint));
  save(checkpoint, path);
}

}  // namespace fansite::flow
