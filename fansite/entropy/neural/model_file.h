// SPDX-License-Identifier: Apache-2.0
//
// Trained ensembles of NAF, BNAF and ACE, and their training under way, as bytes and files (docs/formats.md). Nothing
// that a file says is believed before it is checked: any bytes give a value that is safe to use or a DataError.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fansite/base/detail/state_file.h"
#include "fansite/base/parameters.h"
#include "fansite/entropy/neural/ensemble.h"

namespace fansite::neural {

/// `estimator`: the name of the networks' kind; `parameters`: of that estimator.
std::string to_bytes(const NetworkEnsemble& ensemble, const std::string& estimator, const Parameters& parameters);

struct NetworkModel {
  NetworkEnsemble ensemble;
  Parameters parameters;
};
/// Of this estimator, whose parameters are as `defaults`; `network_size`: how many numbers a network has for these
/// parameters and so many variables. `name` stands for the file in messages.
NetworkModel parse_model(std::string_view bytes, const std::string& name, const std::string& estimator,
                         const Parameters& defaults,
                         const std::function<std::size_t(const Parameters&, int variables)>& network_size);

/// What an interrupted training goes on from: a result or a state for each network that was begun.
struct NetworksUnderWay {
  std::vector<std::optional<TrainedNetwork>> finished;
  std::vector<std::optional<NetworkTraining::State>> under_way;
};

class TrainingFile {
 public:
  /// A UsageError if the place cannot be written.
  TrainingFile(std::string path, StateIdentity identity)
      : file_(FileKind::checkpoint, std::move(path), std::move(identity)) {}

  /// What is there, if there is something. A DataError for a file that is damaged or something else, a UsageError for
  /// one of another table or with other settings.
  std::optional<NetworksUnderWay> load(std::size_t networks) const;
  bool due() const { return file_.due(); }
  void write(const NetworksUnderWay& networks);
  [[noreturn]] void damaged(std::string_view what) const { file_.damaged(what); }

 private:
  StateFile file_;
};

}  // namespace fansite::neural
