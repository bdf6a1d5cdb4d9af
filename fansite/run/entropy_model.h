// SPDX-License-Identifier: Apache-2.0
//
// An estimator fitted to a table once and asked many times: how uncertain one variable is, given others, and what each
// of them tells. Behind `fansite entropy` and the Python class.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fansite/context/context.h"
#include "fansite/entropy/estimators.h"

namespace fansite {

struct EntropyParams {
  std::string estimator = "flow";  ///< of the list of entropy estimators
  Parameters options;              ///< of that estimator
  std::string block = "auto";  ///< rows that may depend on each other: auto (as they show), none, or so many in a row
  RunParams run;

  EntropyParams() : EntropyParams("flow") {}
  /// With the defaults of this estimator; a ParameterError if there is none called so.
  explicit EntropyParams(const std::string& estimator);
};

/// The parameters with which a search trains this estimator for such a table; a ParameterError if it trains nothing.
Parameters options_for(const std::string& estimator, Effort effort, const Dataset& data);

struct InformationResult {
  std::string target;
  Index rows = 0;
  EntropyParams params;
  Parameters options_in_force;              ///< of the estimator, zeros filled in
  std::uint64_t data_hash = 0;              ///< of the table
  TableRoles roles;                         ///< that its columns were given
  std::optional<std::uint64_t> model_hash;  ///< of the model that was given
  EntropyEstimate entropy;                  ///< H(T)
  EntropyEstimate conditional_entropy;      ///< H(T | given)
  EntropyEstimate information;              ///< I(T; given)
  struct Added {
    std::string variable;
    EntropyEstimate information;  ///< I(T; it | the other given variables)
  };
  std::vector<Added> added;                ///< in the order given
  bool original_scale = true;              ///< entropies are on the target's own scale, else on that of normal scores
  bool out_of_sample = false;              ///< each row was judged by networks that had not seen it
  std::optional<TrainingReport> training;  ///< nothing for closed forms
  std::vector<std::string> warnings;       ///< one sentence each
  double train_seconds = 0;
  double query_seconds = 0;
};

/// The question in columns of the table; a UsageError for a name that is unknown or stands twice.
EntropyQuery entropy_query(const Dataset& data, const std::string& target, const std::vector<std::string>& given);

class EntropyModel {
 public:
  /// Throws a DataError when the table allows no answer. `keep_state`: the checkpoint stays for a caller who removes it
  /// when the answers are kept.
  EntropyModel(Dataset data, EntropyParams params, Progress& progress, bool keep_state = false);
  /// From the bytes of `model()`, or fitted again if it has none.
  EntropyModel(Dataset data, EntropyParams params, std::string_view model, std::vector<std::string> warnings);

  const Dataset& data() const { return data_; }
  const EntropyParams& params() const { return params_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  std::string model() const { return fitted_.model ? fitted_.model() : std::string(); }

  /// In nats; a UsageError for a name that is unknown or stands twice.
  EntropyEstimate conditional_entropy(const std::string& target, const std::vector<std::string>& given) const;
  EntropyEstimate mutual_information(const std::string& target, const std::vector<std::string>& about,
                                     const std::vector<std::string>& given) const;
  InformationResult information(const std::string& target, const std::vector<std::string>& given) const;

  /// The checkpoint of the training, if there was one, goes.
  void remove_state() const;

 private:
  void finish();
  int place_of(int column) const { return place_[static_cast<std::size_t>(column)]; }
  std::vector<int> placed(std::vector<int> columns) const;
  EntropyQuery placed(const EntropyQuery& query) const;

  Dataset data_;
  std::vector<double> most_told_;  // of each column (run/detail/table_warnings)
  std::vector<int> place_;         // of each column in the order of contents, which the estimator was fitted in
  EntropyParams params_;
  std::uint64_t data_hash_ = 0;
  FittedEstimator fitted_;
  std::vector<std::string> warnings_;
  double train_seconds_ = 0;
};

}  // namespace fansite
