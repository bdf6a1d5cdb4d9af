// SPDX-License-Identifier: Apache-2.0
//
// Trained ensembles, and training that is under way, as files: versioned, checksummed, the same bytes on every machine.
// docs/formats.md has the layout. Nothing that a file says is believed before it is checked: any bytes give a value
// that is safe to use or a DataError, and take memory in proportion to their number.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fansite/entropy/flow/ensemble.h"

namespace fansite::flow {

/// Written through a temporary file and a rename; a UsageError for a value that is no trained ensemble.
void save_model(const Ensemble& ensemble, const std::string& path);
/// A DataError that names what is wrong for a damaged, foreign or newer file.
Ensemble load_model(const std::string& path);

/// A training that is under way: the ensemble with its finished networks, and the state of those begun.
struct Checkpoint {
  Ensemble ensemble;                                      ///< networks not finished have no weights
  std::vector<std::optional<Training::State>> under_way;  ///< per network
};
void save_checkpoint(const Checkpoint& checkpoint, const std::string& path);
Checkpoint load_checkpoint(const std::string& path);

/// The same from and to bytes in memory; `name` stands for the file in messages.
Ensemble parse_model(std::string_view bytes, const std::string& name);
Checkpoint parse_checkpoint(std::string_view bytes, const std::string& name);
std::string to_bytes(const Ensemble& ensemble);
std::string to_bytes(const Checkpoint& checkpoint);

}  // namespace fansite::flow
