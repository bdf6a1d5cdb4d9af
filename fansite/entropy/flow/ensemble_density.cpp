// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/ensemble_density.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"

namespace fansite::flow {
namespace {

// The columns of `values` in the order of a network.
Table in_order(const Table& values, const std::vector<int>& order) { return values(Eigen::all, order); }

// At most kSampleRows rows, evenly spread.
std::vector<int> sample(Index rows) {
  const Index count = std::min(rows, EnsembleDensity::kSampleRows);
  std::vector<int> result;
  for (Index i = 0; i < count; ++i) result.push_back(static_cast<int>(i * rows / count));
  return result;
}

}  // namespace

Subset EnsembleDensity::Part::places(std::span<const int> columns) const {
  Subset subset;
  for (const int column : columns) subset.push_back(place[static_cast<std::size_t>(column)]);
  std::sort(subset.begin(), subset.end());
  return subset;
}

EnsembleDensity::EnsembleDensity(const Ensemble& ensemble, const MatrixView& values,
                                 std::optional<std::uint64_t> values_hash)
    : evaluations_(std::make_unique<std::atomic<std::int64_t>>(0)) {
  check(values.cols() == static_cast<Index>(ensemble.names.size()), "[flow] a table of {} columns for a model of {}",
        values.cols(), ensemble.names.size());
  const bool own_table =
      values.rows() == ensemble.rows && (values_hash ? *values_hash : hash_of(values)) == ensemble.data_hash;
  out_of_sample_ = !own_table || ensemble.params.folds > 1;
  largest_ = ensemble.params.shape.ranks + 1;
  values_ = apply_transforms(ensemble.transforms, values).cast<float>();
  const std::vector<int> sampled = sample(values.rows());
  sampled_ = static_cast<Index>(sampled.size());
  for (const Network& network : ensemble.networks) {
    Part part{Density(network.trained.weights, network.trained.base), {}, {}, {}, in_order(values_, network.order), {}};
    part.place.resize(network.order.size());
    for (std::size_t p = 0; p < network.order.size(); ++p) {
      part.place[static_cast<std::size_t>(network.order[p])] = static_cast<int>(p);
    }
    for (Index row = 0; row < values.rows(); ++row) {
      if (!own_table || ensemble.params.folds == 1 || !ensemble.has_seen(network, row)) {
        part.unseen.push_back(static_cast<int>(row));
      }
    }
    part.unseen_table = part.table(part.unseen, Eigen::all);
    if (sampled_ < values.rows()) part.sample_table = part.table(sampled, Eigen::all);
    parts_.push_back(std::move(part));
  }
}

std::span<const EnsembleDensity::Part> EnsembleDensity::parts(NetworkSet networks) const {
  const bool some = networks == NetworkSet::sample && sampled_ < rows();
  return parts().first(some ? std::min(kSampleNetworks, parts_.size()) : parts_.size());
}

Eigen::MatrixXf EnsembleDensity::conditional(std::span<const EntropyQuery> queries, NetworkSet networks) const {
  const auto columns = static_cast<Index>(queries.size());
  const Index rows_judged = rows(networks);
  // ln Σ_k e^{l_k} row by row: the largest l_k so far, and the sum in units of its exponential.
  Eigen::MatrixXf largest = Eigen::MatrixXf::Constant(rows_judged, columns, -std::numeric_limits<float>::infinity());
  Eigen::MatrixXf sum = Eigen::MatrixXf::Zero(rows_judged, columns);
  std::vector<int> judges(static_cast<std::size_t>(rows_judged), 0);
  std::vector<Subset> subsets(2 * queries.size());
  for (const Part& part : parts(networks)) {
    for (std::size_t q = 0; q < queries.size(); ++q) {
      Subset& given = subsets[2 * q];
      given = part.places(queries[q].given);
      Subset& with_target = subsets[2 * q + 1];
      with_target = given;
      const int target = part.place[static_cast<std::size_t>(queries[q].target)];
      with_target.insert(std::upper_bound(with_target.begin(), with_target.end(), target), target);
    }
    const bool some = networks == NetworkSet::unseen;
    const Table& table = some                                                             ? part.unseen_table
                         : networks == NetworkSet::sample && part.sample_table.size() > 0 ? part.sample_table
                                                                                          : part.table;
    const Eigen::MatrixXf density = part.density.log_density(table, subsets);
    count(table.rows() * static_cast<std::int64_t>(subsets.size()));
    const auto row_of = [&](Index i) { return some ? Index{part.unseen[static_cast<std::size_t>(i)]} : i; };
    parallel_for(columns, [&](std::ptrdiff_t q) {
      for (Index i = 0; i < table.rows(); ++i) {
        const float l = density(i, 2 * q + 1) - density(i, 2 * q);
        float& top = largest(row_of(i), q);
        float& total = sum(row_of(i), q);
        total = l > top ? total * std::exp(top - l) + 1 : total + std::exp(l - top);
        top = std::max(top, l);
      }
    });
    for (Index i = 0; i < table.rows(); ++i) ++judges[static_cast<std::size_t>(row_of(i))];
  }
  parallel_for(columns, [&](std::ptrdiff_t q) {
    for (Index i = 0; i < rows_judged; ++i) {
      largest(i, q) += std::log(sum(i, q) / static_cast<float>(judges[static_cast<std::size_t>(i)]));
    }
  });
  return largest;
}

}  // namespace fansite::flow
