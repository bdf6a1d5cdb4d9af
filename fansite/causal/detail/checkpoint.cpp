// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/detail/checkpoint.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "fansite/base/error.h"

namespace fansite::causal {
namespace {

using State = DifferentiableTraining::State;

constexpr Index kMostVariables = 65535;  // of networks: the places of a mask are 32 bits wide

// ---- Writing --------------------------------------------------------------------------------------------------------

// Groups with their scores, flat.
template <class T>
struct Lists {
  std::vector<std::uint32_t> parent_counts, child_counts, parents, children;
  std::vector<T> scores;

  explicit Lists(const std::map<ScoreGroup, std::vector<T>>& groups) {
    const auto append = [](const std::vector<int>& from, auto& counts, auto& to) {
      counts.push_back(static_cast<std::uint32_t>(from.size()));
      to.insert(to.end(), from.begin(), from.end());
    };
    for (const auto& [group, of_group] : groups) {
      append(group.parents, parent_counts, parents);
      append(group.children, child_counts, children);
      scores.insert(scores.end(), of_group.begin(), of_group.end());
    }
  }

  void add_to(std::vector<Block>& blocks, const std::string& name) const {
    const auto add = [&]<class U>(const char* part, const std::vector<U>& values) {
      blocks.push_back({name + part, std::span<const U>(values)});
    };
    add("/parent_counts", parent_counts);
    add("/child_counts", child_counts);
    add("/parents", parents);
    add("/children", children);
    add("/scores", scores);
  }
};

void write(const StateIdentity& of, const KnownScores& known, const Sink& sink) {
  OrderedJson header = header_of(of);
  header["state"] = "scores";
  const Lists means(known.means);
  const Lists rows(known.rows);
  std::vector<Block> blocks;
  means.add_to(blocks, "means");
  rows.add_to(blocks, "rows");
  write_container(FileKind::graph_checkpoint, std::move(header), blocks, sink);
}

// A number that may be anything, such as a loss that was never measured, is in a block and not in the header.
template <class Numbers, class S>
void numbers(const Numbers& number, S& state) {
  number(state.gamma);
  number(state.best_loss);
  number(state.last_loss);
  number(state.first.validation_loss);
  number(state.first.gamma);
}

void write(const StateIdentity& of, const State& state, const Sink& sink) {
  OrderedJson header = header_of(of);
  header["state"] = "networks";
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

// ---- Reading --------------------------------------------------------------------------------------------------------

bool ascending(const auto& values) {
  return std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end();
}

bool is_good(const ScoreGroup& group, Index variables) {
  const auto inside = [&](int variable) { return 0 <= variable && variable < variables; };
  std::vector<int> everyone = group.children;
  everyone.insert(everyone.end(), group.parents.begin(), group.parents.end());
  if (!std::all_of(everyone.begin(), everyone.end(), inside)) return false;
  std::sort(everyone.begin(), everyone.end());
  return !group.children.empty() && ascending(group.parents) && ascending(everyone);  // no one twice
}

// Means are as many as the children of their group; rows are of one child and as many in every group.
template <class T>
std::map<ScoreGroup, std::vector<T>> read_groups(Contents& contents, const std::string& name, Index variables) {
  constexpr bool kRows = std::is_same_v<T, float>;
  const auto parent_counts = contents.take<std::uint32_t>(name + "/parent_counts");
  const auto child_counts = contents.take<std::uint32_t>(name + "/child_counts");
  const auto parents = contents.take<std::uint32_t>(name + "/parents");
  const auto children = contents.take<std::uint32_t>(name + "/children");
  const auto scores = contents.take<T>(name + "/scores", Contents::Allow::anything);
  const auto require = [&](bool good) {
    if (!good) contents.source().damaged("its lists of scores contradict each other");
  };
  const std::size_t count = parent_counts.size();
  const std::size_t rows = kRows && count > 0 ? scores.size() / count : 0;
  require(child_counts.size() == count && scores.size() == (kRows ? count * rows : children.size()));

  std::size_t parent = 0, child = 0, score = 0;
  const auto next = [&](const auto& list, std::size_t& at, std::size_t length) {
    require(length <= list.size() - at);
    return std::span(list).subspan(std::exchange(at, at + length), length);
  };
  // What is no int becomes negative, which is_good refuses.
  const auto columns = [](std::span<const std::uint32_t> list) { return std::vector<int>(list.begin(), list.end()); };
  std::map<ScoreGroup, std::vector<T>> groups;
  for (std::size_t g = 0; g < count; ++g) {
    ScoreGroup group{columns(next(parents, parent, parent_counts[g])), columns(next(children, child, child_counts[g]))};
    require(is_good(group, variables) && (!kRows || group.children.size() == 1));
    require(groups.empty() || groups.rbegin()->first < group);
    const auto own = next(scores, score, kRows ? rows : group.children.size());
    groups.emplace_hint(groups.end(), std::move(group), std::vector<T>(own.begin(), own.end()));
  }
  require(parent == parents.size() && child == children.size());
  return groups;
}

KnownScores read_scores(Contents& contents, const StateIdentity& of) {
  KnownScores known;
  known.means = read_groups<double>(contents, "means", of.variables);
  known.rows = read_groups<float>(contents, "rows", of.variables);
  contents.end();
  return known;
}

State read_networks(Contents& contents, const StateIdentity& of) {
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
  const auto vectors = static_cast<std::size_t>(state.stage == 2 ? of.variables : 0);
  require(state.left.size() == vectors && state.right.size() == vectors);
  // Every network has five parameters or more: a table of so many variables is worth a mask of their square.
  require(of.variables <= kMostVariables && std::cmp_greater_equal(count / 5, of.variables));
  const auto places = static_cast<std::uint64_t>(of.variables * of.variables);
  require(ascending(mask) && (mask.empty() || mask.back() < places));
  state.mask = ByteMatrix::Zero(of.variables, of.variables);
  for (const std::uint32_t place : mask) state.mask.data()[place] = 1;
  require((state.mask.diagonal().array() == 0).all());

  std::size_t at = 0;
  numbers([&](double& value) { value = at < values.size() ? values[at++] : (++at, 0.0); }, state);
  require(at == values.size() && frozen.size() <= 1);
  if (!frozen.empty()) state.frozen_gamma = frozen.front();
  return state;
}

bool holds_scores(const Contents& contents) {
  const std::string state = HeaderFields(contents).text("state");
  if (state != "scores" && state != "networks") contents.source().damaged("its header names no state that there is");
  return state == "scores";
}

}  // namespace

GraphCheckpoint parse_graph_checkpoint(std::string_view bytes, const std::string& name) {
  const Source source{FileKind::graph_checkpoint, name};
  Contents contents(bytes, source);
  GraphCheckpoint checkpoint{read_identity(contents), {}};
  if (holds_scores(contents)) {
    checkpoint.state = read_scores(contents, checkpoint.of);
  } else {
    checkpoint.state = read_networks(contents, checkpoint.of);
  }
  return checkpoint;
}

std::string to_bytes(const GraphCheckpoint& checkpoint) {
  std::string bytes;
  const Sink sink = [&](std::string_view more) { bytes += more; };
  std::visit([&](const auto& state) { write(checkpoint.of, state, sink); }, checkpoint.state);
  return bytes;
}

// ---- The file of a search -------------------------------------------------------------------------------------------

// Whose state it is, is known before any of it is read.
template <class State>
std::optional<State> GraphCheckpointFile::load() const {
  std::optional<State> state;
  file_.load([&](Contents& contents, const StateIdentity& of) {
    file_.check_settings(holds_scores(contents) == std::is_same_v<State, KnownScores>);
    if constexpr (std::is_same_v<State, KnownScores>) {
      state = read_scores(contents, of);
    } else {
      state = read_networks(contents, of);
    }
  });
  return state;
}

template std::optional<KnownScores> GraphCheckpointFile::load() const;
template std::optional<State> GraphCheckpointFile::load() const;

template <class State>
void GraphCheckpointFile::write(const State& state) {
  file_.write([&](const Sink& sink) { causal::write(file_.identity(), state, sink); });
}

template void GraphCheckpointFile::write(const KnownScores& state);
template void GraphCheckpointFile::write(const State& state);

// ---- Scores ---------------------------------------------------------------------------------------------------------

ScoreKeeper::ScoreKeeper(const std::string& path, StateIdentity of) : file_(path, std::move(of)) {
  if (auto saved = file_.load<KnownScores>()) known_ = std::move(*saved);
}

std::optional<std::vector<double>> ScoreKeeper::means(const ScoreGroup& group) const {
  const std::lock_guard guard(lock_);
  const auto found = known_.means.find(group);
  return found == known_.means.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::vector<float>> ScoreKeeper::rows(const ScoreGroup& group, Index count) const {
  const std::lock_guard guard(lock_);
  const auto found = known_.rows.find(group);
  const bool good = found != known_.rows.end() && std::cmp_equal(found->second.size(), count);
  return good ? std::optional(found->second) : std::nullopt;
}

void ScoreKeeper::add_means(const ScoreGroup& group, std::vector<double> scores) {
  const std::lock_guard guard(lock_);
  known_.means.insert_or_assign(group, std::move(scores));
  added();
}

void ScoreKeeper::add_rows(const ScoreGroup& group, std::vector<float> scores) {
  const std::lock_guard guard(lock_);
  known_.rows.insert_or_assign(group, std::move(scores));
  added();
}

void ScoreKeeper::added() {
  complete_ = false;
  if (!file_.due()) return;
  file_.write(known_);
  complete_ = true;
}

void ScoreKeeper::write() {
  const std::lock_guard guard(lock_);
  if (!complete_) file_.write(known_);
  complete_ = true;
}

}  // namespace fansite::causal
