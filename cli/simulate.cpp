// SPDX-License-Identifier: Apache-2.0
//
// fansite simulate: data with known truth, as data.csv, dag.csv and simulation.json.
#include "fansite/simulate/simulate.h"

#include <fmt/core.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "cli/command.h"
#include "cli/offers.h"
#include "cli/parameter_options.h"
#include "cli/progress_bar.h"
#include "fansite/base/error.h"
#include "fansite/base/version.h"
#include "fansite/table/csv.h"
#include "fansite/table/npy.h"

namespace fansite::cli {
namespace {

struct SimulateOptions : CommonOptions {
  ParameterOptions parameters;
  std::string format = "csv";
  std::string out;
};

std::string describe(const Simulation& simulation, const SimulateParams& params) {
  nlohmann::ordered_json json;
  json["format"] = kSimulationFormat;
  json["version"] = FANSITE_VERSION;
  const Parameters settings(params);
  for (const Description::Field& field : settings.fields()) {
    json["settings"][field.name] =
        std::visit([](const auto& held) { return nlohmann::ordered_json(held); }, settings.get(field.name));
  }
  // What results of this table have in their manifests.
  json["data_hash"] = fmt::format("{:016x}", hash_of(simulation.data));
  json["variables"] = simulation.data.names;
  for (const Noise distribution : simulation.noise) json["noise"].push_back(name(distribution));
  for (const Kinds kind : simulation.kinds) json["kinds"].push_back(name(kind));
  json["edges"] = nlohmann::ordered_json::array();
  for (int from = 0; from < simulation.dag.nodes(); ++from) {
    for (const int to : simulation.dag.children(from)) {
      json["edges"].push_back({{"from", simulation.data.names[static_cast<std::size_t>(from)]},
                               {"to", simulation.data.names[static_cast<std::size_t>(to)]},
                               {"weight", simulation.weights(from, to)}});
    }
  }
  json["hidden_cause_pairs"] = nlohmann::ordered_json::array();
  for (const auto& [a, b] : simulation.hidden_cause_pairs) {
    json["hidden_cause_pairs"].push_back(
        {simulation.data.names[static_cast<std::size_t>(a)], simulation.data.names[static_cast<std::size_t>(b)]});
  }
  return json.dump(1) + "\n";
}

// A folder to write to, made with what is missing above it. What it made and nothing was written to goes again.
class Folder {
 public:
  explicit Folder(const std::string& path) {
    std::error_code error;
    for (std::filesystem::path level(path); !level.empty() && !std::filesystem::exists(level, error);) {
      made_.push_back(level);
      level = level.parent_path();
    }
    std::filesystem::create_directories(path, error);
    check(!error, "[simulate] cannot make the folder '{}': {}; choose another --out", path, error.message());
  }
  ~Folder() {
    std::error_code not_empty;
    for (const std::filesystem::path& level : made_) std::filesystem::remove(level, not_empty);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

 private:
  std::vector<std::filesystem::path> made_;  // deepest first
};

void run(SimulateOptions& options) {
  SimulateParams params;
  options.parameters.apply(params);

  ProgressBar progress(options);  // first, so that Ctrl-C never leaves a temporary file
  const Folder folder(options.out);
  const auto inside = [&](const std::string& name) { return (std::filesystem::path(options.out) / name).string(); };
  const std::string table = inside("data." + options.format);
  OutputFile truth(inside("dag.csv")), description(inside("simulation.json")), data(table);

  const ThreadLimit limit(options.threads);
  const Simulation simulation = simulate(params, progress);
  progress.end();
  truth.write(to_csv(simulation.dag.adjacency(), simulation.data.names));
  description.write(describe(simulation, params));
  if (options.format == "npy") {
    write_npy(simulation.data.values, data);
  } else {
    write_csv(simulation.data, data);
  }
  for (OutputFile* file : {&truth, &description, &data}) file->finish();  // a full disk leaves the folder as it was
  truth.commit();
  description.commit();
  data.commit();  // last: data.csv is there only if its truth is
  say(options, fmt::format("{}: {} of {}, {}; truth in dag.csv, settings in simulation.json", table,
                           counted(static_cast<long>(params.rows), "row"), counted(params.nodes, "variable"),
                           counted(simulation.dag.edges(), "edge")));
}

}  // namespace

void add_simulate(CLI::App& app) {
  const auto options = std::make_shared<SimulateOptions>();
  CLI::App* command = app.add_subcommand("simulate", "make data with known truth: data.csv, dag.csv, simulation.json");
  options->parameters.add(*command, SimulateParams());
  offer(command->add_option("--format", options->format, "of the data: csv or npy")
            ->check(CLI::IsMember({"csv", "npy"}))
            ->capture_default_str(),
        {"csv", "npy"});
  command->add_option("--out", options->out, "folder to write to")->required()->type_name(kFolder);
  options->add_to(*command);
  command->callback([options] { run(*options); });
}

}  // namespace fansite::cli
