// SPDX-License-Identifier: Apache-2.0
//
// Signs are correlations over rows, and each has a factor that is a normal sample whatever the table: r, the normal
// scores of the residual, or s, the normal scores of |r|. Given the other factor f, a function of another variable,
// the correlation c then has the distribution of one with a normal sample, (N − 2) c²/(1 − c²) ~ F(1, N − 2), far into
// its tails and with few rows. The plain product of r² − 1 and g² − 1 has not: skewness 8/√N and heavy tails alone
// made 12.5, 8.4 and 3.3 % of linear Gaussian tables (d = 20; N = 50, 200, 1000) look nonlinear at level 0.01; now all
// four signs together make 0.7, 1.0 and 0.9 %.
//
// A member that the search missed leaves r and g jointly normal with a correlation ρ. That is linear and must not
// count. By Mehler's formula E[h(r) He_k(g)] = ρᵏ E[h(r) He_k(r)], which is 0 for three signs; for the fourth
// corr(s, g² − 1) = ρ² corr(s, r² − 1), which is taken off. Even with no boundaries at all linear Gaussian tables pass.
//
// In x_t = Σ w_it x_i + e_t with noise of any distribution and variance σ², the residual on the boundary is, up to a
// factor, e_t/σ_t² − Σ w_tc e_c/σ_c² over the children c. Only descendants of t contain any of that, and of two
// variables at most one descends from the other: if each one's residual follows the other, the equations are not
// linear.
#include "fansite/entropy/linearity.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "fansite/base/detail/single_threaded_blas.h"
#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/base/random.h"
#include "fansite/base/special.h"
#include "fansite/table/findings.h"
#include "fansite/table/transform.h"

namespace fansite {
namespace {

// What bounds memory: targets of a block, whose residuals are kept as two tables of 16 MB, 419 targets of 5000 rows;
// and other variables of a tile, of which a thread keeps three functions, 8 MB at 5000 rows and at most 48 MB.
constexpr Index kBlockCells = Index{1} << 21, kSmallestBlock = 64;
constexpr Index kTileCells = Index{1} << 21, kLargestTile = 64;

constexpr Index kFewestDegreesOfFreedom = 10;
constexpr double kDetermined = 1e-10;  // residual variance of a target of variance 1
constexpr double kPassedOver = std::numeric_limits<double>::quiet_NaN();

/// Aᵀ B.
Matrix inner_products(const MatrixView& a, const MatrixView& b) {
  Matrix result(a.cols(), b.cols());
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, static_cast<int>(a.cols()), static_cast<int>(b.cols()),
              static_cast<int>(a.rows()), 1.0, a.data(), static_cast<int>(a.outerStride()), b.data(),
              static_cast<int>(b.outerStride()), 0.0, result.data(), static_cast<int>(a.cols()));
  return result;
}

/// Centred and of length 1, so that inner products are correlations. Values are of order 1; what is equal up to
/// rounding becomes 0.
Vector unit(Vector values) {
  values.array() -= values.mean();
  const double length = values.norm();
  if (length < 1e-9) return Vector::Zero(values.size());
  return values / length;
}

// ---- Residuals ------------------------------------------------------------------------------------------------------

Vector standardised(const Dataset& data, const std::vector<ColumnTransform>& scales, int column) {
  const ColumnTransform& scale = scales[static_cast<std::size_t>(column)];
  return data.values.col(column).unaryExpr([&](double value) { return scale(value); });
}

/// Least squares on a set of columns; collinear ones do no harm.
class Regression {
 public:
  Regression(const Dataset& data, const std::vector<ColumnTransform>& scales, const std::vector<int>& members)
      : z_(data.rows(), static_cast<Index>(members.size())) {
    if (members.empty()) return;
    for (Index i = 0; i < z_.cols(); ++i) {
      z_.col(i) = standardised(data, scales, members[static_cast<std::size_t>(i)]);
    }
    z_ /= std::sqrt(static_cast<double>(data.rows()));
    Matrix gram = inner_products(z_, z_);
    gram.diagonal().array() += kDetermined;  // a ridge
    factor_.compute(gram);
  }

  /// What is left of a centred column. The second pass takes away what ridge and rounding kept back.
  Vector residual(Vector values) const {
    for (int pass = 0; pass < 2 && z_.cols() > 0; ++pass) {
      values -= z_ * factor_.solve(z_.transpose() * values);
    }
    return values;
  }

