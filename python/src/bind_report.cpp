// SPDX-License-Identifier: Apache-2.0
//
// fansite/report/html.h and fansite/verify.h: what becomes of results.
#include "fansite/report/html.h"
#include "fansite/report/verify.h"
#include "src/bindings.h"
#include "src/work.h"

namespace fansite::python {

void bind_report(nb::module_& m) {
  m.def(
      "to_html",
      [](const std::vector<std::string>& results, const std::string& title) {
        std::vector<ResultText> texts;
        for (const std::string& json : results) texts.push_back({json, "the result"});
        return to_html(texts, title);
      },
      "results"_a, "title"_a, "One page of boundaries, a graph and a comparison, given as JSON.");
  m.def(
      "laid_out", [](const std::string& json) { return laid_out(json, "the result"); }, "result"_a,
      "A result's JSON in the lines in which it was first written.");
  m.def(
      "verify",
      [](const std::string& result, const Dataset& data, const std::string& model, const Running& running) {
        std::string difference;
        run(running,
            [&](Progress& progress) { difference = verify(result, "the result", data, model, progress).difference; });
        return difference;
      },
      "result"_a, "data"_a, "model"_a, "running"_a, "Where a repeated run differs from its result; '': nowhere.");
}

}  // namespace fansite::python
