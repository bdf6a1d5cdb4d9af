// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/neural/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "fansite/base/error.h"
#include "fansite/base/text.h"
#include "fansite/entropy/flow/model_file.h"

namespace fansite::neural {
namespace {

constexpr auto kAnything = Contents::Allow::anything;

// Numbers that may be anything are in blocks, not in the header.
std::vector<double> curve_numbers(const std::vector<flow::CurvePoint>& curve) {
  std::vector<double> numbers;
  for (const flow::CurvePoint& point : curve) {
    numbers.insert(numbers.end(), {static_cast<double>(point.step), point.training, point.held_out});
  }
  return numbers;
}

std::vector<flow::CurvePoint> read_curve(Contents& contents, const std::string& name) {
  const std::vector<double> numbers = contents.take<double>(name, kAnything);
  std::vector<flow::CurvePoint> curve;
  for (std::size_t i = 0; i + 2 < numbers.size(); i += 3) {
    if (!(numbers[i] >= 0 && numbers[i] < 9e15)) contents.source().damaged("a point of a curve has no step");
    curve.push_back({static_cast<std::int64_t>(numbers[i]), numbers[i + 1], numbers[i + 2]});
  }
  if (numbers.size() % 3 != 0) contents.source().damaged("a curve is cut short");
  return curve;
}

// Arrays that are made for a file, and must live until it is written.
struct Writer {
  std::vector<Block> blocks;
  std::vector<std::unique_ptr<std::vector<double>>> made;

  void add(std::string name, std::span<const float> values) { blocks.push_back({std::move(name), values}); }
  void add(std::string name, std::vector<double> values) {
    made.push_back(std::make_unique<std::vector<double>>(std::move(values)));
    blocks.push_back({std::move(name), std::span<const double>(*made.back())});
  }
};

void write(const TrainedNetwork& network, std::size_t m, OrderedJson& to, Writer& writer) {
  to = {{"steps", network.steps}, {"kept_step", network.kept_step}, {"undone_steps", network.undone_steps}};
  writer.add(fmt::format("networks/{}/parameters", m), network.parameters);
  writer.add(fmt::format("networks/{}/curve", m), curve_numbers(network.curve));
}

std::int64_t number(const Json& object, const char* key, const Source& source) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer() || found->get<std::int64_t>() < 0) {
    source.damaged(fmt::format("'{}' in its header is not what it should be", key));
  }
  return found->get<std::int64_t>();
}

TrainedNetwork read_network(const Json& from, std::size_t m, Contents& contents) {
  TrainedNetwork network;
  network.steps = number(from, "steps", contents.source());
  network.kept_step = number(from, "kept_step", contents.source());
  network.undone_steps = number(from, "undone_steps", contents.source());
  network.parameters = contents.take<float>(fmt::format("networks/{}/parameters", m));
  network.curve = read_curve(contents, fmt::format("networks/{}/curve", m));
  if (network.kept_step > network.steps || network.undone_steps > network.steps) {
    contents.source().damaged("a network's numbers of steps contradict each other");
  }
  return network;
}

const Json& list_of(const Json& header, const char* key, const Source& source) {
  const auto found = header.find(key);
  if (found == header.end() || !found->is_array()) source.damaged(fmt::format("'{}' in its header is no list", key));
  return *found;
}

// Whole numbers and arrays of a state, for writing and reading alike.
template <class State, class Field>
void numbers_of(State& state, const Field& field) {
  field("step", state.step);
  field("adam_steps", state.adam_steps);
  field("kept_step", state.kept_step);
  field("undone", state.undone);
  field("undone_in_a_row", state.undone_in_a_row);
  field("waited", state.waited);
  field("loss_count", state.loss_count);
}
template <class State, class Array>
void arrays_of(State& state, const Array& array) {
  array("parameters", state.parameters);
  array("mean", state.mean);
  array("square", state.square);
  array("largest", state.largest);
  array("average", state.average);
  array("best", state.best);
}

}  // namespace

// ---- Models ---------------------------------------------------------------------------------------------------------

std::string to_bytes(const NetworkEnsemble& ensemble, const std::string& estimator, const Parameters& parameters) {
  OrderedJson header;
  header["estimator"] = estimator;
  OrderedJson& options = header["options"] = OrderedJson::object();
  for (const Description::Field& field : parameters.fields()) options[field.name] = to_text(parameters.get(field.name));
  // Names, folds, orders and transforms are those of a flow's checkpoint before its first step.
  flow::Checkpoint frame{ensemble.frame, {}};
  frame.under_way.resize(ensemble.frame.networks.size());
  std::string bytes = flow::to_bytes(frame);
  header["frame_bytes"] = bytes.size();
  bytes.resize((bytes.size() + 3) / 4 * 4, '\0');
  std::vector<std::uint32_t> words(bytes.size() / 4);
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (std::size_t b = 0; b < 4; ++b) {
      words[i] |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[4 * i + b])) << (8 * b);
    }
  }
  Writer writer;
  writer.blocks.push_back({"frame", std::span<const std::uint32_t>(words)});
  OrderedJson& list = header["networks"] = OrderedJson::array();
  for (std::size_t m = 0; m < ensemble.networks.size(); ++m) {
    OrderedJson entry;
    write(ensemble.networks[m], m, entry, writer);
    list.push_back(std::move(entry));
  }
  std::string result;
  write_container(FileKind::model, std::move(header), writer.blocks, [&](std::string_view more) { result += more; });
  return result;
}

