// SPDX-License-Identifier: Apache-2.0
//
// What must be true of a model or a checkpoint, before it is written and after it is read. Each function gives the
// sentence that says what is not, or "".
#pragma once

#include <string>

#include "fansite/base/detail/container.h"
#include "fansite/entropy/flow/model_file.h"

namespace fansite::flow::model_format {

/// Of everything that other sizes follow from; the arrays may still be missing.
std::string problem_with_frame(const Ensemble& ensemble);
std::string problem_with(const Ensemble& ensemble, FileKind kind);
std::string problem_with(const Checkpoint& checkpoint);

}  // namespace fansite::flow::model_format
