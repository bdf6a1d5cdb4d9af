// SPDX-License-Identifier: Apache-2.0
//
// Any bytes read as .npz or throw a DataError, array by array.
#include <cstdint>
#include <string>

#include "fansite/base/error.h"
#include "fansite/table/npy.h"

namespace {

template <class Call>
void allow_data_error(Call&& call) {
  try {
    call();
  } catch (const fansite::DataError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  allow_data_error([&] {
    const fansite::NpzFile file({reinterpret_cast<const char*>(bytes), size}, "fuzz");
    allow_data_error([&] { file.data_name(); });
    for (const std::string& name : file.names()) allow_data_error([&] { file.read(name); });
  });
  return 0;
}
