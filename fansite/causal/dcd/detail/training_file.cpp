// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/dcd/detail/training_file.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <utility>

namespace fansite::causal {
namespace {

using State = DifferentiableTraining::State;

constexpr std::string_view kState = "networks";
constexpr Index kMostVariables = 65535;  // the places of a mask are 32 bits wide

// A number that may be anything, such as a loss that was never measured, is in a block and not in the header.
template <class Numbers, class S>
void numbers(const Numbers& number, S& state) {
  number(state.gamma);
  number(state.best_loss);
  number(state.last_loss);
  number(state.first.validation_loss);
  number(state.first.gamma);
}

void write(const StateIdentity& identity, const State& state, const Sink& sink) {
  OrderedJson header = header_of(identity);
  header["state"] = kState;
  header["stage"] = state.stage;
  header["epoch"] = state.epoch;
  header["hidden"] = state.hidden;
  header["steps"] = state.steps;
  header["gamma_index"] = state.gamma_index;
  header["waited"] = state.waited;
  header["stopped"] = state.stopped;
  header["first_epochs"] = state.first.epochs;
  header["first_stopped_early"] = state.first.stopped_early;
  std::vector<std::uint32_t> mask;
  for (Index place = 0; place < state.mask.size(); ++place) {
    if (state.mask.data()[place]) mask.push_back(static_cast<std::uint32_t>(place));
  }
  std::vector<double> values, frozen;
  numbers([&](double value) { values.push_back(value); }, state);
  if (state.frozen_gamma) frozen.push_back(*state.frozen_gamma);
  const std::array<Block, 9> blocks{{{"mask", std::span<const std::uint32_t>(mask)},
                                     {"parameters", std::span<const float>(state.parameters)},
                                     {"mean", std::span<const float>(state.mean)},
                                     {"square", std::span<const float>(state.square)},
                                     {"best", std::span<const float>(state.best)},
                                     {"left", std::span<const double>(state.left)},
                                     {"right", std::span<const double>(state.right)},
                                     {"numbers", std::span<const double>(values)},
                                     {"frozen_gamma", std::span<const double>(frozen)}}};
  write_container(FileKind::graph_checkpoint, std::move(header), blocks, sink);
}

State read_networks(Contents& contents, const StateIdentity& identity) {
  constexpr auto anything = Contents::Allow::anything;  // networks that are beyond saving are saved as they are
  const HeaderFields header(contents);
  State state;
  state.stage = header.integer("stage", 1, 2);
  state.epoch = header.integer("epoch", 0);
  state.hidden = header.integer("hidden", 1);
  state.steps = header.number("steps", 0, std::numeric_limits<std::int64_t>::max());
  state.gamma_index = header.integer("gamma_index", 0, state.epoch);
  state.waited = header.integer("waited", 0, state.epoch);
  state.stopped = header.flag("stopped");
  state.first.epochs = header.integer("first_epochs", 0);
  state.first.stopped_early = header.flag("first_stopped_early");
  const auto mask = contents.take<std::uint32_t>("mask");
  state.parameters = contents.take<float>("parameters", anything);
  state.mean = contents.take<float>("mean", anything);
  state.square = contents.take<float>("square", anything);
  state.best = contents.take<float>("best", anything);
  state.left = contents.take<double>("left", anything);
  state.right = contents.take<double>("right", anything);
  const auto values = contents.take<double>("numbers", anything);
  const auto frozen = contents.take<double>("frozen_gamma", anything);
  contents.end();

  const auto require = [&](bool good) {
    if (!good) contents.source().damaged("the state of its networks contradicts itself");
  };
  const std::size_t count = state.parameters.size();
  require(state.mean.size() == count && state.square.size() == count);
  require(state.best.empty() || state.best.size() == count);
  const auto vectors = static_cast<std::size_t>(state.stage == 2 ? identity.variables : 0);
  require(state.left.size() == vectors && state.right.size() == vectors);
  // Every network has five parameters or more: a table of so many variables is worth a mask of their square.
  require(identity.variables <= kMostVariables && std::cmp_greater_equal(count / 5, identity.variables));
  const auto places = static_cast<std::uint64_t>(identity.variables * identity.variables);
  const bool ascending = std::adjacent_find(mask.begin(), mask.end(), std::greater_equal<>()) == mask.end();
  require(ascending && (mask.empty() || mask.back() < places));
  state.mask = ByteMatrix::Zero(identity.variables, identity.variables);
  for (const std::uint32_t place : mask) state.mask.data()[place] = 1;
  require((state.mask.diagonal().array() == 0).all());

  std::size_t at = 0;
  numbers([&](double& value) { value = at < values.size() ? values[at++] : (++at, 0.0); }, state);
  require(at == values.size() && frozen.size() <= 1);
  if (!frozen.empty()) state.frozen_gamma = frozen.front();
  return state;
}

}  // namespace

TrainingCheckpoint parse_training_checkpoint(std::string_view bytes, const std::string& name) {
  const Source source{FileKind::graph_checkpoint, name};
  Contents contents(bytes, source);
  TrainingCheckpoint checkpoint{read_identity(contents), {}};
  if (HeaderFields(contents).text("state") != kState) source.damaged("its header names another state");
  checkpoint.state = read_networks(contents, checkpoint.identity);
  return checkpoint;
}

std::string to_bytes(const TrainingCheckpoint& checkpoint) {
  std::string bytes;
  write(checkpoint.identity, checkpoint.state, [&](std::string_view more) { bytes += more; });
  return bytes;
}

// Whose state it is, is known before any of it is read.
std::optional<State> TrainingFile::load() const {
  std::optional<State> state;
  file_.load([&](Contents& contents, const StateIdentity& identity) {
    file_.check_settings(HeaderFields(contents).text("state") == kState);
    state = read_networks(contents, identity);
  });
  return state;
}

void TrainingFile::write(const State& state) {
  file_.write([&](const Sink& sink) { causal::write(file_.identity(), state, sink); });
}

}  // namespace fansite::causal
