// SPDX-License-Identifier: Apache-2.0
//
// From words to methods with their options.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "fansite/base/error.h"
#include "fansite/base/text.h"
#include "fansite/run/compare.h"

namespace fansite {
namespace {

// The methods of the paper's tables, as far as there are.
constexpr std::array kPaperBoundaries = {"fansite", "tc", "iamb", "eemb", "s2tmb", "kmb", "dat-moral"};
constexpr std::array kPaperGraphs = {"fansite-anm", "fansite-dcd", "dagma", "cosmo", "sdcd", "marvel", "dat"};

// What a word stands for, if it is a method of this kind or a name for several.
template <class Row, std::size_t n>
std::vector<std::string> meant(const MethodList<Row>& list, std::string_view word, std::string_view all_alone,
                               std::string_view paper, const std::array<const char*, n>& of_paper) {
  std::vector<std::string> names;
  if (word == "all" || word == all_alone) return list.names();
  if (word == paper) {
    for (const char* name : of_paper) {
      if (list.find(name) != nullptr) names.emplace_back(name);
    }
    return names;
  }
  if (list.find(word.substr(0, word.find(':'))) != nullptr) names.emplace_back(word);
  return names;
}
std::vector<std::string> meant(CompareKind kind, std::string_view word) {
  return kind == CompareKind::graph ? meant(graph_methods(), word, "all-dag", "paper-dag", kPaperGraphs)
                                    : meant(boundary_methods(), word, "all-mb", "paper-mb", kPaperBoundaries);
}

[[noreturn]] void throw_unknown_method(std::string_view word) {
  const std::string_view name = word.substr(0, word.find(':'));
  const std::vector<std::string> known = words_for_methods();
  const std::string nearest = nearest_name(name, known);
  throw ParameterError(
      "methods", fmt::format("'{}' is unknown; {}use {}", excerpt(name),
                             nearest.empty() ? "" : fmt::format("did you mean '{}'? Else ", nearest), either(known)));
}

// The kind that all words can be of; boundaries if both will do.
CompareKind kind_of(const std::vector<std::string>& words) {
  std::string_view only_boundaries, only_graphs;
  for (const std::string& word : words) {
    const bool boundaries = !meant(CompareKind::boundaries, word).empty();
    const bool graphs = !meant(CompareKind::graph, word).empty();
    if (!boundaries && !graphs) throw_unknown_method(word);
    if (!graphs) only_boundaries = word;
    if (!boundaries) only_graphs = word;
  }
  if (!only_boundaries.empty() && !only_graphs.empty()) {
    throw ParameterError("methods", fmt::format("{} finds boundaries and {} a graph; compare methods of one kind",
                                                excerpt(only_boundaries), excerpt(only_graphs)));
  }
  return only_graphs.empty() ? CompareKind::boundaries : CompareKind::graph;
}

std::vector<std::string> names_of(const Parameters& parameters) {
  std::vector<std::string> names;
  for (const Description::Field& field : parameters.fields()) names.push_back(field.name);
  return names;
}

void set_from_text(Parameters& parameters, const std::string& name, const std::string& text) {
  const auto& fields = parameters.fields();
  const auto field = std::find_if(fields.begin(), fields.end(), [&](const Parameter& f) { return f.name == name; });
  parameters.set(name, parse_value(*field, text));
}

// One "key=value" of a method. The options of a graph are also those of the boundaries that it needs, which have other
// names (a test sees to that).
void set_option(ComparedMethod& method, const std::string& key, const std::string& value) {
  const bool graph = method.kind == CompareKind::graph;
  const bool needs_boundaries = graph && graph_methods().at(method.method()).can.needs_boundaries;
  Parameters& own = graph ? method.graph.options : method.boundaries.options;
  if (needs_boundaries && key == "boundary_method") {
    method.graph.boundaries = BoundariesParams(value);
  } else if (own.has(key)) {
    set_from_text(own, key, value);
  } else if (needs_boundaries && method.graph.boundaries.options.has(key)) {
    set_from_text(method.graph.boundaries.options, key, value);
  } else {
    const std::vector<std::string> known = names_of(own);
    const std::string nearest = nearest_name(key, known);
    throw ParameterError(key, fmt::format("{} has no such option{}", method.method(),
                                          !nearest.empty() ? fmt::format("; did you mean '{}'?", nearest)
                                          : known.empty()  ? std::string(", nor any other")
                                                           : fmt::format("; it has {}", fmt::join(known, ", "))));
  }
}

ComparedMethod parsed(CompareKind kind, const std::string& word) {
  ComparedMethod method;
  method.label = word;
  method.kind = kind;
  std::string_view rest = word;
  const auto next = [&] {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    std::string piece(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return piece;
  };
  const std::string name = next();
  if (kind == CompareKind::graph) {
    method.graph = CausalGraphParams(name);
  } else {
    method.boundaries = BoundariesParams(name);
  }
  try {
    while (!rest.empty()) {
      const std::string option = next();
      const std::size_t equals = option.find('=');
      check(equals != std::string::npos && equals > 0, "[methods] '{}' is no option; write it as {}:KEY=VALUE",
            excerpt(option), name);
      std::string key = option.substr(0, equals);
      std::replace(key.begin(), key.end(), '-', '_');
      set_option(method, key, option.substr(equals + 1));
    }
    (kind == CompareKind::graph ? method.graph.options : method.boundaries.options).validate();
    method.graph.boundaries.options.validate();
  } catch (const ParameterError& error) {  // of this method's options, not of the command's
    throw ParameterError("methods", fmt::format("{}, {}: {}", excerpt(word), error.parameter, error.sentence));
  }
  return method;
}

}  // namespace

std::vector<std::string> words_for_methods() {
  std::vector<std::string> words = boundary_methods().names();
  const std::vector<std::string> graphs = graph_methods().names();
  words.insert(words.end(), graphs.begin(), graphs.end());
  words.insert(words.end(), {"all", "all-dag", "paper-mb", "paper-dag"});
  return words;
}

std::vector<ComparedMethod> compared_methods(const std::vector<std::string>& words) {
  if (words.empty()) throw ParameterError("methods", "none are named; use a list such as iamb,tc, or paper-mb");
  const CompareKind kind = kind_of(words);
  std::vector<ComparedMethod> methods;
  const auto is_there = [&](const std::string& label) {
    return std::any_of(methods.begin(), methods.end(), [&](const ComparedMethod& m) { return m.label == label; });
  };
  for (const std::string& word : words) {
    const std::vector<std::string> names = meant(kind, word);
    for (const std::string& name : names) {
      const bool again = is_there(name);
      if (again && names.size() == 1) throw ParameterError("methods", fmt::format("{} is named twice", excerpt(name)));
      if (!again) methods.push_back(parsed(kind, name));  // "paper-mb,all" is all
    }
  }
  return methods;
}

}  // namespace fansite
