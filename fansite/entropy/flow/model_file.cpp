// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing are in model_read.cpp and model_write.cpp.
#include "fansite/entropy/flow/model_file.h"

#include <filesystem>

#include "fansite/base/file.h"

namespace fansite::flow {

Ensemble train_or_load(const Dataset& data, const EnsembleParams& params, const ModelFiles& files, Progress& progress) {
  if (!files.model.empty()) return load_model(files.model);
  if (!files.save_model.empty()) OutputFile{files.save_model};
  Ensemble ensemble = train_ensemble(data, params, progress, files.checkpoint);
  if (!files.save_model.empty()) save_model(ensemble, files.save_model);
  if (!files.checkpoint.empty() && !files.keep_checkpoint) std::filesystem::remove(files.checkpoint);
  return ensemble;
}

}  // namespace fansite::flow