 private:
  Matrix z_;
  Eigen::LLT<Matrix> factor_;
};

/// Rows by value. Equal values take the order of `shuffled`, which has nothing to do with the table, so that their
/// scores are a normal sample even of a residual with few distinct values.
std::vector<int> sorted_rows(const Vector& values, std::vector<int> shuffled) {
  std::stable_sort(shuffled.begin(), shuffled.end(), [&](int a, int b) { return values[a] < values[b]; });
  return shuffled;
}

/// Of the larger departure of L-skewness τ₃ and L-kurtosis τ₄ (Hosking 1990) from 0 and 0.1226, those of a normal
/// distribution, with the variances of a normal sample (Harri and Coble 2011). Bounded, they are nearly normal
/// themselves; the fourth moment is not, even transformed (Anscombe and Glynn 1983): with it 1.8 % of 1000 Gaussian
/// tables with N = 50, d = 20 fell below 0.01.
double normality_p_value(const Vector& values, const std::vector<int>& sorted) {
  const auto n = static_cast<double>(values.size());
  std::array<double, 4> b{};  // b_k = mean over i = 0..N−1 of x₍ᵢ₊₁₎ · i(i − 1)…(i − k + 1) / (N − 1)…(N − k)
  double below = 0;  // i
  for (const int row : sorted) {
    double weighted = values[row] / n;
    for (int k = 0; k < 4; ++k) {
      b[static_cast<std::size_t>(k)] += weighted;
      weighted *= (below - k) / (n - 1 - k);
    }
    ++below;
  }
  const double l2 = 2 * b[1] - b[0], l3 = 6 * b[2] - 6 * b[1] + b[0], l4 = 20 * b[3] - 30 * b[2] + 12 * b[1] - b[0];
  const double z3 = l3 / l2 / std::sqrt((0.1866 + 0.8 / n) / n);
  const double z4 = (l4 / l2 - 0.1226) / std::sqrt((0.0883 + (0.68 + 4.9 / n) / n) / n);
  return best_of(2 * normal_tail(std::max(std::abs(z3), std::abs(z4))), 2);
}

/// What a residual's value counts for by its rank, the same for all residuals.
struct Scores {
  Vector r;          ///< Φ⁻¹((rank − ½)/N), as a unit vector
  Vector s;          ///< the same of the rank of |r|, where r and −r share one
  double bulge = 0;  ///< corr(s, r² − 1)

  explicit Scores(Index rows) : r(rows), s(rows) {
    const auto n = static_cast<double>(rows);
    for (Index i = 0; i < rows; ++i) {
      const double from_middle = std::abs(2 * static_cast<double>(i) + 1 - n);  // N − 1, N − 3, …, N − 3, N − 1
      r[i] = normal_quantile((static_cast<double>(i) + 0.5) / n);
      s[i] = normal_quantile(std::max(from_middle, 0.5) / n);
    }
    r = unit(r);
    s = unit(s);
    bulge = s.dot(unit(n * r.cwiseAbs2()));
  }
};

/// E[s′]/E[r′] over the distribution of a residual: how far s moves, on average, where a small shift moves r by 1. 0
/// for symmetric distributions. Slopes are taken over √N ranks, the reach of a shift by least squares' error.
double shift_ratio(const Vector& residual, const std::vector<int>& sorted, const Scores& scores) {
  const Index count = residual.size(), reach = std::lround(std::sqrt(static_cast<double>(count)));
  double s = 0, r = 0;
  for (Index low = 0, high = reach; high < count; ++low, ++high) {
    const double step =
        residual[sorted[static_cast<std::size_t>(high)]] - residual[sorted[static_cast<std::size_t>(low)]];
    if (step <= 0) continue;
    s += (scores.s[high] - scores.s[low]) / step;
    r += (scores.r[high] - scores.r[low]) / step;
  }
  return r > 0 ? s / r : 0;
}

struct Residuals {
  std::vector<int> targets;
  Matrix r, s;                    // as unit vectors, a column for each target; 0 for one that is passed over
  std::vector<double> normality;  // p-values; NaN for one that is passed over
};

Residuals residuals_of(const Dataset& data, const std::vector<ColumnTransform>& scales, const Scores& scores,
                       const std::vector<std::vector<int>>& boundaries, const std::vector<int>& targets,
                       const Progress& progress) {
  const Index rows = data.rows(), count = static_cast<Index>(targets.size());
  const std::vector<int> shuffled = Random(Key{}).permutation(static_cast<int>(rows));
  Residuals result{targets, Matrix::Zero(rows, count), Matrix::Zero(rows, count),
                   std::vector<double>(targets.size(), kPassedOver)};
  parallel_for(count, [&](std::ptrdiff_t i) {
    throw_if_interrupted(progress);
    const int target = targets[static_cast<std::size_t>(i)];
    const std::vector<int>& boundary = boundaries[static_cast<std::size_t>(target)];
    if (rows - 1 - static_cast<Index>(boundary.size()) < kFewestDegreesOfFreedom) return;
    const Regression regression(data, scales, boundary);
    const Vector residual = regression.residual(standardised(data, scales, target));
    if (!(residual.squaredNorm() > kDetermined * static_cast<double>(rows))) return;

    const std::vector<int> sorted = sorted_rows(residual, shuffled);
    Vector r(rows), s(rows);
    r(sorted) = scores.r;
    s(sorted) = scores.s;
    // Least squares leaves e − δz with δ of order 1/√N. Where e has a sharp edge, as exponential noise has, scores feel
    // that shift far more than least squares did, and z would seem to bear on them: to first order by −E[h′] δz for a
    // score h. Of r that is its fit on the members, so it can be taken off both.
    const Vector without_shift = regression.residual(r);
    result.s.col(i) = unit(s - shift_ratio(residual, sorted, scores) * (r - without_shift));
    result.r.col(i) = unit(without_shift);
    result.normality[static_cast<std::size_t>(i)] = normality_p_value(residual, sorted);
  });
  return result;
}

// ---- Signs ----------------------------------------------------------------------------------------------------------

/// The strongest sign of one variable in the residual of another.
struct Signal {
  float correlation = 0;  // absolute
  Sign sign = Sign::none;

