// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/neural/detail/ace_density.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"
#include "fansite/entropy/neural/normal_mixture.h"
#include "fansite/entropy/neural/units.h"

namespace fansite::neural {
namespace {

// Pieces whose rows go through the proposal together. So many always, the last ones of zeros: a product of another size
// might be computed in another order.
constexpr Index kPiecesAtOnce = 4;
constexpr Index kTermsAtOnce = 16;  // rows whose energies are computed together: they stay in the cache
static_assert(kRowsAtOnce % kTermsAtOnce == 0);

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

// Where the rows of pieces of several columns are: column, first row, how many.
struct Place {
  Place(Index piece, Index rows)
      : column(piece / pieces(rows)),
        first(piece % pieces(rows) * kRowsAtOnce),
        count(std::min(kRowsAtOnce, rows - first)) {}
  static Index pieces(Index rows) { return (rows + kRowsAtOnce - 1) / kRowsAtOnce; }
  Index column, first, count;
};

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

}  // namespace

template <class Real>
Eigen::MatrixXf AceDensity<Real>::log_density(const flow::CellColumns& rows,
                                              std::span<const flow::Subset> subsets) const {
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

template <class Real>
Eigen::MatrixXf AceDensity<Real>::log_conditional(const flow::CellColumns& rows,
                                                  std::span<const flow::ConditionalSubset> questions) const {
  Eigen::MatrixXf result(rows.rows(), static_cast<Index>(questions.size()));
  for (const flow::ConditionalSubset& question : questions) {
    check(question.target.size() == 1, "[ace] densities are of one variable given others");
  }
  const auto make = [&](Index p) {
    const Place place(p, rows.rows());
    const auto& [target, given] = questions[static_cast<std::size_t>(place.column)];
    std::vector<char> absent;
    return Piece{&given, target.front(), gathered<Real>(rows, given, place.first, place.count, absent),
                 gathered<Real>(rows, target, place.first, place.count, absent)};
  };
  const auto take = [&](Index p, const Rows<Real>& found) {
    const Place place(p, rows.rows());
    const auto& [target, given] = questions[static_cast<std::size_t>(place.column)];
    for (Index i = 0; i < place.count; ++i) {
      const auto present = [&](int j) { return !std::isnan((*rows.score)(place.first + i, j)); };
      const bool known = present(target.front()) && std::all_of(given.begin(), given.end(), present);
      result(place.first + i, place.column) = known ? static_cast<float>(found(i, 0)) : kUnknown;
    }
  };
  answer_all(result.cols() * Place::pieces(rows.rows()), make, take);
  return result;
}

template <class Real>
Eigen::MatrixXf AceDensity<Real>::log_conditional(const flow::CellColumns& rows,
                                                  const flow::ConditionalSubset& question,
                                                  std::span<const flow::Trial> trials) const {
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
  for (auto& [trial, step] : others) step = after /= trial->options();
  const Index options = own != nullptr ? own->options() : 1, versions = inner * outer;
  Eigen::MatrixXf result(rows.rows(), versions * options);
  const auto make = [&](Index p) {
    const Place place(p, rows.rows());
    std::vector<char> absent;
    Rows<Real> x = gathered<Real>(rows, question.given, place.first, place.count, absent);
    for (const auto& [trial, step] : others) {
      const Index option = place.column / step % trial->options();
      for (const flow::TrialColumn& column : trial->columns) {
        const auto found = std::lower_bound(question.given.begin(), question.given.end(), column.variable);
        const Index at = found - question.given.begin();
        for (Index i = 0; i < place.count; ++i) x(i, at) = static_cast<Real>(column.values(place.first + i, option));
      }
    }
    Rows<Real> values = Rows<Real>::Zero(kRowsAtOnce, options);
    if (own != nullptr) {
      values.topRows(place.count) =
          own->columns.front().values.middleRows(place.first, place.count).template cast<Real>();
    } else {
      values = gathered<Real>(rows, question.target, place.first, place.count, absent);
    }
    return Piece{&question.given, target, std::move(x), std::move(values)};
  };
  // Cells that were tried stand for absent ones; NaN among them stays NaN.
  const auto tried = [&](int j) {
    return std::any_of(others.begin(), others.end(), [&](const auto& other) {
      return std::any_of(other.first->columns.begin(), other.first->columns.end(),
                         [&](const flow::TrialColumn& column) { return column.variable == j; });
    });
  };
  const auto take = [&](Index p, const Rows<Real>& found) {
    const Place place(p, rows.rows());
    for (Index i = 0; i < place.count; ++i) {
      const auto present = [&](int j) { return tried(j) || !std::isnan((*rows.score)(place.first + i, j)); };
      const bool known =
          (own != nullptr || present(target)) && std::all_of(question.given.begin(), question.given.end(), present);
      for (Index v = 0; v < options; ++v) {
        const Index column = (place.column / inner * options + v) * inner + place.column % inner;
        result(place.first + i, column) = known ? static_cast<float>(found(i, v)) : kUnknown;
      }
    }
  };
  answer_all(versions * Place::pieces(rows.rows()), make, take);
  return result;
}

// ---- The networks ---------------------------------------------------------------------------------------------------

template <class Real>
void AceDensity<Real>::answer_all(Index count, const std::function<Piece(Index)>& make,
                                  const std::function<void(Index, const Rows<Real>&)>& take) const {
  parallel_for((count + kPiecesAtOnce - 1) / kPiecesAtOnce, [&](std::ptrdiff_t group) {
    const Index first = group * kPiecesAtOnce;
    std::vector<Piece> pieces;
    for (Index p = first; p < std::min(count, first + kPiecesAtOnce); ++p) pieces.push_back(make(p));
    const std::vector<Rows<Real>> found = answers(pieces);
    for (std::size_t k = 0; k < found.size(); ++k) take(first + static_cast<Index>(k), found[k]);
  });
}

template <class Real>
std::vector<Rows<Real>> AceDensity<Real>::answers(std::span<const Piece> pieces) const {
  const AceNetworks<Real>& networks = *networks_;
  Rows<Real> h = Rows<Real>::Zero(kPiecesAtOnce * kRowsAtOnce, networks.hidden);
  const auto rows_of = [](std::size_t k) { return static_cast<Index>(k) * kRowsAtOnce; };
  for (std::size_t k = 0; k < pieces.size(); ++k) hidden_of(pieces[k], h.middleRows(rows_of(k), kRowsAtOnce));
  typename Residual<Real>::Trace trace;
  networks.blocks.forward(parameters_.data() + networks.first_block, h, trace, false);
  std::vector<Rows<Real>> result;
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    result.push_back(answer(pieces[k], trace.top.middleRows(rows_of(k), kRowsAtOnce)));
  }
  return result;
}

template <class Real>
void AceDensity<Real>::hidden_of(const Piece& piece, Eigen::Ref<Rows<Real>> h) const {
  const AceNetworks<Real>& networks = *networks_;
  const Real* p = parameters_.data();
  const auto in = networks.matrix(p, networks.in, networks.hidden, 2 * networks.d);
  const auto m = static_cast<Index>(piece.given->size());
  Rows<Real> weights(networks.hidden, m);
  typename AceNetworks<Real>::RowVector shift = networks.vector(p, networks.in_bias, networks.hidden);
  for (Index k = 0; k < m; ++k) {
    const int j = (*piece.given)[static_cast<std::size_t>(k)];
    weights.col(k) = in.col(j);
    shift += in.col(networks.d + j).transpose().array();
  }
  times_transposed<Real>(piece.x, weights, h);
  for (Index i = 0; i < h.rows(); ++i) h.row(i).array() += shift;
}

template <class Real>
Rows<Real> AceDensity<Real>::answer(const Piece& piece, const RowsView<Real>& told) const {
  const AceNetworks<Real>& networks = *networks_;
  const Real* p = parameters_.data();
  const Index samples = networks.shape.samples, options = piece.values.cols();
  Rows<Real> heads(kRowsAtOnce, networks.head), contexts(kRowsAtOnce, networks.context);
  times_transposed<Real>(told, networks.mixture_of(p, piece.target), heads);
  add_bias(p + networks.mixture_bias + piece.target * networks.head, heads);
  times_transposed<Real>(told, networks.context_of(p, piece.target), contexts);
  add_bias(p + networks.context_bias + piece.target * networks.context, contexts);
  const std::vector<int> targets(static_cast<std::size_t>(kRowsAtOnce), piece.target);
  const Rows<Real> base = networks.energy_base(p, contexts, targets);
  Rows<Real> all(kRowsAtOnce, samples + options), log_q(kRowsAtOnce, samples);
  std::vector<float> cells(piece.given->size());
  Mixture<Real> mixture(networks.shape.components);
  for (Index i = 0; i < kRowsAtOnce; ++i) {
    for (std::size_t k = 0; k < cells.size(); ++k) cells[k] = static_cast<float>(piece.x(i, static_cast<Index>(k)));
    mixture.read(heads.row(i).data());
    Random random(key_of(cells.data(), cells.size(), *piece.given, piece.target));
    mixture.sample(random, samples, all.row(i).data());
    for (Index k = 0; k < samples; ++k) log_q(i, k) = mixture.log_density(all(i, k));
    all.row(i).tail(options) = piece.values.row(i);
  }
  Rows<Real> result(kRowsAtOnce, options);
  typename AceNetworks<Real>::EnergyTrace trace;
  for (Index first = 0; first < kRowsAtOnce; first += kTermsAtOnce) {
    const Rows<Real> energy = networks.energies(p, base.middleRows(first, kTermsAtOnce),
                                                all.middleRows(first, kTermsAtOnce), trace, false, nullptr);
    for (Index i = 0; i < kTermsAtOnce; ++i) {
      const typename AceNetworks<Real>::RowVector l =
          -energy.row(i).head(samples).array() - log_q.row(first + i).array();
      const Real top = l.maxCoeff();
      const Real log_mean = top + std::log((l - top).exp().mean());
      result.row(first + i) = -energy.row(i).tail(options).array() - log_mean;
    }
  }
  return result;
}

template class AceDensity<float>;
template class AceDensity<double>;

}  // namespace fansite::neural
