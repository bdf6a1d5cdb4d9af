// SPDX-License-Identifier: Apache-2.0
#include "fansite/run/compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <new>
#include <numeric>
#include <stdexcept>

#include "fansite/base/error.h"
#include "fansite/base/peak_memory.h"
#include "fansite/base/stopwatch.h"
#include "fansite/base/text.h"
#include "fansite/entropy/flow/accelerator.h"
#include "fansite/run/compare_summary.h"

namespace fansite {
namespace {

// Streams of the seed that the orders are drawn from; methods have the seed itself.
constexpr std::uint64_t kOrders = 0x6f72646572;  // "order"

// At each place, which column of the table comes there. The same for every table of a comparison, so that a cell is
// known by its table, order and method alone.
std::vector<int> columns_in(int order, int variables, std::uint64_t seed) {
  if (order > 0)
    return Random(Key{seed}.split(kOrders).split(static_cast<std::uint64_t>(order))).permutation(variables);
  std::vector<int> as_they_come(static_cast<std::size_t>(variables));
  std::iota(as_they_come.begin(), as_they_come.end(), 0);
  return as_they_come;
}

std::vector<std::vector<int>> find_members(const Dataset& data, BoundariesParams params, std::uint64_t seed,
                                           Progress& progress) {
  params.run.seed = seed;
  std::vector<std::vector<int>> found(static_cast<std::size_t>(data.variables()));
  for (const Boundary& boundary : markov_boundaries(data, params, progress).found.boundaries) {
    found[static_cast<std::size_t>(boundary.target)] = boundary.member_indices();
  }
  return found;
}

std::vector<std::vector<int>> find_children(const Dataset& data, CausalGraphParams params, std::uint64_t seed,
                                            Progress& progress) {
  params.run.seed = seed;
  const PartialDag graph = causal_graph(data, nullptr, Knowledge(), params, progress).graph;
  std::vector<std::vector<int>> found(static_cast<std::size_t>(data.variables()));
  for (int from = 0; from < data.variables(); ++from) {
    for (int to = 0; to < data.variables(); ++to) {
      if (graph.directed(from, to) || graph.undirected(from, to)) found[static_cast<std::size_t>(from)].push_back(to);
    }
  }
  return found;
}

// What was found in a table with its columns in another order, in the table's own.
std::vector<std::vector<int>> in_table(const std::vector<std::vector<int>>& found, const std::vector<int>& columns,
                                       bool ranked) {
  std::vector<std::vector<int>> own(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::vector<int>& list = own[static_cast<std::size_t>(columns[i])];
    for (const int other : found[i]) list.push_back(columns[static_cast<std::size_t>(other)]);
    if (!ranked) std::sort(list.begin(), list.end());
  }
  return own;
}

// One method on one table in one order: an answer, or why there is none.
void fill(CompareCell& cell, const Dataset& shuffled, const std::vector<int>& columns, const ComparedMethod& method,
          const CompareParams& params, Progress& progress) {
  const bool graph = method.kind == CompareKind::graph;
  const PeakMemory memory;
  const Stopwatch watch;
  const double stop_by = params.limit > 0 ? params.limit : Budget::never();
  Deadline deadline(progress, watch, Budget::never(), stop_by);
  const auto without_answer = [&](CellStatus status, std::string reason) {
    cell.status = status;
    cell.reason = std::move(reason);
  };
  try {
    const auto found = graph ? find_children(shuffled, method.graph, params.seed, deadline)
                             : find_members(shuffled, method.boundaries, params.seed, deadline);
    // Whoever looks at the clock seldom has no more time than others.
    if (watch.seconds() >= stop_by) {
      without_answer(CellStatus::timeout, "");
    } else {
      cell.found = in_table(found, columns, !graph);
    }
  } catch (const Interrupted&) {
    if (progress.interrupted()) throw;
    without_answer(CellStatus::timeout, "");
  } catch (const UsageError& error) {
    without_answer(CellStatus::refused, error.what());
  } catch (const DataError& error) {
    without_answer(CellStatus::refused, error.what());
  } catch (const std::bad_alloc&) {
    without_answer(CellStatus::failed, "out of memory: the system gave no more");
  } catch (const std::exception& error) {
    without_answer(CellStatus::failed, error.what());
  }
  cell.seconds = watch.seconds();
  cell.peak_memory_mb = memory.megabytes();
}

// Says what fansite mb and dag would say of the table, whatever the method.
std::vector<std::string> warnings_of(const Dataset& data) {
  NoProgress silent;
  return Context(data, Knowledge(), RunParams(), silent).warnings();
}

class Comparison {
 public:
  Comparison(CompareResult& result, const KnownCells& known, Progress& progress, CompareWatcher& watcher)
      : result_(result), known_(known), progress_(progress), watcher_(watcher) {}

  void add_table(const Dataset& data, std::uint64_t seed, std::optional<Dag> truth) {
    result_.tables.push_back({seed, hash_of(data), std::move(truth)});
    if (result_.tables.size() == 1) {
      result_.names = data.names;
      result_.rows = data.rows();
    }
    for (int order = 0; order < result_.params.orders; ++order) add_order(data, order);
  }

