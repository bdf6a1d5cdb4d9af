// SPDX-License-Identifier: Apache-2.0
#include "fansite/context/context.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "fansite/base/error.h"
#include "fansite/base/text.h"

namespace fansite {

namespace {

void require_missing_cells(const Dataset& data, const Method& method, std::string_view operation) {
  const std::vector<char> incomplete = incomplete_rows(data.values);
  const auto count = std::count(incomplete.begin(), incomplete.end(), 1);
  if (count == 0) return;
  throw DataError(fmt::format(
      "[{}] the table has missing cells, which {} cannot use; {}", operation, method.name,
      count == data.rows() ? std::string("every row has some, so fill them or remove the columns that have most.")
                           : fmt::format("--missing drop leaves out the {} row{} that ha{} some.", count,
                                         count == 1 ? "" : "s", count == 1 ? "s" : "ve")));
}

// What the table has and the method would take for something else.
void require_able(const Dataset& data, const TableFacts& facts, const Method& method, std::string_view operation) {
  const Capabilities& can = method.can;
  if (!can.handles_missing_cells) require_missing_cells(data, method, operation);
  const auto& kinds = can.column_kinds;
  if (std::find(kinds.begin(), kinds.end(), name(ColumnKind::nominal)) == kinds.end()) {
    std::vector<std::string> nominal;
    for (std::size_t j = 0; j < facts.kinds.size(); ++j) {
      if (facts.kinds[j] == ColumnKind::nominal) nominal.push_back(data.names[j]);
    }
    check_data(
        nominal.empty(),
        "[{}] the levels of column{} {} have no order (nominal), which {} cannot use: encode them as numbers, or "
        "remove the column{}.",
        operation, nominal.size() == 1 ? "" : "s", quoted_list(nominal), method.name, nominal.size() == 1 ? "" : "s");
  }
  const bool context = std::any_of(data.columns.begin(), data.columns.end(), [](const Column& c) { return c.context; });
  check_data(!context || can.handles_context, "[{}] {} cannot use context columns: leave --context out.", operation,
             method.name);
  check_data(data.weights.size() == 0 || can.handles_weights, "[{}] {} cannot use weights: leave --weight out.",
             operation, method.name);
  check_data(data.groups.empty() || can.handles_groups, "[{}] {} cannot use groups of rows: leave --group out.",
             operation, method.name);
}

}  // namespace

const Description& RunParams::description() {
  using P = RunParams;
  static const Description list =
      Describe<P>()
          .field("seed", &P::seed, "of every random choice; kept in the result")
          .field("time_budget", &P::time_budget,
                 "seconds after which the best answer so far is wanted, marked as such; 0: as long as it takes",
                 at_least(0))
          .duration()
          .without_effect()
          .field("device", &P::device,
                 "what networks are trained and asked on: auto takes a GPU if there is one that CUDA can use; a GPU's "
                 "last bits are not the processor's")
          .without_effect()
          .field("model", &P::model, "use these trained networks instead of training some")
          .without_effect()
          .field("save_model", &P::save_model, "keep the trained networks in this file")
          .without_effect()
          .field("checkpoint", &P::checkpoint, "keep the run's state in this file, and go on from what it holds")
          .without_effect()
          .done();
  return list;
}

Context::Context(const Dataset& data, Knowledge knowledge, RunParams run, Progress& progress)
    : Context(std::make_shared<Shared>(Shared{&data, TableFacts(data), std::move(knowledge)}), run,
              Budget(run.time_budget), progress) {
  validate(run_);
  check(this->knowledge().empty() || this->knowledge().variables() == data.variables(),
        "[knowledge] it is about {} variables, the table has {}", this->knowledge().variables(), data.variables());
}

Context::Context(std::shared_ptr<Shared> shared, RunParams run, const Budget& budget, Progress& progress)
    : shared_(std::move(shared)),
      run_(std::move(run)),
      budget_(budget),
      checkpoint_(run_.checkpoint),
      progress_(progress) {}

const Dataset& Context::tame() const {
  if (facts().wild.empty()) return data();
  if (!shared_->tame) {
    shared_->tame = data();
    shared_->tame->values = tame_values(data().values, facts().wild);
  }
  return *shared_->tame;
}

std::shared_ptr<const Covariance> Context::covariance() const {
  if (!shared_->covariance) {
    shared_->covariance = std::make_shared<const Covariance>(fansite::covariance(tame(), facts(), progress_));
  }
  return shared_->covariance;
}

const LearnableTable& Context::learnable() const {
  if (!shared_->learnable) shared_->learnable.emplace(data(), facts());
  return *shared_->learnable;
}

const RowDependence& Context::row_dependence() const {
  if (!shared_->rows) {
    const bool asked = data().groups.empty() && learnable_columns() >= 2;
    shared_->rows = asked ? fansite::row_dependence(data(), facts()) : RowDependence{.rows = data().rows()};
  }
  return *shared_->rows;
}

const ContentOrder& Context::content_order() const {
  if (!shared_->order) shared_->order = fansite::content_order(data());
  return *shared_->order;
}

Context Context::in_content_order() const {
  if (!shared_->ordered) {
    auto table = std::make_shared<const Dataset>(in_order(data(), content_order()));
    auto shared = std::make_shared<Shared>(Shared{table.get(), TableFacts(facts(), *table, content_order()),
                                                  knowledge().in_order(content_order().columns)});
    shared->rows = in_order(row_dependence(), content_order());
    shared->checkpoints = shared_->checkpoints;
    shared->own = std::move(table);
    shared_->ordered = std::move(shared);
  }
  return Context(shared_->ordered, run_, budget_, progress_);
}

Context Context::for_method(const Method& method) const {
  return method.can.keeps_table_order ? *this : in_content_order();
}

std::vector<int> Context::columns_for(const Method& method) const {
  if (!method.can.keeps_table_order) return content_order().columns;
  std::vector<int> as_they_come(static_cast<std::size_t>(data().variables()));
  std::iota(as_they_come.begin(), as_they_come.end(), 0);
  return as_they_come;
}

Context Context::with_dependent_rows(std::vector<int> groups, double worth) const {
  auto grouped = std::make_shared<Dataset>(data());
  grouped->groups = std::move(groups);
  grouped->row_worth = worth;
  auto shared = std::make_shared<Shared>(Shared{grouped.get(), facts(), knowledge()});
  shared->checkpoints = shared_->checkpoints;
  shared->own = std::move(grouped);
  return Context(std::move(shared), run_, budget_, progress_);
}

std::string Context::checkpoint(std::string CheckpointFiles::*kind) const {
  const std::string& path = checkpoint_.*kind;
  if (!path.empty()) shared_->checkpoints->insert(path);
  return path;
}

void Context::remove_checkpoints() const {
  for (const std::string& path : *shared_->checkpoints) CheckpointFiles::remove(path);
}

std::vector<std::string> Context::warnings() const {
  std::vector<std::string> sentences;
  for (const Finding& finding : facts().findings) sentences.push_back(finding.message);
  const std::vector<std::string> of_rows = row_dependence().sentences(data().names);
  sentences.insert(sentences.end(), of_rows.begin(), of_rows.end());
  return sentences;
}

void Context::require_usable(const Method& method, std::string_view operation) const {
  throw_if_fatal(facts().findings);
  require_able(data(), facts(), method, operation);
  check_usable(knowledge(), data(), facts().findings);
}

std::vector<int> Context::context_columns() const {
  std::vector<int> result;
  for (std::size_t j = 0; j < data().columns.size(); ++j) {
    if (data().columns[j].context && facts().takes_part[j] != 0) result.push_back(static_cast<int>(j));
  }
  return result;
}

int Context::learnable_columns() const {
  return static_cast<int>(std::count(facts().takes_part.begin(), facts().takes_part.end(), 1));
}

Context Context::keeping_nothing() const {
  RunParams run = run_;
  run.checkpoint.clear();
  return Context(shared_, run, budget_, progress_);
}

Context Context::reporting_to(Progress& progress) const { return Context(shared_, run_, budget_, progress); }

Context Context::within(double seconds, Progress& progress) const {
  RunParams run = run_;
  run.time_budget = seconds;
  return Context(shared_, run, Budget(seconds), progress);
}

void check_usable(const Knowledge& knowledge, const Dataset& data, const std::vector<Finding>& findings) {
  if (knowledge.empty()) return;
  const auto name = [&](int column) { return excerpt(data.names[static_cast<std::size_t>(column)]); };
  for (const Finding& finding : findings) {
    const bool duplicate = finding.kind == Finding::Kind::duplicate;
    if (!duplicate && finding.kind != Finding::Kind::constant) continue;
    for (std::size_t i = duplicate ? 1 : 0; i < finding.columns.size(); ++i) {
      const std::vector<int> known = knowledge.known_boundary(finding.columns[i]);
      if (known.empty()) continue;
      throw DataError(
          fmt::format("[knowledge] '{}' and '{}' are to be in each other's boundary, but the column '{}' {}; {}",
                      name(finding.columns[i]), name(known.front()), name(finding.columns[i]),
                      duplicate ? fmt::format("is a copy of '{}'", name(finding.columns.front())) : "is constant",
                      duplicate ? "say it of that one" : "leave that out of the knowledge"));
    }
  }
}

}  // namespace fansite
