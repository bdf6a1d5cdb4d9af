// SPDX-License-Identifier: Apache-2.0
//
// The files of fansite/report/page and D3, as the build embeds them (cmake/embed_page.cmake).
#pragma once

#include <string_view>

namespace fansite::report {

struct PageFiles {
  std::string_view html;                         ///< the template
  std::string_view style;                        ///< page.css
  std::string_view script;                       ///< D3, then our scripts
  std::string_view style_sha256, script_sha256;  ///< 64 hex digits
};

const PageFiles& page_files();

}  // namespace fansite::report
