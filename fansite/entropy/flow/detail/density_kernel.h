// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of densities on a block of rows, vectorised over rows (Highway, run-time dispatch). Private to
// density.cpp, which decides what is computed and what is shared.
//
// Exponents are to base 2: weights come multiplied by log2 e, so that every e^q is a 2^q' and needs no reduction by
// ln 2.
#pragma once

#include <cstddef>

namespace fansite::flow::kernel {

/// Rows of a block, and the stride of everything that has rows. The hidden values of a member take 3 KB (α = 6): ten
/// members fit into a first-level cache.
inline constexpr std::ptrdiff_t kRows = 128;
/// Rows are computed in steps of this many: two vectors of 16.
inline constexpr std::ptrdiff_t kRowStep = 32;

/// The hidden values of a member's rank: h = ELU(Σ_q W1 x_q + b1).
struct HiddenStep {
  std::ptrdiff_t rows = 0;                ///< a multiple of kRowStep
  std::ptrdiff_t inputs = 0;              ///< members up to this one
  std::ptrdiff_t nodes = 0;               ///< α
  const float* const* weights = nullptr;  ///< for each input: [α], s1·W1·log2 e
  const float* bias = nullptr;            ///< [α], b1·log2 e
  const float* values = nullptr;          ///< [input][kRows]
  float* hidden = nullptr;                ///< [α][kRows]
};
void density_hidden(const HiddenStep& step);

/// A member's innovation: u = scale·x + shift + Σ_q coefficient_q · u_q over the members before it.
struct InnovationStep {
  std::ptrdiff_t rows = 0;    ///< a multiple of kRowStep
  std::ptrdiff_t before = 0;  ///< members before this one
  const float* coefficients = nullptr;
  float scale = 1, shift = 0;
  const float* values = nullptr;       ///< [kRows], x_j
  const float* innovations = nullptr;  ///< [member][kRows], of those before this one
  float* result = nullptr;             ///< [kRows]
};
void density_innovation(const InnovationStep& step);

/// A member's term: q = Σ G h + g0 over the members before it, then sum = sum_before + ln p(x_j | members before j),
/// less density_term_constant().
struct TermStep {
  std::ptrdiff_t rows = 0;                ///< a multiple of kRowStep
  std::ptrdiff_t before = 0;              ///< members before this one
  std::ptrdiff_t nodes = 0;               ///< α
  std::ptrdiff_t sigmoids = 0;            ///< k
  const float* const* weights = nullptr;  ///< for each member before: [α][3k], G = V·s2·W2·log2 e
  const float* bias = nullptr;            ///< [3k], g0 = (V·b2 + c)·log2 e
  const float* hidden = nullptr;          ///< [member before][α][kRows]
  const float* values = nullptr;          ///< [kRows], x_j, or its innovation
  const float* sum_before = nullptr;      ///< [kRows]
  float* sum = nullptr;                   ///< [kRows]
  float* scratch = nullptr;               ///< [3k + 2][kRows]
};
void density_term(const TermStep& step);

/// The term of a member some of whose cells are intervals (low < high): ln(Φ(z(high)) − Φ(z(low))) for these. The
/// values are then those of its numbers, each with `log_scale` less.
struct CellsStep {
  TermStep term;
  const float* column = nullptr;  ///< [kRows], x_j; with a base, the term's values are what it predicts of these
  const float* low = nullptr;     ///< [kRows], ends as x_j has them
  const float* high = nullptr;    ///< [kRows]
  float scale = 1;                ///< of the term's values in units of x_j: 1/σ of the base
  float log_scale = 0;            ///< ln σ
};
void density_cells(const CellsStep& step);

/// What is left out of each term: −½ ln 2π, and ln ln 2 − ln(1−δ) because slopes are to base 2 and A', B' lack 1−δ.
double density_term_constant();

/// Rows come in through this: the first `count` values, then zeros up to `rows`. None is beyond ±1e15, so that products
/// do not overflow; the density of such outliers is all the same.
void density_load(const float* from, std::ptrdiff_t count, std::ptrdiff_t rows, float* to);
/// And go out: to = from + shift.
void density_store(const float* from, float shift, std::ptrdiff_t count, float* to);

}  // namespace fansite::flow::kernel
