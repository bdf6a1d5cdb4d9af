// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/ensemble_density.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/entropy/flow/accelerator.h"

namespace fansite::flow {
namespace {

// A share below this changes no density by more than rounding does.
constexpr float kLeastShare = 1e-4f;

// At most kSampleRows rows, evenly spread.
std::vector<int> sample(Index rows) {
  const Index count = std::min(rows, EnsembleDensity::kSampleRows);
  std::vector<int> result;
  for (Index i = 0; i < count; ++i) result.push_back(static_cast<int>(i * rows / count));
  return result;
}

// Of each column: those of the factor that it is the first of, or itself.
std::vector<std::vector<int>> columns_by_variable(const Judges& ensemble) {
  std::vector<std::vector<int>> columns(ensemble.names.size());
  for (std::size_t j = 0; j < columns.size(); ++j) columns[j] = {static_cast<int>(j)};
  for (const Factor& factor : ensemble.factors) {
    for (const int column : factor.columns) columns[static_cast<std::size_t>(column)].clear();
    columns[static_cast<std::size_t>(factor.columns.front())] = factor.columns;
  }
  return columns;
}

// ln p(T | S) as a difference of two joint densities is no more exactly normalised than these are consistent. What can
// be known is that a probability, that of an interval, is 1 at most.
class Bound {
 public:
  Bound(const CellTable& table, Subset target) : table_(&table), target_(std::move(target)) {
    applies_ = std::all_of(target_.begin(), target_.end(), [&](int column) { return table.is_coarse(column); });
  }
  float at_most(float log_density, Index row) const {
    if (!applies_ || !(log_density > 0)) return log_density;
    for (const int column : target_) {
      if (!(table_->low(row, column) < table_->high(row, column))) return log_density;
    }
    return 0;
  }

