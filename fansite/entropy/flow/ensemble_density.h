// SPDX-License-Identifier: Apache-2.0
//
// The conditional densities of an ensemble over one table's rows, mixed over the networks that may judge each row.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fansite/entropy/entropy.h"
#include "fansite/entropy/flow/density.h"
#include "fansite/entropy/flow/ensemble.h"

namespace fansite::flow {

/// Which networks judge which rows.
enum class NetworkSet {
  unseen,  ///< each row by the networks that have not seen it (by all if every one has): what was learnt by heart does
           ///< not count
  all,     ///< each row by all networks: less noise, so they rank better, but every variable seems to tell a little
  sample  ///< a first pass: as all for up to kSampleRows rows, else so many, evenly spread, by kSampleNetworks networks
};

class EnsembleDensity {
 public:
  static constexpr Index kSampleRows = 1000;  // the paper's K
  static constexpr std::size_t kSampleNetworks = 10;

  /// `values` has the ensemble's columns, in the same order; `values_hash`: of them, if it is known already.
  EnsembleDensity(const Ensemble& ensemble, const MatrixView& values, std::optional<std::uint64_t> values_hash = {});

  /// One network with the rows it judges.
  struct Part {
    Density density;
    std::vector<int> place;   ///< of each column in the network's order
    std::vector<int> unseen;  ///< rows that it judges under NetworkSet::unseen
    Table unseen_table;       ///< those rows, in the network's order
    Table table;              ///< all rows
    Table sample_table;       ///< the sampled rows; empty if these are all

    Subset places(std::span<const int> columns) const;  ///< sorted
  };
  std::span<const Part> parts() const { return parts_; }

  Index rows() const { return values_.rows(); }
  Index rows(NetworkSet networks) const { return networks == NetworkSet::sample ? sampled_ : rows(); }
  /// The networks that judge.
  std::span<const Part> parts(NetworkSet networks) const;
  /// The table after the ensemble's transforms, in its own order of columns.
  const Table& values() const { return values_; }
  /// Whether each row is judged by networks that have not seen it: always for another table, with folds for its own.
  bool out_of_sample() const { return out_of_sample_; }
  /// The largest subset all networks have a density for.
  int largest_subset() const { return largest_; }
  /// Densities computed so far, of one subset, row and network each.
  std::int64_t evaluations() const { return evaluations_->load(); }
  void count(std::int64_t evaluations) const { *evaluations_ += evaluations; }

  /// out(i, q) = log p(x_T | x_S) of row i on the transformed scale, mixed over its judges: ln mean_k p_k(S, T) /
  /// p_k(S). `given` need not be sorted; T is not in it.
  Eigen::MatrixXf conditional(std::span<const EntropyQuery> queries, NetworkSet networks = NetworkSet::unseen) const;

 private:
  std::vector<Part> parts_;
  Table values_;
  Index sampled_ = 0;
  bool out_of_sample_ = false;
  int largest_ = 0;
  std::unique_ptr<std::atomic<std::int64_t>> evaluations_;
};

}  // namespace fansite::flow
