// SPDX-License-Identifier: Apache-2.0
//
// What a run works with: the table and what is known about it, found once and handed on; prior knowledge; seed, time
// budget, places of models and checkpoints; progress.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fansite/base/device.h"
#include "fansite/base/parameters.h"
#include "fansite/base/progress.h"
#include "fansite/context/budget.h"
#include "fansite/context/checkpoint_files.h"
#include "fansite/context/method.h"
#include "fansite/graph/knowledge.h"
#include "fansite/table/content_order.h"
#include "fansite/table/covariance.h"
#include "fansite/table/facts.h"
#include "fansite/table/row_dependence.h"

namespace fansite {

/// How a run is to be done, whatever its method.
struct RunParams {
  std::uint64_t seed = 0;  ///< of every random choice
  /// Seconds after which the best answer so far is wanted (docs/method.md, "A time budget"); 0: as long as it takes.
  double time_budget = 0;
  Device device = Device::cpu;  ///< what networks are trained and asked on
  std::string model;            ///< trained networks to use instead of training some
  std::string save_model;       ///< where to keep the trained networks
  /// Where the run keeps its state: networks in this file, searches in files that add ".search", ".refine" and ".graph"
  /// to its name. What is there already is continued from, and the result has the same bits as without. They are
  /// removed when all has ended well. "": nowhere.
  std::string checkpoint;

  static const Description& description();
};

class Context {
 public:
  /// `data` and `progress` must outlive this. A UsageError for parameters out of range and for knowledge about another
  /// number of variables.
  Context(const Dataset& data, Knowledge knowledge, RunParams run, Progress& progress);

  const Dataset& data() const { return *shared_->data; }
  /// The table without wild cells (table/wild.h), for whatever does not go by ranks; data() if there are none.
  const Dataset& tame() const;
  const TableFacts& facts() const { return shared_->facts; }
  const Knowledge& knowledge() const { return shared_->knowledge; }
  const RunParams& run() const { return run_; }
  const Budget& budget() const { return budget_; }
  /// Whether the run keeps its state.
  bool keeps_state() const { return !run_.checkpoint.empty(); }
  /// The place of one kind of state, "" if none is kept. The file is this run's from now on.
  std::string checkpoint(std::string CheckpointFiles::*kind) const;
  /// The files that this run has asked for go, once all has ended well; what others have left there stays.
  void remove_checkpoints() const;
  Progress& progress() const { return progress_; }

  /// Computed when first asked for.
  std::shared_ptr<const Covariance> covariance() const;
  const LearnableTable& learnable() const;
  /// Of rows in the order they come; nothing where groups were declared, or nothing can be learnt of two columns.
  const RowDependence& row_dependence() const;

  /// What the findings and the dependence of rows say, one sentence each.
  std::vector<std::string> warnings() const;
  /// A DataError if the table allows no answer, or knowledge says something of a column that nothing can be learnt of,
  /// or the table has something that the method cannot use: missing cells, nominal columns, context, weights, groups.
  /// `operation` as in "[mb] …".
  void require_usable(const Method& method, std::string_view operation) const;

  /// How many columns something can be learnt of.
  int learnable_columns() const;
  /// Those that everything is conditioned on, without copies and constants.
  std::vector<int> context_columns() const;

  /// The same run on the table in the order of its contents (table/content_order.h), which methods work on; what they
  /// find is told in the table's own.
  Context in_content_order() const;
  const ContentOrder& content_order() const;
  /// The run as this method works on it, and which column of the table stands at each place there.
  Context for_method(const Method& method) const;
  std::vector<int> columns_for(const Method& method) const;

  /// The same run with these groups of rows, in which they may depend on each other; none if empty. `worth`: how many
  /// independent rows a row, or group, is worth.
  Context with_dependent_rows(std::vector<int> groups, double worth) const;
  /// The same run that reports to another place.
  Context reporting_to(Progress& progress) const;
  /// The same run with so many seconds from now on, 0 for as many as it takes, and reports to another place.
  Context within(double seconds, Progress& progress) const;
  /// The same run that keeps no state.
  Context keeping_nothing() const;

 private:
  struct Shared {
    const Dataset* data;
    TableFacts facts;
    Knowledge knowledge;
    std::shared_ptr<const Covariance> covariance = {};
    std::optional<LearnableTable> learnable = {};
    std::optional<RowDependence> rows = {};
    std::optional<Dataset> tame = {};
    std::optional<ContentOrder> order = {};
    std::shared_ptr<Shared> ordered = {};  // of the table in that order
    // That the run has asked for, with whatever groups.
    std::shared_ptr<std::set<std::string>> checkpoints = std::make_shared<std::set<std::string>>();
    std::shared_ptr<const Dataset> own = {};  // with groups of its own; null: somebody else's table
  };
  Context(std::shared_ptr<Shared> shared, RunParams run, const Budget& budget, Progress& progress);

  std::shared_ptr<Shared> shared_;
  RunParams run_;
  Budget budget_;
  CheckpointFiles checkpoint_;
  Progress& progress_;
};

/// What is asked of a method that it cannot do is refused before any work, with the methods that can.
template <class Row>
void check_request(const MethodList<Row>& methods, const Row& method, const Context& context) {
  if (!context.knowledge().empty()) {
    methods.require(method, &Capabilities::satisfies_knowledge, "satisfy prior knowledge");
  }
  if (context.budget().limited()) methods.require(method, &Capabilities::can_be_cut_short, "be cut short");
  if (context.keeps_state()) methods.require(method, &Capabilities::resumable, "be resumed");
}

/// Throws a DataError that names a column of which nothing can be learnt (constant, or a copy of another), but whose
/// membership in a boundary is said to be known.
void check_usable(const Knowledge& knowledge, const Dataset& data, const std::vector<Finding>& findings);

}  // namespace fansite
