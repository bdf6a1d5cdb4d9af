// SPDX-License-Identifier: Apache-2.0
#include "fansite/table/roles.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "fansite/base/error.h"
#include "fansite/base/text.h"
#include "fansite/table/dataset.h"

namespace fansite {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// ---- One role each --------------------------------------------------------------------------------------------------

std::string number_text(double value) {
  char digits[32];
  const auto [end, code] = std::to_chars(digits, digits + sizeof digits, value + 0.0);  // −0 and 0 are one level
  return {digits, end};
}

/// The numbers of a column become those of its levels, in their order.
void number_levels(Eigen::Ref<Vector> values, Column& column) {
  std::map<double, double> level_of;
  for (const double value : values) {
    if (!std::isnan(value)) level_of.emplace(value, 0);
  }
  for (auto& [value, level] : level_of) {
    level = static_cast<double>(column.levels.size());
    column.levels.push_back(number_text(value));
  }
  for (double& value : values) {
    if (!std::isnan(value)) value = level_of.at(value);
  }
}

void declare_kind(Dataset& data, const DeclaredKind& declared) {
  const int index = data.index_of(declared.first);
  Column& column = data.columns[at(index)];
  const bool nominal = declared.second == ColumnKind::nominal;
  check(nominal || column.levels.empty(),
        "[kind] '{}' holds text, whose order is not known, so it cannot be {}: leave the kind out, or give numbers.",
        excerpt(declared.first), name(declared.second));
  column.kind = declared.second;
  if (nominal && column.levels.empty()) number_levels(data.values.col(index), column);
}

Vector checked_weights(const Dataset& data, int index) {
  const std::string name = excerpt(data.names[at(index)]);
  check(data.columns[at(index)].levels.empty(), "[weight] '{}' holds text. Weights are positive numbers.", name);
  const auto cells = data.values.col(index);
  for (Index row = 0; row < cells.size(); ++row) {
    check_data(!std::isnan(cells[row]),
               "[weight] the weight '{}' of row {} is missing: fill it, or leave out such rows with --missing drop.",
               name, row + 1);
    check_data(cells[row] > 0 && std::isfinite(cells[row]),
               "[weight] the weight '{}' of row {} is {}: weights are positive numbers, so leave out rows that are not "
               "to count.",
               name, row + 1, cells[row]);
  }
  // Divided by the largest first: the sum of weights near the largest double would overflow.
  const Vector shares = cells / cells.maxCoeff();
  return shares / shares.mean();
}

/// Numbered as they come.
std::vector<int> checked_groups(const Dataset& data, int index) {
  std::map<double, int> group_of;
  std::vector<int> groups;
  const auto cells = data.values.col(index);
  for (Index row = 0; row < cells.size(); ++row) {
    check_data(!std::isnan(cells[row]),
               "[group] the group '{}' of row {} is missing: fill it, or leave out such rows with --missing drop.",
               excerpt(data.names[at(index)]), row + 1);
    groups.push_back(group_of.emplace(cells[row], static_cast<int>(group_of.size())).first->second);
  }
  check_data(group_of.size() > 1, "[group] every row has the same '{}': there must be several groups.",
             excerpt(data.names[at(index)]));
  return groups;
}

/// Each column has one role.
void check_roles(const TableRoles& roles) {
  for (const std::string& name : roles.drop) {
    check(!contains(roles.only, name), "[drop] '{}' cannot be left out and kept at once: leave one out.",
          excerpt(name));
    const bool has_role = name == roles.weight || name == roles.group || contains(roles.context, name);
    check(!has_role, "[drop] '{}' is {}, so it cannot be left out.", excerpt(name),
          name == roles.weight  ? "the weight of rows"
          : name == roles.group ? "the group of rows"
                                : "context");
  }
  std::vector<DeclaredKind> kinds;
  add_kinds(kinds, roles.kinds);
  const auto is_context = [&](const std::string& name) { return contains(roles.context, name); };
  check(roles.weight.empty() || roles.weight != roles.group,
        "[group] '{}' cannot be weight and group at once: leave one out.", excerpt(roles.group));
  for (const std::string& taken : {roles.weight, roles.group}) {
    if (taken.empty()) continue;
    const char* role = taken == roles.weight ? "weight" : "group";
    check(!is_context(taken), "[context] '{}' is the {} of rows, which leaves the table, so it cannot be context too.",
          excerpt(taken), role);
    const bool declared =
        std::any_of(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.first == taken; });
    check(!declared, "[kind] '{}' is the {} of rows, which has no kind: leave the kind out.", excerpt(taken), role);
  }
}

}  // namespace

bool TableRoles::leave_out(std::string_view name) const {
  if (contains(drop, name)) return true;
  return !only.empty() && !contains(only, name) && !contains(context, name) && name != weight && name != group;
}

std::vector<char> left_out(const std::vector<std::string>& names, const TableRoles& roles) {
  std::vector<char> out(names.size(), 0);
  if (roles.drop.empty() && roles.only.empty()) return out;
  check_roles(roles);
  for (const auto* named : {&roles.drop, &roles.only}) {
    for (const std::string& name : *named) column_called(name, names);
  }
  for (const DeclaredKind& declared : roles.kinds) column_called(declared.first, names);
  for (std::size_t j = 0; j < names.size(); ++j) out[j] = roles.leave_out(names[j]) ? 1 : 0;
  check(std::count(out.begin(), out.end(), 0) > 0, "[drop] every column is left out, so nothing can be learnt.");
  return out;
}

