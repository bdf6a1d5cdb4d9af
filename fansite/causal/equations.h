// SPDX-License-Identifier: Apache-2.0
//
// How surprising each variable is given others: numbers by what regression leaves of them, levels by a regression of
// their own. All in nats, so that what a parent is worth is an information whatever the kinds.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fansite/causal/graph_table.h"
#include "fansite/causal/linear_gaussian.h"
#include "fansite/causal/regression.h"
#include "fansite/causal/residual_entropy.h"
#include "fansite/table/levels.h"

namespace fansite::causal {

class Equations {
 public:
  /// Of a table without missing cells, or with draws.
  Equations(const GraphTable& table, const RegressionParams& params, Key key);
  /// Of numbers; the regression must outlive this.
  explicit Equations(const Regression& regression);
  /// In closed form, whatever the distribution asked for: of numbers without missing cells.
  static Equations linear_gaussian(const MatrixView& values, Key key, GraphRows rows = {});

  bool linear() const { return linear_ != nullptr; }
  Index rows() const { return draws_.front().regression->rows(); }
  Index draws() const { return static_cast<Index>(draws_.size()); }
  bool has_missing() const { return !present_.empty(); }
  /// How much the rows tell, and how many equal, independent ones tell as much as so many of them.
  const GraphRows& counts() const { return regression().counts(); }
  double independent(Index rows) const { return counts().independent(rows); }
  bool discrete(int variable) const { return !levels_.empty() && levels_[static_cast<std::size_t>(variable)]; }
  /// The rows that have the cell, ascending; empty: all.
  const std::vector<int>& present(int variable) const;

  /// −ln p(cell | parents) of each row, for each child: the mean over the draws, times the row's weight. Rows without
  /// the child's cell have 0 and the others weigh N/n more, so that the mean over all rows is the child's.
  std::vector<Vector> surprisals(std::span<const int> children, std::span<const int> parents,
                                 NoiseDistribution noise) const;
  /// Their means over all rows, without them: of linear equations.
  std::vector<double> entropies(std::span<const int> children, std::span<const int> parents) const;

  /// Of the first draw, for tests of a child's equation: its values, and in its present rows the groups that its
  /// discrete parents make of them (all 0 if there are none).
  const Regression& regression() const { return *draws_.front().regression; }
  std::vector<int> groups_of(int child, std::span<const int> parents) const {
    return groups_of(draws_.front(), child, parents);
  }

 private:
  Equations() = default;
  struct Draw {
    std::shared_ptr<const Regression> regression;
    std::vector<std::vector<int>> groups;  // of the rows, per column; empty for numbers
  };
  std::vector<int> groups_of(const Draw& draw, int child, std::span<const int> parents) const;
  std::vector<Vector> of_draw(const Draw& draw, std::span<const int> children, std::span<const int> parents,
                              NoiseDistribution noise) const;
  Vector of_child(const Draw& draw, int child, std::span<const int> parents, NoiseDistribution noise) const;

  std::vector<Draw> draws_;
  std::shared_ptr<const LinearGaussian> linear_;  // none: kernels
  std::vector<std::optional<Levels>> levels_;     // per column; empty: all are numbers
  std::vector<Vector> within_;             // per column: −ln of the level's share in its group, of present rows
  std::vector<std::vector<int>> present_;  // per column; empty: no cell is missing
};

}  // namespace fansite::causal
