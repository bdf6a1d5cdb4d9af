// SPDX-License-Identifier: Apache-2.0
//
// A batch of rows, each with its own subset of variables: what one training step works on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fansite/base/matrix.h"
#include "fansite/base/parameters.h"
#include "fansite/base/random.h"
#include "fansite/entropy/flow/shape.h"

namespace fansite::flow {

/// N×d values in single precision, row-major: what training gathers rows from.
using RowTable = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The cells of a row, all d of them: scores, NaN where absent, and the ends of intervals, equal to the score where a
/// cell is a number. Without ends all are numbers.
struct CellRow {
  CellRow(const float* score, const float* low = nullptr, const float* high = nullptr)
      : score(score), low(low), high(high) {}
  const float* score;
  const float* low;
  const float* high;
};

/// A table of cells, of somebody else's numbers.
struct RowCells {
  RowCells(const RowTable& score) : score(&score) {}
  RowCells(const RowTable& score, const RowTable& low, const RowTable& high) : score(&score), low(&low), high(&high) {}
  const RowTable* score;
  const RowTable* low = nullptr;
  const RowTable* high = nullptr;
  Vector reliability = {};          ///< of each column (base.h); empty: all are numbers
  std::vector<int> variables = {};  ///< first column of each, those of one side by side; empty: every column is one
  const Vector* weights = nullptr;  ///< of each row; null: all alike

  Index rows() const { return score->rows(); }
  Index cols() const { return score->cols(); }
  CellRow row(Index i) const {
    const auto of = [&](const RowTable* table) { return table == nullptr ? nullptr : table->data() + i * cols(); };
    return {of(score), of(low), of(high)};
  }
};

class GaussianBase;

enum class SubsetKind {
  leaf,     ///< n of the first d−1 variables, n uniform on 0..M, and always the last
  non_leaf  ///< n of all d variables, n uniform on 1..M
};
constexpr auto enum_names(SubsetKind) {
  return std::to_array<EnumName<SubsetKind>>({{SubsetKind::leaf, "leaf"}, {SubsetKind::non_leaf, "non_leaf"}});
}

/// Draws subsets for training.
class SubsetSampler {
 public:
  SubsetSampler(int variables, SubsetKind kind, int max_size);
  /// Variables of several columns each (RowCells::variables), which are drawn together or not at all: nobody asks for
  /// the density of half the indicators of a factor. `most_columns`: of a subset; sizes are cut to what there is.
  SubsetSampler(std::vector<int> first_columns, int columns, SubsetKind kind, int max_size, int most_columns);
  /// The columns drawn, ascending, into `subset`.
  void draw(Random& random, Subset& subset);
  /// The same, less those that are absent in a row that has one at least; if all are, one of those it has.
  void draw(Random& random, const CellRow& row, Subset& subset);

 private:
  void expand(Random& random, Subset& subset) const;
  int width(int variable) const {
    return first_[static_cast<std::size_t>(variable) + 1] - first_[static_cast<std::size_t>(variable)];
  }

  int variables_;
  SubsetKind kind_;
  int max_size_;
  int columns_;
  int most_columns_;
  std::vector<int> first_;             // column of each variable, and of none at the end; empty: each is one
  std::vector<std::uint64_t> chosen_;  // one bit per variable
};

/// A term is one variable of one row's subset. Terms of a row lie together, in the order of the variables.
struct Batch {
  /// The base, if there is one, must outlive this.
  explicit Batch(const Shape& shape, const GaussianBase* base = nullptr) : shape(shape), base(base) {}

  void clear();
  /// Appends a row, none of whose subset is absent.
  void add(std::span<const int> subset, const CellRow& cells);
  /// To be called after the last add: makes the lists by variable and by rank.
  void finish();

  int rows() const { return static_cast<int>(row_start.size()) - 1; }
  int terms() const { return static_cast<int>(variable.size()); }

  Shape shape;
  const GaussianBase* base;
  std::vector<int> row_start = {0};         ///< first term of each row, and the end
  std::vector<int> row;                     ///< per term
  std::vector<int> variable;                ///< per term
  std::vector<int> rank;                    ///< per term; −1 for the last of a row, which feeds no hidden node
  std::vector<float> value;                 ///< per term: the row's score of the variable
  std::vector<float> innovation;            ///< per term: what the flow maps, the value itself without a base
  std::vector<float> low, high;             ///< per term: the ends of an interval likewise; equal, or empty: numbers
  double log_scale = 0;                     ///< Σ ln σ over all terms that are numbers, of the base
  std::vector<int> by_variable, var_start;  ///< terms sorted by variable, then row, and where each variable starts
  std::vector<double> scratch;
  std::vector<int> by_rank, rank_start;  ///< terms with a rank sorted by it, then row, and where each rank starts
};

}  // namespace fansite::flow