Dataset chosen_columns(Dataset data, const TableRoles& roles) {
  if (data.roles.drop == roles.drop && data.roles.only == roles.only) return data;
  const std::vector<char> out = left_out(data.names, roles);
  std::vector<int> columns;
  for (int j = 0; j < data.variables(); ++j) {
    if (out[at(j)] == 0) columns.push_back(j);
  }
  if (columns.size() < data.names.size()) data = take_columns(data, columns);
  data.roles.drop = roles.drop;
  data.roles.only = roles.only;
  return data;
}

Dataset with_roles(Dataset data, const TableRoles& roles) {
  check_roles(roles);
  data = chosen_columns(std::move(data), roles);
  data.columns.resize(data.names.size());
  for (const DeclaredKind& declared : roles.kinds) {
    if (!roles.leave_out(declared.first)) declare_kind(data, declared);
  }
  for (const std::string& name : roles.context) data.columns[at(data.index_of(name))].context = true;
  std::vector<char> kept(data.names.size(), 1);
  if (!roles.weight.empty()) {
    const int index = data.index_of(roles.weight);
    data.weights = checked_weights(data, index);
    kept[at(index)] = 0;
  }
  if (!roles.group.empty()) {
    const int index = data.index_of(roles.group);
    data.groups = checked_groups(data, index);
    kept[at(index)] = 0;
  }
  std::vector<int> columns;
  for (int j = 0; j < data.variables(); ++j) {
    if (kept[at(j)] != 0) columns.push_back(j);
  }
  check(!columns.empty(), "[{}] the table has no other column, so nothing can be learnt.",
        roles.group.empty() ? "weight" : "group");
  check(std::any_of(columns.begin(), columns.end(), [&](int j) { return !data.columns[at(j)].context; }),
        "[context] every column is context, so nothing can be learnt: leave one out.");
  if (columns.size() < data.names.size()) data = take_columns(data, columns);
  data.roles = roles;
  std::erase_if(data.roles.kinds, [&](const DeclaredKind& declared) { return roles.leave_out(declared.first); });
  return data;
}

// ---- Kinds as text --------------------------------------------------------------------------------------------------

namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  return first == text.npos ? std::string_view() : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool is_quoted(std::string_view text) { return text.size() >= 2 && text.front() == '"' && text.back() == '"'; }

std::string unquoted(std::string_view text) {
  if (!is_quoted(text)) return std::string(text);
  std::string name;
  text = text.substr(1, text.size() - 2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    name += text[i];
    if (text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"') ++i;
  }
  return name;
}

/// "name<mark>kind" at its last mark; false if what follows it is no kind.
bool split_at(std::string_view line, char mark, DeclaredKind& declared) {
  const std::size_t place = line.rfind(mark);
  if (place == line.npos) return false;
  const std::string word = lower_case(unquoted(trimmed(line.substr(place + 1))));
  for (const auto& entry : enum_names(ColumnKind{})) {
    if (entry.name != word) continue;
    declared = {unquoted(trimmed(line.substr(0, place))), entry.value};
    return !declared.first.empty();
  }
  return false;
}

bool is_header(std::string_view line) {
  const std::string lower = lower_case(line);
  for (const char mark : {',', ';', '\t'}) {
    const std::size_t place = lower.find(mark);
    if (place == lower.npos) continue;
    if (unquoted(trimmed(std::string_view(lower).substr(0, place))) == "name" &&
        unquoted(trimmed(std::string_view(lower).substr(place + 1))) == "kind")
      return true;
  }
  return false;
}

/// What was said of this column before, or null.
const DeclaredKind* said_of(const std::vector<DeclaredKind>& kinds, const std::string& name) {
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.first == name; });
  return found == kinds.end() ? nullptr : &*found;
}

}  // namespace

DeclaredKind parse_kind(std::string_view text) {
  DeclaredKind declared;
  if (split_at(text, '=', declared)) return declared;
  throw ParameterError(
      "kind", fmt::format("'{}' is not NAME=KIND, where KIND is {}.", excerpt(text), either(all_names<ColumnKind>())));
}

std::vector<DeclaredKind> parse_kinds(std::string_view text, const std::string& where) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::vector<DeclaredKind> kinds;
  bool first = true;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line[0] == '#') continue;
    const bool header = first && is_header(line);
    first = false;
    if (header) continue;
    DeclaredKind declared;
    const bool parsed = split_at(line, '=', declared) || split_at(line, ',', declared) ||
                        split_at(line, ';', declared) || split_at(line, '\t', declared);
    check_data(parsed, "[kinds] {} line {}: '{}' is neither NAME=KIND nor name,kind, where a kind is {}.", where,
               number, excerpt(line), either(all_names<ColumnKind>()));
    check_data(is_utf8(declared.first), "[kinds] {} line {} is not UTF-8 text. Save the file as UTF-8.", where, number);
    const DeclaredKind* before = said_of(kinds, declared.first);
    check_data(before == nullptr || *before == declared, "[kinds] {} line {}: '{}' was said to be {} before.", where,
               number, excerpt(declared.first), before == nullptr ? "" : name(before->second));
    if (before == nullptr) kinds.push_back(std::move(declared));
  }
  return kinds;
}

void add_kinds(std::vector<DeclaredKind>& kinds, const std::vector<DeclaredKind>& more) {
  for (const DeclaredKind& declared : more) {
    const DeclaredKind* before = said_of(kinds, declared.first);
    check(before == nullptr || *before == declared, "[kind] '{}' is said to be {} and {}: leave one out.",
          excerpt(declared.first), before == nullptr ? "" : name(before->second), name(declared.second));
    if (before == nullptr) kinds.push_back(declared);
  }
}

}  // namespace fansite
