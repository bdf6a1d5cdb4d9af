// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/neural/ace.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/entropy/neural/detail/ace_density.h"
#include "fansite/entropy/neural/detail/ace_networks.h"
#include "fansite/entropy/neural/normal_mixture.h"
#include "fansite/entropy/neural/units.h"

namespace fansite::neural {
namespace {

constexpr Index kRowsInPiece = 16;   // of a batch, whose mixtures are computed one after the other
constexpr Index kTermsAtOnce = 8;    // whose energies are computed together: they stay in the cache on the way back
constexpr Index kTermsInPiece = 32;  // whose gradients are summed in one place
constexpr Index kSlice = 16384;      // numbers of these sums that are added up together

// A variable of a row that the energy learns from, and how many it stands for.
struct Term {
  Index row;
  int variable;
  double worth;
};

Index pieces_of(Index n, Index each) { return (n + each - 1) / each; }

}  // namespace

template <class Real>
Ace<Real>::Ace(const AceShape& shape) {
  check(shape.variables > 0, "[ace] a network needs at least one variable, got {}", shape.variables);
  check(shape.hidden > 0 && shape.blocks >= 0 && shape.components > 0 && shape.context > 0 && shape.energy_hidden > 0 &&
            shape.energy_blocks >= 0 && shape.samples > 0,
        "[ace] sizes of layers are 1 or more");
  networks_ = std::make_shared<const AceNetworks<Real>>(shape);
}
template <class Real>
Ace<Real>::~Ace() = default;
template <class Real>
int Ace<Real>::variables() const {
  return networks_->shape.variables;
}
template <class Real>
std::size_t Ace<Real>::size() const {
  return static_cast<std::size_t>(networks_->size);
}
template <class Real>
void Ace<Real>::start(Key key, std::span<Real> parameters) const {
  networks_->start(key, parameters.data());
}

// ---- The loss and its gradient --------------------------------------------------------------------------------------

// One batch on its way through the networks and back.
template <class Real>
struct Ace<Real>::Step {
  const AceNetworks<Real>& networks;
  const SubsetBatch<Real>& batch;
  const Real* p;
  Real* g;  // null: the gradient is not wanted
  Index n = batch.rows(), d = networks.d;
  double each = 1 / static_cast<double>(n);

  Rows<Real> told = {}, heads = {}, by_heads = {};  // the proposal's last hidden layer, and the mixtures that it gives
  std::vector<Term> terms = {};                     // of the energy, by variable
  std::vector<Index> begin = {};                    // of each variable among the terms, and their end
  Rows<Real> told_of_terms = {}, contexts = {}, by_contexts = {};

  using Layer = Eigen::Map<Rows<Real>>;
  Layer gradient(Index at, Index rows, Index cols) const { return {g + at, rows, cols}; }

  double take() {
    Rows<Real> x(n, 2 * d), h(n, networks.hidden);
    x << batch.values.cwiseProduct(batch.mask), batch.mask;
    times_transposed<Real>(x, networks.matrix(p, networks.in, networks.hidden, 2 * d), h);
    add_bias(p + networks.in_bias, h);
    Random dropout(batch.key.split(0));
    typename Residual<Real>::Trace trace;
    networks.blocks.forward(p + networks.first_block, h, trace, g != nullptr, g != nullptr ? &dropout : nullptr);
    told = std::move(trace.top);
    heads.resize(n, d * networks.head);
    times_transposed<Real>(told, networks.matrix(p, networks.mixtures, heads.cols(), networks.hidden), heads);
    add_bias(p + networks.mixture_bias, heads);
    if (g != nullptr) {
      std::fill_n(g, networks.size, Real{0});
      by_heads = Rows<Real>::Zero(n, heads.cols());
    }
    const double sum = proposals() + energies();
    if (g == nullptr) return -sum * each;

    transposed_times<Real>(by_heads, told, gradient(networks.mixtures, heads.cols(), networks.hidden));
    add_column_sums(by_heads, g + networks.mixture_bias);
    Rows<Real> by_h(n, networks.hidden);
    times<Real>(by_heads, networks.matrix(p, networks.mixtures, heads.cols(), networks.hidden), by_h);
    contexts_back(by_h);
    back_through_relu(told, by_h);
    networks.blocks.backward(p + networks.first_block, trace, by_h, g + networks.first_block);
    transposed_times<Real>(by_h, x, gradient(networks.in, networks.hidden, 2 * d));
    add_column_sums(by_h, g + networks.in_bias);
    return -sum * each;
  }

