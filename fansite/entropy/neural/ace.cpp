// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/neural/ace.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/entropy/neural/normal_mixture.h"
#include "fansite/entropy/neural/residual.h"

namespace fansite::neural {
namespace {

constexpr double kMostEnergy = 30;
constexpr Index kRowsInPiece = 16, kTermsInPiece = 32;  // of a batch, computed side by side

// body(i) for i in 0..n−1, so many of them together.
void in_pieces(Index n, Index each, const std::function<void(Index)>& body) {
  parallel_for((n + each - 1) / each, [&](std::ptrdiff_t piece) {
    for (Index i = piece * each; i < std::min(n, (piece + 1) * each); ++i) body(i);
  });
}

}  // namespace

// Where parameters lie: the proposal's input layer, blocks and output layer, then the energy's. The energy's input
// weights are those of the value, of each variable and of the context.
template <class Real>
struct Ace<Real>::Plan {
  using RowVector = Eigen::Array<Real, 1, Eigen::Dynamic>;

  AceShape shape;
  Index d, hidden, heads, head, context,
      wide;  // heads: outputs of a variable; head: those of its mixture; wide: energy's
  Residual<Real> blocks, energy_blocks;
  Index in = 0, in_bias, first_block, out, out_bias;
  Index value, one_hot, from_context, energy_bias, first_energy_block, last, last_bias, size;

  explicit Plan(const AceShape& s)
      : shape(s),
        d(s.variables),
        hidden(s.hidden),
        heads(3 * s.components + s.context),
        head(3 * s.components),
        context(s.context),
        wide(s.energy_hidden),
        blocks(s.hidden, s.blocks, s.dropout),
        energy_blocks(s.energy_hidden, s.energy_blocks, s.dropout) {
    in_bias = in + hidden * 2 * d;
    first_block = in_bias + hidden;
    out = first_block + blocks.size();
    out_bias = out + d * heads * hidden;
    value = out_bias + d * heads;
    one_hot = value + wide;
    from_context = one_hot + d * wide;  // a row of `wide` for each variable
    energy_bias = from_context + wide * context;
    first_energy_block = energy_bias + wide;
    last = first_energy_block + energy_blocks.size();
    last_bias = last + wide;
    size = last_bias + 1;
  }

  Eigen::Map<const Rows<Real>> matrix(const Real* p, Index at, Index rows, Index cols) const {
    return {p + at, rows, cols};
  }
  Eigen::Map<const RowVector> vector(const Real* p, Index at, Index count) const { return {p + at, count}; }

