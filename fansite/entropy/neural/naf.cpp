// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/neural/naf.h"

#include <algorithm>
#include <cmath>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/entropy/neural/sigmoidal.h"

namespace fansite::neural {
namespace {

constexpr double kSmall = 0.001;  // of the initial weights

// Where each array lies.
struct Layout {
  Index w1 = 0, s1, b1, w2, s2, b2, v, c, size;
  Index d, hidden, blocks, outputs, sigmoids;

  explicit Layout(const flow::Shape& shape)
      : d(shape.variables),
        hidden(shape.hidden()),
        blocks(shape.blocks),
        outputs(shape.outputs),
        sigmoids(shape.sigmoids) {
    s1 = w1 + hidden * d;
    b1 = s1 + hidden;
    w2 = b1 + hidden;
    s2 = w2 + d * outputs * hidden;
    b2 = s2 + d * outputs;
    v = b2 + d * outputs;
    c = v + 3 * sigmoids * outputs;
    size = c + 3 * sigmoids;
  }
};

// Its arrays; a variable's rows of W2, s2 and b2.
template <class Real>
struct Arrays {
  using Scalar = std::remove_const_t<Real>;
  template <class Type>
  using MapOf = Eigen::Map<std::conditional_t<std::is_const_v<Real>, const Type, Type>>;
  using RowVector = Eigen::Array<Scalar, 1, Eigen::Dynamic>;

  Arrays(Real* at, const Layout& l)
      : w1(at + l.w1, l.hidden, l.d),
        s1(at + l.s1, l.hidden),
        b1(at + l.b1, l.hidden),
        v(at + l.v, 3 * l.sigmoids, l.outputs),
        c(at + l.c, 3 * l.sigmoids),
        at_(at),
        l_(l) {}
  MapOf<Rows<Scalar>> w2(Index variable) const {
    return {at_ + l_.w2 + variable * l_.outputs * l_.hidden, l_.outputs, l_.hidden};
  }
  MapOf<RowVector> s2(Index variable) const { return {at_ + l_.s2 + variable * l_.outputs, l_.outputs}; }
  MapOf<RowVector> b2(Index variable) const { return {at_ + l_.b2 + variable * l_.outputs, l_.outputs}; }

  MapOf<Rows<Scalar>> w1;
  MapOf<RowVector> s1, b1;
  MapOf<Rows<Scalar>> v;
  MapOf<RowVector> c;

 private:
  Real* at_;
  const Layout& l_;
};

template <class Real>
auto elu(const Rows<Real>& u) {
  return (u.array() > 0).select(u.array(), u.array().min(0).exp() - 1);
}

// A unit of rank r sees variables 0..r.
template <class Matrix>
void mask_inputs(Matrix& w1, Index blocks) {
  for (Index h = 0; h < w1.rows(); ++h) {
    const Index seen = std::min(h / blocks + 1, w1.cols());
    w1.row(h).tail(w1.cols() - seen).setZero();
  }
}

// Variables are divided among so many groups, which are computed side by side; each adds up gradients of its own.
Index groups_of(Index variables) { return std::clamp<Index>(variables / 16, 1, 16); }

// What variables of a group add up: their densities, and gradients of what all of them share.
template <class Real>
struct Group {
  double sum = 0;
  Rows<Real> by_hidden, by_v;
  Eigen::Array<Real, 1, Eigen::Dynamic> by_c;
};

// A batch on its way through the outputs.
template <class Real>
struct Pass {
  const Layout& l;
  const Arrays<const Real>& p;
  const SubsetBatch<Real>& batch;
  const Rows<Real>&x, &hidden;
  std::span<Real> gradient;