  // The proposal's part over all variables outside of the rows' subsets, times rows and −1. Chooses those of which the
  // energy learns, each worth as many as it stands for.
  double proposals() {
    std::vector<double> sums(static_cast<std::size_t>(n), 0.0);
    std::vector<std::vector<Term>> chosen(static_cast<std::size_t>(n));
    const AceShape& shape = networks.shape;
    const bool energy_counts = batch.progress >= shape.warm_up;
    parallel_for(pieces_of(n, kRowsInPiece), [&](std::ptrdiff_t piece) {
      Mixture<Real> mixture(shape.components);
      std::vector<int> open;
      for (Index r = piece * kRowsInPiece; r < std::min(n, (piece + 1) * kRowsInPiece); ++r) {
        const auto at = static_cast<std::size_t>(r);
        open.clear();
        for (Index v = 0; v < d; ++v) {
          if (batch.mask(r, v) != 0 || batch.present(r, v) == 0) continue;
          open.push_back(static_cast<int>(v));
          mixture.read(&heads(r, v * networks.head));
          sums[at] += static_cast<double>(mixture.log_density(batch.values(r, v)));
          if (g != nullptr) mixture.add_gradient(static_cast<Real>(-each), &by_heads(r, v * networks.head));
        }
        if (!energy_counts || open.empty()) continue;
        const auto count = static_cast<int>(open.size());
        const int taken = shape.energy_terms > 0 ? std::min(shape.energy_terms, count) : count;
        Random chooser(batch.key.split(1).split(static_cast<std::uint64_t>(r)));
        for (const int k : chooser.subset(count, taken)) {
          chosen[at].push_back({r, open[static_cast<std::size_t>(k)], static_cast<double>(count) / taken});
        }
      }
    });
    double sum = 0;
    for (const double part : sums) sum += part;
    for (const auto& of_row : chosen) terms.insert(terms.end(), of_row.begin(), of_row.end());
    return sum;
  }

  // The energy's part, times rows and −1.
  double energies() {
    if (terms.empty()) return 0;
    find_contexts();
    const auto count = static_cast<Index>(terms.size());
    const Index pieces = pieces_of(count, kTermsInPiece), own = networks.size - networks.value;
    if (g != nullptr) by_contexts.resize(count, networks.context);
    std::vector<double> sums(static_cast<std::size_t>(pieces), 0.0);
    std::vector<std::vector<Real>> gradients(static_cast<std::size_t>(g != nullptr ? pieces : 0));
    parallel_for(pieces, [&](std::ptrdiff_t piece) {
      const auto at = static_cast<std::size_t>(piece);
      if (g != nullptr) gradients[at].assign(static_cast<std::size_t>(own), Real{0});
      typename AceNetworks<Real>::EnergyTrace trace;
      const Index end = std::min(count, (piece + 1) * kTermsInPiece);
      for (Index first = piece * kTermsInPiece; first < end; first += kTermsAtOnce) {
        sums[at] += energies_of(first, std::min(kTermsAtOnce, end - first), trace,
                                g != nullptr ? gradients[at].data() : nullptr);
      }
    });
    double sum = 0;
    for (const double part : sums) sum += part;
    if (g == nullptr) return sum;
    parallel_for(pieces_of(own, kSlice), [&](std::ptrdiff_t slice) {
      const Index first = slice * kSlice, length = std::min(kSlice, own - first);
      Eigen::Map<Eigen::Array<Real, Eigen::Dynamic, 1>> to(g + networks.value + first, length);
      for (const std::vector<Real>& part : gradients) {
        to += Eigen::Map<const Eigen::Array<Real, Eigen::Dynamic, 1>>(part.data() + first, length);
      }
    });
    return sum;
  }