  struct EnergyTrace {
    Rows<Real> values, top;  // top: what goes into the last layer, before relu
    typename Residual<Real>::Trace blocks;
    Rows<Real> raw;  // before softplus and clip
  };
  // Energies of several values of each term; `base`: what variable and context say to the first layer.
  Rows<Real> energies(const Real* p, const Rows<Real>& base, const Rows<Real>& values, EnergyTrace* trace,
                      Random* random) const {
    const Index terms = values.rows(), count = values.cols();
    Rows<Real> h(terms * count, wide);
    const auto weight = vector(p, value, wide);
    for (Index t = 0; t < terms; ++t) {
      for (Index k = 0; k < count; ++k) h.row(t * count + k) = base.row(t).array() + weight * values(t, k);
    }
    energy_blocks.forward(p + first_energy_block, h, trace != nullptr ? &trace->blocks : nullptr, random);
    Rows<Real> raw(terms * count, 1);
    if (trace != nullptr) {
      trace->values = values;
      trace->top = h;
    }
    times_transposed<Real>(h.cwiseMax(Real{0}), matrix(p, last, 1, wide), raw);
    raw.array() += p[last_bias];
    Rows<Real> result(terms, count);
    for (Index i = 0; i < raw.size(); ++i) {
      result.data()[i] = std::min(softplus(raw.data()[i]), static_cast<Real>(kMostEnergy));
    }
    if (trace != nullptr) trace->raw = std::move(raw);
    return result;
  }
  // From the loss by energies to that by `base`; `g`: of the parameters from `value` on.
  Rows<Real> energies_back(const Real* p, const EnergyTrace& trace, const Rows<Real>& by_energy, Real* g) const {
    const Index terms = by_energy.rows(), count = by_energy.cols();
    Rows<Real> by_raw(terms * count, 1);
    for (Index i = 0; i < by_raw.size(); ++i) {
      const Real raw = trace.raw.data()[i];
      by_raw.data()[i] = softplus(raw) < static_cast<Real>(kMostEnergy) ? by_energy.data()[i] * sigmoid(raw) : Real{0};
    }
    const Rows<Real> relu = trace.top.cwiseMax(Real{0});
    transposed_times<Real>(by_raw, relu, Eigen::Map<Rows<Real>>(g + (last - value), 1, wide));
    g[last_bias - value] = by_raw.sum();
    Rows<Real> by_h(terms * count, wide);
    times<Real>(by_raw, matrix(p, last, 1, wide), by_h);
    by_h = (trace.top.array() > 0).select(by_h, Real{0});
    energy_blocks.backward(p + first_energy_block, trace.blocks, by_h, g + (first_energy_block - value));
    Rows<Real> by_base = Rows<Real>::Zero(terms, wide);
    Eigen::Map<RowVector> by_value(g, wide);
    by_value.setZero();
    for (Index t = 0; t < terms; ++t) {
      for (Index k = 0; k < count; ++k) {
        by_base.row(t) += by_h.row(t * count + k);
        by_value += by_h.row(t * count + k).array() * trace.values(t, k);
      }
    }
    return by_base;
  }
  // What variable and context say to the energy's first layer.
  Rows<Real> energy_base(const Real* p, const Rows<Real>& contexts, std::span<const int> variables) const {
    Rows<Real> base(contexts.rows(), wide);
    times_transposed<Real>(contexts, matrix(p, from_context, wide, context), base);
    for (Index t = 0; t < base.rows(); ++t) {
      base.row(t).array() += vector(p, energy_bias, wide) +
                             vector(p, one_hot + Index{variables[static_cast<std::size_t>(t)]} * wide, wide);
    }
    return base;
  }
};

// ---- Densities ------------------------------------------------------------------------------------------------------

namespace {

// A number that depends on the cells of a row and what is asked about it, and on nothing else.
Key key_of(const float* cells, std::size_t count, const flow::Subset& given, int target) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(target);
  const auto mix = [&](std::uint64_t more) {
    hash = (hash ^ more) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  };
  for (std::size_t i = 0; i < count; ++i) {
    mix(static_cast<std::uint64_t>(given[i]));
    mix(std::bit_cast<std::uint32_t>(cells[i] + 0.0f));  // −0 is 0
  }
  return Key{hash};
}

}  // namespace

template <class Real, class Plan>
class AceDensity final : public flow::SubsetDensity {
 public:
  AceDensity(std::shared_ptr<const Plan> plan, std::span<const Real> parameters)
      : plan_(std::move(plan)), parameters_(parameters.begin(), parameters.end()) {}

  int variables() const override { return static_cast<int>(plan_->d); }
  int largest_subset() const override { return variables(); }

  Eigen::MatrixXf log_density(const flow::CellColumns& rows, std::span<const flow::Subset> subsets) const override {
    Eigen::MatrixXf result = Eigen::MatrixXf::Zero(rows.rows(), static_cast<Index>(subsets.size()));
    std::vector<flow::ConditionalSubset> questions;
    std::vector<Index> subset_of;
    for (std::size_t s = 0; s < subsets.size(); ++s) {
      for (std::size_t k = 0; k < subsets[s].size(); ++k) {
        const auto end = subsets[s].begin() + static_cast<std::ptrdiff_t>(k);
        questions.push_back({{*end}, {subsets[s].begin(), end}});
        subset_of.push_back(static_cast<Index>(s));
      }
    }
    const Eigen::MatrixXf each = log_conditional(rows, questions);
    for (Index q = 0; q < each.cols(); ++q) result.col(subset_of[static_cast<std::size_t>(q)]) += each.col(q);
    return result;
  }
  using flow::SubsetDensity::log_density;

  Eigen::MatrixXf log_conditional(const flow::CellColumns& rows,
                                  std::span<const flow::ConditionalSubset> questions) const override {
    Eigen::MatrixXf result(rows.rows(), static_cast<Index>(questions.size()));
    for_pieces(result.cols(), rows.rows(), [&](Index q, Index first, Index count) {
      const auto& [target, given] = questions[static_cast<std::size_t>(q)];
      check(target.size() == 1, "[ace] densities are of one variable given others");
      std::vector<char> absent, target_absent;
      const Rows<Real> x = gathered<Real>(rows, given, first, count, absent);
      const Rows<Real> values = gathered<Real>(rows, target, first, count, target_absent);
      const Rows<Real> found = piece(x, given, target.front(), values);
      for (Index i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const bool known = absent[at] == 0 && target_absent[at] == 0;
        result(first + i, q) = known ? static_cast<float>(found(i, 0)) : std::numeric_limits<float>::quiet_NaN();
      }
    });
    return result;
  }

