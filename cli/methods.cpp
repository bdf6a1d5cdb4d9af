// SPDX-License-Identifier: Apache-2.0
//
// fansite methods: every method and estimator with its citation; one of them with its parameters.
#include <fmt/core.h>

#include "cli/command.h"
#include "cli/offers.h"
#include "cli/parameter_options.h"
#include "fansite/boundary/methods.h"
#include "fansite/causal/methods.h"
#include "fansite/entropy/estimators.h"
#include "fansite/report/methods_json.h"

namespace fansite::cli {
namespace {

struct MethodsOptions {
  std::string name;
  bool json = false;
};

std::string abilities(const Capabilities& can) {
  std::string words;
  const auto add = [&](bool able, const char* what) {
    if (able) words += (words.empty() ? "" : ", ") + std::string(what);
  };
  add(can.needs_boundaries, "needs boundaries");
  add(can.satisfies_knowledge, "satisfies prior knowledge");
  add(can.resumable, "can be resumed");
  add(can.can_be_cut_short, "can be cut short");
  add(can.handles_missing_cells, "handles missing cells");
  add(can.handles_context, "handles context columns");
  add(can.handles_weights, "handles weights");
  add(can.handles_groups, "handles groups of rows");
  add(can.trains, "trains networks");
  std::string kinds;
  for (const std::string& kind : can.column_kinds) kinds += (kinds.empty() ? "" : ", ") + kind;
  return fmt::format("{}{}columns: {}", words, words.empty() ? "" : "; ", kinds);
}

template <class Row>
void list(const MethodList<Row>& methods, const char* where) {
  fmt::print("{}s ({})\n", methods.kind(), where);
  for (const Row& row : methods) {
    fmt::print("  {:<12} {}\n  {:<12} {}\n  {:<12} {}\n", row.name, row.summary, "", row.citation, "",
               abilities(row.can));
  }
}

void show(const Method& method, const std::string& kind) {
  fmt::print("{}: {}\n{}\n{}\n{}\n", method.name, kind, method.summary, method.citation, abilities(method.can));
  if (method.parameters.fields().empty()) {
    fmt::print("no parameters\n");
    return;
  }
  fmt::print("parameters (* changes the answer):\n");
  for (const Description::Field& field : method.parameters.fields()) {
    fmt::print("  {:<24}{} {}\n  {:<24}  {}; default {}\n", option_name(field), field.changes_answers ? "*" : " ",
               field.help, "", field.allowed(), to_text(field.fallback));
  }
}

template <class Row>
bool show_if_there(const MethodList<Row>& methods, const std::string& name) {
  const Row* row = methods.find(name);
  if (row != nullptr) show(*row, methods.kind());
  return row != nullptr;
}

void run(const MethodsOptions& options) {
  if (options.json) {
    fmt::print("{}", methods_json());
  } else if (options.name.empty()) {
    list(boundary_methods(), "mb --method");
    list(graph_methods(), "dag --method");
    list(entropy_estimators(), "entropy --estimator, mb --estimator");
  } else {
    bool found = show_if_there(boundary_methods(), options.name);
    found = show_if_there(graph_methods(), options.name) || found;
    found = show_if_there(entropy_estimators(), options.name) || found;
    check(found, "[methods] there is no method '{}'; they are {}, {} and {}", options.name,
          either(boundary_methods().names()), either(graph_methods().names()), either(entropy_estimators().names()));
  }
}

}  // namespace

void add_methods(CLI::App& app) {
  const auto options = std::make_shared<MethodsOptions>();
  CLI::App* command = app.add_subcommand("methods", "every method and estimator with its citation, or one of them");
  std::vector<std::string> names;
  for (const auto& some : {boundary_methods().names(), graph_methods().names(), entropy_estimators().names()}) {
    names.insert(names.end(), some.begin(), some.end());
  }
  offer(command->add_option("NAME", options->name, "show its parameters"), names);
  command->add_flag("--json", options->json, "print one JSON object, with all parameters");
  command->callback([options] { run(*options); });
}

}  // namespace fansite::cli