  void offer(double rival, Sign kind) {
    const auto absolute = static_cast<float>(std::abs(rival));
    if (absolute > correlation) *this = {absolute, kind};
  }
};

/// The functions g, g² − 1 and g³ − 3g of each variable's normal scores, as unit vectors: N × 3·count, function by
/// function. They are made orthogonal in the sample, as Hermite's polynomials are in distribution; of a variable with
/// two values only the first is left, with three the first two.
Matrix hermite_functions(const Matrix& normal_scores, std::span<const int> indices) {
  const auto count = static_cast<Index>(indices.size());
  Matrix functions(normal_scores.rows(), 3 * count);
  for (Index i = 0; i < count; ++i) {
    const Vector g = normal_scores.col(indices[static_cast<std::size_t>(i)]), first = unit(g);
    Vector second = unit(g.array().square()), third = unit(g.array().cube());
    second = unit(second - first.dot(second) * first);
    third -= first.dot(third) * first;
    third = unit(third - second.dot(third) * second);
    functions.col(i) = first;
    functions.col(count + i) = second;
    functions.col(2 * count + i) = third;
  }
  return functions;
}

/// Writes signals[slot][first + i] for each target of the block and others[i].
void find_signs(const Residuals& residuals, double bulge, const Matrix& normal_scores, std::span<const int> others,
                Index first, std::span<std::vector<Signal>> signals) {
  const auto count = static_cast<Index>(others.size());
  const Matrix functions = hermite_functions(normal_scores, others);
  const Matrix r = inner_products(residuals.r, functions);
  const Matrix s = inner_products(residuals.s, functions.leftCols(2 * count));
  for (Index t = 0; t < r.rows(); ++t) {
    const auto slot = static_cast<std::size_t>(t);
    for (Index i = 0; i < count; ++i) {
      if (residuals.targets[slot] == others[static_cast<std::size_t>(i)]) continue;
      const double rho = r(t, i);
      Signal& signal = signals[slot][static_cast<std::size_t>(first + i)];
      signal.offer(r(t, count + i), Sign::curvature);
      signal.offer(r(t, 2 * count + i), Sign::s_shape);
      signal.offer(s(t, i), Sign::spread_slope);
      signal.offer(s(t, count + i) - rho * rho * bulge, Sign::spread_bulge);
    }
  }
}

/// Of the strongest of so many correlations.
double p_value_of(float correlation, Index rows, double tested) {
  const double square = std::min(static_cast<double>(correlation) * correlation, 1.0);
  const auto freedom = static_cast<double>(rows - 2);
  return best_of(f1_tail(freedom * square / (1 - square), freedom), tested);
}

// ---- The table ------------------------------------------------------------------------------------------------------

void validate(const Dataset& data, const std::vector<std::vector<int>>& boundaries, const LinearityParams& params) {
  check(params.level > 0 && params.level < 1, "[linearity] level {} is out of range: use one between 0 and 1",
        params.level);
  check(params.max_targets > 0, "[linearity] max_targets {} is out of range: use at least 1", params.max_targets);
  check(boundaries.size() == static_cast<std::size_t>(data.variables()),
        "[linearity] {} boundaries for {} variables. Give one for each, empty where none is known.", boundaries.size(),
        data.variables());
  for (int t = 0; t < data.variables(); ++t) {
    for (const int member : boundaries[static_cast<std::size_t>(t)]) {
      check(member >= 0 && member < data.variables() && member != t,
            "[linearity] the boundary of variable {} has a member {}. Give indices of other variables, 0 to {}.", t,
            member, data.variables() - 1);
    }
  }
}

/// Columns that vary and repeat no earlier one: a residual depends on a copy of its own target, of course.
std::vector<int> distinct_columns(const TableFacts& facts) {
  std::vector<int> columns;
  for (std::size_t column = 0; column < facts.takes_part.size(); ++column) {
    if (facts.takes_part[column] != 0) columns.push_back(static_cast<int>(column));
  }
  return columns;
}

}  // namespace