  // Options of the given are rows of their own; those of the target share what is given.
  Eigen::MatrixXf log_conditional(const flow::CellColumns& rows, const flow::ConditionalSubset& question,
                                  std::span<const flow::Trial> trials) const override {
    check(question.target.size() == 1, "[ace] densities are of one variable given others");
    const int target = question.target.front();
    const flow::Trial* own = nullptr;
    Index inner = 1, outer = 1;  // combinations of trials of the given after and before the target's
    std::vector<std::pair<const flow::Trial*, Index>> others;  // with how many combinations come after
    for (const flow::Trial& trial : trials) {
      if (trial.columns.front().variable == target) {
        own = &trial;
        continue;
      }
      others.emplace_back(&trial, 0);
      (own == nullptr ? outer : inner) *= trial.options();
    }
    Index after = inner * outer;
    for (auto& [trial, place] : others) place = after /= trial->options();
    const Index options = own != nullptr ? own->options() : 1, versions = inner * outer;
    Eigen::MatrixXf result(rows.rows(), versions * options);
    for_pieces(versions, rows.rows(), [&](Index version, Index first, Index count) {
      std::vector<char> absent, target_absent;
      Rows<Real> x = gathered<Real>(rows, question.given, first, count, absent);
      for (const auto& [trial, place] : others) {
        const Index option = version / place % trial->options();
        for (const flow::TrialColumn& column : trial->columns) {
          const auto found = std::lower_bound(question.given.begin(), question.given.end(), column.variable);
          const Index at = found - question.given.begin();
          for (Index i = 0; i < count; ++i) x(i, at) = static_cast<Real>(column.values(first + i, option));
        }
      }
      Rows<Real> values = Rows<Real>::Zero(kRowsAtOnce, options);
      if (own != nullptr) {
        values.topRows(count) = own->columns.front().values.middleRows(first, count).template cast<Real>();
      } else {
        values = gathered<Real>(rows, question.target, first, count, target_absent);
      }
      // Cells that were tried stand for absent ones; NaN among them stays NaN.
      const Rows<Real> found = piece(x, question.given, target, values);
      for (Index i = 0; i < count; ++i) {
        bool known = own != nullptr || target_absent[static_cast<std::size_t>(i)] == 0;
        for (std::size_t k = 0; k < question.given.size() && known; ++k) {
          const bool tried = std::any_of(others.begin(), others.end(), [&](const auto& other) {
            return other.first->columns.front().variable == question.given[k];
          });
          known = tried || !std::isnan((*rows.score)(first + i, question.given[k]));
        }
        for (Index v = 0; v < options; ++v) {
          const Index column = (version / inner * options + v) * inner + version % inner;
          result(first + i, column) = known ? static_cast<float>(found(i, v)) : std::numeric_limits<float>::quiet_NaN();
        }
      }
    });
    return result;
  }

