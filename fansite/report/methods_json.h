// SPDX-License-Identifier: Apache-2.0
//
// The lists of methods as JSON: what Python, the documentation and other programs read of them.
#pragma once

#include <string>

namespace fansite {

/// {"boundary_methods": […], "graph_methods": […], "entropy_estimators": […], "run": [parameters of every run],
/// "simulate": [parameters]}; a method has name, summary, citation, capabilities and parameters, a parameter name,
/// help, type, default, choices or range, and changes_answers.
std::string methods_json();

}  // namespace fansite
