// SPDX-License-Identifier: Apache-2.0
//
// The files in which a run keeps its state. Their names begin with the path that the user chose.
#pragma once

#include <array>
#include <filesystem>
#include <string>

namespace fansite {

struct CheckpointFiles {
  std::string training;  ///< of the networks
  std::string search;    ///< for boundaries
  std::string refine;    ///< of the graph that boundaries are refined by
  std::string graph;     ///< of the graph that was asked for

  /// "": nothing is kept.
  explicit CheckpointFiles(const std::string& path)
      : training(path), search(part(path, ".search")), refine(part(path, ".refine")), graph(part(path, ".graph")) {}

  /// Whether an interrupted run has left something.
  bool any() const {
    for (const std::string& file : all()) {
      if (std::filesystem::exists(file)) return true;
    }
    return false;
  }
  /// One file, with the second one that a search by additive noise has.
  static void remove(const std::string& file) {
    std::filesystem::remove(file);
    std::filesystem::remove(part(file, ".scores"));
  }

 private:
  static std::string part(const std::string& path, const char* ending) { return path.empty() ? path : path + ending; }
  // A search by additive noise has a second file, of normal scores.
  std::array<std::string, 6> all() const {
    return {training, search, refine, part(refine, ".scores"), graph, part(graph, ".scores")};
  }
};

}  // namespace fansite