 private:
  // log p(values(i, v) | x row i), of kRowsAtOnce rows.
  Rows<Real> piece(const Rows<Real>& x, const flow::Subset& given, int target, const Rows<Real>& values) const {
    const Plan& plan = *plan_;
    const Real* p = parameters_.data();
    const auto m = static_cast<Index>(given.size());
    const auto in = plan.matrix(p, plan.in, plan.hidden, 2 * plan.d);
    Rows<Real> weights(plan.hidden, m), h(x.rows(), plan.hidden);
    Eigen::Array<Real, 1, Eigen::Dynamic> shift = plan.vector(p, plan.in_bias, plan.hidden);
    for (Index k = 0; k < m; ++k) {
      weights.col(k) = in.col(given[static_cast<std::size_t>(k)]);
      shift += in.col(plan.d + given[static_cast<std::size_t>(k)]).transpose().array();
    }
    times_transposed<Real>(x, weights, h);
    h.array().rowwise() += shift;
    plan.blocks.forward(p + plan.first_block, h, nullptr);
    Rows<Real> heads(x.rows(), plan.heads);
    times_transposed<Real>(h.cwiseMax(Real{0}),
                           plan.matrix(p, plan.out + target * plan.heads * plan.hidden, plan.heads, plan.hidden),
                           heads);
    heads.array().rowwise() += plan.vector(p, plan.out_bias + target * plan.heads, plan.heads);
    const std::vector<int> targets(static_cast<std::size_t>(x.rows()), target);
    const Rows<Real> base = plan.energy_base(p, heads.rightCols(plan.context), targets);
    const Index samples = plan.shape.samples;
    Rows<Real> all(x.rows(), samples + values.cols()), log_q(x.rows(), samples);
    std::vector<float> cells(given.size());
    for (Index i = 0; i < x.rows(); ++i) {
      for (std::size_t k = 0; k < given.size(); ++k) cells[k] = static_cast<float>(x(i, static_cast<Index>(k)));
      const Mixture<Real> mixture(heads.row(i).data(), plan.shape.components);
      Random random(key_of(cells.data(), cells.size(), given, target));
      mixture.sample(random, samples, all.row(i).data());
      for (Index k = 0; k < samples; ++k) log_q(i, k) = mixture.log_density(all(i, k));
      all.row(i).tail(values.cols()) = values.row(i);
    }
    const Rows<Real> energy = plan.energies(p, base, all, nullptr, nullptr);
    Rows<Real> result(x.rows(), values.cols());
    for (Index i = 0; i < x.rows(); ++i) {
      const Eigen::Array<Real, 1, Eigen::Dynamic> l = -energy.row(i).head(samples).array() - log_q.row(i).array();
      const Real top = l.maxCoeff();
      const Real log_mean = top + std::log((l - top).exp().mean());
      result.row(i) = -energy.row(i).tail(values.cols()).array() - log_mean;
    }
    return result;
  }

  std::shared_ptr<const Plan> plan_;
  std::vector<Real> parameters_;
  UnsplitBlas unsplit_;
};

// ---- Training -------------------------------------------------------------------------------------------------------

template <class Real>
Ace<Real>::Ace(const AceShape& shape) {
  check(shape.variables > 0, "[ace] a network needs at least one variable, got {}", shape.variables);
  check(shape.hidden > 0 && shape.blocks >= 0 && shape.components > 0 && shape.context > 0 && shape.energy_hidden > 0 &&
            shape.energy_blocks >= 0 && shape.samples > 0,
        "[ace] sizes of layers are 1 or more");
  plan_ = std::make_shared<const Plan>(shape);
}
template <class Real>
Ace<Real>::~Ace() = default;
template <class Real>
int Ace<Real>::variables() const {
  return plan_->shape.variables;
}
template <class Real>
std::size_t Ace<Real>::size() const {
  return static_cast<std::size_t>(plan_->size);
}

template <class Real>
void Ace<Real>::start(Key key, std::span<Real> parameters) const {
  const Plan& plan = *plan_;
  Random random(key);
  std::fill(parameters.begin(), parameters.end(), Real{0});  // biases
  Real* p = parameters.data();
  start_dense(random, plan.hidden, 2 * plan.d, p + plan.in);
  plan.blocks.start(random, p + plan.first_block);
  start_dense(random, plan.d * plan.heads, plan.hidden, p + plan.out);
  start_dense(random, 1 + plan.d + plan.context, plan.wide, p + plan.value);  // of value, variables and context
  plan.energy_blocks.start(random, p + plan.first_energy_block);
  start_dense(random, 1, plan.wide, p + plan.last);
}

