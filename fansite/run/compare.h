// SPDX-License-Identifier: Apache-2.0
//
// Several methods on one table, or on tables with known truth, with the columns in several orders: the one call behind
// `fansite compare` and Python's compare. One method on one table in one order is a cell. A cell that runs out of time,
// is refused or fails says so, and the others go on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fansite/graph/dag.h"
#include "fansite/run/boundaries.h"
#include "fansite/run/causal_graph.h"
#include "fansite/simulate/simulate.h"

namespace fansite {

/// What the methods find.
enum class CompareKind { boundaries, graph };
constexpr auto enum_names(CompareKind) {
  return std::to_array<EnumName<CompareKind>>({{CompareKind::boundaries, "boundaries"}, {CompareKind::graph, "graph"}});
}

struct CompareParams {
  /// Names, with options as in "iamb:alpha=0.001:max-size=5" and "fansite-anm:boundary-method=tc"; "all" (boundary
  /// methods, or graph methods beside one), "all-dag", "paper-mb", "paper-dag".
  std::vector<std::string> methods = {"paper-mb"};
  int orders = 3;               ///< of the columns: as they come, then at random
  double limit = 600;           ///< seconds for each cell; 0: as long as it takes
  std::uint64_t seed = 0;       ///< of the orders, and of the methods
  Device device = Device::cpu;  ///< what networks are trained and asked on

  static const Description& description();
};

/// A method as it was asked for.
struct ComparedMethod {
  std::string label;  ///< "iamb:alpha=0.001"
  CompareKind kind = CompareKind::boundaries;
  BoundariesParams boundaries;  ///< how they are found; for a graph those that it needs are in …
  CausalGraphParams graph;      ///< … its own parameters
  const std::string& method() const { return kind == CompareKind::graph ? graph.method : boundaries.method; }
};

/// Methods of one kind. A ParameterError for a name or an option that there is not, for a method named twice, and for a
/// list that mixes kinds.
std::vector<ComparedMethod> compared_methods(const std::vector<std::string>& words);
/// What each of those words can be, but for options after a colon.
std::vector<std::string> words_for_methods();

/// What methods are compared on: a table, with its truth if that is known, or one for each seed of a setting.
struct ComparedTables {
  const Dataset* data = nullptr;     ///< must outlive this; null: simulated
  std::optional<Dag> truth;          ///< of `data`, its nodes in the order of the columns
  SimulateParams setting;            ///< without its seed …
  std::vector<std::uint64_t> seeds;  ///< … which are these
};

/// The truth with its nodes in the order of these columns. A DataError if it is of other variables; `where` names it.
/// `by_position`: it has no names of its own.
Dag truth_in_columns(const NamedDag& truth, const std::vector<std::string>& names, const std::string& where,
                     bool by_position = false);

enum class CellStatus {
  done,
  timeout,  ///< the limit came first
  refused,  ///< the method cannot take the table, for the reason given
  failed    ///< it should have been able to
};
constexpr auto enum_names(CellStatus) {
  return std::to_array<EnumName<CellStatus>>({{CellStatus::done, "done"},
                                              {CellStatus::timeout, "timeout"},
                                              {CellStatus::refused, "refused"},
                                              {CellStatus::failed, "failed"}});
}

struct CompareCell {
  int table = 0, order = 0, method = 0;  ///< which of them
  CellStatus status = CellStatus::done;
  std::string reason = {};  ///< why there is no answer, in a sentence; "": there is, or time ran out
  /// Per variable of the table: the members of its boundary, the strongest first; or in a graph those that it has an
  /// edge to, in both lists if the direction is open.
  std::vector<std::vector<int>> found = {};
  std::vector<double> scores = {};  ///< as score_names (run/compare_summary.h) has them; empty: none
  double seconds = 0, peak_memory_mb = 0;
};

struct ComparedTable {
  std::uint64_t seed = 0;  ///< if it was simulated
  std::uint64_t hash = 0;
  std::optional<Dag> truth;
};

struct CompareResult {
  CompareKind kind = CompareKind::boundaries;
  CompareParams params;
  std::vector<ComparedMethod> methods;
  std::optional<SimulateParams> setting;  ///< if tables were simulated
  std::vector<std::string> names;         ///< of the variables
  Index rows = 0;
  TableRoles roles;                   ///< that the table's columns were given
  std::vector<std::string> warnings;  ///< about the table, one sentence each
  int expected_tables = 0;
  std::vector<ComparedTable> tables;  ///< as far as they were come to
  std::vector<CompareCell> cells;     ///< by table, then order, then method; those that there are so far

  int expected_cells() const { return expected_tables * params.orders * static_cast<int>(methods.size()); }
  bool complete() const { return static_cast<int>(cells.size()) == expected_cells(); }
  bool has_truth() const { return !tables.empty() && tables.front().truth.has_value(); }
};

/// Is told where a comparison is.
class CompareWatcher {
 public:
  virtual ~CompareWatcher() = default;
  virtual void begins(const CompareResult& /*so_far*/, const CompareCell& /*cell*/) {}
  /// Its last cell has just been added.
  virtual void ended(const CompareResult& /*so_far*/) {}
};

/// A cell that is known already, of the table with this hash and the method with this label; null: it is not known.
using KnownCells = std::function<const CompareCell*(std::uint64_t table, int order, const std::string& label)>;

/// Throws a UsageError for parameters out of range and a DataError for a truth that has no edge; what a method throws
/// becomes the reason of its cell. Interrupted if the progress says so: the watcher has seen what was done.
CompareResult compare(const ComparedTables& tables, const CompareParams& params, const KnownCells& known,
                      Progress& progress, CompareWatcher& watcher);
CompareResult compare(const ComparedTables& tables, const CompareParams& params);

/// A DataError with the first reason if no method could take any table.
void require_any_answer(const CompareResult& result);

}  // namespace fansite
