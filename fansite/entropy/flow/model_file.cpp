// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/model_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "fansite/base/detail/container.h"
#include "fansite/base/error.h"
#include "fansite/base/file.h"
#include "fansite/base/text.h"

namespace fansite::flow {
namespace {

// ---- What a file holds: one list for writing and for reading --------------------------------------------------------

template <class T, class U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

/// A number that a header shows in hexadecimal digits.
template <class T>
struct Hex {
  T& number;
};
template <class T>
Hex(T&) -> Hex<T>;

template <class F, Is<Shape> T>
void fields(const F& field, T& shape) {
  field("variables", shape.variables);
  field("blocks", shape.blocks);
  field("ranks", shape.ranks);
  field("outputs", shape.outputs);
  field("sigmoids", shape.sigmoids);
}

template <class F, Is<TrainParams> T>
void fields(const F& field, T& train) {
  field("steps", train.steps);
  field("batch", train.batch);
  field("max_size", train.max_size);
  field("subsets", train.subsets);
  field("base", train.base);
  field("schedule", train.schedule);
  field("learning_rate", train.learning_rate);
  field("clip", train.clip);
  field("held_out", train.held_out);
  field("patience", train.patience);
  field("evaluate_every", train.evaluate_every);
}

template <class F, Is<EnsembleParams> T>
void fields(const F& field, T& params) {
  field("folds", params.folds);
  field("repeats", params.repeats);
  field("transform", params.transform);
  field("seed", params.seed);
  field("shape", params.shape);
  field("train", params.train);
}

template <class F, Is<ColumnTransform> T>
void fields(const F& field, T& transform) {
  field("kind", transform.kind);
  field("shift", transform.shift);
  field("scale", transform.scale);
  field("log_slope", transform.log_slope);
}

template <class F, Is<Member> T>
void fields(const F& field, T& member) {
  field("repeat", member.repeat);
  field("fold", member.fold);
  field("steps", member.trained.steps);
  field("kept_step", member.trained.kept_step);
  field("undone_steps", member.trained.undone_steps);
  field("order", member.order);
  field("curve", member.trained.curve);
}

template <class F, Is<Ensemble> T>
void fields(const F& field, T& ensemble) {
  field("variables", ensemble.variables);
  field("rows", ensemble.rows);
  field("data_hash", Hex{ensemble.data_hash});
  field("params", ensemble.params);
  field("transforms", ensemble.transforms);
  field("members", ensemble.members);
}

template <class F, Is<Training::State> T>
void fields(const F& field, T& state) {
  field("step", state.step);
  field("kept_step", state.kept_step);
  field("undone", state.undone);
  field("undone_in_a_row", state.undone_in_a_row);
  field("waited", state.waited);
  field("best_loss", state.best_loss);
  field("loss_sum", state.loss_sum);
  field("loss_count", state.loss_count);
  field("stopped", state.stopped);
  field("learner_steps", state.learner.steps);
  field("backup_steps", state.backup.steps);
  field("curve", state.curve);
}

template <class A, Is<Ensemble> T>
void arrays(const A& array, T& ensemble) {
  for (std::size_t j = 0; j < ensemble.transforms.size(); ++j) {
    if (ensemble.transforms[j].kind != TransformKind::rank) continue;
    array(fmt::format("transforms/{}/x", j), ensemble.transforms[j].x);
    array(fmt::format("transforms/{}/z", j), ensemble.transforms[j].z);
  }
  for (std::size_t r = 0; r < ensemble.fold_of_row.size(); ++r) {
    array(fmt::format("fold_of_row/{}", r), ensemble.fold_of_row[r]);
  }
  for (std::size_t m = 0; m < ensemble.members.size(); ++m) {
    array(fmt::format("members/{}/weights", m), ensemble.members[m].trained.weights.values);
    array(fmt::format("members/{}/base", m), ensemble.members[m].trained.base);
  }
}

template <class A, Is<Training::State> T>
void arrays(const A& array, T& state) {
  array("learner/weights", state.learner.weights);
  array("learner/mean", state.learner.mean);
  array("learner/square", state.learner.square);
  array("backup/weights", state.backup.weights);
  array("backup/mean", state.backup.mean);
  array("backup/square", state.backup.square);
  array("best", state.best);
}

template <class T>
concept HasFields = requires(T& value, void (*ignore)(const char*, ...)) {
  fields(ignore, value);
};

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

// ---- What must be true of it: functions give the sentence that says what is not, or "" ------------------------------

constexpr int kMostFolds = 65535;  // fold_of_row is 16 bits wide

bool within(std::int64_t value, std::int64_t least, std::int64_t most) { return least <= value && value <= most; }

bool all_finite(const auto& values) {
  return std::all_of(values.begin(), values.end(), [](auto value) { return std::isfinite(value); });
}

bool ascending(const auto& values) {
  return std::adjacent_find(values.begin(), values.end(), [](auto a, auto b) { return !(a < b); }) == values.end();
}

// Everything that other sizes follow from.
std::string problem_with_frame(const Ensemble& e) {
  const EnsembleParams& params = e.params;
  if (e.variables.empty()) return "it has no columns";
  if (std::set<std::string_view>(e.variables.begin(), e.variables.end()).size() != e.variables.size()) {
    return "two of its columns have the same name";
  }
  if (e.rows < 1) return "it has no rows";
  if (!std::cmp_equal(params.shape.variables, e.variables.size())) {
    return fmt::format("its networks have {} variables for {} columns", params.shape.variables, e.variables.size());
  }
  try {
    validate(params.shape);
    validate(params.train, params.shape);
  } catch (const UsageError& error) {
    const std::string_view text = error.what();
    return std::string(text.substr(text.find(' ') + 1));  // without the operation in brackets
  }
  if (!within(params.folds, 1, kMostFolds) || params.repeats < 1 ||
      !std::cmp_equal(e.members.size(), std::int64_t{params.repeats} * params.folds)) {
    return fmt::format("it has {} networks for {} repeats of {} folds", e.members.size(), params.repeats, params.folds);
  }
  return {};
}

bool is_good(const ColumnTransform& t, Index rows) {
  return std::isfinite(t.shift) && std::isfinite(t.scale) && t.scale > 0 && !std::isinf(t.log_slope) &&
         t.x.empty() == (t.kind != TransformKind::rank) && t.x.size() == t.z.size() &&
         std::cmp_less_equal(t.x.size(), rows) && all_finite(t.x) && all_finite(t.z) && ascending(t.x) &&
         ascending(t.z);
}

bool is_good(const std::vector<CurvePoint>& curve, std::int64_t steps) {
  std::int64_t before = -1;
  return std::all_of(curve.begin(), curve.end(), [&](const CurvePoint& point) {
    return std::exchange(before, point.step) < point.step && point.step <= steps;
  });
}

bool is_permutation(const std::vector<int>& order, std::size_t variables) {
  std::vector<char> seen(variables, 0);
  return order.size() == variables && std::all_of(order.begin(), order.end(), [&](int column) {
           return column >= 0 && std::cmp_less(column, variables) &&
                  std::exchange(seen[static_cast<std::size_t>(column)], char{1}) == 0;
         });
}

std::string problem_with(const Member& member, const Ensemble& e, FileKind kind) {
  const Trained& trained = member.trained;
  const auto& [layout, values] = trained.weights;
  if (!is_permutation(member.order, e.variables.size())) return "its order is not one of all columns";
  if (!within(member.repeat, 0, e.params.repeats - 1) || !within(member.fold, 0, e.params.folds - 1)) {
    return "it belongs to no fold";
  }
  if (!within(trained.kept_step, 0, trained.steps) || !within(trained.undone_steps, 0, trained.steps) ||
      !is_good(trained.curve, trained.steps)) {
    return "its numbers of steps contradict each other";
  }
  const bool unfinished = kind == FileKind::checkpoint && values.empty();
  if (!unfinished && (layout.shape != e.params.shape || !std::cmp_equal(values.size(), layout.size))) {
    return "its weights are not as many as its shape has";
  }
  const bool based = !unfinished && e.params.train.base == BaseKind::gaussian;
  if (!std::cmp_equal(trained.base.mean().size(), based ? e.params.shape.variables : 0)) {
    return "its Gaussian base is not of its shape";
  }
  return all_finite(values) ? "" : "a weight is not finite";
}

std::string problem_with(const Ensemble& e, FileKind kind) {
  if (std::string problem = problem_with_frame(e); !problem.empty()) return problem;
  if (e.transforms.size() != e.variables.size()) return "it has not one transform for each column";
  for (std::size_t j = 0; j < e.transforms.size(); ++j) {
    if (!is_good(e.transforms[j], e.rows)) return fmt::format("the transform of column {} does not increase", j + 1);
  }
  if (!std::cmp_equal(e.fold_of_row.size(), e.params.folds > 1 ? e.params.repeats : 0)) {
    return "it has not one division of the rows for each repeat";
  }
  for (const auto& folds : e.fold_of_row) {
    if (!std::cmp_equal(folds.size(), e.rows) ||
        std::any_of(folds.begin(), folds.end(), [&](int fold) { return fold >= e.params.folds; })) {
      return "a row belongs to no fold";
    }
  }
  for (std::size_t m = 0; m < e.members.size(); ++m) {
    const std::string problem = problem_with(e.members[m], e, kind);
    if (!problem.empty()) return fmt::format("in network {}: {}", m + 1, problem);
  }
  return {};
}

// Not whether the numbers are finite, which reading insists on: a step that went wrong is still to be undone, and must
// not keep a training from being saved.
bool is_good(const Training::State& s, std::int64_t steps, Index size) {
  bool sizes = true;
  arrays(
      [&](const char*, const std::vector<float>& values) {
        const bool none = &values == &s.best && values.empty();  // nothing was held out, or not looked at yet
        sizes = sizes && (none || std::cmp_equal(values.size(), size));
      },
      s);
  return sizes && within(s.step, 0, steps) && within(s.kept_step, 0, s.step) && within(s.undone, 0, s.step) &&
         within(s.undone_in_a_row, 0, s.undone) && within(s.waited, 0, static_cast<std::int64_t>(s.curve.size())) &&
         within(s.loss_count, 0, s.step) && within(s.learner.steps, 0, s.step) && within(s.backup.steps, 0, s.step) &&
         !std::isnan(s.best_loss) && std::isfinite(s.loss_sum) && is_good(s.curve, s.step);
}

std::string problem_with(const Checkpoint& checkpoint) {
  const Ensemble& e = checkpoint.ensemble;
  if (std::string problem = problem_with(e, FileKind::checkpoint); !problem.empty()) return problem;
  if (checkpoint.under_way.size() != e.members.size()) return "it has not one state for each network";
  Index size = 0;
  for (std::size_t m = 0; m < e.members.size(); ++m) {
    if (!checkpoint.under_way[m]) continue;
    if (size == 0) size = Layout(e.params.shape).size;
    if (!is_good(*checkpoint.under_way[m], e.params.train.steps, size)) {
      return fmt::format("the state of network {} contradicts itself", m + 1);
    }
  }
  return {};
}

// ---- Writing --------------------------------------------------------------------------------------------------------

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

// ---- Reading --------------------------------------------------------------------------------------------------------

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
  for (Member& member : e.members) {
    if (member.trained.weights.values.empty()) continue;
    if (!layout) layout = layout_within(e.params.shape, contents);
    member.trained.weights.layout = *layout;
  }
  require_good(source, problem_with(e, source.kind));
  return e;
}

Training::State read_state(const Json& entry, std::size_t member, Contents& contents) {
  Training::State state;
  fields(FieldReader(entry, contents.source()), state);
  arrays(
      [&](const char* name, std::vector<float>& values) {
        values = contents.take<float>(fmt::format("under_way/{}/{}", member, name));
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

Ensemble train_or_load(const Dataset& data, const EnsembleParams& params, const ModelFiles& files, Progress& progress) {
  if (!files.model.empty()) return load_model(files.model);
  if (!files.save_model.empty()) OutputFile{files.save_model};
  Ensemble ensemble = train_ensemble(data, params, progress, files.checkpoint);
  if (!files.save_model.empty()) save_model(ensemble, files.save_model);
  if (!files.checkpoint.empty() && !files.keep_checkpoint) std::filesystem::remove(files.checkpoint);
  return ensemble;
}

}  // namespace fansite::flow
