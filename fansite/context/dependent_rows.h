// SPDX-License-Identifier: Apache-2.0
//
// What methods do about rows that depend on each other.
#pragma once

#include <optional>
#include <string>

#include "fansite/context/context.h"

namespace fansite {

/// The same run with rows as they depend on each other, or are said to (auto, none, or so many in a row): in blocks, or
/// each worth less than one. Rows worth less stay apart, because few blocks would see the strongest relations only.
/// Nothing: each row is one of its own, or in the group that was declared. A ParameterError that names `option` for
/// what is none of these, a UsageError for a length beside declared groups.
std::optional<Context> with_dependence(const Context& context, const std::string& asked, const std::string& option);

/// How rows count in such a run, `dependent` being what with_dependence made of `context`; "" if only copies are
/// grouped. `operation` as in "[mb] …"; `where` they count so, as in "tests".
std::string dependence_sentence(const Context& context, const Context& dependent, const std::string& asked,
                                const std::string& operation, const std::string& where);

/// A ParameterError that names `option` unless that is auto, none, or a number of rows.
void check_block(const std::string& asked, const std::string& option);

}  // namespace fansite
