// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/detail/finished_pieces.h"

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <utility>

#include "fansite/base/error.h"

namespace fansite {
namespace {

constexpr std::string_view kState = "pieces";
constexpr int kMostNumbers = 1 << 24;

void write(FileKind kind, const StateIdentity& identity, const PiecesState& state, const Sink& sink) {
  OrderedJson header = header_of(identity);
  header["state"] = kState;
  header["problem"] = fmt::format("{:016x}", state.problem);
  header["pieces"] = state.pieces;
  header["numbers"] = state.numbers;
  std::vector<std::uint32_t> places;
  std::vector<double> answers;
  for (const auto& [place, answer] : state.answers) {
    places.push_back(static_cast<std::uint32_t>(place));
    answers.insert(answers.end(), answer.begin(), answer.end());
  }
  const std::array<Block, 2> blocks{
      {{"places", std::span<const std::uint32_t>(places)}, {"answers", std::span<const double>(answers)}}};
  write_container(kind, std::move(header), blocks, sink);
}

PiecesState read_pieces(Contents& contents) {
  const HeaderFields header(contents);
  PiecesState state;
  state.problem = header.hexadecimal("problem");
  state.pieces = header.integer("pieces", 0);
  state.numbers = header.integer("numbers", 1, kMostNumbers);
  const auto places = contents.take<std::uint32_t>("places");
  const auto answers = contents.take<double>("answers");
  contents.end();
  const bool ascending = std::adjacent_find(places.begin(), places.end(), std::greater_equal<>()) == places.end();
  const auto numbers = static_cast<std::size_t>(state.numbers);
  if (!ascending || (!places.empty() && std::cmp_greater_equal(places.back(), state.pieces)) ||
      answers.size() / numbers != places.size() || answers.size() % numbers != 0) {
    contents.source().damaged("its pieces contradict each other");
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto from = answers.begin() + static_cast<std::ptrdiff_t>(i * numbers);
    state.answers[static_cast<int>(places[i])] = {from, from + state.numbers};
  }
  return state;
}

}  // namespace

PiecesCheckpoint parse_pieces_checkpoint(std::string_view bytes, const std::string& name, FileKind kind) {
  const Source source{kind, name};
  Contents contents(bytes, source);
  PiecesCheckpoint checkpoint{read_identity(contents), {}};
  if (HeaderFields(contents).text("state") != kState) source.damaged("its header names another state");
  checkpoint.state = read_pieces(contents);
  return checkpoint;
}

std::string to_bytes(const PiecesCheckpoint& checkpoint, FileKind kind) {
  std::string bytes;
  write(kind, checkpoint.identity, checkpoint.state, [&](std::string_view more) { bytes += more; });
  return bytes;
}

FinishedPieces::FinishedPieces(FileKind kind, std::string path, StateIdentity identity)
    : kind_(kind), file_(kind, std::move(path), std::move(identity)) {
  file_.load([&](Contents& contents, const StateIdentity&) {
    file_.check_settings(HeaderFields(contents).text("state") == kState);
    state_ = read_pieces(contents);
  });
}

void FinishedPieces::begin(std::uint64_t problem, int pieces, int numbers) {
  const std::lock_guard guard(lock_);
  if (!state_) state_ = PiecesState{problem, pieces, numbers, {}};
  check(state_->problem == problem, "[checkpoint] {} is of other links; delete it or choose another path",
        file_.path());
  if (state_->pieces != pieces || state_->numbers != numbers)
    file_.damaged("it holds what this work cannot have found");
}

std::optional<std::vector<double>> FinishedPieces::find(int place) const {
  const std::lock_guard guard(lock_);
  const auto found = state_->answers.find(place);
  return found == state_->answers.end() ? std::nullopt : std::optional(found->second);
}

void FinishedPieces::add(int place, std::vector<double> answer) {
  const std::lock_guard guard(lock_);
  state_->answers.insert_or_assign(place, std::move(answer));
  complete_ = false;
  if (file_.due()) write_now();
}

void FinishedPieces::write() {
  const std::lock_guard guard(lock_);
  if (!complete_) write_now();
}

void FinishedPieces::write_now() {
  file_.write([&](const Sink& sink) { fansite::write(kind_, file_.identity(), *state_, sink); });
  complete_ = true;
}

}  // namespace fansite
