// SPDX-License-Identifier: Apache-2.0
//
// The conditional densities of an ensemble over one table's rows, mixed over the networks that may judge each row and
// the linear Gaussian model of the scores, each with the weight that it has earned on rows not learnt from.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fansite/entropy/entropy.h"
#include "fansite/entropy/flow/cells.h"
#include "fansite/entropy/flow/density.h"
#include "fansite/entropy/flow/ensemble.h"

namespace fansite::flow {

/// Which networks judge which rows.
enum class NetworkSet {
  unseen,  ///< each row by the networks that have not seen it (by all if every one has): what was learnt by heart does
           ///< not count
  all,     ///< each row by all networks: less noise, so they rank better, but every variable seems to tell a little
  sample,  ///< a first pass: kSampleNetworks networks on all rows or, of many, kSampleRows of them, evenly spread
  unseen_sample  ///< the sampled rows, each by the networks that have not seen it
};

/// What an ensemble is to those who ask it, whatever its networks are.
struct Judges {
  std::vector<std::string> names;  ///< of the columns
  std::vector<Factor> factors;
  Index rows = 0;               ///< of the table it was trained on
  std::uint64_t data_hash = 0;  ///< of that table's values
  int folds = 1, repeats = 1;
  std::vector<ColumnTransform> transforms;
  std::vector<std::vector<std::uint16_t>> fold_of_row;  ///< per repeat; empty when folds = 1

  struct Network {
    std::vector<int> order;  ///< the column at each place of the network
    int repeat = 0, fold = 0;
    std::shared_ptr<const SubsetDensity> density;
  };
  std::vector<Network> networks;
  std::vector<std::shared_ptr<const SubsetDensity>> linear;  ///< per fold of the first repeat, in the columns' order
  LinearShare linear_share;

  int largest_subset() const { return networks.front().density->largest_subset(); }
};
Judges judges_of(const Ensemble& ensemble);

class EnsembleDensity {
 public:
  static constexpr Index kSampleRows = 1000;         // the paper's K
  static constexpr std::size_t kSampleNetworks = 3;  // enough to tell which candidates are worth a second look

  /// `values` has the ensemble's columns, in the same order; `values_hash`: of them, if it is known already.
  EnsembleDensity(const Judges& ensemble, const MatrixView& values, std::optional<std::uint64_t> values_hash = {});
  EnsembleDensity(const Ensemble& ensemble, const MatrixView& values, std::optional<std::uint64_t> values_hash = {})
      : EnsembleDensity(judges_of(ensemble), values, values_hash) {}

  /// Takes other rows in place of its own: `values` has all of their cells, and row i is a version of the table's row
  /// row_of[i], with cells that it lacks drawn.
  void complete(const MatrixView& values, std::vector<int> row_of);
  /// The row of the table that each row is a version of; empty: they are the table's rows.
  const std::vector<int>& row_of() const { return row_of_; }
  /// Whether the cell of a variable was drawn: it is a condition for others, and no evidence of anything itself.
  bool drawn(Index row, int variable) const { return drawn_.size() > 0 && drawn_(row, variable) != 0; }
  /// Puts one cell into each of these rows: an option for each of the variable's columns.
  void replace(std::span<const int> rows, const std::vector<TrialColumn>& cells);

  /// One network, or linear model, with the rows it judges.
  struct Part {
    std::shared_ptr<const SubsetDensity> density = {};
    bool linear = false;
    std::vector<int> place = {};          ///< of each column in the network's order
    std::vector<int> unseen = {};         ///< rows that it judges under NetworkSet::unseen
    CellTable unseen_table = {};          ///< those rows, in the network's order
    CellTable table = {};                 ///< all rows; of a linear model none: it judges the rows it has not seen
    CellTable sample_table = {};          ///< the sampled rows; empty if these are all, and so are the next two
    std::vector<int> unseen_sample = {};  ///< the sampled rows among `unseen`, by their place in the sample
    CellTable unseen_sample_table = {};   ///< those rows
    std::vector<std::vector<int>> columns = {};  ///< of each variable

