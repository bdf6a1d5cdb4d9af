// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/detail/score_file.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace fansite::causal {
namespace {

constexpr std::string_view kState = "scores";

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

void write(const StateIdentity& identity, const KnownScores& known, const Sink& sink) {
  OrderedJson header = header_of(identity);
  header["state"] = kState;
  const Lists means(known.means);
  const Lists rows(known.rows);
  std::vector<Block> blocks;
  means.add_to(blocks, "means");
  rows.add_to(blocks, "rows");
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

KnownScores read_scores(Contents& contents, const StateIdentity& identity) {
  KnownScores known;
  known.means = read_groups<double>(contents, "means", identity.variables);
  known.rows = read_groups<float>(contents, "rows", identity.variables);
  contents.end();
  return known;
}

}  // namespace

ScoreCheckpoint parse_score_checkpoint(std::string_view bytes, const std::string& name) {
  const Source source{FileKind::graph_checkpoint, name};
  Contents contents(bytes, source);
  ScoreCheckpoint checkpoint{read_identity(contents), {}};
  if (HeaderFields(contents).text("state") != kState) source.damaged("its header names another state");
  checkpoint.state = read_scores(contents, checkpoint.identity);
  return checkpoint;
}

std::string to_bytes(const ScoreCheckpoint& checkpoint) {
  std::string bytes;
  write(checkpoint.identity, checkpoint.state, [&](std::string_view more) { bytes += more; });
  return bytes;
}

// ---- The file of a search -------------------------------------------------------------------------------------------

ScoreKeeper::ScoreKeeper(const std::string& path, StateIdentity identity)
    : file_(FileKind::graph_checkpoint, path, std::move(identity)) {
  file_.load([&](Contents& contents, const StateIdentity& saved) {
    file_.check_settings(HeaderFields(contents).text("state") == kState);
    known_ = read_scores(contents, saved);
  });
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
  write_file();
  complete_ = true;
}

void ScoreKeeper::write_file() {
  file_.write([&](const Sink& sink) { causal::write(file_.identity(), known_, sink); });
}

void ScoreKeeper::write() {
  const std::lock_guard guard(lock_);
  if (!complete_) write_file();
  complete_ = true;
}

}  // namespace fansite::causal