  // The terms of variable i, over the rows that have it in their subset.
  void variable(Group<Real>& group, Index i) const {
    const bool wanted = !gradient.empty();
    const Index n = batch.rows();
    std::vector<Index> rows;
    for (Index r = 0; r < n; ++r) {
      if (batch.mask(r, i) != 0) rows.push_back(r);
    }
    const auto terms = static_cast<Index>(rows.size());
    const Index units = l.blocks * i;
    const auto w2 = p.w2(i);
    const Column<Real> inverse = w2.rowwise().norm().array().max(std::numeric_limits<Real>::min()).inverse();
    const Rows<Real> told = hidden(rows, Eigen::seqN(0, units));
    Rows<Real> unit = w2.leftCols(units), products(terms, l.outputs), out(terms, l.outputs), q(terms, 3 * l.sigmoids);
    for (Index o = 0; o < l.outputs; ++o) unit.row(o) *= inverse[o];
    times_transposed<Real>(told, unit, products);
    out = (products.array().rowwise() * p.s2(i)).rowwise() + p.b2(i);
    times_transposed<Real>(out, p.v, q);
    q.array().rowwise() += p.c;
    Columns<Real> by_q;
    const Column<Real> values = x.col(i)(rows);
    const Column<Real> density = log_densities<Real>(q.array(), values, wanted ? &by_q : nullptr);
    group.sum += density.template cast<double>().sum();
    if (!wanted) return;
    const Rows<Real> by_head = (by_q * static_cast<Real>(-1.0 / static_cast<double>(n))).matrix();
    transposed_times<Real>(by_head, out, group.by_v, true);
    group.by_c += by_head.colwise().sum().array();
    Rows<Real> by_out(terms, l.outputs);
    times<Real>(by_head, p.v, by_out);
    const Arrays<Real> g(gradient.data(), l);
    g.s2(i) = (by_out.array() * products.array()).colwise().sum();
    g.b2(i) = by_out.colwise().sum().array();
    by_out.array().rowwise() *= p.s2(i);
    // Of the rows of length 1, and through their length of those that they are made of.
    Rows<Real> by_unit(l.outputs, units);
    transposed_times<Real>(by_out, told, by_unit);
    auto by_w2 = g.w2(i);
    for (Index o = 0; o < l.outputs; ++o) {
      const Real along = unit.row(o).dot(by_unit.row(o));
      by_w2.row(o) = -along * inverse[o] * inverse[o] * w2.row(o);
      by_w2.row(o).head(units) += inverse[o] * by_unit.row(o);
    }
    Rows<Real> back(terms, units);
    times<Real>(by_out, unit, back);
    for (Index t = 0; t < terms; ++t) {
      group.by_hidden.row(rows[static_cast<std::size_t>(t)]).head(units) += back.row(t);
    }
  }
};

// ---- Densities ------------------------------------------------------------------------------------------------------

template <class Real>
class NafDensity final : public flow::SubsetDensity {
 public:
  NafDensity(const Layout& l, std::span<const Real> parameters) : l_(l) {
    const Arrays<const Real> p(parameters.data(), l);
    w1_ = p.w1;
    mask_inputs(w1_, l.blocks);
    for (Index h = 0; h < l.hidden; ++h) w1_.row(h) *= p.s1[h];
    b1_ = p.b1.matrix().transpose();
    for (Index i = 0; i < l.d; ++i) {  // V s2 W2 is one matrix
      Rows<Real> scaled = p.w2(i);
      for (Index o = 0; o < l.outputs; ++o) {
        const Real norm = scaled.row(o).norm();
        if (norm > 0) scaled.row(o) *= p.s2(i)[o] / norm;
      }
      weights_.push_back(p.v * scaled.leftCols(l.blocks * i));
      shifts_.push_back(p.v * p.b2(i).matrix().transpose() + p.c.matrix().transpose());
    }
  }

  int variables() const override { return static_cast<int>(l_.d); }
  int largest_subset() const override { return variables(); }

