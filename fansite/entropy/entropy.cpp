// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/entropy.h"

#include "fansite/base/error.h"

namespace fansite {

EntropyEstimate EntropyEstimator::conditional_entropy(const EntropyQuery& query) const {
  return conditional_entropy(std::span(&query, 1)).front();
}

EntropyEstimate EntropyEstimator::mutual_information(const InformationQuery& query) const {
  return mutual_information(std::span(&query, 1)).front();
}

std::optional<Calibration> SearchEstimator::calibration(std::span<const EntropyQuery>, Progress&) const { return {}; }

void validate(const EntropyQuery& query, int variables) {
  check(query.target >= 0 && query.target < variables, "[entropy] target {} is not one of {} variables", query.target,
        variables);
  for (const int variable : query.given) {
    check(variable >= 0 && variable < variables, "[entropy] variable {} is not one of {}", variable, variables);
    check(variable != query.target, "[entropy] variable {} is target and given at once", variable);
  }
}

}  // namespace fansite
