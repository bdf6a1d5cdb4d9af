// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/estimator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "fansite/base/error.h"
#include "fansite/base/special.h"
#include "fansite/entropy/flow/dependence.h"
#include "fansite/entropy/flow/detail/completion.h"
#include "fansite/entropy/flow/detail/frontier.h"
#include "fansite/table/findings.h"
#include "fansite/table/imputation.h"

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

const flow::Factor* factor_called(const std::vector<flow::Factor>& factors, const std::string& name) {
  for (const flow::Factor& factor : factors) {
    if (factor.name == name) return &factor;
  }
  return nullptr;
}

std::vector<int> first_columns(const Dataset& data, const TableFacts& facts, const flow::Judges& ensemble) {
  std::vector<int> column;
  for (const int original : originals(facts)) {
    if (original < 0) {
      column.push_back(-1);
      continue;
    }
    const std::string& name = data.names[static_cast<std::size_t>(original)];
    if (const flow::Factor* factor = factor_called(ensemble.factors, name)) {
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

// Several versions of each row that lacks cells, and one of each that does not. So many draws leave a fifth of
// the variance that drawing adds.
std::vector<int> versions_of_rows(const Dataset& data) {
  constexpr int kVersions = 5;
  const std::vector<char> incomplete = incomplete_rows(data.values);
  std::vector<int> row_of;
  for (std::size_t row = 0; row < incomplete.size(); ++row) {
    row_of.insert(row_of.end(), incomplete[row] != 0 ? kVersions : 1, static_cast<int>(row));
  }
  return row_of;
}

}  // namespace

// The table's values in the ensemble's columns.
Matrix FlowEstimator::values_of(const Dataset& data, const Model& model, const std::vector<int>& column) {
  Matrix values(data.rows(), static_cast<Index>(model.names.size()));
  std::vector<char> filled(model.names.size(), 0);
  for (std::size_t j = 0; j < column.size(); ++j) {
    if (column[j] < 0 || filled[static_cast<std::size_t>(column[j])] != 0) continue;
    if (const flow::Factor* factor = factor_called(model.factors, data.names[j])) {
      fill_factor(data, static_cast<int>(j), *factor, values);
      for (const int c : factor->columns) filled[static_cast<std::size_t>(c)] = 1;
      continue;
    }
    values.col(column[j]) = data.values.col(static_cast<Index>(j));
    filled[static_cast<std::size_t>(column[j])] = 1;
  }
  for (std::size_t k = 0; k < filled.size(); ++k) {
    check(filled[k] != 0, "[entropy] the model's column '{}' is missing or constant in this table", model.names[k]);
  }
  return values;
}

FlowEstimator::FlowEstimator(const Dataset& data, const TableFacts& facts, const flow::Judges& ensemble,
                             std::string name)
    : name_(std::move(name)),
      model_{ensemble.names, ensemble.factors},
      rows_(data.rows()),
      column_(first_columns(data, facts, ensemble)),
      means_(data),
      means_of_sample_(means_),
      density_(ensemble, values_of(data, model_, column_),
               ensemble.names == data.names ? std::optional(facts.values_hash) : std::nullopt) {
  for (const ColumnTransform& transform : ensemble.transforms) log_slope_.push_back(transform.log_slope);
  for (int j = 0; j < data.variables(); ++j) {
    const int column = column_[static_cast<std::size_t>(j)];
    is_context_.push_back(is_context(data, j) ? 1 : 0);
    const bool repeated = std::find(context_.begin(), context_.end(), column) != context_.end();
    if (is_context_.back() != 0 && column >= 0 && !repeated) context_.push_back(column);
  }
  set_rows();
}

int FlowEstimator::largest_set() const {
  const int most = density_.largest_subset(), all_columns = density_.networks().front().density->variables();
  const bool full = most == all_columns;
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
  if (context == 0 && all == static_cast<int>(widths.size())) return full ? all_columns - 1 : most - 2;
  if (full) return std::max(static_cast<int>(widths.size()) - 1, 0);
  std::sort(widths.rbegin(), widths.rend());
  // A target, and one variable more than the set has, are columns too.
  int room = most - context, size = -2;
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
      Eigen::ArrayXd surprise = -log_density.col(static_cast<Index>(a)).cast<double>().array();
      leave_out_drawn(queries[place[a]].target, surprise);
      estimate = means_.mean(surprise);
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
      Eigen::ArrayXd gain =
          (log_density.col(column + 1).cast<double>() - log_density.col(column).cast<double>()).array();
      const InformationQuery& query = queries[place[a]];
      leave_out_drawn(query.target, gain);
      for (const int variable : query.about) leave_out_drawn(variable, gain);
      result[place[a]] = means_.mean(gain);
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

// ---- Absent cells ---------------------------------------------------------------------------------------------------

void FlowEstimator::leave_out_drawn(int variable, Eigen::ArrayXd& values, flow::NetworkSet networks) const {
  const int column = column_[static_cast<std::size_t>(variable)];
  if (density_.row_of().empty() || column < 0) return;
  for (Index i = 0; i < values.size(); ++i) {
    if (density_.drawn(density_.row_at(i, networks), column)) values[i] = std::numeric_limits<double>::quiet_NaN();
  }
}

bool FlowEstimator::complete(const Dataset& data, const TableFacts& facts, const std::vector<std::vector<int>>& given,
                             Key key, const Progress& progress) {
  if (density_.row_of().empty()) {
    std::vector<int> row_of = versions_of_rows(data);
    if (static_cast<Index>(row_of.size()) == data.rows()) return false;
    Dataset versions = take_rows(data, row_of);
    // The k-th version of a row is that of the k-th draw.
    int most = 0;
    std::vector<int> draw_of;
    for (std::size_t i = 0; i < row_of.size(); ++i) {
      draw_of.push_back(i > 0 && row_of[i] == row_of[i - 1] ? draw_of.back() + 1 : 0);
      most = std::max(most, draw_of.back() + 1);
    }
    drawn_tables_ = impute(data.values, facts.kinds, most, key);
    for (std::size_t i = 0; i < row_of.size(); ++i) {
      versions.values.row(static_cast<Index>(i)) = drawn_tables_[static_cast<std::size_t>(draw_of[i])].row(row_of[i]);
    }
    means_ = RowMeans(data, row_of);
    density_.complete(values_of(versions, model_, column_), std::move(row_of));
    set_rows();
  }
  std::vector<std::vector<int>> sets(model_.names.size());
  for (std::size_t j = 0; j < given.size(); ++j) {
    const int column = column_[j];
    if (given[j].empty() || column < 0) continue;
    sets[static_cast<std::size_t>(column)] = columns_of(given[j]);
  }
  flow::redraw(density_, sets, key, progress);
  return true;
}

std::vector<Matrix> FlowEstimator::completions(const Dataset& data) const {
  std::vector<Matrix> tables = drawn_tables_;
  for (Matrix& table : tables) table = data.values.array().isNaN().select(table, data.values);
  const std::vector<int>& row_of = density_.row_of();
  std::size_t draw = 0;
  for (std::size_t i = 0; i < row_of.size(); ++i) {
    draw = i > 0 && row_of[i] == row_of[i - 1] ? draw + 1 : 0;
    for (std::size_t j = 0; j < column_.size(); ++j) {
      const int column = column_[j];
      if (column < 0 || density_.columns(column).size() != 1) continue;
      if (!std::isnan(data.values(row_of[i], static_cast<Index>(j)))) continue;
      const float score = density_.values()(static_cast<Index>(i), column);
      tables[draw](row_of[i], static_cast<Index>(j)) =
          density_.transforms()[static_cast<std::size_t>(column)].inverse(static_cast<double>(score));
    }
  }
  return tables;
}

// ---- What the search asks -------------------------------------------------------------------------------------------

namespace {

// Scores of less than this many nats are rounding: densities are good to 1e-5, and an information of 1e-3²/2 nats
// cannot be seen in fewer than millions of rows.
constexpr float kLeastSpread = 1e-3f;

// Of very many rows some are asked first, then twice as many, up to half of them, and at last all. A look settles what
// is beyond doubt: what chance shows at one look in one table of a thousand, and no test asks for less. And it gives up
// a pair of which there is less to see than there would be, but for one time in a hundred, of a pair that all rows show
// at four standard errors.
constexpr Index kManyRows = 4000, kFirstLook = 1000;
constexpr double kTablesByChance = 0.001, kLeastDoubt = 1e-9;
constexpr double kWorthFinding = 4, kOnceInAHundred = 2.33;

bool settles(const PairEvidence& evidence, double pairs, double share) {
  if (evidence.p_value < std::min(kTablesByChance / pairs, kLeastDoubt)) return true;
  const double least = std::min(0.0, kWorthFinding * std::sqrt(share) - kOnceInAHundred);
  return (evidence.scores != 0).any() && evidence.p_value > normal_tail(least);
}

// The rows in an order in which every beginning is spread evenly over them: multiples of the golden section.
std::vector<int> spread_rows(Index rows) {
  constexpr double kGolden = 0.6180339887498949;
  std::vector<double> place(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < place.size(); ++i) {
    const double multiple = kGolden * static_cast<double>(i);
    place[i] = multiple - std::floor(multiple);
  }
  std::vector<int> order(place.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return place[static_cast<std::size_t>(a)] < place[static_cast<std::size_t>(b)]; });
  return order;
}

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

void FlowEstimator::set_rows() {
  const Index rows = density_.rows(), sampled = density_.rows(flow::NetworkSet::sample);
  std::vector<int> sample;
  for (Index i = 0; i < sampled; ++i) sample.push_back(static_cast<int>(density_.row_at(i, flow::NetworkSet::sample)));
  means_of_sample_ = means_.of_rows(sample);
  spread_ = spread_rows(rows);
}

double FlowEstimator::p_value(double, int) const { return std::numeric_limits<double>::quiet_NaN(); }

void FlowEstimator::ask(Side& side, std::span<const int> rows) const {
  flow::DependenceScores more = flow::dependence_scores(density_, side.target, side.other, side.given, rows);
  if (side.scores.rows.size() == 0) {
    side.scores = std::move(more);
    return;
  }
  for (const int row : rows) side.scores.rows[row] = more.rows[row];
  side.scores.networks += more.networks;
}

PairEvidence FlowEstimator::evidence_of(std::span<const Side> sides) const {
  PairEvidence evidence;
  evidence.inflation = std::sqrt(2.0) * means_.inflation();
  evidence.scores = Eigen::ArrayXf::Zero(means_.units());
  Eigen::ArrayXd networks = Eigen::ArrayXd::Zero(static_cast<Index>(density_.networks().size()));
  for (const Side& side : sides) {
    const float scale = scale_of(side.scores.rows);
    evidence.scores += scale * means_.by_unit(side.scores.rows);
    networks += static_cast<double>(scale) * side.scores.networks;
  }
  evidence.votes = (networks > 0).cast<double>().mean();
  const double sum = evidence.scores.cast<double>().sum();
  const double squares = evidence.scores.cast<double>().square().sum();
  evidence.p_value = squares > 0 ? normal_tail(sum / std::sqrt(squares) / evidence.inflation) : 1.0;
  return evidence;
}

// Of the rows' versions that stand for so many rows.
Index FlowEstimator::most_rows(const PairQuery& query) const {
  const Index all = density_.rows();
  if (query.most_rows == 0 || query.most_rows >= rows_) return all;
  return query.most_rows * all / rows_;
}

PairEvidence FlowEstimator::pair_evidence(const PairQuery& query) const {
  const int a = column_[static_cast<std::size_t>(query.a)], b = column_[static_cast<std::size_t>(query.b)];
  std::vector<Side> sides = {{a, b, columns_of(query.given_a), {}}};
  if (query.both_sides) sides.push_back({b, a, columns_of(query.given_b), {}});
  const Index rows = most_rows(query);
  const double pairs = 0.5 * static_cast<double>(variables()) * static_cast<double>(variables() - 1);
  for (Index asked = 0, next = rows >= kManyRows ? kFirstLook : rows;;) {
    std::vector<int> some(spread_.begin() + asked, spread_.begin() + next);
    std::sort(some.begin(), some.end());
    for (Side& side : sides) ask(side, some);
    asked = next;
    next = 4 * asked > rows ? rows : 2 * asked;  // no look at the last few
    const PairEvidence evidence = evidence_of(sides);
    if (asked == rows || settles(evidence, pairs, static_cast<double>(asked) / static_cast<double>(rows)))
      return evidence;
  }
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