 private:
  const CellTable* table_;
  Subset target_;
  bool applies_;
};

GaussianBase with_reliability(GaussianBase base, const std::vector<ColumnTransform>& transforms,
                              const std::vector<int>& order) {
  const bool coarse =
      std::any_of(transforms.begin(), transforms.end(), [](const auto& t) { return t.has_intervals(); });
  if (base.empty() || !coarse) return base;
  Vector reliability(static_cast<Index>(order.size()));
  for (std::size_t p = 0; p < order.size(); ++p) {
    reliability[static_cast<Index>(p)] = transforms[static_cast<std::size_t>(order[p])].reliability();
  }
  base.set_reliability(std::move(reliability));
  return base;
}

}  // namespace

Subset EnsembleDensity::Part::places(std::span<const int> variables) const {
  Subset subset;
  for (const int variable : variables) {
    for (const int column : columns[static_cast<std::size_t>(variable)]) {
      subset.push_back(place[static_cast<std::size_t>(column)]);
    }
  }
  std::sort(subset.begin(), subset.end());
  return subset;
}

Judges judges_of(const Ensemble& ensemble) {
  Judges judges{.names = ensemble.names,
                .factors = ensemble.factors,
                .rows = ensemble.rows,
                .data_hash = ensemble.data_hash,
                .folds = ensemble.params.folds,
                .repeats = ensemble.params.repeats,
                .transforms = ensemble.transforms,
                .fold_of_row = ensemble.fold_of_row,
                .networks = {},
                .linear = {},
                .linear_share = ensemble.linear_share};
  for (const Network& network : ensemble.networks) {
    const GaussianBase base = with_reliability(network.trained.base, ensemble.transforms, network.order);
    judges.networks.push_back({network.order, network.repeat, network.fold, density_of(network.trained.weights, base)});
  }
  std::vector<int> order(ensemble.names.size());
  std::iota(order.begin(), order.end(), 0);
  for (const GaussianBase& base : ensemble.linear) {
    judges.linear.push_back(std::make_shared<const Density>(with_reliability(base, ensemble.transforms, order)));
  }
  return judges;
}

EnsembleDensity::EnsembleDensity(const Judges& ensemble, const MatrixView& values,
                                 std::optional<std::uint64_t> values_hash)
    : transforms_(ensemble.transforms),
      columns_(columns_by_variable(ensemble)),
      share_(ensemble.linear_share),
      evaluations_(std::make_unique<std::atomic<std::int64_t>>(0)) {
  check(values.cols() == static_cast<Index>(ensemble.names.size()), "[flow] a table of {} columns for a model of {}",
        values.cols(), ensemble.names.size());
  const bool own_table =
      values.rows() == ensemble.rows && (values_hash ? *values_hash : hash_of(values)) == ensemble.data_hash;
  out_of_sample_ = !own_table || ensemble.folds > 1;
  rows_divided_ = own_table && ensemble.folds > 1;
  largest_ = ensemble.largest_subset();
  std::vector<std::vector<int>> factors;
  for (const Factor& factor : ensemble.factors) factors.push_back(factor.columns);
  cells_ = cells_of(transforms_, factors, values);
  sampled_ = std::min(rows(), kSampleRows);
  add_networks(ensemble, own_table);
  add_linear(ensemble, own_table);
}

void EnsembleDensity::add_networks(const Judges& ensemble, bool own_table) {
  for (const Judges::Network& network : ensemble.networks) {
    Part part{.density = network.density, .columns = columns_};
    part.place.resize(network.order.size());
    for (std::size_t p = 0; p < network.order.size(); ++p) {
      part.place[static_cast<std::size_t>(network.order[p])] = static_cast<int>(p);
    }
    for (Index row = 0; row < rows(); ++row) {
      const auto folds_of = [&]() -> const auto& {
        return ensemble.fold_of_row[static_cast<std::size_t>(network.repeat)];
      };
      if (!own_table || ensemble.folds == 1 || folds_of()[static_cast<std::size_t>(row)] == network.fold) {
        part.unseen.push_back(static_cast<int>(row));
      }
    }
    set_tables(part, network.order);
    parts_.push_back(std::move(part));
  }
  networks_ = parts_.size();
  const auto judges = rows_divided_ ? static_cast<std::size_t>(ensemble.repeats) : networks_;
  log_judges_ = std::log(static_cast<float>(std::max<std::size_t>(judges, 1)));
}

void EnsembleDensity::add_linear(const Judges& ensemble, bool own_table) {
  std::vector<int> order(ensemble.names.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t fold = 0; fold < ensemble.linear.size(); ++fold) {
    Part part{.density = ensemble.linear[fold], .linear = true, .place = order, .columns = columns_};
    for (Index row = 0; row < rows(); ++row) {
      // Of another table every linear model could judge every row; one is enough.
      const bool judges = own_table && ensemble.folds > 1
                              ? ensemble.fold_of_row.front()[static_cast<std::size_t>(row)] == fold
                              : fold == 0;
      if (judges) part.unseen.push_back(static_cast<int>(row));
    }
    set_tables(part, order);
    parts_.push_back(std::move(part));
  }
}

void EnsembleDensity::set_tables(Part& part, const std::vector<int>& order) const {
  if (!part.linear) part.table = in_order(cells_, order);
  const CellTable& all = part.linear ? cells_ : part.table;
  part.unseen_table = take_rows(all, part.unseen);
  if (sampled_ == rows()) return;
  if (!part.linear) part.sample_table = take_rows(all, sample(rows()));
  part.unseen_sample.clear();
  std::vector<int> sampled;
  for (const int row : part.unseen) {
    const Index place = (row * sampled_ + rows() - 1) / rows();  // the first that is no earlier row
    if (place >= sampled_ || row_at(place, NetworkSet::sample) != row) continue;
    part.unseen_sample.push_back(static_cast<int>(place));
    sampled.push_back(row);
  }
  part.unseen_sample_table = take_rows(all, sampled);
}

void EnsembleDensity::complete(const MatrixView& values, std::vector<int> row_of) {
  const auto count = static_cast<Index>(row_of.size());
  check(values.rows() == count && values.cols() == cells_.score.cols(),
        "[flow] {} rows of {} columns complete {} rows of {}", values.rows(), values.cols(), count,
        cells_.score.cols());
  ByteMatrix drawn(count, cells_.score.cols());
  std::vector<std::vector<int>> versions(static_cast<std::size_t>(rows()));
  for (Index i = 0; i < count; ++i) {
    const int row = row_of[static_cast<std::size_t>(i)];
    drawn.row(i) = cells_.score.row(row).array().isNaN().cast<unsigned char>();
    versions[static_cast<std::size_t>(row)].push_back(static_cast<int>(i));
  }
  std::vector<std::vector<int>> factors;
  for (const std::vector<int>& columns : columns_) {
    if (columns.size() > 1) factors.push_back(columns);
  }
  cells_ = cells_of(transforms_, factors, values);
  drawn_ = std::move(drawn);
  row_of_ = std::move(row_of);
  sampled_ = std::min(rows(), kSampleRows);
  for (Part& part : parts_) {
    std::vector<int> unseen, order(part.place.size());
    for (const int row : part.unseen) {
      const std::vector<int>& own = versions[static_cast<std::size_t>(row)];
      unseen.insert(unseen.end(), own.begin(), own.end());
    }
    part.unseen = std::move(unseen);
    for (std::size_t j = 0; j < order.size(); ++j) order[static_cast<std::size_t>(part.place[j])] = static_cast<int>(j);
    set_tables(part, order);
  }
}

void EnsembleDensity::replace(std::span<const int> rows, const std::vector<TrialColumn>& cells) {
  const std::vector<int> sampled = sample(this->rows());
  const auto take = [](const Table& from, int column, const std::vector<int>& which, Table& to, int place) {
    for (std::size_t i = 0; i < which.size(); ++i) to(static_cast<Index>(i), place) = from(which[i], column);
  };
  for (const TrialColumn& option : cells) {
    const int column = option.variable;
    const bool coarse = cells_.is_coarse(column);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto from = static_cast<Index>(i);
      cells_.score(rows[i], column) = option.values(from, 0);
      if (!cells_.has_intervals()) continue;
      cells_.low(rows[i], column) = coarse ? option.low(from, 0) : option.values(from, 0);
      cells_.high(rows[i], column) = coarse ? option.high(from, 0) : option.values(from, 0);
    }
    for (Part& part : parts_) {
      const int place = part.place[static_cast<std::size_t>(column)];
      const auto refresh = [&](const std::vector<int>& which, CellTable& table) {
        take(cells_.score, column, which, table.score, place);
        if (!cells_.has_intervals()) return;
        take(cells_.low, column, which, table.low, place);
        take(cells_.high, column, which, table.high, place);
      };
      refresh(part.unseen, part.unseen_table);
      if (part.unseen_sample_table.rows() > 0) {
        std::vector<int> of_part;
        for (const int place_in_sample : part.unseen_sample) {
          of_part.push_back(sampled[static_cast<std::size_t>(place_in_sample)]);
        }
        refresh(of_part, part.unseen_sample_table);
      }
      if (part.linear) continue;
      for (const int row : rows) {
        part.table.score(row, place) = cells_.score(row, column);
        if (!cells_.has_intervals()) continue;
        part.table.low(row, place) = cells_.low(row, column);
        part.table.high(row, place) = cells_.high(row, column);
      }
      if (part.sample_table.rows() > 0) refresh(sampled, part.sample_table);
    }
  }
}

