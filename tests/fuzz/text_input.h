// SPDX-License-Identifier: Apache-2.0
//
// Inputs for readers of text: nothing but what callers can cause may be thrown, in words that can be shown.
#pragma once

#include <cstdlib>

#include "fansite/base/error.h"
#include "fansite/base/text.h"

inline void require(bool ok) {
  if (!ok) std::abort();
}

template <class Reader>
void read(const Reader& reader) {
  try {
    reader();
  } catch (const fansite::DataError& error) {
    require(fansite::is_utf8(error.what()));
  } catch (const fansite::UsageError& error) {
    require(fansite::is_utf8(error.what()));
  }
}