    /// Where the columns of these variables are, sorted.
    Subset places(std::span<const int> variables) const;
  };
  /// The networks; then the linear models, if there are any.
  std::span<const Part> parts() const { return parts_; }
  std::span<const Part> networks() const { return parts().first(networks_); }
  std::span<const Part> linear() const { return parts().subspan(networks_); }

  Index rows() const { return cells_.rows(); }
  Index rows(NetworkSet networks) const { return of_sample(networks) ? sampled_ : rows(); }
  /// Which row is the i-th of these.
  Index row_at(Index i, NetworkSet networks) const { return of_sample(networks) ? i * rows() / sampled_ : i; }
  /// The networks that judge.
  std::span<const Part> networks(NetworkSet networks) const;
  /// The table after the ensemble's transforms, in its own order of columns.
  const CellTable& cells() const { return cells_; }
  const Table& values() const { return cells_.score; }
  const std::vector<ColumnTransform>& transforms() const { return transforms_; }
  /// The columns of a variable: its own, or those of the factor that it is the first of; none for a factor's others.
  const std::vector<int>& columns(int variable) const { return columns_[static_cast<std::size_t>(variable)]; }
  /// Whether each row is judged by networks that have not seen it: always for another table, with folds for its own.
  bool out_of_sample() const { return out_of_sample_; }
  /// Whether each row is judged by networks of its own under NetworkSet::unseen: not where all of them do.
  bool rows_divided() const { return rows_divided_; }
  /// The largest subset all networks have a density for.
  int largest_subset() const { return largest_; }
  /// Densities computed so far, of one subset, row and network each.
  std::int64_t evaluations() const { return evaluations_->load(); }
  void count(std::int64_t evaluations) const { *evaluations_ += evaluations; }

  /// The logarithm of what one network counts of a mixture for `target` given so many variables, and a linear model.
  struct Weights {
    float network = 0, linear = -1;
    bool has_linear = false;
  };
  Weights weights(int target, std::size_t given) const;

  /// out(i, q) = log p(x_T | x_S) of row i on the transformed scale, mixed over its judges: ln Σ_k w_k p_k(S, T) /
  /// p_k(S). `given` need not be sorted; T is not in it. NaN where a cell of T or S is absent.
  Eigen::MatrixXf conditional(std::span<const EntropyQuery> queries, NetworkSet networks = NetworkSet::unseen) const;

 private:
  void add_networks(const Judges& ensemble, bool own_table);
  void add_linear(const Judges& ensemble, bool own_table);
  /// The cells of the rows that a part judges, and of all if it is a network; `order`: its columns.
  void set_tables(Part& part, const std::vector<int>& order) const;
  static bool of_sample(NetworkSet networks) {
    return networks == NetworkSet::sample || networks == NetworkSet::unseen_sample;
  }
  /// Mixes one part's log densities of the queries' targets into sums row by row.
  struct Mixture;
  void mix(const Part& part, std::span<const EntropyQuery> queries, NetworkSet networks, Mixture& mixture) const;

  std::vector<Part> parts_;
  std::size_t networks_ = 0;
  float log_judges_ = 0;  // ln of how many networks judge a row it has not seen
  CellTable cells_;
  std::vector<int> row_of_;
  ByteMatrix drawn_;
  std::vector<ColumnTransform> transforms_;
  std::vector<std::vector<int>> columns_;
  LinearShare share_;
  Index sampled_ = 0;
  bool out_of_sample_ = false, rows_divided_ = false;
  int largest_ = 0;
  std::unique_ptr<std::atomic<std::int64_t>> evaluations_;
};

/// The shares of the linear models that make the rows not learnt from most likely (stacking), for each column as target
/// and the columns that correlate most with it as given.
LinearShare stacked_share(const EnsembleDensity& density);

}  // namespace fansite::flow