  using flow::SubsetDensity::log_density;
  Eigen::MatrixXf log_density(const flow::CellColumns& rows, std::span<const flow::Subset> subsets) const override {
    Eigen::MatrixXf result = Eigen::MatrixXf::Zero(rows.rows(), static_cast<Index>(subsets.size()));
    for_pieces(static_cast<Index>(subsets.size()), rows.rows(), [&](Index s, Index first, Index count) {
      const flow::Subset& subset = subsets[static_cast<std::size_t>(s)];
      if (subset.empty()) return;
      std::vector<char> absent;
      const Rows<Real> x = gathered<Real>(rows, subset, first, count, absent);
      const Index used = l_.blocks * subset.back();  // units that the last variable is told by
      Rows<Real> w1(used, x.cols()), hidden(x.rows(), used);
      for (Index h = 0; h < used; ++h) {
        for (Index k = 0; k < x.cols(); ++k) w1(h, k) = w1_(h, subset[static_cast<std::size_t>(k)]);
      }
      times_transposed<Real>(x, w1, hidden);
      hidden.rowwise() += b1_.head(used).transpose();
      hidden = elu(hidden);
      Rows<Real> q(x.rows(), 3 * l_.sigmoids);
      Column<Real> sum = Column<Real>::Zero(x.rows());
      for (std::size_t k = 0; k < subset.size(); ++k) {
        const auto i = static_cast<std::size_t>(subset[k]);
        times_transposed<Real>(hidden.leftCols(weights_[i].cols()), weights_[i], q);
        q.rowwise() += shifts_[i].transpose();
        sum += log_densities<Real>(q.array(), x.col(static_cast<Index>(k)).array());
      }
      for (Index i = 0; i < count; ++i) {
        result(first + i, s) = absent[static_cast<std::size_t>(i)] != 0 ? std::numeric_limits<float>::quiet_NaN()
                                                                        : static_cast<float>(sum[i]);
      }
    });
    return result;
  }

