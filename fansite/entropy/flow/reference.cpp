// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/reference.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "fansite/base/error.h"
#include "fansite/base/special.h"

namespace fansite::flow::reference {
namespace {

constexpr double kLeastSlope = 1e-6;  // a = softplus(q) + 1e-6
constexpr double kSqueeze = 1e-6;     // y' = y(1−1e-6) + 0.5e-6 keeps z finite

// ---- Functions of one number, for any argument without overflow -----------------------------------------------------

double elu(double x) { return x > 0 ? x : std::expm1(x); }
double elu_slope(double x) { return x > 0 ? 1.0 : std::exp(x); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double sigmoid(double x) {
  const double e = std::exp(-std::abs(x));
  return x > 0 ? 1 / (1 + e) : e / (1 + e);
}
double log_sigmoid(double x) { return -softplus(-x); }

double log_sum_exp(const Vector& x) {
  const double largest = x.maxCoeff();
  return largest + std::log((x.array() - largest).exp().sum());
}

// ---- Forward --------------------------------------------------------------------------------------------------------

/// From the 3k numbers q of variable j and its value x to ln p(x_j | the members before j).
struct Head {
  Vector q;
  double x = 0;
  Vector a, w;               // slopes and weights
  Vector sigma;              // σ
  Vector co_sigma;           // 1−σ
  Vector share;              // of each sigmoid in Σ w a σ(1−σ)
  double y = 0, co_y = 0;    // y and 1−y
  double y1 = 0, co_y1 = 0;  // y' and 1−y'
  double z = 0;
  double log_density = 0;
};

Head head(const Vector& q, double x) {
  const Index k = q.size() / 3;
  Head t;
  t.q = q;
  t.x = x;
  t.a = q.head(k).unaryExpr(&softplus).array() + kLeastSlope;
  const Vector b = q.segment(k, k);
  const Vector log_w = q.tail(k).array() - log_sum_exp(q.tail(k));
  t.w = log_w.array().exp();

  // Slopes of all sigmoids underflow for an outlier, their logarithms do not.
  Vector log_part(k);
  t.sigma.resize(k);
  t.co_sigma.resize(k);
  for (Index i = 0; i < k; ++i) {
    const double u = t.a[i] * x + b[i];
    t.sigma[i] = sigmoid(u);
    t.co_sigma[i] = sigmoid(-u);
    log_part[i] = log_w[i] + std::log(t.a[i]) + log_sigmoid(u) + log_sigmoid(-u);
  }
  const double log_slope = log_sum_exp(log_part);  // ln Σ w a σ(1−σ)
  t.share = (log_part.array() - log_slope).exp();

  // 1−y is a sum of its own: by subtraction from 1 an outlier would lose all its digits.
  t.y = t.w.dot(t.sigma);
  t.co_y = t.w.dot(t.co_sigma);
  t.y1 = t.y * (1 - kSqueeze) + 0.5 * kSqueeze;
  t.co_y1 = t.co_y * (1 - kSqueeze) + 0.5 * kSqueeze;
  t.z = std::log(t.y1) - std::log(t.co_y1);
  const double log_dz_dx = log_slope + std::log1p(-kSqueeze) - std::log(t.y1) - std::log(t.co_y1);
  t.log_density = -0.5 * t.z * t.z - 0.5 * std::log(2 * std::numbers::pi) + log_dz_dx;
  return t;
}

/// The term of one cell: at a number, or at both ends of an interval.
struct Term {
  Head low, high;  // a number has the first only
  bool interval = false;
  double log_density = 0;
};

Term term(const Vector& q, const Cell& cell) {
  Term t;
  t.interval = cell.is_interval();
  t.low = head(q, t.interval ? cell.low : cell.score);
  if (t.interval) t.high = head(q, cell.high);
  t.log_density = t.interval ? log_normal_between(t.low.z, t.high.z) : t.low.log_density;
  return t;
}

/// What the forward pass of one row leaves for the backward pass. Place p is the p-th member of the subset.
struct Pass {
  std::vector<Index> members;  // i_1 < … < i_m
  std::vector<Index> ranks;    // r_1 < … < r_{m−1}
  std::vector<Cell> cells;     // of i_1, …: nothing else of the row is known here
  Vector x;                    // their scores
  Matrix hidden_sum, u, h;     // α×(m−1): Σ W1 x; s1·Σ + b1; ELU(u)
  Matrix output_sum, o;        // L×m: Σ W2 h; s2·Σ + b2
  std::vector<Term> terms;     // m
  double log_density = 0;

  Index size() const { return x.size(); }
  Index member(Index p) const { return members[static_cast<std::size_t>(p)]; }
  Index rank(Index p) const { return ranks[static_cast<std::size_t>(p)]; }
};

/// `cell(j)` is that of variable j.
template <class CellOf>
Pass forward(const Parameters& w, std::span<const int> subset, CellOf&& cell) {
  const Shape& shape = w.shape;
  for (const int j : subset) {
    check(0 <= j && j < shape.variables, "[flow] variable {} in a subset; this flow has 0 to {}", j,
          shape.variables - 1);
  }
  for (std::size_t p = 1; p < subset.size(); ++p) {
    check(subset[p - 1] < subset[p], "[flow] variable {} before {} in a subset; use ascending order, none twice",
          subset[p - 1], subset[p]);
  }
  Pass pass;
  if (subset.empty()) return pass;  // ln 1
  const auto ranks = ranks_of(shape, subset);
  pass.members.assign(subset.begin(), subset.end());
  pass.ranks.assign(ranks.begin(), ranks.end());
  const Index m = static_cast<Index>(subset.size()), blocks = shape.blocks, outputs = shape.outputs;
  pass.x.resize(m);
  for (Index p = 0; p < m; ++p) {
    pass.cells.push_back(cell(pass.member(p)));
    pass.x[p] = pass.cells.back().score;
  }

  // h(b, r_p) = ELU( s1 · Σ_{q≤p} W1[(b,r_p), i_q] · x_{i_q} + b1 )
  pass.hidden_sum = pass.u = pass.h = Matrix::Zero(blocks, m - 1);
  for (Index p = 0; p < m - 1; ++p) {
    for (Index b = 0; b < blocks; ++b) {
      const Index node = b * shape.ranks + pass.rank(p);
      double sum = 0;
      for (Index q = 0; q <= p; ++q) sum += w.w1(node, pass.member(q)) * pass.x[q];
      pass.hidden_sum(b, p) = sum;
      pass.u(b, p) = w.s1[node] * sum + w.b1[node];
      pass.h(b, p) = elu(pass.u(b, p));
    }
  }

  // o(j, ℓ) = s2 · Σ_{b, p: i_p < i_j} W2[(j,ℓ), (b,r_p)] · h(b,r_p) + b2
  pass.output_sum = pass.o = Matrix::Zero(outputs, m);
  for (Index place = 0; place < m; ++place) {
    for (Index l = 0; l < outputs; ++l) {
      const Index row = pass.member(place) * outputs + l;
      double sum = 0;
      for (Index p = 0; p < place; ++p) {
        for (Index b = 0; b < blocks; ++b) sum += w.w2(row, b * shape.ranks + pass.rank(p)) * pass.h(b, p);
      }
      pass.output_sum(l, place) = sum;
      pass.o(l, place) = w.s2[row] * sum + w.b2[row];
    }
  }

  // q = V·o(j,·) + c, and log p(x_S) = Σ_{j in S} ln p(x_j | …)
  for (Index place = 0; place < m; ++place) {
    pass.terms.push_back(term(w.v * pass.o.col(place) + w.c, pass.cells[static_cast<std::size_t>(place)]));
    pass.log_density += pass.terms.back().log_density;
  }
  return pass;
}

// ---- Backward: the chain rule through the lines above, from the last to the first -----------------------------------

/// The derivatives of the head's log density by q.
Vector head_gradient(const Head& t) {
  const Index k = t.q.size() / 3;
  // ln p = −z²/2 + ln Σ w a σ(1−σ) − ln y' − ln(1−y') + constant, where dz/dy' = 1/y' + 1/(1−y').
  const double by_y1 = -t.z * (1 / t.y1 + 1 / t.co_y1) - 1 / t.y1 + 1 / t.co_y1;
  const double by_y = by_y1 * (1 - kSqueeze);
  Vector by_q(3 * k);
  for (Index i = 0; i < k; ++i) {
    // u = a x + b moves y by w σ(1−σ), and its own σ(1−σ) by the factor (1−σ) − σ.
    const double by_u = by_y * t.w[i] * t.sigma[i] * t.co_sigma[i] + t.share[i] * (t.co_sigma[i] - t.sigma[i]);
    const double by_a = by_u * t.x + t.share[i] / t.a[i];
    by_q[i] = by_a * sigmoid(t.q[i]);
    by_q[k + i] = by_u;
    // The softmax moves y by w(σ − y), a small difference of numbers near 1 on the right: take it on the small side.
    const double above = t.y < 0.5 ? t.sigma[i] - t.y : t.co_y - t.co_sigma[i];
    by_q[2 * k + i] = by_y * t.w[i] * above + t.share[i] - t.w[i];
  }
  return by_q;
}

/// The derivatives of z by q.
Vector latent_gradient(const Head& t) {
  const Index k = t.q.size() / 3;
  const double by_y = (1 / t.y1 + 1 / t.co_y1) * (1 - kSqueeze);
  Vector by_q(3 * k);
  for (Index i = 0; i < k; ++i) {
    const double by_u = by_y * t.w[i] * t.sigma[i] * t.co_sigma[i];
    by_q[i] = std::isinf(t.x) ? 0.0 : by_u * t.x * sigmoid(t.q[i]);
    by_q[k + i] = by_u;
    const double above = t.y < 0.5 ? t.sigma[i] - t.y : t.co_y - t.co_sigma[i];
    by_q[2 * k + i] = by_y * t.w[i] * above;
  }
  return by_q;
}

/// The derivatives of a term by q: of ln(Φ(b) − Φ(a)) they are (φ(b) db − φ(a) da) / (Φ(b) − Φ(a)).
Vector term_gradient(const Term& t) {
  if (!t.interval) return head_gradient(t.low);
  const auto weight = [&](double z) {
    return std::exp(-0.5 * z * z - 0.5 * std::log(2 * std::numbers::pi) - t.log_density);
  };
  return weight(t.high.z) * latent_gradient(t.high) - weight(t.low.z) * latent_gradient(t.low);
}

/// Adds `factor` times the gradient of the pass's log density.
void backward(const Parameters& w, const Pass& pass, double factor, Parameters& gradient) {
  const Shape& shape = w.shape;
  const Index m = pass.size(), blocks = shape.blocks, outputs = shape.outputs;
  if (m == 0) return;
  Matrix by_h = Matrix::Zero(blocks, m - 1);
  for (Index place = 0; place < m; ++place) {
    const Vector by_q = factor * term_gradient(pass.terms[static_cast<std::size_t>(place)]);
    gradient.v += by_q * pass.o.col(place).transpose();
    gradient.c += by_q;
    const Vector by_o = w.v.transpose() * by_q;
    for (Index l = 0; l < outputs; ++l) {
      const Index row = pass.member(place) * outputs + l;
      gradient.s2[row] += by_o[l] * pass.output_sum(l, place);
      gradient.b2[row] += by_o[l];
      const double by_sum = by_o[l] * w.s2[row];
      for (Index p = 0; p < place; ++p) {
        for (Index b = 0; b < blocks; ++b) {
          const Index node = b * shape.ranks + pass.rank(p);
          gradient.w2(row, node) += by_sum * pass.h(b, p);
          by_h(b, p) += by_sum * w.w2(row, node);
        }
      }
    }
  }
  for (Index p = 0; p < m - 1; ++p) {
    for (Index b = 0; b < blocks; ++b) {
      const Index node = b * shape.ranks + pass.rank(p);
      const double by_u = by_h(b, p) * elu_slope(pass.u(b, p));
      gradient.s1[node] += by_u * pass.hidden_sum(b, p);
      gradient.b1[node] += by_u;
      for (Index q = 0; q <= p; ++q) gradient.w1(node, pass.member(q)) += by_u * w.s1[node] * pass.x[q];
    }
  }
}

/// Calls visit(a.w1, b.w1, …), visit(a.s1, b.s1, …) and so on.
template <class Visit, class... P>
void for_each_tensor(Visit&& visit, P&... p) {
  visit(p.w1...);
  visit(p.s1...);
  visit(p.b1...);
  visit(p.w2...);
  visit(p.s2...);
  visit(p.b2...);
  visit(p.v...);
  visit(p.c...);
}

}  // namespace

namespace {

Cell number(double x) { return {x, x, x}; }

/// `cell(i, j)` is that of variable j in row i.
template <class CellOf>
Gradient gradient_of(const Parameters& parameters, Index rows, std::span<const Subset> subsets, CellOf&& cell) {
  check(rows > 0, "[flow] no rows; the mean needs at least one");
  check(rows == static_cast<Index>(subsets.size()), "[flow] {} rows and {} subsets; use one for each row", rows,
        subsets.size());
  Gradient result{0, zero_parameters(parameters.shape)};
  const double factor = -1 / static_cast<double>(rows);
  for (Index i = 0; i < rows; ++i) {
    const Pass pass = forward(parameters, subsets[static_cast<std::size_t>(i)], [&](Index j) { return cell(i, j); });
    result.loss += factor * pass.log_density;
    backward(parameters, pass, factor, result.gradient);
  }
  return result;
}

void check_row(const Parameters& parameters, std::size_t size) {
  check(static_cast<Index>(size) == parameters.shape.variables, "[flow] a row of {} values for a flow of {} variables",
        size, parameters.shape.variables);
}

}  // namespace

double log_density(const Parameters& parameters, std::span<const Cell> row, std::span<const int> subset) {
  check_row(parameters, row.size());
  return forward(parameters, subset, [&](Index j) { return row[static_cast<std::size_t>(j)]; }).log_density;
}

double log_density(const Parameters& parameters, std::span<const double> row, std::span<const int> subset) {
  check_row(parameters, row.size());
  return forward(parameters, subset, [&](Index j) { return number(row[static_cast<std::size_t>(j)]); }).log_density;
}

Gradient gradient(const Parameters& parameters, const MatrixView& rows, std::span<const Subset> subsets) {
  check(rows.cols() == parameters.shape.variables, "[flow] rows of {} values for a flow of {} variables", rows.cols(),
        parameters.shape.variables);
  return gradient_of(parameters, rows.rows(), subsets, [&](Index i, Index j) { return number(rows(i, j)); });
}

Gradient gradient(const Parameters& parameters, std::span<const std::vector<Cell>> rows,
                  std::span<const Subset> subsets) {
  for (const std::vector<Cell>& row : rows) check_row(parameters, row.size());
  return gradient_of(parameters, static_cast<Index>(rows.size()), subsets,
                     [&](Index i, Index j) { return rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]; });
}

Adam::Adam(const Shape& shape) : mean_(zero_parameters(shape)), square_(mean_) {}

double Adam::step(Parameters& parameters, const Parameters& gradient, double learning_rate, double clip) {
  check(parameters.shape == mean_.shape && gradient.shape == mean_.shape,
        "[flow] parameters or gradient of another shape than Adam was made for");
  constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;
  double square_norm = 0;
  for_each_tensor([&](const auto& g) { square_norm += g.squaredNorm(); }, gradient);
  const double norm = std::sqrt(square_norm);
  const double scale = norm > clip ? clip / norm : 1.0;

  ++steps_;
  // The moments start at 0; these undo the pull towards it.
  const double correction1 = 1 - std::pow(kBeta1, steps_), correction2 = 1 - std::pow(kBeta2, steps_);
  for_each_tensor(
      [&](auto& parameter, auto& mean, auto& square, const auto& g) {
        mean = kBeta1 * mean + (1 - kBeta1) * scale * g;
        square = kBeta2 * square + (1 - kBeta2) * (scale * g).cwiseAbs2();
        parameter.array() -=
            learning_rate * (mean.array() / correction1) / ((square.array() / correction2).sqrt() + kEpsilon);
      },
      parameters, mean_, square_, gradient);
  return norm;
}

}  // namespace fansite::flow::reference
