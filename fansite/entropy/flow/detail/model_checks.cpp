// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/detail/model_checks.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "fansite/base/error.h"
#include "fansite/entropy/flow/detail/model_fields.h"

namespace fansite::flow::model_format {
namespace {

constexpr int kMostFolds = 65535;  // fold_of_row is 16 bits wide

bool within(std::int64_t value, std::int64_t least, std::int64_t most) { return least <= value && value <= most; }

bool all_finite(const auto& values) {
  return std::all_of(values.begin(), values.end(), [](auto value) { return std::isfinite(value); });
}

bool ascending(const auto& values) {
  return std::adjacent_find(values.begin(), values.end(), [](auto a, auto b) { return !(a < b); }) == values.end();
}

// Low and high of intervals one after the other, with the score inside; of numbers all three the same.
bool has_good_intervals(const ColumnTransform& t) {
  if (t.low.empty() && t.high.empty()) return true;
  if (t.low.size() != t.x.size() || t.high.size() != t.x.size()) return false;
  for (std::size_t i = 0; i < t.x.size(); ++i) {
    if (!(t.low[i] <= t.z[i] && t.z[i] <= t.high[i])) return false;
    if (i > 0 && !(t.high[i - 1] <= t.low[i])) return false;
  }
  return true;
}

bool is_good(const ColumnTransform& t, Index rows) {
  return std::isfinite(t.shift) && std::isfinite(t.scale) && t.scale > 0 && !std::isinf(t.log_slope) &&
         t.x.empty() == (t.kind != TransformKind::rank) && t.x.size() == t.z.size() &&
         std::cmp_less_equal(t.x.size(), rows) && has_good_intervals(t) && all_finite(t.x) && all_finite(t.z) &&
         ascending(t.x) && ascending(t.z);
}

bool is_good(const std::vector<CurvePoint>& curve, std::int64_t steps) {
  std::int64_t before = -1;
  return std::all_of(curve.begin(), curve.end(), [&](const CurvePoint& point) {
    return std::exchange(before, point.step) < point.step && point.step <= steps;
  });
}

bool is_permutation(const std::vector<int>& order, std::size_t variables) {
  std::vector<char> seen(variables, 0);
  return order.size() == variables && std::all_of(order.begin(), order.end(), [&](int column) {
           return column >= 0 && std::cmp_less(column, variables) &&
                  std::exchange(seen[static_cast<std::size_t>(column)], char{1}) == 0;
         });
}

std::string problem_with(const Network& network, const Ensemble& e, FileKind kind) {
  const Trained& trained = network.trained;
  const auto& [layout, values] = trained.weights;
  if (!is_permutation(network.order, e.names.size())) return "its order is not one of all columns";
  if (!within(network.repeat, 0, e.params.repeats - 1) || !within(network.fold, 0, e.params.folds - 1)) {
    return "it belongs to no fold";
  }
  if (!within(trained.kept_step, 0, trained.steps) || !within(trained.undone_steps, 0, trained.steps) ||
      !is_good(trained.curve, trained.steps)) {
    return "its numbers of steps contradict each other";
  }
  const bool unfinished = kind == FileKind::checkpoint && values.empty();
  if (!unfinished && (layout.shape != e.params.shape || !std::cmp_equal(values.size(), layout.size))) {
    return "its weights are not as many as its shape has";
  }
  const bool based = !unfinished && e.params.train.base == BaseKind::gaussian;
  if (!std::cmp_equal(trained.base.mean().size(), based ? e.params.shape.variables : 0)) {
    return "its Gaussian base is not of its shape";
  }
  return all_finite(values) ? "" : "a weight is not finite";
}

// Not whether the numbers are finite, which reading insists on: a step that went wrong is still to be undone, and must
// not keep a training from being saved.
bool is_good(const Training::State& s, std::int64_t steps, Index size) {
  bool sizes = true;
  arrays(
      [&](const char*, const std::vector<float>& values) {
        const bool none = &values == &s.best && values.empty();  // nothing was held out, or not evaluated yet
        sizes = sizes && (none || std::cmp_equal(values.size(), size));
      },
      s);
  return sizes && within(s.step, 0, steps) && within(s.kept_step, 0, s.step) && within(s.undone, 0, s.step) &&
         within(s.undone_in_a_row, 0, s.undone) && within(s.waited, 0, static_cast<std::int64_t>(s.curve.size())) &&
         within(s.loss_count, 0, s.step) && within(s.learner.steps, 0, s.step) && within(s.backup.steps, 0, s.step) &&
         !std::isnan(s.best_loss) && std::isfinite(s.loss_sum) && is_good(s.curve, s.step);
}

}  // namespace

std::string problem_with_frame(const Ensemble& e) {
  const EnsembleParams& params = e.params;
  if (e.names.empty()) return "it has no columns";
  if (std::set<std::string_view>(e.names.begin(), e.names.end()).size() != e.names.size()) {
    return "two of its columns have the same name";
  }
  if (e.rows < 1) return "it has no rows";
  if (!std::cmp_equal(params.shape.variables, e.names.size())) {
    return fmt::format("its networks have {} variables for {} columns", params.shape.variables, e.names.size());
  }
  try {
    validate(params.shape);
    validate(params.train, params.shape);
  } catch (const ParameterError& error) {
    return fmt::format("its {} is wrong: {}", error.parameter, error.sentence);
  } catch (const UsageError& error) {
    const std::string_view text = error.what();
    return std::string(text.substr(text.find(' ') + 1));  // without the operation in brackets
  }
  if (!within(params.folds, 1, kMostFolds) || params.repeats < 1 ||
      !std::cmp_equal(e.networks.size(), std::int64_t{params.repeats} * params.folds)) {
    return fmt::format("it has {} networks for {} repeats of {} folds", e.networks.size(), params.repeats,
                       params.folds);
  }
  return {};
}

namespace {

std::string problem_with_factors(const Ensemble& e) {
  int next = 0;  // columns of factors ascend, so that none is in two
  for (const Factor& factor : e.factors) {
    if (factor.columns.empty() || factor.levels.size() != factor.columns.size() + 1) {
      return "a factor has not one column for each level but the first";
    }
    for (const int column : factor.columns) {
      if (!within(column, next, static_cast<std::int64_t>(e.names.size()) - 1)) return "a factor's columns are others'";
      next = column + 1;
    }
  }
  return {};
}

std::string problem_with_linear_models(const Ensemble& e) {
  if (e.linear.empty()) return e.linear_share.empty() ? "" : "it has shares of linear models that are not there";
  const std::size_t shares = e.names.size() * LinearShare::kSizes.size();
  const bool one_each = std::cmp_equal(e.linear.size(), e.params.folds) &&
                        std::all_of(e.linear.begin(), e.linear.end(), [&](const GaussianBase& base) {
                          return std::cmp_equal(base.mean().size(), e.names.size());
                        });
  if (!one_each) return "it has not one linear model for each fold";
  const auto& share = e.linear_share.share;
  const bool good = std::all_of(share.begin(), share.end(), [](float s) { return s >= 0 && s <= 1; });
  return good && (share.empty() || share.size() == shares) ? "" : "a linear model's share is not one";
}

}  // namespace

std::string problem_with(const Ensemble& e, FileKind kind) {
  if (std::string problem = problem_with_frame(e); !problem.empty()) return problem;
  if (std::string problem = problem_with_factors(e); !problem.empty()) return problem;
  if (std::string problem = problem_with_linear_models(e); !problem.empty()) return problem;
  if (e.transforms.size() != e.names.size()) return "it has not one transform for each column";
  for (std::size_t j = 0; j < e.transforms.size(); ++j) {
    if (!is_good(e.transforms[j], e.rows)) return fmt::format("the transform of column {} does not increase", j + 1);
  }
  if (!std::cmp_equal(e.fold_of_row.size(), e.params.folds > 1 ? e.params.repeats : 0)) {
    return "it has not one division of the rows for each repeat";
  }
  for (const auto& folds : e.fold_of_row) {
    if (!std::cmp_equal(folds.size(), e.rows) ||
        std::any_of(folds.begin(), folds.end(), [&](int fold) { return fold >= e.params.folds; })) {
      return "a row belongs to no fold";
    }
  }
  for (std::size_t m = 0; m < e.networks.size(); ++m) {
    const std::string problem = problem_with(e.networks[m], e, kind);
    if (!problem.empty()) return fmt::format("in network {}: {}", m + 1, problem);
  }
  return {};
}

std::string problem_with(const Checkpoint& checkpoint) {
  const Ensemble& e = checkpoint.ensemble;
  if (std::string problem = problem_with(e, FileKind::checkpoint); !problem.empty()) return problem;
  if (checkpoint.under_way.size() != e.networks.size()) return "it has not one state for each network";
  Index size = 0;
  for (std::size_t m = 0; m < e.networks.size(); ++m) {
    if (!checkpoint.under_way[m]) continue;
    if (size == 0) size = Layout(e.params.shape).size;
    if (!is_good(*checkpoint.under_way[m], e.params.train.steps, size)) {
      return fmt::format("the state of network {} contradicts itself", m + 1);
    }
  }
  return {};
}

}  // namespace fansite::flow::model_format
