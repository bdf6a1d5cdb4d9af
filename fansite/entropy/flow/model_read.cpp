// SPDX-License-Identifier: Apache-2.0
//
// Models and checkpoints from bytes and files.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
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

// ---- Fields out of JSON; false for what is of another type ----------------------------------------------------------

bool decode(const Json& json, bool& value) {
  if (json.is_boolean()) value = json.get<bool>();
  return json.is_boolean();
}

bool decode(const Json& json, double& value) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (json.is_number()) value = json.get<double>();
  if (json.is_null()) value = std::numeric_limits<double>::quiet_NaN();
  if (json.is_string()) value = json == "inf" ? infinity : -infinity;
  return json.is_number() || json.is_null() || json == "inf" || json == "-inf";
}

template <std::integral T>
bool decode(const Json& json, T& value) {
  const auto fits = [&](auto number) {
    value = static_cast<T>(number);
    return std::in_range<T>(number);
  };
  if (json.is_number_unsigned()) return fits(json.get<std::uint64_t>());
  return json.is_number_integer() && fits(json.get<std::int64_t>());
}

bool decode(const Json& json, const Hex<std::uint64_t>& hex) {
  if (!json.is_string()) return false;
  const auto& digits = json.get_ref<const std::string&>();
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), hex.number, 16);
  return code == std::errc{} && end == digits.data() + digits.size();
}

bool decode(const Json& json, std::string& text) {
  if (json.is_string()) text = json.get<std::string>();
  if (!json.is_array()) return json.is_string();
  for (const Json& entry : json) {
    unsigned char byte = 0;
    if (!decode(entry, byte)) return false;
    text += static_cast<char>(byte);
  }
  return true;
}

bool decode(const Json& json, CurvePoint& point) {
  return json.is_array() && json.size() == 3 && decode(json[0], point.step) && decode(json[1], point.training) &&
         decode(json[2], point.held_out);
}

template <NamedEnum E>
bool decode(const Json& json, E& value) {
  if (!json.is_string()) return false;
  try {
    value = parse<E>(json.get_ref<const std::string&>());
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

/// Takes every field it is asked for out of an object.
class FieldReader {
 public:
  FieldReader(const Json& object, const Source& source) : object_(object), source_(source) {}

  const Json& at(const char* key) const {
    const auto found = object_.find(key);  // the end for what is not an object
    if (found == object_.end()) source_.damaged(fmt::format("its header has no '{}'", key));
    return *found;
  }

  template <class T>
  void operator()(const char* key, T&& value) const {
    if (!read(at(key), value)) source_.damaged(fmt::format("'{}' in its header is not what it should be", key));
  }

 private:
  template <class T>
  bool read(const Json& json, T& value) const {
    if constexpr (HasFields<T>) {
      fields(FieldReader(json, source_), value);
      return true;
    } else {
      return decode(json, value);
    }
  }

  template <class T>
  bool read(const Json& json, std::vector<T>& values) const {
    if (!json.is_array()) return false;
    for (const Json& entry : json) {
      if (!read(entry, values.emplace_back())) return false;
    }
    return true;
  }

  const Json& object_;
  const Source& source_;
};

// ---- Files ----------------------------------------------------------------------------------------------------------

/// Fills every array it is given from the next block.
struct ArrayReader {
  Contents& contents;
  template <class T>
  void operator()(std::string_view name, std::vector<T>& values) const {
    values = contents.take<T>(name);
  }
  void operator()(const std::string& name, GaussianBase& base) const {
    const auto mean = contents.take<double>(name + "/mean"), covariance = contents.take<double>(name + "/covariance");
    const auto d = static_cast<Index>(mean.size());
    if (covariance.size() != mean.size() * mean.size()) contents.source().damaged("a covariance is not square");
    if (d == 0) return;
    try {
      base = GaussianBase(Vector::Map(mean.data(), d), Matrix::Map(covariance.data(), d, d));
    } catch (const UsageError&) {
      contents.source().damaged("a variance is not positive");
    }
  }
};

void require_good(const Source& source, const std::string& problem) {
  if (!problem.empty()) source.damaged(problem);
}

/// The layout of networks whose weights the file holds. Layout adds up without looking, but a shape whose sums would
/// overflow has more weights than fit into any file, and that shows beforehand in their number as a double.
Layout layout_within(const Shape& shape, const Contents& contents) {
  const double d = shape.variables, r = shape.ranks;
  const double pairs = r * (r - 1) / 2 + (d - r) * r;  // of a variable and a rank that can feed it
  if (pairs * shape.blocks * shape.outputs * sizeof(float) > static_cast<double>(contents.size())) {
    contents.source().damaged("its networks are larger than the file");
  }
  return Layout(shape);
}

Ensemble read_ensemble(Contents& contents) {
  const Source& source = contents.source();
  Ensemble e;
  fields(FieldReader(contents.header(), source), e);
  require_good(source, problem_with_frame(e));
  if (e.params.folds > 1) e.fold_of_row.resize(static_cast<std::size_t>(e.params.repeats));
  arrays(ArrayReader{contents}, e);
  std::optional<Layout> layout;
  for (Network& network : e.networks) {
    if (network.trained.weights.values.empty()) continue;
    if (!layout) layout = layout_within(e.params.shape, contents);
    network.trained.weights.layout = *layout;
  }
  require_good(source, problem_with(e, source.kind));
  return e;
}

Training::State read_state(const Json& entry, std::size_t network, Contents& contents) {
  Training::State state;
  fields(FieldReader(entry, contents.source()), state);
  arrays(
      [&](const char* name, std::vector<float>& values) {
        values = contents.take<float>(fmt::format("under_way/{}/{}", network, name));
      },
      state);
  for (const auto* squares : {&state.learner.square, &state.backup.square}) {  // their roots are taken
    if (std::any_of(squares->begin(), squares->end(), [](float square) { return square < 0; })) {
      contents.source().damaged("a mean of squares is negative");
    }
  }
  return state;
}

}  // namespace

Ensemble parse_model(std::string_view bytes, const std::string& name) {
  const Source source{FileKind::model, name};
  Contents contents(bytes, source);
  if (const auto other = contents.header().find("estimator"); other != contents.header().end() && other->is_string()) {
    source.fail(
        fmt::format("it is a model of {0}, not of flow; use --estimator {0}", excerpt(other->get<std::string>())));
  }
  Ensemble ensemble = read_ensemble(contents);
  contents.end();
  return ensemble;
}

Checkpoint parse_checkpoint(std::string_view bytes, const std::string& name) {
  const Source source{FileKind::checkpoint, name};
  Contents contents(bytes, source);
  Checkpoint checkpoint{read_ensemble(contents), {}};
  const Json& states = FieldReader(contents.header(), source).at("under_way");
  if (!states.is_array()) source.damaged("'under_way' in its header is not a list");
  for (const Json& entry : states) {
    auto& state = checkpoint.under_way.emplace_back();
    if (entry.is_null()) continue;
    state = read_state(entry, checkpoint.under_way.size() - 1, contents);
    layout_within(checkpoint.ensemble.params.shape, contents);  // before problem_with asks for one
  }
  contents.end();
  require_good(source, problem_with(checkpoint));
  return checkpoint;
}

Ensemble load_model(const std::string& path) {
  const FileView file(path);
  return parse_model(file.bytes(), path == "-" ? "standard input" : path);
}

Checkpoint load_checkpoint(const std::string& path) {
  const FileView file(path);
  return parse_checkpoint(file.bytes(), path == "-" ? "standard input" : path);
}

}  // namespace fansite::flow