// Its energy's part of the loss, times rows and −1, over some terms; no two of them in one place of `by_heads`.
template <class Real>
double Ace<Real>::energy_part(std::span<const Real> parameters, const SubsetBatch<Real>& batch,
                              std::span<const EnergyTerm> some, std::size_t first, const Rows<Real>& heads,
                              Rows<Real>* by_heads, std::span<Real> gradient) const {
  const Plan& plan = *plan_;
  const Real* p = parameters.data();
  const bool wanted = by_heads != nullptr;
  const auto terms = static_cast<Index>(some.size());
  const Index samples = plan.shape.samples;
  const double each = 1 / static_cast<double>(batch.rows());
  Random dropout(batch.key.split(3).split(first));
  Rows<Real> contexts(terms, plan.context), values(terms, samples + 1), log_q(terms, samples);
  std::vector<int> variables;
  for (Index t = 0; t < terms; ++t) {
    const EnergyTerm& term = some[static_cast<std::size_t>(t)];
    variables.push_back(term.variable);
    const Real* head = heads.row(term.row).data() + term.variable * plan.heads;
    contexts.row(t) = Eigen::Map<const typename Plan::RowVector>(head + plan.head, plan.context);
    const Mixture<Real> mixture(head, plan.shape.components);
    Random random(batch.key.split(2).split(first + static_cast<std::size_t>(t)));
    mixture.sample(random, samples, values.row(t).data());
    for (Index k = 0; k < samples; ++k) log_q(t, k) = mixture.log_density(values(t, k));
    values(t, samples) = batch.values(term.row, term.variable);
  }
  const Rows<Real> base = plan.energy_base(p, contexts, variables);
  typename Plan::EnergyTrace trace;
  const Rows<Real> energy = plan.energies(p, base, values, wanted ? &trace : nullptr, wanted ? &dropout : nullptr);
  Rows<Real> by_energy(terms, samples + 1);
  double sum = 0;
  for (Index t = 0; t < terms; ++t) {
    const Eigen::Array<Real, 1, Eigen::Dynamic> l = -energy.row(t).head(samples).array() - log_q.row(t).array();
    const Real top = l.maxCoeff();
    const Eigen::Array<Real, 1, Eigen::Dynamic> weight = (l - top).exp();
    const double worth = some[static_cast<std::size_t>(t)].worth;
    sum += worth * static_cast<double>(-energy(t, samples) - top - std::log(weight.mean()));
    by_energy.row(t).head(samples) = weight * static_cast<Real>(-each * worth) / weight.sum();
    by_energy(t, samples) = static_cast<Real>(each * worth);
  }
  if (!wanted) return sum;
  Real* g = gradient.data();
  const auto at = [&](Index place) { return g + (place - plan.value); };
  const Rows<Real> by_base = plan.energies_back(p, trace, by_energy, g);
  Rows<Real> by_context(terms, plan.context);
  times<Real>(by_base, plan.matrix(p, plan.from_context, plan.wide, plan.context), by_context);
  transposed_times<Real>(by_base, contexts, Eigen::Map<Rows<Real>>(at(plan.from_context), plan.wide, plan.context));
  Eigen::Map<typename Plan::RowVector>(at(plan.energy_bias), plan.wide) = by_base.colwise().sum().array();
  for (Index t = 0; t < terms; ++t) {
    const EnergyTerm& term = some[static_cast<std::size_t>(t)];
    Eigen::Map<typename Plan::RowVector>(at(plan.one_hot + term.variable * plan.wide), plan.wide) +=
        by_base.row(t).array();
    Eigen::Map<typename Plan::RowVector>(by_heads->row(term.row).data() + term.variable * plan.heads + plan.head,
                                         plan.context) += by_context.row(t).array();
  }
  return sum;
}

