// SPDX-License-Identifier: Apache-2.0
//
// NumPy's files: .npy arrays (format 1, 2 and 3) and .npz archives of them, stored or deflated. Everything a file says
// about sizes is checked against the bytes that are there before memory is asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fansite/base/file.h"
#include "fansite/base/matrix.h"

namespace fansite {

class ZipArchive;

struct NpyArray {
  std::vector<std::int64_t> shape;  ///< as in the file: one or two extents
  Matrix values;                    ///< a 1-D array is one column
};

/// Reads floats (16, 32, 64 bit), integers (8 to 64 bit, signed or not) and booleans, of either byte order, in C or
/// Fortran order, one- or two-dimensional. `where` names the bytes in messages. Throws a DataError.
NpyArray parse_npy(std::string_view bytes, const std::string& where);

/// The bytes of a .npy file: format 1.0, '<f8', Fortran order, as our matrices lie in memory.
std::string to_npy(const MatrixView& values);

/// The same, written without a second copy of the values.
void write_npy(const MatrixView& values, OutputFile& file);

/// The arrays of an .npz archive. Refers to `bytes`, which must outlive it; arrays are read when asked for.
class NpzFile {
 public:
  NpzFile(std::string_view bytes, std::string where);
  ~NpzFile();

  /// In file order.
  const std::vector<std::string>& names() const { return names_; }
  bool has(const std::string& name) const;
  /// The array called `name`, its checksum verified; a DataError that lists the arrays if there is none.
  NpyArray read(const std::string& name) const;
  /// The array that holds the table: `data`, else `X`, else the only 2-D array; a DataError that lists them otherwise.
  std::string data_name() const;

 private:
  std::string listing() const;

  std::string where_;
  std::unique_ptr<const ZipArchive> archive_;
  std::vector<std::string> names_;
  std::vector<std::size_t> member_of_name_;
};

/// The array called `name` of an .npz file; a 1-D array is one column.
Matrix load_npz_array(const std::string& path, const std::string& name);

/// The names of the arrays of an .npz file, in file order.
std::vector<std::string> npz_names(const std::string& path);

}  // namespace fansite
