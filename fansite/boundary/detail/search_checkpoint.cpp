// SPDX-License-Identifier: Apache-2.0
#include "fansite/boundary/detail/search_checkpoint.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>

namespace fansite {
namespace {

// ---- Writing --------------------------------------------------------------------------------------------------------

void write(const StateIdentity& identity, const SearchState& state, const Sink& sink) {
  std::vector<std::uint32_t> lengths, paths, pairs, score_counts;
  std::vector<double> evidence;
  std::vector<float> scores;
  for (const std::vector<int>& path : state.paths) {
    lengths.push_back(static_cast<std::uint32_t>(path.size()));
    paths.insert(paths.end(), path.begin(), path.end());
  }
  for (const auto& [pair, found] : state.tested) {
    pairs.push_back(static_cast<std::uint32_t>(pair.first));
    pairs.push_back(static_cast<std::uint32_t>(pair.second));
    evidence.insert(evidence.end(), {found.p_value, found.votes, found.inflation});
    score_counts.push_back(static_cast<std::uint32_t>(found.scores.size()));
    scores.insert(scores.end(), found.scores.begin(), found.scores.end());
  }
  const std::array<Block, 6> blocks{{{"lengths", std::span<const std::uint32_t>(lengths)},
                                     {"paths", std::span<const std::uint32_t>(paths)},
                                     {"pairs", std::span<const std::uint32_t>(pairs)},
                                     {"evidence", std::span<const double>(evidence)},
                                     {"score_counts", std::span<const std::uint32_t>(score_counts)},
                                     {"scores", std::span<const float>(scores)}}};
  write_container(FileKind::search_checkpoint, header_of(identity), blocks, sink);
}

// ---- Reading --------------------------------------------------------------------------------------------------------

SearchState read_state(Contents& contents, const StateIdentity& identity) {
  constexpr auto anything = Contents::Allow::anything;  // votes may be NaN
  const auto lengths = contents.take<std::uint32_t>("lengths");
  const auto paths = contents.take<std::uint32_t>("paths");
  const auto pairs = contents.take<std::uint32_t>("pairs");
  const auto evidence = contents.take<double>("evidence", anything);
  const auto score_counts = contents.take<std::uint32_t>("score_counts");
  const auto scores = contents.take<float>("scores", anything);
  contents.end();
  const auto require = [&](bool good) {
    if (!good) contents.source().damaged("its lists contradict each other");
  };
  const auto variable = [&](std::uint32_t number) {
    require(std::cmp_less(number, identity.variables));
    return static_cast<int>(number);
  };

  SearchState state;
  std::size_t at = 0;
  for (const std::uint32_t length : lengths) {
    require(length <= paths.size() - at);
    std::vector<int>& path = state.paths.emplace_back();
    for (std::size_t k = 0; k < length; ++k) path.push_back(variable(paths[at++]));
    std::vector<int> sorted = path;
    std::sort(sorted.begin(), sorted.end());
    require(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());  // no one twice
  }
  require(at == paths.size());

  const std::size_t count = score_counts.size();
  require(pairs.size() == 2 * count && evidence.size() == 3 * count);
  at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Pair pair{variable(pairs[2 * i]), variable(pairs[2 * i + 1])};
    require(pair.first != pair.second && (state.tested.empty() || state.tested.rbegin()->first < pair));
    PairEvidence found{evidence[3 * i], evidence[3 * i + 1], {}, evidence[3 * i + 2]};
    require(score_counts[i] <= scores.size() - at);
    require(score_counts[i] == 0 || std::cmp_equal(score_counts[i], identity.rows));
    found.scores = Eigen::Map<const Eigen::ArrayXf>(scores.data() + at, static_cast<Index>(score_counts[i]));
    at += score_counts[i];
    state.tested.emplace_hint(state.tested.end(), pair, std::move(found));
  }
  require(at == scores.size());
  return state;
}

}  // namespace

SearchCheckpoint parse_search_checkpoint(std::string_view bytes, const std::string& name) {
  const Source source{FileKind::search_checkpoint, name};
  Contents contents(bytes, source);
  SearchCheckpoint checkpoint{read_identity(contents), {}};
  checkpoint.state = read_state(contents, checkpoint.identity);
  return checkpoint;
}

std::string to_bytes(const SearchCheckpoint& checkpoint) {
  std::string bytes;
  write(checkpoint.identity, checkpoint.state, [&](std::string_view more) { bytes += more; });
  return bytes;
}

SearchKeeper::SearchKeeper(std::string path, StateIdentity identity)
    : file_(FileKind::search_checkpoint, std::move(path), std::move(identity)) {
  file_.load([&](Contents& contents, const StateIdentity& found) { known_ = read_state(contents, found); });
}

void SearchKeeper::begin(std::size_t targets) {
  const std::lock_guard guard(lock_);
  if (!known_.paths.empty() && known_.paths.size() != targets) damaged();
  known_.paths.resize(targets);
}

int SearchKeeper::next(std::size_t slot, std::size_t size) const {
  const std::lock_guard guard(lock_);
  const std::vector<int>& path = known_.paths[slot];
  return size < path.size() ? path[size] : -1;
}

void SearchKeeper::took(std::size_t slot, int variable) {
  const std::lock_guard guard(lock_);
  known_.paths[slot].push_back(variable);
  complete_ = false;
}

std::optional<PairEvidence> SearchKeeper::tested(Pair fact) const {
  const std::lock_guard guard(lock_);
  const auto found = known_.tested.find(fact);
  return found == known_.tested.end() || !keeping_ ? std::nullopt : std::optional(found->second);
}

void SearchKeeper::add(Pair fact, PairEvidence evidence) {
  const std::lock_guard guard(lock_);
  if (!keeping_) return;
  known_.tested.insert_or_assign(fact, std::move(evidence));
  complete_ = false;
}

void SearchKeeper::stop_keeping() {
  const std::lock_guard guard(lock_);
  if (!complete_) write_now();
  keeping_ = false;
}

void SearchKeeper::write_if_due() {
  const std::lock_guard guard(lock_);
  if (!complete_ && file_.due()) write_now();
}

void SearchKeeper::write() {
  const std::lock_guard guard(lock_);
  if (!complete_) write_now();
}

void SearchKeeper::write_now() {
  file_.write([&](const Sink& sink) { fansite::write(file_.identity(), known_, sink); });
  complete_ = true;
}

}  // namespace fansite
