// SPDX-License-Identifier: Apache-2.0
//
// Entropies from an ensemble of flows: H(T|S) = −mean over rows of log p(x_T|x_S).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fansite/entropy/entropy.h"
#include "fansite/entropy/flow/calibration.h"
#include "fansite/entropy/flow/dependence.h"
#include "fansite/entropy/flow/ensemble.h"
#include "fansite/entropy/flow/ensemble_density.h"
#include "fansite/entropy/row_means.h"
#include "fansite/table/dataset.h"
#include "fansite/table/facts.h"

namespace fansite {

/// Each row is judged by the networks that have not seen it, if there are such, so that what a network has learnt by
/// heart does not count; only a frontier's gains are by all networks, which ranks better. Entropies are on the columns'
/// original scale where that is defined (see original_scale). Those of columns with levels are of the levels. A row
/// counts where it has all the cells that are asked about, or these are conditions and were drawn. Context columns are
/// among the given of every question.
class FlowEstimator final : public SearchEstimator {
 public:
  /// `ensemble` was trained on this table's learnable columns, or on those of another with the same names; a UsageError
  /// names a column that it does not know.
  FlowEstimator(const Dataset& data, const TableFacts& facts, const flow::Ensemble& ensemble)
      : FlowEstimator(data, facts, flow::judges_of(ensemble), "flow") {}
  /// With networks of another kind; `name` is that of their estimator.
  FlowEstimator(const Dataset& data, const TableFacts& facts, const flow::Judges& ensemble, std::string name);
  FlowEstimator(const Dataset& data, const flow::Ensemble& ensemble)
      : FlowEstimator(data, TableFacts(data), ensemble) {}

  std::string_view name() const override { return name_; }
  int variables() const override { return static_cast<int>(column_.size()); }
  Index rows() const override { return rows_; }
  /// False if the networks judge rows that they were trained on: entropies are then too low.
  bool out_of_sample() const override { return density_.out_of_sample(); }
  /// The most variables that one query may name, target and given together.
  int largest_subset() const { return density_.largest_subset(); }
  /// Whether H of this target is on the scale of its column. If not, because it holds too many equal values, it is on
  /// the scale of its normal scores; informations are the same on both.
  bool original_scale(int target) const override;

  /// Densities computed so far, of one subset, row and network each.
  std::int64_t evaluations() const override { return density_.evaluations(); }

  using EntropyEstimator::conditional_entropy;
  std::vector<EntropyEstimate> conditional_entropy(std::span<const EntropyQuery> queries) const override;
  using EntropyEstimator::mutual_information;
  std::vector<EntropyEstimate> mutual_information(std::span<const InformationQuery> queries) const override;

  /// How well the distributions of these targets given these sets hold on rows that the judging networks have not seen.
  /// Left out: targets that are constant or among the given, and those with many equal values (see original_scale).
  Calibration calibration(std::span<const EntropyQuery> queries, const CalibrationParams& params,
                          Progress& progress) const;

  bool complete(const Dataset& data, const TableFacts& facts, const std::vector<std::vector<int>>& given, Key key,
                const Progress& progress) override;
  std::vector<Matrix> completions(const Dataset& data) const override;

  std::optional<Calibration> calibration(std::span<const EntropyQuery> queries, Progress& progress) const override;

  bool held_out() const override { return true; }
  double p_value(double gain, int given) const override;
  /// The doubly centred test of both sides (flow/dependence.h), on rows that the judging networks have not seen. That
  /// networks learn from each other's rows at most doubles the variance of its z-score (docs/evidence.md). From 4000
  /// rows on some of them are asked first, then more, and all only if these leave a doubt.
  PairEvidence pair_evidence(const PairQuery& query) const override;
  bool informative(int variable) const override {
    const auto at = static_cast<std::size_t>(variable);
    return column_[at] >= 0 && is_context_[at] == 0;
  }
  std::unique_ptr<Frontier> open(std::span<const int> targets, const Candidates& candidates,
                                 const Progress& progress) const override;
  int frontier_size() const override { return variables(); }
  int largest_set() const override;

  /// rows × queries: log p(x_T | x_S), of informative variables none of which is a copy of another; NaN where cells are
  /// absent.
  Eigen::MatrixXf log_conditional(std::span<const EntropyQuery> queries, flow::NetworkSet networks) const;
  /// Over all rows, or those of a set of networks.
  const RowMeans& means() const { return means_; }
  const RowMeans& means(flow::NetworkSet networks) const {
    return density_.rows(networks) == density_.rows() ? means_ : means_of_sample_;
  }
  std::size_t networks() const { return density_.networks().size(); }
  /// Whether each row is judged by networks of its own, those that have not seen it.
  bool rows_divided() const { return density_.rows_divided(); }
  /// Rows of log_conditional: the table's, or several versions of them with absent cells drawn.
  Index versions() const { return density_.rows(); }
  /// Makes values of the rows of a set of networks NaN where the variable's cell was drawn.
  void leave_out_drawn(int variable, Eigen::ArrayXd& values,
                       flow::NetworkSet networks = flow::NetworkSet::unseen) const;

 private:
  /// A query in the ensemble's columns: constants say nothing, a copy is its original.
  struct Reduced {
    EntropyQuery query;
    bool determined = false;  // the target is constant, or among the given
  };
  Reduced reduce(const EntropyQuery& query) const;
  /// The ensemble's columns of a set of variables and of the context.
  std::vector<int> columns_of(std::span<const int> variables) const;

  /// What a side of a pair has said so far.
  struct Side {
    int target = 0, other = 0;  // the ensemble's columns
    std::vector<int> given;
    flow::DependenceScores scores;
  };
  /// What follows from which rows there are.
  void set_rows();
  Index most_rows(const PairQuery& query) const;
  void ask(Side& side, std::span<const int> rows) const;
  PairEvidence evidence_of(std::span<const Side> sides) const;

  /// The columns as the ensemble names them, and its factors.
  struct Model {
    std::vector<std::string> names;
    std::vector<flow::Factor> factors;
  };
  static Matrix values_of(const Dataset& data, const Model& model, const std::vector<int>& column);

  std::string name_;
  Model model_;
  Index rows_ = 0;
  std::vector<Matrix> drawn_tables_;
  std::vector<int> column_;       // per variable of the table: the ensemble's first column, −1 for a constant
  std::vector<char> is_context_;  // per variable
  std::vector<int> context_;      // the ensemble's columns
  RowMeans means_, means_of_sample_;
  std::vector<double> log_slope_;
  flow::EnsembleDensity density_;
  std::vector<int> spread_;  // all rows in an order of which every beginning is spread evenly
};

}  // namespace fansite