  // Contexts of the terms alone, a product for each variable.
  void find_contexts() {
    const auto count = static_cast<Index>(terms.size());
    std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.variable < b.variable; });
    begin.assign(static_cast<std::size_t>(d) + 1, 0);
    for (const Term& term : terms) ++begin[static_cast<std::size_t>(term.variable) + 1];
    for (std::size_t v = 0; v < static_cast<std::size_t>(d); ++v) begin[v + 1] += begin[v];
    told_of_terms.resize(count, networks.hidden);
    for (Index t = 0; t < count; ++t) told_of_terms.row(t) = told.row(terms[static_cast<std::size_t>(t)].row);
    contexts.resize(count, networks.context);
    for_variables([&](Index v, Index first, Index some) {
      times_transposed<Real>(told_of_terms.middleRows(first, some), networks.context_of(p, v),
                             contexts.middleRows(first, some));
      contexts.middleRows(first, some).array().rowwise() +=
          networks.vector(p, networks.context_bias + v * networks.context, networks.context);
    });
  }

  // From the loss by contexts to that by the hidden layer, added, and the gradient of the contexts' layer.
  void contexts_back(Rows<Real>& by_told) {
    if (terms.empty()) return;
    Rows<Real> by_terms(told_of_terms.rows(), networks.hidden);
    for_variables([&](Index v, Index first, Index some) {
      const auto by = by_contexts.middleRows(first, some);
      transposed_times<Real>(
          by, told_of_terms.middleRows(first, some),
          gradient(networks.contexts + v * networks.context * networks.hidden, networks.context, networks.hidden));
      Eigen::Map<typename AceNetworks<Real>::RowVector> bias(g + networks.context_bias + v * networks.context,
                                                             networks.context);
      for (Index t = first; t < first + some; ++t) bias += by_contexts.row(t).array();
      times<Real>(by, networks.context_of(p, v), by_terms.middleRows(first, some));
    });
    for (Index t = 0; t < by_terms.rows(); ++t) by_told.row(terms[static_cast<std::size_t>(t)].row) += by_terms.row(t);
  }

  // body(variable, its first term, how many), in parallel, of the variables that have terms.
  template <class Body>
  void for_variables(const Body& body) const {
    parallel_for(d, [&](std::ptrdiff_t v) {
      const Index first = begin[static_cast<std::size_t>(v)], end = begin[static_cast<std::size_t>(v) + 1];
      if (end > first) body(v, first, end - first);
    });
  }

  // Some of the terms: −1 times their part of the loss, times rows; `own`: their gradient by the energy's parameters.
  double energies_of(Index first, Index some, typename AceNetworks<Real>::EnergyTrace& trace, Real* own) {
    const Index samples = networks.shape.samples;
    Rows<Real> values(some, samples + 1), log_q(some, samples);
    std::vector<int> variables;
    Mixture<Real> mixture(networks.shape.components);
    for (Index t = 0; t < some; ++t) {
      const Term& term = terms[static_cast<std::size_t>(first + t)];
      variables.push_back(term.variable);
      mixture.read(&heads(term.row, term.variable * networks.head));
      Random random(batch.key.split(2).split(static_cast<std::uint64_t>(term.row * d + term.variable)));
      mixture.sample(random, samples, values.row(t).data());
      for (Index k = 0; k < samples; ++k) log_q(t, k) = mixture.log_density(values(t, k));
      values(t, samples) = batch.values(term.row, term.variable);
    }
    const RowsView<Real> told_here = contexts.middleRows(first, some);
    const Rows<Real> base = networks.energy_base(p, told_here, variables);
    Random dropout(batch.key.split(3).split(static_cast<std::uint64_t>(first)));
    const Rows<Real> energy =
        networks.energies(p, base, values, trace, own != nullptr, own != nullptr ? &dropout : nullptr);
    Rows<Real> by_energy(some, samples + 1);
    double sum = 0;
    for (Index t = 0; t < some; ++t) {
      const typename AceNetworks<Real>::RowVector l = -energy.row(t).head(samples).array() - log_q.row(t).array();
      const Real top = l.maxCoeff();
      const typename AceNetworks<Real>::RowVector weight = (l - top).exp();
      const double worth = terms[static_cast<std::size_t>(first + t)].worth;
      sum += worth * static_cast<double>(-energy(t, samples) - top - std::log(weight.mean()));
      by_energy.row(t).head(samples) = weight * static_cast<Real>(-each * worth) / weight.sum();
      by_energy(t, samples) = static_cast<Real>(each * worth);
    }
    if (own == nullptr) return sum;
    const auto at = [&](Index place) { return own + (place - networks.value); };
    const Rows<Real> by_base = networks.energies_back(p, trace, by_energy, own);
    times<Real>(by_base, networks.matrix(p, networks.from_context, networks.wide, networks.context),
                by_contexts.middleRows(first, some));
    transposed_times<Real>(by_base, told_here,
                           Eigen::Map<Rows<Real>>(at(networks.from_context), networks.wide, networks.context), true);
    add_column_sums(by_base, at(networks.energy_bias));
    for (Index t = 0; t < some; ++t) {
      Eigen::Map<typename AceNetworks<Real>::RowVector>(
          at(networks.one_hot + variables[static_cast<std::size_t>(t)] * networks.wide), networks.wide) +=
          by_base.row(t).array();
    }
    return sum;
  }
};

template <class Real>
double Ace<Real>::loss(std::span<const Real> parameters, const SubsetBatch<Real>& batch,
                       std::span<Real> gradient) const {
  Step step{*networks_, batch, parameters.data(), gradient.empty() ? nullptr : gradient.data()};
  return step.take();
}

template <class Real>
std::unique_ptr<const flow::SubsetDensity> Ace<Real>::density(std::span<const Real> parameters) const {
  return std::make_unique<AceDensity<Real>>(networks_, parameters);
}

template class Ace<float>;
template class Ace<double>;

}  // namespace fansite::neural
