// SPDX-License-Identifier: Apache-2.0
//
// Is a result what its table gives? The run is repeated from the result alone, and the bits compared.
#pragma once

#include <string>
#include <string_view>

#include "fansite/base/progress.h"
#include "fansite/table/dataset.h"

namespace fansite {

struct Verification {
  bool same = false;       ///< every line but the timing
  std::string difference;  ///< where they part, in a sentence; "" if they do not
};

/// Repeats the run of a result of `fansite mb`, `dag` or `entropy`; `where` names it in messages. `model`: the file of
/// the trained model that the run was given, if it was. Throws a DataError if the table or the model is another one, or
/// the result cannot be repeated: it is from before runs left what that needs, or a time budget cut it short.
Verification verify(std::string_view json, const std::string& where, const Dataset& data, const std::string& model,
                    Progress& progress);

/// The JSON of a result as it was first written, one key a line and one entry of a list a line, which verify()
/// compares: for results that another program has read and written.
std::string laid_out(std::string_view json, const std::string& where);

/// What a result says of its table's columns: load() wants it, so that the result can be repeated.
TableRoles saved_roles(std::string_view json, const std::string& where);

}  // namespace fansite
