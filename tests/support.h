// SPDX-License-Identifier: Apache-2.0
//
// What several tests need.
#pragma once

#include <string>
#include <string_view>

#include "fansite/base/progress.h"
#include "fansite/simulate/simulate.h"
#include "fansite/table/facts.h"

namespace fansite {

/// The message of the error that the call throws, or "nothing was thrown".
template <class ErrorType, class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const ErrorType& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// Asks every piece of work to stop at once.
class Impatient final : public Progress {
 public:
  void begin(std::string_view, long) override {}
  void advance(long) override {}
  bool interrupted() const override { return true; }
};

inline Simulation simulate_linear(int nodes, double degree, Index rows, std::uint64_t seed) {
  SimulateParams params;
  params.nodes = nodes;
  params.degree = degree;
  params.rows = rows;
  params.seed = seed;
  return simulate(params);
}

/// The columns that something can be learnt of.
inline Dataset learnable(const Dataset& data) { return LearnableTable(data, TableFacts(data)).data; }

}  // namespace fansite
