// SPDX-License-Identifier: Apache-2.0
//
// Any bytes are a result (fansite.boundaries/2, fansite.graph/2) or throw a DataError, to whatever reads results; what
// is a result becomes a page.
#include <cstdint>
#include <string>

#include "fansite/report/html.h"
#include "fansite/report/json.h"
#include "fansite/report/verify.h"
#include "text_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace fansite;
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  read([&] { result_format(text, "fuzz"); });
  read([&] { parse_boundaries(text, "fuzz"); });
  read([&] { parse_graph(text, "fuzz"); });
  read([&] {
    const std::string page = to_html({{text, "fuzz"}});
    require(page.find("<script>alert") == std::string::npos);
  });
  read([&] {  // never the table it was made from, so nothing is repeated
    Dataset data;
    data.names = {"a", "b"};
    data.values = Matrix::Identity(2, 2);
    NoProgress silent;
    verify(text, "fuzz", data, "", silent);
  });
  return 0;
}
