// SPDX-License-Identifier: Apache-2.0
//
// Dense storage. Tables are N×d and column-major, so that a variable is contiguous; all are Eigen types.
#pragma once

#include <Eigen/Core>

namespace fansite {

using Index = Eigen::Index;
using Matrix = Eigen::MatrixXd;  ///< column-major, aligned
using Vector = Eigen::VectorXd;
using ByteMatrix = Eigen::Matrix<unsigned char, Eigen::Dynamic, Eigen::Dynamic>;  ///< 0/1 adjacency

/// A read-only view of any double matrix whose columns are contiguous; binds to Matrix and to blocks of it without a
/// copy.
using MatrixView = Eigen::Ref<const Matrix>;

}  // namespace fansite