std::span<const EnsembleDensity::Part> EnsembleDensity::networks(NetworkSet set) const {
  return networks().first(set == NetworkSet::sample ? std::min(kSampleNetworks, networks_) : networks_);
}

EnsembleDensity::Weights EnsembleDensity::weights(int target, std::size_t given) const {
  const float share = linear().empty() || share_.empty() ? 0.0f : share_.at(target, given);
  if (share < kLeastShare) return {-log_judges_, 0, false};
  return {std::log1p(-std::min(share, 0.9999f)) - log_judges_, std::log(share), true};
}

// ln Σ_k w_k e^{l_k} row by row: the largest l_k so far, and the sum in units of its exponential.
struct EnsembleDensity::Mixture {
  Mixture(Index rows, Index columns)
      : largest(Eigen::MatrixXf::Constant(rows, columns, -std::numeric_limits<float>::infinity())),
        sum(Eigen::MatrixXf::Zero(rows, columns)) {}

  void add(Index row, Index column, float l) {
    float& top = largest(row, column);
    float& total = sum(row, column);
    if (std::isnan(l)) {  // a cell is absent, whichever network is asked
      top = total = l;
      return;
    }
    total = l > top ? total * std::exp(top - l) + 1 : total + std::exp(l - top);
    top = std::max(top, l);
  }

