// SPDX-License-Identifier: Apache-2.0
//
// Text that gzip (or bgzip) has packed.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace fansite {

class Progress;

/// Whether bytes begin as gzip's do.
inline bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1F\x8B"); }

/// The first bytes of the text, as far as `beginning`, the first bytes of the file, and `limit` go.
std::string gunzip_beginning(std::string_view beginning, std::size_t limit);

/// The whole text; several packed one after the other are one. `look` is given what has been unpacked, at 64 KB and
/// whenever that has doubled, and throws if the rest is not worth unpacking. A DataError that names `where` if the file
/// is damaged, ends early, or holds far more than any table would: no few bytes fill the memory. `progress` can stop
/// it.
std::string gunzip(std::string_view packed, const std::string& where,
                   const std::function<void(std::string_view)>& look = {}, const Progress* progress = nullptr);

}  // namespace fansite