LinearityTest test_linearity(const Dataset& data, const TableFacts& facts,
                             const std::vector<std::vector<int>>& boundaries, const LinearityParams& params,
                             Progress& progress) {
  throw_if_fatal(facts.findings);
  require_complete(data);
  validate(data, boundaries, params);
  const Index rows = data.rows();
  const std::vector<int> columns = distinct_columns(facts);
  const std::size_t target_count = std::min(columns.size(), static_cast<std::size_t>(params.max_targets));
  std::vector<std::size_t> places;  // of the targets among the columns
  for (std::size_t i = 0; i < target_count; ++i) places.push_back(i * columns.size() / target_count);

  const auto scales = fit_transforms(TransformKind::standardise, data.values);
  const Matrix normal_scores = rank_gaussianise(data).values;
  const Scores scores(rows);
  const auto block = static_cast<std::size_t>(std::max(kSmallestBlock, kBlockCells / rows));
  const auto tile = static_cast<std::size_t>(std::clamp(kTileCells / rows, Index{1}, kLargestTile));
  const std::size_t tiles = (columns.size() + tile - 1) / tile, blocks = (target_count + block - 1) / block;
  progress.begin("checking linearity", static_cast<long>(blocks * tiles));

  const SingleThreadedBlas single;
  LinearityTest result;
  double tested = 0;  // targets
  std::vector<std::vector<Signal>> signals(target_count, std::vector<Signal>(columns.size()));
  for (std::size_t begin = 0; begin < target_count; begin += block) {
    std::vector<int> targets;
    for (std::size_t i = begin; i < std::min(begin + block, target_count); ++i) targets.push_back(columns[places[i]]);
    const Residuals residuals = residuals_of(data, scales, scores, boundaries, targets, progress);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const double p_value = residuals.normality[i];
      if (std::isnan(p_value)) continue;
      ++tested;
      if (p_value >= result.normality_p_value) continue;
      result.normality_p_value = p_value;
      result.normality_target = targets[i];
    }
    parallel_for(static_cast<std::ptrdiff_t>(tiles), [&](std::ptrdiff_t i) {
      throw_if_interrupted(progress);
      const std::size_t first = static_cast<std::size_t>(i) * tile;
      const auto others = std::span(columns).subspan(first, std::min(tile, columns.size() - first));
      find_signs(residuals, scores.bulge, normal_scores, others, static_cast<Index>(first),
                 std::span(signals).subspan(begin, targets.size()));
      progress.advance(1);
    });
  }

  float strongest = 0, both_ways = 0;
  for (std::size_t i = 0; i < target_count; ++i) {
    for (std::size_t z = 0; z < columns.size(); ++z) {
      const Signal& signal = signals[i][z];
      if (signal.correlation <= strongest) continue;
      strongest = signal.correlation;
      result.target = columns[places[i]];
      result.other = columns[z];
      result.sign = signal.sign;
    }
    for (std::size_t j = i + 1; j < target_count; ++j) {
      const float weaker = std::min(signals[i][places[j]].correlation, signals[j][places[i]].correlation);
      if (weaker <= both_ways) continue;
      both_ways = weaker;
      result.pair = {columns[places[i]], columns[places[j]]};
    }
  }
  const double others = static_cast<double>(columns.size()) - 1;
  result.p_value = p_value_of(strongest, rows, 4 * tested * others);
  result.linear = result.p_value >= params.level;
  result.pair_p_value = p_value_of(both_ways, rows, 4 * tested * (tested - 1) / 2);
  result.linear_equations = result.pair_p_value >= params.level;
  result.normality_p_value = best_of(result.normality_p_value, tested);
  result.normal = result.normality_p_value >= params.level;
  return result;
}

LinearityTest test_linearity(const Dataset& data, const std::vector<std::vector<int>>& boundaries,
                             const LinearityParams& params) {
  NoProgress silent;
  return test_linearity(data, TableFacts(data), boundaries, params, silent);
}

}  // namespace fansite
