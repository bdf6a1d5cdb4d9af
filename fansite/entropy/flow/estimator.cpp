// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/estimator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "fansite/base/error.h"
#include "fansite/base/special.h"
#include "fansite/entropy/flow/dependence.h"
#include "fansite/entropy/flow/detail/frontier.h"
#include "fansite/table/findings.h"

namespace fansite {
namespace {

constexpr std::size_t kQueriesAtOnce = 512;  // keeps the row by row values of a call in tens of megabytes

// Per column: itself, the earlier column it repeats, or −1 for a constant.
std::vector<int> originals(const TableFacts& facts) {
  std::vector<int> original(facts.copy_of.size(), -1);
  for (std::size_t j = 0; j < original.size(); ++j) {
    original[j] = facts.copy_of[j] >= 0 ? facts.copy_of[j] : facts.takes_part[j] != 0 ? static_cast<int>(j) : -1;
  }
  return original;
}

bool is_context(const Dataset& data, int variable) {
  return !data.columns.empty() && data.columns[static_cast<std::size_t>(variable)].context;
}

const flow::Factor* factor_called(const flow::Ensemble& ensemble, const std::string& name) {
  for (const flow::Factor& factor : ensemble.factors) {
    if (factor.name == name) return &factor;
  }
  return nullptr;
}

std::vector<int> first_columns(const Dataset& data, const TableFacts& facts, const flow::Ensemble& ensemble) {
  std::vector<int> column;
  for (const int original : originals(facts)) {
    if (original < 0) {
      column.push_back(-1);
      continue;
    }
    const std::string& name = data.names[static_cast<std::size_t>(original)];
    if (const flow::Factor* factor = factor_called(ensemble, name)) {
      column.push_back(factor->columns.front());
      continue;
    }
    const auto found = std::find(ensemble.names.begin(), ensemble.names.end(), name);
    check(found != ensemble.names.end(),
          "[entropy] the model does not know column '{}'; it was trained on another table", name);
    column.push_back(static_cast<int>(found - ensemble.names.begin()));
  }
  return column;
}

// The indicators of a nominal column. A level that the model does not know is among its others, or else absent.
void fill_factor(const Dataset& data, int column, const flow::Factor& factor, Matrix& values) {
  const auto place = [&](const std::string& label) {
    return std::find(factor.levels.begin(), factor.levels.end(), label) - factor.levels.begin();
  };
  const auto unknown = static_cast<std::ptrdiff_t>(factor.levels.size());
  std::map<double, std::ptrdiff_t> level_of;
  for (Index row = 0; row < data.rows(); ++row) {
    const double value = data.values(row, column);
    std::ptrdiff_t level = unknown;
    if (!std::isnan(value)) {
      const auto [found, fresh] = level_of.try_emplace(value, unknown);
      if (fresh) found->second = place(level_label(data, column, value));
      level = found->second == unknown ? place(NominalLevels::kOther) : found->second;
    }
    for (std::size_t c = 0; c < factor.columns.size(); ++c) {
      const bool absent = level == unknown;
      values(row, factor.columns[c]) = absent ? std::numeric_limits<double>::quiet_NaN()
                                       : level == static_cast<std::ptrdiff_t>(c) + 1 ? 1.0
                                                                                     : 0.0;
    }
  }
}

// The table's values in the ensemble's columns.
Matrix values_of(const Dataset& data, const flow::Ensemble& ensemble, const std::vector<int>& column) {
  Matrix values(data.rows(), static_cast<Index>(ensemble.names.size()));
  std::vector<char> filled(ensemble.names.size(), 0);
  for (std::size_t j = 0; j < column.size(); ++j) {
    if (column[j] < 0 || filled[static_cast<std::size_t>(column[j])] != 0) continue;
    if (const flow::Factor* factor = factor_called(ensemble, data.names[j])) {
      fill_factor(data, static_cast<int>(j), *factor, values);
      for (const int c : factor->columns) filled[static_cast<std::size_t>(c)] = 1;
      continue;
    }
    values.col(column[j]) = data.values.col(static_cast<Index>(j));
    filled[static_cast<std::size_t>(column[j])] = 1;
  }
  for (std::size_t k = 0; k < filled.size(); ++k) {
    check(filled[k] != 0, "[entropy] the model's column '{}' is missing or constant in this table", ensemble.names[k]);
  }
  return values;
}

}  // namespace

FlowEstimator::FlowEstimator(const Dataset& data, const TableFacts& facts, const flow::Ensemble& ensemble)
    : column_(first_columns(data, facts, ensemble)),
      means_(data),
      density_(ensemble, values_of(data, ensemble, column_),
               ensemble.names == data.names ? std::optional(facts.values_hash) : std::nullopt) {
  for (const ColumnTransform& transform : ensemble.transforms) log_slope_.push_back(transform.log_slope);
  for (int j = 0; j < data.variables(); ++j) {
    const int column = column_[static_cast<std::size_t>(j)];
    is_context_.push_back(is_context(data, j) ? 1 : 0);
    const bool repeated = std::find(context_.begin(), context_.end(), column) != context_.end();
    if (is_context_.back() != 0 && column >= 0 && !repeated) context_.push_back(column);
  }
}

int FlowEstimator::largest_set() const {
  const flow::Shape& shape = density_.networks().front().density.shape();
  // Columns of the widest variables, and of the context: whatever is asked, there must be room.
  std::vector<int> widths;
  int context = 0, all = 0;
  for (int j = 0; j < variables(); ++j) {
    const int column = column_[static_cast<std::size_t>(j)];
    if (column < 0) continue;
    const auto width = static_cast<int>(density_.columns(column).size());
    if (informative(j)) widths.push_back(width);
    all += width;
  }
  for (const int column : context_) context += static_cast<int>(density_.columns(column).size());
  if (context == 0 && all == static_cast<int>(widths.size())) return flow::largest_set(shape);
  if (shape.full()) return std::max(static_cast<int>(widths.size()) - 1, 0);
  std::sort(widths.rbegin(), widths.rend());
  // A target, and one variable more than the set has, are columns too.
  int room = shape.ranks + 1 - context, size = -2;
  for (const int width : widths) {
    room -= width;
    if (room < 0) break;
    ++size;
  }
  return std::max(size, 0);
}

std::vector<int> FlowEstimator::columns_of(std::span<const int> variables) const {
  std::vector<int> columns = context_;
  for (const int variable : variables) columns.push_back(column_[static_cast<std::size_t>(variable)]);
  return columns;
}

bool FlowEstimator::original_scale(int target) const {
  const int column = column_[static_cast<std::size_t>(target)];
  return column >= 0 && std::isfinite(log_slope_[static_cast<std::size_t>(column)]);
}

FlowEstimator::Reduced FlowEstimator::reduce(const EntropyQuery& query) const {
  validate(query, variables());
  Reduced reduced;
  reduced.query.target = column_[static_cast<std::size_t>(query.target)];
  reduced.determined = reduced.query.target < 0;
  for (const int column : columns_of(query.given)) {
    if (column < 0) continue;
    if (column == reduced.query.target) reduced.determined = true;
    reduced.query.given.push_back(column);
  }
  auto& given = reduced.query.given;
  std::sort(given.begin(), given.end());
  given.erase(std::unique(given.begin(), given.end()), given.end());
  check(reduced.determined || static_cast<int>(given.size()) < largest_subset(),
        "[entropy] {} variables given; this flow knows sets of up to {}, the target among them", given.size(),
        largest_subset());
  return reduced;
}

std::vector<EntropyEstimate> FlowEstimator::conditional_entropy(std::span<const EntropyQuery> queries) const {
  std::vector<EntropyEstimate> result(queries.size());
  for (std::size_t first = 0; first < queries.size(); first += kQueriesAtOnce) {
    std::vector<EntropyQuery> asked;
    std::vector<std::size_t> place;
    for (std::size_t q = first; q < std::min(first + kQueriesAtOnce, queries.size()); ++q) {
      Reduced reduced = reduce(queries[q]);
      result[q].value = -std::numeric_limits<double>::infinity();
      if (reduced.determined) continue;
      asked.push_back(std::move(reduced.query));
      place.push_back(q);
    }
    const Eigen::MatrixXf log_density = density_.conditional(asked);
    for (std::size_t a = 0; a < asked.size(); ++a) {
      EntropyEstimate& estimate = result[place[a]];
      estimate = means_.mean(-log_density.col(static_cast<Index>(a)).cast<double>().array());
      const double slope = log_slope_[static_cast<std::size_t>(asked[a].target)];
      if (std::isfinite(slope)) estimate.value += slope;
    }
  }
  return result;
}

std::vector<EntropyEstimate> FlowEstimator::mutual_information(std::span<const InformationQuery> queries) const {
  std::vector<EntropyEstimate> result(queries.size());
  for (std::size_t first = 0; first < queries.size(); first += kQueriesAtOnce / 2) {
    std::vector<EntropyQuery> asked;
    std::vector<std::size_t> place;
    for (std::size_t q = first; q < std::min(first + kQueriesAtOnce / 2, queries.size()); ++q) {
      EntropyQuery with = {queries[q].target, queries[q].given};
      Reduced before = reduce(with);
      with.given.insert(with.given.end(), queries[q].about.begin(), queries[q].about.end());
      Reduced after = reduce(with);
      if (before.determined) continue;  // nothing was left to tell
      if (after.determined) {
        result[q].value = std::numeric_limits<double>::infinity();
        continue;
      }
      if (before.query.given == after.query.given) continue;  // nothing was added
      asked.push_back(std::move(before.query));
      asked.push_back(std::move(after.query));
      place.push_back(q);
    }
    const Eigen::MatrixXf log_density = density_.conditional(asked);
    for (std::size_t a = 0; a < place.size(); ++a) {
      const auto column = static_cast<Index>(2 * a);
      result[place[a]] =
          means_.mean((log_density.col(column + 1).cast<double>() - log_density.col(column).cast<double>()).array());
    }
  }
  return result;
}

std::optional<Calibration> FlowEstimator::calibration(std::span<const EntropyQuery> queries, Progress& progress) const {
  if (!out_of_sample()) return std::nullopt;
  return calibration(queries, CalibrationParams(), progress);
}

Calibration FlowEstimator::calibration(std::span<const EntropyQuery> queries, const CalibrationParams& params,
                                       Progress& progress) const {
  std::vector<EntropyQuery> asked;
  std::vector<int> targets;
  for (const EntropyQuery& query : queries) {
    Reduced reduced = reduce(query);
    const bool nominal = !reduced.determined && density_.columns(reduced.query.target).size() > 1;
    if (reduced.determined || nominal) continue;  // levels without an order have no distribution function
    asked.push_back(std::move(reduced.query));
    targets.push_back(query.target);
  }
  Calibration result = flow::calibration(density_, asked, params, progress);
  for (std::size_t t = 0; t < targets.size(); ++t) result.targets[t].target = targets[t];
  return result;
}

// ---- What the search asks -------------------------------------------------------------------------------------------

namespace {

// Scores of less than this many nats are rounding: densities are good to 1e-5, and an information of 1e-3²/2 nats
// cannot be seen in fewer than millions of rows.
constexpr float kLeastSpread = 1e-3f;

// Mean square 1 over the rows that have a score, or zero.
float scale_of(const Eigen::ArrayXf& scores) {
  float sum = 0, squares = 0, count = 0;
  for (const float score : scores) {
    if (std::isnan(score)) continue;
    sum += score;
    squares += score * score;
    ++count;
  }
  if (count == 0) return 0;
  const float mean = sum / count, spread = std::sqrt(std::max(squares / count - mean * mean, 0.0f));
  return spread < kLeastSpread ? 0.0f : 1 / spread;
}

}  // namespace

double FlowEstimator::p_value(double, int) const { return std::numeric_limits<double>::quiet_NaN(); }

PairEvidence FlowEstimator::pair_evidence(const PairQuery& query) const {
  const int a = column_[static_cast<std::size_t>(query.a)], b = column_[static_cast<std::size_t>(query.b)];
  PairEvidence evidence;
  evidence.inflation = std::sqrt(2.0);
  evidence.scores = Eigen::ArrayXf::Zero(means_.units());
  Eigen::ArrayXd networks = Eigen::ArrayXd::Zero(static_cast<Index>(density_.networks().size()));
  const auto add_side = [&](int target, int other, const std::vector<int>& given) {
    const flow::DependenceScores scores = flow::dependence_scores(density_, target, other, columns_of(given));
    const float scale = scale_of(scores.rows);
    evidence.scores += scale * means_.by_unit(scores.rows);
    networks += static_cast<double>(scale) * scores.networks;
  };
  add_side(a, b, query.given_a);
  if (query.both_sides) add_side(b, a, query.given_b);
  evidence.votes = (networks > 0).cast<double>().mean();
  const double sum = evidence.scores.cast<double>().sum();
  const double squares = evidence.scores.cast<double>().square().sum();
  evidence.p_value = squares > 0 ? normal_tail(sum / std::sqrt(squares) / evidence.inflation) : 1.0;
  return evidence;
}

std::unique_ptr<Frontier> FlowEstimator::open(std::span<const int> targets, const Candidates& candidates,
                                              const Progress& progress) const {
  check(candidates.variables() == variables(), "[frontier] {} candidate flags for {} variables", candidates.variables(),
        variables());
  return std::make_unique<flow::FlowFrontier>(*this, targets, candidates, progress);
}

Eigen::MatrixXf FlowEstimator::log_conditional(std::span<const EntropyQuery> queries, flow::NetworkSet networks) const {
  std::vector<EntropyQuery> in_columns(queries.size());
  for (std::size_t q = 0; q < queries.size(); ++q) {
    in_columns[q] = {column_[static_cast<std::size_t>(queries[q].target)], columns_of(queries[q].given)};
  }
  return density_.conditional(in_columns, networks);
}

}  // namespace fansite
