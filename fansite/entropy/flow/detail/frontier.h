// SPDX-License-Identifier: Apache-2.0
//
// A block of targets searched with flows: every candidate of every target in few large batches, first by few networks.
#pragma once

#include <functional>
#include <vector>

#include "fansite/entropy/flow/estimator.h"

namespace fansite::flow {

class FlowFrontier final : public Frontier {
 public:
  FlowFrontier(const FlowEstimator& estimator, std::span<const int> targets, const Candidates& candidates,
               const Progress& progress);

  void find_best(std::span<const int> slots, std::span<Candidate> best) override;
  void add(int slot, int variable) override;
  void drop_last(int slot, int count) override;
  std::vector<Candidate> gains(int slot) override;
  std::vector<Candidate> losses(int slot) override;
  void remove(int slot, int variable) override;
  const std::vector<int>& members(int slot) const override { return sets_[static_cast<std::size_t>(slot)]; }

 private:
  /// A query for each candidate of a slot.
  std::vector<EntropyQuery> candidates_of(int slot) const;
  /// Which of a slot's queries stay, in order: from what each gains over the set as it is, in the rows of some
  /// networks.
  using Choose =
      std::function<std::vector<std::size_t>(const RowMeans& means, const std::vector<Eigen::ArrayXd>& gains)>;
  /// Leaves of each slot's queries, if they are more than `enough`, those that are chosen.
  void narrow(std::span<const int> slots, std::span<std::vector<EntropyQuery>> queries, NetworkSet networks,
              std::size_t enough, const Choose& choose) const;
  /// What each `after` gains over its `before`, over the rows of that set of networks.
  std::vector<Candidate> differences(const std::vector<EntropyQuery>& before, const std::vector<EntropyQuery>& after,
                                     NetworkSet networks) const;

  const FlowEstimator& estimator_;
  const Progress& progress_;
  std::vector<int> targets_;
  Candidates candidates_;
  std::vector<std::vector<int>> sets_;
};

}  // namespace fansite::flow