  Eigen::MatrixXf largest, sum;
};

void EnsembleDensity::mix(const Part& part, std::span<const EntropyQuery> queries, NetworkSet networks,
                          Mixture& mixture) const {
  std::vector<Index> asked;  // a linear model without a share is not
  std::vector<float> log_weight;
  // A linear model judges each row once, whatever the networks.
  const bool by_folds = networks == NetworkSet::unseen || networks == NetworkSet::unseen_sample || part.linear;
  const bool sampled = of_sample(networks) && sampled_ < rows();
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const Weights weight = weights(queries[q].target, queries[q].given.size());
    if (part.linear && !weight.has_linear) continue;
    asked.push_back(static_cast<Index>(q));
    const float all = std::log(static_cast<float>(this->networks(networks).size()));
    const float network = by_folds ? weight.network : weight.network + log_judges_ - all;
    log_weight.push_back(part.linear ? weight.linear : network);
  }
  if (asked.empty()) return;
  std::vector<ConditionalSubset> questions;
  for (const Index a : asked) {
    const EntropyQuery& query = queries[static_cast<std::size_t>(a)];
    questions.push_back({part.places({&query.target, 1}), part.places(query.given)});
  }
  const CellTable& of_folds = sampled ? part.unseen_sample_table : part.unseen_table;
  const CellTable& table = by_folds ? of_folds : sampled ? part.sample_table : part.table;
  const std::vector<int>& row_of = sampled ? part.unseen_sample : part.unseen;
  if (table.rows() == 0) return;
  const Eigen::MatrixXf density = part.density->log_conditional(table, questions);
  count(2 * table.rows() * static_cast<std::int64_t>(questions.size()));
  parallel_for(static_cast<Index>(asked.size()), [&](std::ptrdiff_t a) {
    const Bound bound(table, questions[static_cast<std::size_t>(a)].target);
    for (Index i = 0; i < table.rows(); ++i) {
      const Index row = by_folds ? Index{row_of[static_cast<std::size_t>(i)]} : i;
      mixture.add(row, asked[static_cast<std::size_t>(a)],
                  bound.at_most(density(i, a), i) + log_weight[static_cast<std::size_t>(a)]);
    }
  });
}

Eigen::MatrixXf EnsembleDensity::conditional(std::span<const EntropyQuery> queries, NetworkSet networks) const {
  const auto columns = static_cast<Index>(queries.size());
  Mixture mixture(rows(networks), columns);
  for (const Part& part : this->networks(networks)) mix(part, queries, networks, mixture);
  for (const Part& part : linear()) mix(part, queries, networks, mixture);
  parallel_for(columns, [&](std::ptrdiff_t q) {
    for (Index i = 0; i < mixture.sum.rows(); ++i) mixture.largest(i, q) += std::log(mixture.sum(i, q));
  });
  return std::move(mixture.largest);
}

// ---- Stacking -------------------------------------------------------------------------------------------------------

namespace {

// Columns by how much they correlate with a target, the most first.
std::vector<int> by_correlation(const EnsembleDensity& density, const Matrix& correlation, int target) {
  std::vector<int> order;
  for (int j = 0; j < static_cast<int>(correlation.cols()); ++j) {
    if (j != target && !density.columns(j).empty()) order.push_back(j);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return std::abs(correlation(a, target)) > std::abs(correlation(b, target)); });
  return order;
}