 private:
  void add_order(const Dataset& data, int order) {
    const std::vector<int> columns = columns_in(order, data.variables(), result_.params.seed);
    std::optional<Dataset> shuffled;  // not before a method needs it
    for (std::size_t m = 0; m < result_.methods.size(); ++m) {
      const ComparedTable& table = result_.tables.back();
      const CompareCell* known = known_ ? known_(table.hash, order, result_.methods[m].label) : nullptr;
      CompareCell cell;
      if (known != nullptr) cell = *known;
      cell.table = static_cast<int>(result_.tables.size()) - 1;
      cell.order = order;
      cell.method = static_cast<int>(m);
      if (known == nullptr) {
        throw_if_interrupted(progress_);
        watcher_.begins(result_, cell);
        if (order > 0 && !shuffled) shuffled = take_columns(data, columns);
        fill(cell, shuffled ? *shuffled : data, columns, result_.methods[m], result_.params, progress_);
      }
      if (cell.status == CellStatus::done && table.truth)
        cell.scores = scores_of(result_.kind, cell.found, *table.truth);
      result_.cells.push_back(std::move(cell));
      watcher_.ended(result_);
    }
  }

  CompareResult& result_;
  const KnownCells& known_;
  Progress& progress_;
  CompareWatcher& watcher_;
};

void check_truth(const std::optional<Dag>& truth) {
  check_data(!truth || truth->edges() > 0, "[compare] the truth has no edge, so there is nothing to score");
}

}  // namespace

const Description& CompareParams::description() {
  using P = CompareParams;
  static const Description list =
      Describe<P>()
          .field("methods", &P::methods,
                 "with commas between, and options as in iamb:alpha=0.001; all, all-dag, paper-mb or paper-dag")
          .field("orders", &P::orders, "orders of the columns: as they come, then at random", from_to(1, 1000))
          .field("limit", &P::limit, "time for one method on one table in one order", at_least(0))
          .duration()
          .field("seed", &P::seed, "of the orders, and of the methods")
          .field("device", &P::device, "what networks are trained and asked on, as for fansite mb")
          .without_effect()
          .done();
  return list;
}

Dag truth_in_columns(const NamedDag& truth, const std::vector<std::string>& names, const std::string& where,
                     bool by_position) {
  check_data(names.size() == truth.names.size(),
             "[compare] the table has {} variables and {} has {}; are they of the same data?", names.size(), where,
             truth.names.size());
  if (by_position) return truth.dag;
  std::map<std::string, int> column;
  for (std::size_t i = 0; i < names.size(); ++i) column[names[i]] = static_cast<int>(i);
  std::vector<std::pair<int, int>> edges;
  std::vector<int> place;
  for (const std::string& name : truth.names) {
    const auto found = column.find(name);
    check_data(found != column.end(),
               "[compare] the table has no variable '{}', which {} has; are they of the same data?", excerpt(name),
               where);
    place.push_back(found->second);
  }
  for (int from = 0; from < truth.dag.nodes(); ++from) {
    for (const int to : truth.dag.children(from)) {
      edges.emplace_back(place[static_cast<std::size_t>(from)], place[static_cast<std::size_t>(to)]);
    }
  }
  return Dag(truth.dag.nodes(), edges);
}

CompareResult compare(const ComparedTables& tables, const CompareParams& params, const KnownCells& known,
                      Progress& progress, CompareWatcher& watcher) {
  validate(params);
  const flow::ChosenDevice device(params.device);
  CompareResult result;
  result.params = params;
  result.methods = compared_methods(params.methods);
  for (ComparedMethod& method : result.methods) method.boundaries.run.device = method.graph.run.device = params.device;
  result.kind = result.methods.front().kind;
  Comparison comparison(result, known, progress, watcher);
  if (tables.data != nullptr) {
    check_data(tables.data->variables() >= 2, "[compare] a table of one column has no relations to find");
    check_truth(tables.truth);
    result.expected_tables = 1;
    result.roles = tables.data->roles;
    result.warnings = warnings_of(*tables.data);
    comparison.add_table(*tables.data, 0, tables.truth);
    add_device_warning(result.warnings);
    return result;
  }
  check(!tables.seeds.empty(), "[compare] there is neither a table nor a seed to make one with");
  result.setting = tables.setting;
  result.expected_tables = static_cast<int>(tables.seeds.size());
  for (const std::uint64_t seed : tables.seeds) {
    SimulateParams setting = tables.setting;
    setting.seed = seed;
    const Simulation made = simulate(setting, progress);
    comparison.add_table(made.data, seed, made.dag);
  }
  add_device_warning(result.warnings);
  return result;
}

void require_any_answer(const CompareResult& result) {
  const auto refused = [](const CompareCell& cell) { return cell.status == CellStatus::refused; };
  if (!std::all_of(result.cells.begin(), result.cells.end(), refused)) return;
  throw DataError(result.cells.front().reason);
}

CompareResult compare(const ComparedTables& tables, const CompareParams& params) {
  NoProgress silent;
  CompareWatcher nobody;
  return compare(tables, params, nullptr, silent, nobody);
}

}  // namespace fansite
