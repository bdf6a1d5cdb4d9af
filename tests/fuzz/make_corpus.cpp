// SPDX-License-Identifier: Apache-2.0
//
// Writes the seeds of the fuzz targets: make_corpus DIR fills DIR/csv, gzip, npy, npz, model, network_model,
// score_checkpoint, training_checkpoint, learning_checkpoint, search_checkpoint, pieces_checkpoint, result, comparison,
// knowledge, kinds and table with files that are right and nearly right. Made, not committed.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "../gzip_writer.h"
#include "../zip_writer.h"
#include "comparison_input.h"
#include "fansite/base/detail/finished_pieces.h"
#include "fansite/boundary/detail/search_checkpoint.h"
#include "fansite/causal/dcd/detail/training_file.h"
#include "fansite/causal/detail/score_file.h"
#include "fansite/causal/neural/detail/learning_file.h"
#include "fansite/entropy/flow/model_file.h"
#include "fansite/report/compare_report.h"
#include "fansite/report/json.h"
#include "fansite/table/npy.h"
#include "network_model_input.h"

namespace {

using Seeds = std::vector<std::string>;

Seeds csv_seeds() {
  return {"",
          "a,b\n1,2\n",
          "a;b;c\r\n1;2;3\r\n4;5;6\r\n",
          "a\tb\n1e5\t-2.5E-3\n",
          "\xEF\xBB\xBFname, other \n+1 , .5\n",
          "\"say \"\"hi\"\"\",\"two\nlines\",\"a,b\"\n1,2,3\n",
          "a,b\n,NA\nnan,null\nNone,n/a\ninf,-Infinity\n",
          "a\n1\n\n3\n\"\"\n\n",
          "sex,b\nmale,1\n\"say \"\"hi\"\"\",2\nx;y,3\n,4\nmale ,5\n",
          "a;b\n1,5;12%\n1.234,5;3,5 %\n;?\n",
          "a\tb\n1,234\t\xC3\xA9\n1,234.5\t007\n-\t#DIV/0!\n",
          "visit,a\n2020-01-31 09:30,1\n31.1.2020,2\n1/31/20,3\n",
          "a,b,,\r\n1,2,,\r\nx,4,,\r\n,,,\r\n",
          "a,b\n1e400,1e-400\n5e-324,1.7976931348623157e308\n0.1234567890123456789,123456789012345678901234567890\n",
          "1.5,2.5\n3,4\n",
          "1,5;2,5\n3;4\n",
          "a,b\n1\n",
          "a,b\n1,2,3\n",
          "a,a\n1,2\n",
          ",a\n0,1\n",
          "gene,a\ng1,1\ng2,2\n",
          "a,b\n\"1,5\",\"2\"x\n",
          "a,b\n\"1\n2\",3\n",
          "\"a,b\n1,2\n",
          "a,b\r1,2\r",
          "a b\n1 2\n",
          "  alpha\t beta \r\n 1.5   -\r\n 2 \t? \r\n",
          "\"a b\" c\n1 \"x y\"\n2,5 z\n",
          "a b\ng1 1 2\ng2 3 4\n",
          "# by me\n# a,b\n1,2\n#3,4\n# 5\n#N/A,6\n",
          "#id\tx\nr1\t1\n#r2\t2\n",
          "colour,b\n\"#red\",1\n#blue,2\n",
          "strand,a\n+,1\n-,2\n",
          "\xFF\xFE"
          "a",
          "gr\xC3\xB6\xC3\x9F"
          "e,\xE9\n1,2\n"};
}

Seeds gzip_seeds() {
  const std::string packed = gzipped("a,b\n1,2\n");
  Seeds seeds = {"", packed, packed + packed, packed + std::string(8, '\0'), packed + "x", gzipped("")};
  seeds.push_back(packed.substr(0, packed.size() / 2));
  seeds.push_back(gzipped(std::string(3000, '1')));
  return seeds;
}

std::string dict(const std::string& type, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

Seeds npy_seeds() {
  Seeds seeds{"", "\x93NUMPY", fansite::to_npy(fansite::Matrix::Ones(3, 2))};
  const std::string cells(48, '\x3F');
  for (const char* type : {"<f8", ">f8"}) seeds.push_back(npy_file(dict(type, "(3, 2)"), cells));
  for (const char* type : {"<f4", ">f4", "<i4", ">u4"}) seeds.push_back(npy_file(dict(type, "(4, 3)"), cells));
  for (const char* type : {"<f2", "<i2", ">u2"}) seeds.push_back(npy_file(dict(type, "(4, 6)", "True"), cells));
  for (const char* type : {"|i1", "|u1", "|b1"}) seeds.push_back(npy_file(dict(type, "(48,)"), cells));
  for (const char* type : {"<i8", "<u8"}) seeds.push_back(npy_file(dict(type, "(6L,)"), cells));
  for (const int version : {2, 3, 4}) seeds.push_back(npy_file(dict("<f8", "(6, 1)"), cells, version));
  for (const char* shape :
       {"()", "(1, 2, 3)", "(0, 5)", "(7, 1)", "(1000000, 1000000)", "(9999999999, 9999999999)", "(-1,)"}) {
    seeds.push_back(npy_file(dict("<f8", shape), cells));
  }
  for (const char* type : {"<U2", "|O", "<c16", "<f16", "<M8[ns]"})
    seeds.push_back(npy_file(dict(type, "(3,)"), cells));
  seeds.push_back(
      npy_file("{'descr': [('a', '<f8'), ('b', '<i4', (2,))], 'fortran_order': False, 'shape': (3,), }", cells));
  seeds.push_back(npy_file("{'descr': '<f8'}", cells));
  return seeds;
}

Seeds npz_seeds() {
  const std::string table = fansite::to_npy(fansite::Matrix::Ones(3, 2)), words = npy_file(dict("<U1", "(1,)"), "abcd");
  Seeds seeds{"", "PK\x05\x06" + std::string(18, '\0')};
  for (const bool deflate : {false, true}) {
    for (const bool zip64 : {false, true}) {
      ZipWriter zip;
      zip.zip64 = zip64;
      seeds.push_back(
          zip.add("data.npy", table, deflate).add("names.npy", words, deflate).finish(zip64 ? "" : "comment"));
    }
    seeds.push_back(ZipWriter().add("a.npy", table, deflate).add("b.npy", words, deflate).add("c.txt", "x").finish());
    ZipWriter liar, broken;
    liar.lie_about_size = broken.break_checksum = true;
    seeds.push_back(liar.add("X.npy", table, deflate).finish());
    seeds.push_back(broken.add("X.npy", table, deflate).finish());
  }
  ZipWriter encrypted, unknown;
  encrypted.flags = 1;
  unknown.method_written = 14;
  seeds.push_back(encrypted.add("X.npy", table).finish());
  seeds.push_back(unknown.add("X.npy", table).finish());
  seeds.push_back(seeds[2].substr(0, seeds[2].size() / 2));
  return seeds;
}

/// One network of as many variables as there are columns, small: the fuzzer cuts inputs at 4096 bytes.
fansite::flow::Ensemble ensemble(fansite::TransformKind kind, fansite::flow::BaseKind base, int columns, int folds) {
  fansite::flow::Ensemble e;
  e.rows = 3;
  e.data_hash = 0x123456789ABCDEF0;
  e.params.folds = folds;
  e.params.repeats = 1;
  e.params.transform = kind;
  e.params.shape = {columns, 1, columns - 1, 1, 1};
  e.params.train.base = base;
  const fansite::Matrix values = fansite::Vector::LinSpaced(3, -1, 2).replicate(1, columns);
  e.transforms = fansite::fit_transforms(kind, values);
  if (folds > 1) e.fold_of_row = {{0, 1, 0}};
  for (int j = 0; j < columns; ++j) e.names.push_back(j == 0 ? "\xE9" : "b");
  for (int fold = 0; fold < folds; ++fold) {
    auto& network = e.networks.emplace_back();
    for (int j = columns; j-- > 0;) network.order.push_back(j);
    network.fold = fold;
    network.trained.weights.layout = fansite::flow::Layout(e.params.shape);
    network.trained.weights.values.assign(static_cast<std::size_t>(network.trained.weights.layout.size), 0.5f);
    if (base == fansite::flow::BaseKind::gaussian) {
      network.trained.base = {fansite::Vector::Zero(columns), fansite::Matrix::Identity(columns, columns)};
    }
    network.trained.steps = network.trained.kept_step = 10;
    network.trained.curve = {{5, 1.5, 1e300}, {10, 0.25, std::numeric_limits<double>::quiet_NaN()}};
  }
  return e;
}

// Hardly trained: the fewest networks of the smallest size that each estimator allows.
Seeds network_model_seeds() {
  Seeds seeds{""};
  for (const char* name : {"naf", "bnaf", "ace"}) {
    const fansite::EstimatorMethod& row = fansite::entropy_estimators().at(name);
    fansite::Parameters parameters = row.parameters;
    for (const char* small : {"repeats", "blocks", "width", "layers", "flows", "steps", "hidden", "residual_blocks",
                              "components", "context_size", "energy_hidden", "energy_blocks", "samples"}) {
      if (parameters.has(small)) parameters.set(small, std::int64_t{1});
    }
    parameters.set("folds", std::int64_t{2});
    seeds.push_back(row.fit(network_model_context(), parameters, 1)->model());
  }
  seeds.push_back(seeds.back().substr(0, seeds.back().size() / 2));
  return seeds;
}

Seeds model_seeds() {
  using fansite::TransformKind, fansite::flow::BaseKind;
  Seeds seeds{"", "FANSITE\x1a"};
  for (const TransformKind kind : {TransformKind::rank, TransformKind::standardise, TransformKind::none}) {
    for (const BaseKind base : {BaseKind::none, BaseKind::gaussian}) {
      seeds.push_back(fansite::flow::to_bytes(ensemble(kind, base, 1, 1)));
      seeds.push_back(fansite::flow::to_bytes(ensemble(kind, base, 1, 2)));
      seeds.push_back(fansite::flow::to_bytes(ensemble(kind, base, 2, 1)));
    }
  }
  fansite::flow::Checkpoint checkpoint{ensemble(TransformKind::none, BaseKind::none, 1, 2), {}};
  checkpoint.under_way.resize(2);
  seeds.push_back(fansite::flow::to_bytes(checkpoint));
  checkpoint = {ensemble(TransformKind::none, BaseKind::none, 1, 1), {}};
  fansite::flow::Training::State& state = checkpoint.under_way.emplace_back().emplace();
  const std::vector<float> values = checkpoint.ensemble.networks[0].trained.weights.values;
  checkpoint.ensemble.networks[0].trained = {};
  state.learner = state.backup = {values, values, values, 0};
  state.curve = {{0, 1, 1}};
  seeds.push_back(fansite::flow::to_bytes(checkpoint));
  state.best = values;
  seeds.push_back(fansite::flow::to_bytes(checkpoint));
  seeds.push_back(seeds[3].substr(0, seeds[3].size() / 2));
  return seeds;
}

Seeds result_seeds() {
  fansite::Dataset data;
  data.names = {"a", "<script>alert(1)</script>", "c"};
  data.values = fansite::Matrix::Random(30, 3);
  data.values.col(1) += data.values.col(0);
  fansite::NoProgress silent;
  fansite::BoundariesParams gaussian;
  gaussian.fansite().estimator = "gaussian";
  const std::string boundaries = to_json(fansite::markov_boundaries(data, gaussian, silent), {});
  fansite::CausalGraphParams params;
  params.boundaries = gaussian;
  const std::string graph = to_json(fansite::causal_graph(data, nullptr, {}, params, silent), {});
  return {"",
          "{}",
          "[1, 2",
          R"({"format": "fansite.entropy/2"})",
          boundaries,
          graph,
          boundaries.substr(0, boundaries.size() / 2),
          R"({"format": "fansite.boundaries/2", "variables": ["a", "a"]})"};
}

Seeds search_checkpoint_seeds() {
  fansite::SearchCheckpoint checkpoint{{2, 4, 0x123456789ABCDEF0, "words"}, {}};
  Seeds seeds{"", "FANSITE\x1a", to_bytes(checkpoint)};
  checkpoint.state.paths = {{1, 3}, {}, {0}};
  checkpoint.state.tested[{0, 1}] = {0.25, 0.5, Eigen::ArrayXf::Ones(2), 1};
  checkpoint.state.tested[{2, 3}] = {};
  seeds.push_back(to_bytes(checkpoint));
  seeds.push_back(seeds[3].substr(0, seeds[3].size() / 2));
  return seeds;
}

Seeds pieces_checkpoint_seeds() {
  constexpr auto kKind = fansite::FileKind::graph_checkpoint;
  fansite::PiecesCheckpoint checkpoint{{2, 4, 0x123456789ABCDEF0, "words"}, {7, 5, 2, {}}};
  Seeds seeds{"", "FANSITE\x1a", to_bytes(checkpoint, kKind)};
  checkpoint.state.answers = {{0, {1, -2}}, {4, {0.5, 1e300}}};
  seeds.push_back(to_bytes(checkpoint, kKind));
  seeds.push_back(seeds[3].substr(0, seeds[3].size() / 2));
  return seeds;
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Seeds score_checkpoint_seeds() {
  using namespace fansite::causal;
  ScoreCheckpoint scores{{3, 4, 0x123456789ABCDEF0, "words"}, {}};
  Seeds seeds{"", "FANSITE\x1a", to_bytes(scores)};
  auto& [means, rows] = scores.state;
  means[{{}, {3, 0, 1}}] = {1.5, kNaN, 0};
  means[{{0, 2}, {1}}] = {-1};
  rows[{{}, {1}}] = {1, 2, 3};
  rows[{{3}, {0}}] = {4, 5, 6};
  seeds.push_back(to_bytes(scores));
  seeds.push_back(seeds.back().substr(0, seeds.back().size() / 2));
  return seeds;
}

Seeds learning_checkpoint_seeds() {
  using namespace fansite::causal;
  LearningCheckpoint learning{{3, 4, 0x123456789ABCDEF0, "words"}, {}};
  Seeds seeds{"", "FANSITE\x1a", to_bytes(learning)};
  learning.state = {{1, kNaN, 0.5}, {{1, 2, 3}, {}, {-0.0}}};
  seeds.push_back(to_bytes(learning));
  seeds.push_back(seeds.back().substr(0, seeds.back().size() / 2));
  return seeds;
}

Seeds training_checkpoint_seeds() {
  using namespace fansite::causal;
  Seeds seeds{"", "FANSITE\x1a"};
  const auto bytes_of = [](const DifferentiableTraining::State& state) {
    TrainingCheckpoint checkpoint;
    checkpoint.identity.rows = 6;
    checkpoint.identity.variables = 2;
    checkpoint.state = state;
    return to_bytes(checkpoint);
  };
  fansite::Matrix values = fansite::Matrix::Random(6, 2);
  DifferentiableParams params;
  params.hidden = 1;
  for (const int epochs : {0, 1}) {
    params.first.max_epochs = epochs;
    DifferentiableTraining training(values, params);
    seeds.push_back(bytes_of(training.state()));
    training.advance(1);
    seeds.push_back(bytes_of(training.state()));
  }
  auto state = DifferentiableTraining(values, fansite::ByteMatrix::Ones(2, 2), params).state();
  state.best = state.parameters;
  state.frozen_gamma = kNaN;
  seeds.push_back(bytes_of(state));
  seeds.push_back(seeds.back().substr(0, seeds.back().size() / 2));
  return seeds;
}

Seeds comparison_seeds() {
  const fansite::Dataset data = comparison_table();
  const fansite::ComparedTables tables{.data = &data, .truth = {}, .setting = {}, .seeds = {}};
  fansite::CompareResult result = compare(tables, comparison_params());
  const std::string whole = to_json(result, {});
  result.cells.pop_back();
  return {
      "", "{}", R"({"format": "fansite.comparison/1"})", whole, to_json(result, {}), whole.substr(0, whole.size() / 2)};
}

Seeds knowledge_seeds() {
  return {"",
          "# nothing\r\n",
          "\xEF\xBB\xBF"
          "forbid a -> b\r\nforbid b -- c # why\r\nforbid * -> age\nforbid a -> *\n",
          "require a -> b\nrequire b -- \"two words\"\nforbid b -> \"two words\"\n",
          "tier 1: a b\ntier 2 : c age\ntier 2 within forbidden\n",
          "root a \"say \"\"hi\"\"\"\nsink c \"*\"\nforbid \"\xE9\n#\" -> 1\n",
          "in-boundary a b\nforbid a -- b\nnot-in-boundary c age\nrequire c -> 1\nsink b\n",
          "require a -> b\nrequire b -> c\nrequire c -> a\n",
          "in-boundary a b\nsink a b\n",
          "tier 1: a\ntier 2: a\n",
          "forbid a->b\n",
          "root \"a\n",
          "from,to,kind\na,b,forbidden\n\"two words\",\"say \"\"hi\"\"\",required\n*,c,forbidden\n",
          "# x\nfrom;to;kind\r\na;b;perhaps\r\n",
          "/knowledge\naddtemporal\n1 a b\n2* c age\n3\nforbiddirect\na age\n* ==> a\nrequiredirect\na c\n",
          "/knowledge\nforbiddengroup\na b\nc\n",
          "addtemporal\n1- a\n"};
}

Seeds kinds_seeds() {
  return {"",
          "# nothing\r\n\n",
          "a=ordered\nb c = Nominal\n\"say \"\"hi\"\"\"=atoms\n",
          "\xEF\xBB\xBFname,kind\r\na,continuous\r\n\"b,c\",\"nominal\"\r\n",
          "Name;Kind\na;ordered\n",
          "a\tatoms\na=b=ordered\n",
          "a=ordered\na=atoms\n",
          "a\n",
          "=ordered\n",
          "\xE9=ordered\n",
          "\"\"=ordered\n"};
}

void write(const std::filesystem::path& directory, const Seeds& seeds) {
  std::filesystem::create_directories(directory);
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    std::ofstream file(directory / ("seed" + std::to_string(i)), std::ios::binary);
    file.exceptions(std::ios::failbit | std::ios::badbit);
    file << seeds[i];
    file.close();
  }
}

// Noise, a walk, copies, levels, a clock, constants and numbers of eight bytes: see fuzz_table.cpp.
Seeds table_seeds() {
  Seeds seeds = {"", std::string(2, '\0'), std::string(200, '\7')};
  std::uint32_t state = 1;
  const auto draw = [&] { return (state = state * 1664525 + 1013904223) >> 24; };
  for (const int kind : {0, 1, 3}) {
    for (const int columns : {1, 2, 5}) {
      std::string noise = {static_cast<char>(columns - 1), static_cast<char>(kind)}, walk = noise, levels = noise,
                  clock = noise;
      std::uint32_t at = 128;
      for (int i = 0; i < 60 * columns; ++i) {
        noise += static_cast<char>(draw());
        walk += static_cast<char>(at += draw() % 7 - 3);
        levels += static_cast<char>(draw() % 3);
        clock += static_cast<char>(i % columns == 0 ? i / columns : static_cast<int>(draw()));
      }
      for (const std::string& seed : {noise, walk, levels, clock, noise + noise.substr(2) + noise.substr(2)}) {
        seeds.push_back(seed);
      }
    }
  }
  return seeds;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_corpus DIR\n");
    return 2;
  }
  try {
    const std::filesystem::path root = argv[1];
    write(root / "csv", csv_seeds());
    write(root / "gzip", gzip_seeds());
    write(root / "npy", npy_seeds());
    write(root / "npz", npz_seeds());
    write(root / "model", model_seeds());
    write(root / "network_model", network_model_seeds());
    write(root / "score_checkpoint", score_checkpoint_seeds());
    write(root / "training_checkpoint", training_checkpoint_seeds());
    write(root / "learning_checkpoint", learning_checkpoint_seeds());
    write(root / "search_checkpoint", search_checkpoint_seeds());
    write(root / "pieces_checkpoint", pieces_checkpoint_seeds());
    write(root / "result", result_seeds());
    write(root / "comparison", comparison_seeds());
    write(root / "knowledge", knowledge_seeds());
    write(root / "kinds", kinds_seeds());
    write(root / "table", table_seeds());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_corpus: %s\n", error.what());
    return 1;
  }
  return 0;
}