// The share w with the largest Σ ln((1−w) e^f + w e^g), by EM from one half; a prior worth `kPrior` rows keeps it off
// its ends, where a single outlier would decide.
float best_share(const Eigen::ArrayXd& by_networks, const Eigen::ArrayXd& by_linear) {
  constexpr double kPrior = 2;
  double share = 0.5;
  for (int round = 0; round < 200; ++round) {
    double sum = 0, count = 0;
    for (Index i = 0; i < by_networks.size(); ++i) {
      const double difference = by_networks[i] - by_linear[i];
      if (std::isnan(difference)) continue;
      sum += share / (share + (1 - share) * std::exp(std::clamp(difference, -700.0, 700.0)));
      ++count;
    }
    if (count == 0) return 0;
    const double next = (sum + 0.5 * kPrior) / (count + kPrior);
    const bool settled = std::abs(next - share) < 1e-4;
    share = next;
    if (settled) break;
  }
  return static_cast<float>(share);
}

}  // namespace

LinearShare stacked_share(const EnsembleDensity& density) {
  LinearShare result;
  const auto d = static_cast<int>(density.values().cols());
  if (density.linear().empty() || d < 2) return result;
  result.share.assign(static_cast<std::size_t>(d) * LinearShare::kSizes.size(), 0.0f);
  Matrix scores = density.values().cast<double>().unaryExpr([](double x) { return std::isnan(x) ? 0.0 : x; });
  const Matrix correlation = scores.transpose() * scores;
  // Of the networks or of the linear models alone, on rows they have not seen; a column for each query.
  const auto log_conditional = [&](std::span<const EnsembleDensity::Part> parts,
                                   std::span<const EntropyQuery> queries) {
    const auto columns = static_cast<Index>(queries.size());
    Eigen::ArrayXXd sum = Eigen::ArrayXXd::Zero(density.rows(), columns), count = sum, top = sum;
    top.setConstant(-std::numeric_limits<double>::infinity());
    for (const EnsembleDensity::Part& part : parts) {
      std::vector<Subset> subsets;
      for (const EntropyQuery& query : queries) {
        std::vector<int> with_target = query.given;
        with_target.push_back(query.target);
        subsets.push_back(part.places(query.given));
        subsets.push_back(part.places(with_target));
      }
      const Eigen::MatrixXf l = part.density->log_density(part.unseen_table, subsets);
      for (Index q = 0; q < columns; ++q) {
        const Bound bound(part.unseen_table, part.places({&queries[static_cast<std::size_t>(q)].target, 1}));
        for (Index i = 0; i < l.rows(); ++i) {
          const Index row = part.unseen[static_cast<std::size_t>(i)];
          const double value = static_cast<double>(bound.at_most(l(i, 2 * q + 1) - l(i, 2 * q), i));
          const double above = std::max(top(row, q), value);
          sum(row, q) = sum(row, q) * std::exp(top(row, q) - above) + std::exp(value - above);
          top(row, q) = above;
          ++count(row, q);
        }
      }
    }
    return Eigen::ArrayXXd(top + (sum / count).log());
  };
  parallel_for(d, [&](std::ptrdiff_t j) {
    const auto target = static_cast<int>(j);
    if (density.columns(target).empty()) return;  // a later column of a factor
    const std::vector<int> others = by_correlation(density, correlation, target);
    std::vector<EntropyQuery> queries;  // of all sizes in one call
    for (std::size_t s = 0; s < LinearShare::kSizes.size(); ++s) {
      const auto most = static_cast<std::size_t>(density.largest_subset() - 1);
      std::size_t size = std::min({static_cast<std::size_t>(LinearShare::kSizes[s]), others.size(), most});
      std::size_t width = density.columns(target).size();
      for (std::size_t k = 0; k < size; ++k) {
        width += density.columns(others[k]).size();
        if (width > most + 1) size = k;  // factors are wide
      }
      queries.push_back({target, {others.begin(), others.begin() + static_cast<std::ptrdiff_t>(size)}});
    }
    const Eigen::ArrayXXd networks = log_conditional(density.networks(), queries);
    const Eigen::ArrayXXd linear = log_conditional(density.linear(), queries);
    for (std::size_t s = 0; s < queries.size(); ++s) {
      const auto q = static_cast<Index>(s);
      result.share[static_cast<std::size_t>(j) * queries.size() + s] = best_share(networks.col(q), linear.col(q));
    }
  });
  return result;
}

}  // namespace fansite::flow