template <class Real>
double Ace<Real>::loss(std::span<const Real> parameters, const SubsetBatch<Real>& batch,
                       std::span<Real> gradient) const {
  const Plan& plan = *plan_;
  const Real* p = parameters.data();
  Real* g = gradient.data();
  const bool wanted = !gradient.empty();
  const Index n = batch.rows(), d = plan.d;
  const double each = 1 / static_cast<double>(n);
  const int alpha = batch.progress >= plan.shape.warm_up ? 1 : 0;
  Random dropout(batch.key.split(0));
  Rows<Real> x(n, 2 * d), h(n, plan.hidden);
  x << batch.values.cwiseProduct(batch.mask), batch.mask;
  times_transposed<Real>(x, plan.matrix(p, plan.in, plan.hidden, 2 * d), h);
  h.array().rowwise() += plan.vector(p, plan.in_bias, plan.hidden);
  typename Residual<Real>::Trace trace;
  plan.blocks.forward(p + plan.first_block, h, &trace, wanted ? &dropout : nullptr);
  const Rows<Real> told = h.cwiseMax(Real{0});
  Rows<Real> heads(n, d * plan.heads);
  times_transposed<Real>(told, plan.matrix(p, plan.out, d * plan.heads, plan.hidden), heads);
  heads.array().rowwise() += plan.vector(p, plan.out_bias, d * plan.heads);
  Rows<Real> by_heads = Rows<Real>::Zero(wanted ? n : 0, d * plan.heads);

  // The proposal's part, over all terms; the energy's over some, each worth as many as it stands for.
  std::vector<double> sums(static_cast<std::size_t>(n), 0.0);
  std::vector<std::vector<EnergyTerm>> chosen(static_cast<std::size_t>(n));
  in_pieces(n, kRowsInPiece, [&](Index r) {
    const auto at = static_cast<std::size_t>(r);
    std::vector<int> open;
    for (Index v = 0; v < d; ++v) {
      if (batch.mask(r, v) != 0 || batch.present(r, v) == 0) continue;
      open.push_back(static_cast<int>(v));
      const Mixture<Real> mixture(heads.row(r).data() + v * plan.heads, plan.shape.components);
      sums[at] += static_cast<double>(mixture.log_density(batch.values(r, v)));
      if (!wanted) continue;
      mixture.add_gradient(batch.values(r, v), static_cast<Real>(-each), by_heads.row(r).data() + v * plan.heads);
    }
    if (alpha == 0 || open.empty()) return;
    const auto count = static_cast<int>(open.size());
    const int taken = plan.shape.energy_terms > 0 ? std::min(plan.shape.energy_terms, count) : count;
    Random chooser(batch.key.split(1).split(static_cast<std::uint64_t>(r)));
    for (const int k : chooser.subset(count, taken)) {
      chosen[at].push_back({r, open[static_cast<std::size_t>(k)], static_cast<double>(count) / taken});
    }
  });
  double sum = 0;
  for (const double part : sums) sum += part;
  std::vector<EnergyTerm> terms;
  for (const auto& of_row : chosen) terms.insert(terms.end(), of_row.begin(), of_row.end());
  if (wanted) std::fill(gradient.begin() + plan.value, gradient.end(), Real{0});
  const Index pieces = (static_cast<Index>(terms.size()) + kTermsInPiece - 1) / kTermsInPiece;
  std::vector<double> energy_sums(static_cast<std::size_t>(pieces), 0.0);
  std::vector<std::vector<Real>> gradients(static_cast<std::size_t>(wanted ? pieces : 0));
  parallel_for(pieces, [&](std::ptrdiff_t k) {
    const auto at = static_cast<std::size_t>(k);
    const auto first = at * static_cast<std::size_t>(kTermsInPiece);
    const auto some = std::span(terms).subspan(first, std::min<std::size_t>(kTermsInPiece, terms.size() - first));
    if (wanted) gradients[at].assign(static_cast<std::size_t>(plan.size - plan.value), Real{0});
    energy_sums[at] = energy_part(parameters, batch, some, first, heads, wanted ? &by_heads : nullptr,
                                  wanted ? std::span<Real>(gradients[at]) : std::span<Real>());
  });
  for (Index k = 0; k < pieces; ++k) {
    const auto at = static_cast<std::size_t>(k);
    sum += energy_sums[at];
    if (!wanted) continue;
    for (std::size_t i = 0; i < gradients[at].size(); ++i)
      g[static_cast<std::size_t>(plan.value) + i] += gradients[at][i];
  }
  if (!wanted) return -sum * each;

  transposed_times<Real>(by_heads, told, Eigen::Map<Rows<Real>>(g + plan.out, d * plan.heads, plan.hidden));
  Eigen::Map<typename Plan::RowVector>(g + plan.out_bias, d * plan.heads) = by_heads.colwise().sum().array();
  Rows<Real> by_h(n, plan.hidden);
  times<Real>(by_heads, plan.matrix(p, plan.out, d * plan.heads, plan.hidden), by_h);
  by_h = (h.array() > 0).select(by_h, Real{0});
  plan.blocks.backward(p + plan.first_block, trace, by_h, g + plan.first_block);
  transposed_times<Real>(by_h, x, Eigen::Map<Rows<Real>>(g + plan.in, plan.hidden, 2 * d));
  Eigen::Map<typename Plan::RowVector>(g + plan.in_bias, plan.hidden) = by_h.colwise().sum().array();
  return -sum * each;
}

template <class Real>
std::unique_ptr<const flow::SubsetDensity> Ace<Real>::density(std::span<const Real> parameters) const {
  return std::make_unique<AceDensity<Real, Plan>>(plan_, parameters);
}

template class Ace<float>;
template class Ace<double>;

}  // namespace fansite::neural