NetworkModel parse_model(std::string_view bytes, const std::string& name, const std::string& estimator,
                         const Parameters& defaults,
                         const std::function<std::size_t(const Parameters&, int variables)>& network_size) {
  const Source source{FileKind::model, name};
  Contents contents(bytes, source);
  const Json& header = contents.header();
  const std::string kind = header.contains("estimator") && header["estimator"].is_string()
                               ? excerpt(header["estimator"].get<std::string>())
                               : "flow";
  if (kind != estimator)
    source.fail(fmt::format("it is a model of {}, not of {}; use --estimator {}", kind, estimator, kind));
  NetworkModel model{{}, defaults};
  const auto options = header.find("options");
  if (options == header.end() || !options->is_object()) source.damaged("its header has no 'options'");
  for (const Description::Field& field : model.parameters.fields()) {
    const auto found = options->find(field.name);
    if (found == options->end() || !found->is_string()) {
      source.damaged(fmt::format("its header has no option '{}'", field.name));
    }
    try {
      model.parameters.set(field.name, parse_value(field, found->get_ref<const std::string&>()));
    } catch (const UsageError&) {
      source.damaged(fmt::format("option '{}' in its header is not what it should be", field.name));
    }
  }
  const std::vector<std::uint32_t> words = contents.take<std::uint32_t>("frame");
  std::string frame;
  for (const std::uint32_t word : words) {
    for (int b = 0; b < 4; ++b) frame.push_back(static_cast<char>(word >> (8 * b) & 0xffu));
  }
  const std::int64_t length = number(header, "frame_bytes", source);
  if (!std::in_range<std::size_t>(length) || frame.size() < static_cast<std::size_t>(length)) source.cut_short();
  frame.resize(static_cast<std::size_t>(length));
  model.ensemble.frame = flow::parse_checkpoint(frame, name).ensemble;
  const Json& list = list_of(header, "networks", source);
  if (list.size() != model.ensemble.frame.networks.size()) source.damaged("it has not one network for each fold");
  std::size_t size = 0;
  try {
    model.parameters.validate();
    size = network_size(model.parameters, static_cast<int>(model.ensemble.frame.names.size()));
  } catch (const UsageError&) {
    source.damaged("its options contradict each other");
  }
  for (std::size_t m = 0; m < list.size(); ++m) {
    model.ensemble.networks.push_back(read_network(list[m], m, contents));
    if (model.ensemble.networks.back().parameters.size() != size) {
      source.damaged("a network has not as many numbers as its options say");
    }
  }
  contents.end();
  return model;
}

// ---- Training under way ---------------------------------------------------------------------------------------------

void TrainingFile::write(const NetworksUnderWay& networks) {
  OrderedJson header = header_of(file_.identity());
  OrderedJson list = OrderedJson::array();
  Writer writer;
  for (std::size_t m = 0; m < networks.finished.size(); ++m) {
    OrderedJson entry = nullptr;
    if (networks.finished[m]) {
      neural::write(*networks.finished[m], m, entry, writer);
    } else if (networks.under_way[m]) {
      const NetworkTraining::State& state = *networks.under_way[m];
      numbers_of(state, [&](const char* key, std::int64_t value) { entry[key] = value; });
      entry["stopped"] = state.stopped;
      arrays_of(state, [&](const char* key, const std::vector<float>& values) {
        writer.add(fmt::format("under_way/{}/{}", m, key), values);
      });
      writer.add(
          fmt::format("under_way/{}/numbers", m),
          std::vector<double>{state.best_loss, state.loss_sum, state.rate_scale, static_cast<double>(state.level)});
      writer.add(fmt::format("under_way/{}/curve", m), curve_numbers(state.curve));
    }
    list.push_back(std::move(entry));
  }
  header["networks"] = std::move(list);
  file_.write([&](const Sink& sink) { write_container(FileKind::checkpoint, header, writer.blocks, sink); });
}

std::optional<NetworksUnderWay> TrainingFile::load(std::size_t count) const {
  std::optional<NetworksUnderWay> result;
  file_.load([&](Contents& contents, const StateIdentity& identity) {
    file_.check_settings(identity == file_.identity());
    const Source& source = contents.source();
    const Json& list = list_of(contents.header(), "networks", source);
    if (list.size() != count) source.damaged("it has not one entry for each network");
    NetworksUnderWay networks{std::vector<std::optional<TrainedNetwork>>(count),
                              std::vector<std::optional<NetworkTraining::State>>(count)};
    for (std::size_t m = 0; m < count; ++m) {
      const Json& entry = list[m];
      if (entry.is_null()) continue;
      if (entry.is_object() && entry.contains("steps")) {
        networks.finished[m] = read_network(entry, m, contents);
        continue;
      }
      NetworkTraining::State& state = networks.under_way[m].emplace();
      numbers_of(state, [&](const char* key, std::int64_t& value) { value = number(entry, key, source); });
      const auto stopped = entry.find("stopped");
      if (stopped == entry.end() || !stopped->is_boolean()) source.damaged("a state does not say whether it stopped");
      state.stopped = stopped->get<bool>();
      arrays_of(state, [&](const char* key, std::vector<float>& values) {
        values = contents.take<float>(fmt::format("under_way/{}/{}", m, key), kAnything);
      });
      const auto numbers = contents.take<double>(fmt::format("under_way/{}/numbers", m), kAnything);
      if (numbers.size() != 4 || !(std::abs(numbers[3]) < 9e15)) source.damaged("a state's numbers are cut short");
      state.best_loss = numbers[0];
      state.loss_sum = numbers[1];
      state.rate_scale = numbers[2];
      state.level = static_cast<std::int64_t>(numbers[3]);
      state.curve = read_curve(contents, fmt::format("under_way/{}/curve", m));
    }
    contents.end();
    result = std::move(networks);
  });
  return result;
}

}  // namespace fansite::neural
