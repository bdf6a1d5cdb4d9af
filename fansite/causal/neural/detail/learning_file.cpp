// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/neural/detail/learning_file.h"

#include <fmt/core.h>

#include <span>
#include <utility>

namespace fansite::causal {
namespace {

constexpr std::string_view kState = "learning";
constexpr int kMostVectors = 64;

void write(const StateIdentity& identity, const LearningState& state, const Sink& sink) {
  OrderedJson header = header_of(identity);
  header["state"] = kState;
  header["vectors"] = state.vectors.size();
  std::vector<Block> blocks = {{"numbers", std::span<const double>(state.numbers)}};
  for (std::size_t k = 0; k < state.vectors.size(); ++k) {
    blocks.push_back({fmt::format("vectors/{}", k), std::span<const double>(state.vectors[k])});
  }
  write_container(FileKind::graph_checkpoint, std::move(header), blocks, sink);
}

LearningState read(Contents& contents) {
  constexpr auto anything = Contents::Allow::anything;  // a loss that was never measured
  LearningState state;
  const int vectors = HeaderFields(contents).integer("vectors", 0, kMostVectors);
  state.numbers = contents.take<double>("numbers", anything);
  for (int k = 0; k < vectors; ++k) {
    state.vectors.push_back(contents.take<double>(fmt::format("vectors/{}", k), anything));
  }
  contents.end();
  return state;
}

}  // namespace

LearningCheckpoint parse_learning_checkpoint(std::string_view bytes, const std::string& name) {
  const Source source{FileKind::graph_checkpoint, name};
  Contents contents(bytes, source);
  LearningCheckpoint checkpoint{read_identity(contents), {}};
  if (HeaderFields(contents).text("state") != kState) source.damaged("its header names another state");
  checkpoint.state = read(contents);
  return checkpoint;
}

std::string to_bytes(const LearningCheckpoint& checkpoint) {
  std::string bytes;
  write(checkpoint.identity, checkpoint.state, [&](std::string_view more) { bytes += more; });
  return bytes;
}

// Whose state it is, is known before any of it is read.
std::optional<LearningState> LearningFile::load() const {
  std::optional<LearningState> state;
  file_.load([&](Contents& contents, const StateIdentity&) {
    file_.check_settings(HeaderFields(contents).text("state") == kState);
    state = read(contents);
  });
  return state;
}

void LearningFile::write(const LearningState& state) {
  file_.write([&](const Sink& sink) { causal::write(file_.identity(), state, sink); });
}

}  // namespace fansite::causal
