// SPDX-License-Identifier: Apache-2.0
//
// Any bytes load as a model of NAF, BNAF or ACE or are refused; what loads is written and loaded again to the same
// bytes.
#include "container_input.h"
#include "network_model_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace fansite;
  const std::string raw(reinterpret_cast<const char*>(bytes), size);
  for (const char* name : {"naf", "bnaf", "ace"}) {
    const EstimatorMethod& row = entropy_estimators().at(name);
    const auto load = [&](const std::string& input, const char*) { return row.load(network_model_context(), input); };
    const auto write = [](const FittedEstimator& fitted) { return fitted.model(); };
    for (const std::string& input : {raw, mended(raw)}) {
      try {
        round_trip(input, load, write);
      } catch (const UsageError&) {  // a model of another table's columns
      }
    }
  }
  return 0;
}