 private:
  Layout l_;
  Rows<Real> w1_;
  Eigen::Matrix<Real, Eigen::Dynamic, 1> b1_;
  std::vector<Rows<Real>> weights_;  // of each variable: 3k × the units that tell it
  std::vector<Eigen::Matrix<Real, Eigen::Dynamic, 1>> shifts_;
  UnsplitBlas unsplit_;
};

}  // namespace

std::int64_t published_size(const flow::Shape& shape) {
  const std::int64_t d = shape.variables, h = shape.hidden(), o = shape.outputs, k = shape.sigmoids;
  return h * d + 4 * h + d * o * h + 4 * d * o + 3 * k * (o + 1);
}

template <class Real>
Naf<Real>::Naf(const flow::Shape& shape) : shape_(shape) {
  flow::validate(shape);
  check(shape.full(), "[naf] {} ranks for {} variables; NAF has one for each but the last", shape.ranks,
        shape.variables);
}

template <class Real>
std::size_t Naf<Real>::size() const {
  return static_cast<std::size_t>(Layout(shape_).size);
}

template <class Real>
std::int64_t Naf<Real>::published_size() const {
  return neural::published_size(shape_);
}

template <class Real>
void Naf<Real>::start(Key key, std::span<Real> parameters) const {
  const Layout l(shape_);
  Random random(key);
  const auto fill = [&](Index from, Index to, const auto& draw) {
    for (Index i = from; i < to; ++i) parameters[static_cast<std::size_t>(i)] = static_cast<Real>(draw());
  };
  const auto weight = [&] { return kSmall * random.normal(); };
  const auto wide = [&] { return random.uniform(-1, 1); };
  fill(l.w1, l.s1, weight);
  fill(l.s1, l.w2, wide);
  fill(l.w2, l.s2, weight);
  fill(l.s2, l.v, wide);
  fill(l.v, l.c, [&] { return random.uniform(-kSmall, kSmall); });
  fill(l.c, l.c + l.sigmoids, [] { return std::log(std::expm1(1 - 1e-6)); });  // a = 1
  fill(l.c + l.sigmoids, l.size, [] { return 0.0; });
}

template <class Real>
double Naf<Real>::loss(std::span<const Real> parameters, const SubsetBatch<Real>& batch,
                       std::span<Real> gradient) const {
  const Layout l(shape_);
  const Arrays<const Real> p(parameters.data(), l);
  const bool wanted = !gradient.empty();
  const Index n = batch.rows();
  const Rows<Real> x = batch.values.cwiseProduct(batch.mask);
  Rows<Real> w1 = p.w1;
  mask_inputs(w1, l.blocks);
  Rows<Real> seen(n, l.hidden), hidden(n, l.hidden);
  times_transposed<Real>(x, w1, seen);
  hidden = (seen.array().rowwise() * p.s1).rowwise() + p.b1;
  const Rows<Real> slope = (hidden.array() > 0).select(Rows<Real>::Ones(n, l.hidden), hidden.array().min(0).exp());
  hidden = elu(hidden);

  std::vector<Group<Real>> groups(static_cast<std::size_t>(groups_of(l.d)));
  const Pass<Real> pass{l, p, batch, x, hidden, gradient};
  parallel_for(static_cast<std::ptrdiff_t>(groups.size()), [&](std::ptrdiff_t k) {
    Group<Real>& group = groups[static_cast<std::size_t>(k)];
    if (wanted) {
      group.by_hidden = Rows<Real>::Zero(n, l.hidden);
      group.by_v = Rows<Real>::Zero(3 * l.sigmoids, l.outputs);
      group.by_c = Eigen::Array<Real, 1, Eigen::Dynamic>::Zero(3 * l.sigmoids);
    }
    for (Index i = k; i < l.d; i += static_cast<Index>(groups.size())) pass.variable(group, i);
  });
  double sum = 0;
  for (const Group<Real>& group : groups) sum += group.sum;
  if (!wanted) return -sum / static_cast<double>(n);

  Group<Real>& total = groups.front();
  for (std::size_t k = 1; k < groups.size(); ++k) {
    total.by_v += groups[k].by_v;
    total.by_c += groups[k].by_c;
    total.by_hidden += groups[k].by_hidden;
  }
  Arrays<Real> g(gradient.data(), l);
  g.v = total.by_v;
  g.c = total.by_c;
  Rows<Real> back = total.by_hidden.cwiseProduct(slope);
  g.b1 = back.colwise().sum().array();
  g.s1 = (back.array() * seen.array()).colwise().sum();
  back.array().rowwise() *= p.s1;
  transposed_times<Real>(back, x, g.w1);
  mask_inputs(g.w1, l.blocks);
  return -sum / static_cast<double>(n);
}

template <class Real>
std::unique_ptr<const flow::SubsetDensity> Naf<Real>::density(std::span<const Real> parameters) const {
  return std::make_unique<NafDensity<Real>>(Layout(shape_), parameters);
}

template <class Real>
typename Naf<Real>::Mapped Naf<Real>::reference(std::span<const Real> parameters, std::span<const double> row,
                                                const flow::Subset& subset) const {
  const Layout l(shape_);
  const Arrays<const Real> p(parameters.data(), l);
  std::vector<double> hidden(static_cast<std::size_t>(l.hidden));
  for (Index h = 0; h < l.hidden; ++h) {
    double sum = 0;
    for (const int j : subset) {
      if (j <= h / l.blocks) sum += static_cast<double>(p.w1(h, j)) * row[static_cast<std::size_t>(j)];
    }
    const double u = static_cast<double>(p.s1[h]) * sum + static_cast<double>(p.b1[h]);
    hidden[static_cast<std::size_t>(h)] = u > 0 ? u : std::expm1(u);
  }
  Mapped mapped;
  for (const int i : subset) {
    std::vector<double> q(static_cast<std::size_t>(3 * l.sigmoids));
    for (std::size_t m = 0; m < q.size(); ++m) q[m] = static_cast<double>(p.c[static_cast<Index>(m)]);
    for (Index o = 0; o < l.outputs; ++o) {
      double squares = 0, sum = 0;
      for (Index h = 0; h < l.hidden; ++h) {
        const auto weight = static_cast<double>(p.w2(i)(o, h));
        squares += weight * weight;
        if (h / l.blocks <= i - 1) sum += weight * hidden[static_cast<std::size_t>(h)];
      }
      const double product = squares > 0 ? sum / std::sqrt(squares) : 0;
      const double out = static_cast<double>(p.s2(i)[o]) * product + static_cast<double>(p.b2(i)[o]);
      for (std::size_t m = 0; m < q.size(); ++m) q[m] += static_cast<double>(p.v(static_cast<Index>(m), o)) * out;
    }
    const auto k = static_cast<std::size_t>(l.sigmoids);
    std::vector<double> a, b, w;
    double total = 0;
    for (std::size_t m = 0; m < k; ++m) {
      a.push_back(std::log1p(std::exp(q[m])) + 1e-6);
      b.push_back(q[k + m]);
      w.push_back(std::exp(q[2 * k + m]));
      total += w.back();
    }
    for (double& weight : w) weight /= total;
    const MappedValue value = sigmoidal(a, b, w, row[static_cast<std::size_t>(i)]);
    mapped.z.push_back(value.z);
    mapped.log_slope.push_back(value.log_slope);
  }
  return mapped;
}

template class Naf<float>;
template class Naf<double>;

}  // namespace fansite::neural
