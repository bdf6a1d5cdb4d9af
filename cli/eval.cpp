// SPDX-License-Identifier: Apache-2.0
//
// fansite eval: a result against a known truth.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "fansite/base/error.h"
#include "fansite/base/text.h"
#include "fansite/graph/dag.h"
#include "fansite/graph/metrics.h"
#include "fansite/report/json.h"

namespace fansite::cli {
namespace {

using Json = nlohmann::ordered_json;

struct EvalOptions {
  std::string result;
  std::string truth;
  bool json = false;
};

bool ends_with(const std::string& text, std::string_view ending) {
  return text.size() >= ending.size() && std::string_view(text).substr(text.size() - ending.size()) == ending;
}

// For each variable of the result its index in the truth. A truth without names of its own (an .npz) matches by
// position.
std::vector<int> match_names(const std::vector<std::string>& names, const NamedDag& truth, const EvalOptions& options) {
  check_data(names.size() == truth.names.size(), "[eval] {} has {} variables and {} has {}; are they of the same data?",
             options.result, names.size(), options.truth, truth.names.size());
  std::vector<int> match(names.size());
  std::map<std::string, int> index;
  for (std::size_t i = 0; i < truth.names.size(); ++i) index[truth.names[i]] = static_cast<int>(i);
  const bool by_position = ends_with(options.truth, ".npz");
  for (std::size_t i = 0; i < names.size(); ++i) {
    match[i] = static_cast<int>(i);
    if (by_position) continue;
    const auto found = index.find(names[i]);
    check_data(found != index.end(), "[eval] variable '{}' of {} is not in {}; are they of the same data?",
               excerpt(names[i]), options.result, options.truth);
    match[i] = found->second;
  }
  return match;
}

void print(const EvalOptions& options, const std::vector<std::pair<std::string, Json>>& figures) {
  if (options.json) {
    Json out;
    for (const auto& [name, value] : figures) out[name] = value;
    fmt::print("{}\n", out.dump());
    return;
  }
  for (const auto& [name, value] : figures) {
    if (value.is_number_float()) {
      fmt::print("{:<16} {:.2f}\n", name, 100.0 * value.get<double>());
    } else {
      fmt::print("{:<16} {}\n", name, value.dump());
    }
  }
}

void eval_boundaries(const EvalOptions& options, const SavedBoundaries& result, const NamedDag& truth) {
  const std::vector<int> match = match_names(result.names, truth, options);
  const auto matched = [&](std::vector<std::vector<int>> sets) {
    for (auto& set : sets) {
      for (int& member : set) member = match[static_cast<std::size_t>(member)];
    }
    return sets;
  };
  std::vector<std::vector<int>> expected;
  for (const int target : result.targets) {
    expected.push_back(truth.dag.markov_boundary(match[static_cast<std::size_t>(target)]));
  }
  const BoundariesScore score = score_boundaries(matched(result.members), expected);
  check_data(score.targets > 0, "[eval] every target has an empty true boundary in {}; there is nothing to score",
             options.truth);
  std::vector<std::pair<std::string, Json>> figures = {
      {"nDCG", score.mean.ndcg},           {"AveP", score.mean.average_precision}, {"F1", score.mean.f1},
      {"precision", score.mean.precision}, {"recall", score.mean.recall},          {"FDR", score.false_discovery_rate},
      {"targets", score.targets}};
  if (!result.paths.empty()) {
    // How good the ranking is, apart from the size: the first of each path, as many as the true boundary has.
    std::vector<std::vector<int>> oracle = matched(result.paths);
    for (std::size_t t = 0; t < oracle.size(); ++t) oracle[t].resize(std::min(oracle[t].size(), expected[t].size()));
    const BoundaryScore sized = score_boundaries(oracle, expected).mean;
    figures.insert(figures.end(), {{"oracle-size nDCG", sized.ndcg},
                                   {"oracle-size AveP", sized.average_precision},
                                   {"oracle-size F1", sized.f1}});
  }
  print(options, figures);
}

void eval_graph(const EvalOptions& options, const SavedGraph& result, const NamedDag& truth) {
  const std::vector<int> match = match_names(result.names, truth, options);
  ByteMatrix estimate(result.adjacency.rows(), result.adjacency.cols());
  for (Index i = 0; i < estimate.rows(); ++i) {
    for (Index j = 0; j < estimate.cols(); ++j) {
      estimate(match[static_cast<std::size_t>(i)], match[static_cast<std::size_t>(j)]) = result.adjacency(i, j);
    }
  }
  const GraphScore score = score_graph(estimate, truth.dag.adjacency());
  print(options, {{"SHD", score.shd},
                  {"AUC-ROC", score.auc_roc},
                  {"AUC-PR", score.auc_pr},
                  {"skeleton F1", score.skeleton_f1},
                  {"directions", score.direction_accuracy},
                  {"extra", score.extra},
                  {"missing", score.missing},
                  {"reversed", score.reversed},
                  {"undecided", score.undecided}});
}

void run(const EvalOptions& options) {
  const NamedDag truth = load_dag(options.truth);
  if (ends_with(options.result, ".csv") || ends_with(options.result, ".npz")) {
    const NamedGraph graph = load_graph(options.result);
    eval_graph(options, {graph.names, graph.adjacency}, truth);
    return;
  }
  const FileView file(options.result);
  const std::string format = result_format(file.bytes(), options.result);
  if (format == "fansite.graph/2") {
    eval_graph(options, parse_graph(file.bytes(), options.result), truth);
  } else {
    check_data(format == "fansite.boundaries/2",
               "[eval] {} has format '{}'. Give boundaries (fansite.boundaries/2) or a graph (fansite.graph/2).",
               options.result, excerpt(format));
    eval_boundaries(options, parse_boundaries(file.bytes(), options.result), truth);
  }
}

}  // namespace

void add_eval(CLI::App& app) {
  const auto options = std::make_shared<EvalOptions>();
  CLI::App* command = app.add_subcommand(
      "eval",
      "compare a result with the truth: nDCG, AveP, F1 of boundaries (in percent); SHD, AUC-ROC, AUC-PR of graphs");
  command->add_option("RESULT", options->result, "a JSON result, or a graph as adjacency .csv")->required();
  command->add_option("--truth", options->truth, "dag.csv (A[i][j] = 1 means i -> j), or an .npz with the array `dag`")
      ->required();
  command->add_flag("--json", options->json, "print one JSON object, shares in [0, 1]");
  command->callback([options] { run(*options); });
}

}  // namespace fansite::cli
