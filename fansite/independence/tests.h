// SPDX-License-Identifier: Apache-2.0
//
// The tests of conditional independence by name, made for a table: what constraint-based methods have as an option.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fansite/base/parameters.h"
#include "fansite/context/context.h"
#include "fansite/context/effort.h"
#include "fansite/entropy/entropy.h"
#include "fansite/entropy/training_report.h"
#include "fansite/independence/independence_test.h"

namespace fansite {

enum class TestKind {
  fisher_z,  ///< linear relations, from the covariance
  flow       ///< relations of any shape, by networks that are trained first
};
constexpr auto enum_names(TestKind) {
  return std::to_array<EnumName<TestKind>>({{TestKind::fisher_z, "fisher-z"}, {TestKind::flow, "flow"}});
}

struct TestParams {
  TestKind kind = TestKind::fisher_z;
  Effort effort = Effort::normal;  ///< of training networks
  bool legacy_onesided = false;    ///< fisher-z: see FisherZ

  /// `test` and `effort`; methods that reproduce old figures add the third.
  static const Description& description();
};

/// A test fitted to a table, and what a result says of the fitting.
struct FittedTest {
  std::unique_ptr<IndependenceTest> test;
  std::shared_ptr<const SearchEstimator> networks;  ///< that the test asks; null: none
  Parameters parameters;                            ///< of the networks, in force
  std::optional<TrainingReport> training;           ///< nothing if nothing was trained
  std::optional<std::uint64_t> model_hash;          ///< of a model that was given, or whose state is kept
  std::vector<std::string> warnings;                ///< one sentence each
};

/// What a method can do that goes by the covariance of the table (table/covariance.h), or by tests made from it.
Capabilities covariance_capabilities();

/// Networks are trained, or read where the run says so. A UsageError if there is no time for that.
FittedTest fit_test(const Context& context, const TestParams& params);

}  // namespace fansite
