// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/parameters.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "fansite/base/duration.h"
#include "fansite/base/text.h"

namespace fansite {
namespace {

using Type = Parameter::Type;

// Numbers as people write them; the shortest text that gives the same number again.
std::string text_of(double value) { return fmt::format("{}", value); }

std::string_view type_in_words(Type type) {
  switch (type) {
    case Type::flag:
      return "true or false";
    case Type::integer:
    case Type::natural:
      return "a whole number";
    case Type::number:
      return "a number";
    case Type::duration:
      return "a number of seconds";
    case Type::choice:
    case Type::text:
      return "a word";
    case Type::numbers:
      return "numbers";
    case Type::names:
      return "names";
  }
  return "";
}

template <class T>
T parse_number(const Parameter& parameter, std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (code == std::errc::result_out_of_range) {
    throw ParameterError(parameter.name, fmt::format("{} is out of range; use {}", excerpt(text), parameter.allowed()));
  }
  if (code != std::errc{} || stop != end || text.empty()) {
    throw ParameterError(parameter.name, fmt::format("'{}' is not {}; use {}", excerpt(text),
                                                     type_in_words(parameter.type), parameter.allowed()));
  }
  return value;
}

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> pieces;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    pieces.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return pieces;
}

}  // namespace

void throw_unknown(std::string_view what, std::string_view word, const std::vector<std::string>& words) {
  throw ParameterError(std::string(what), fmt::format("'{}' is unknown; use {}", excerpt(word), either(words)));
}

std::string either(const std::vector<std::string>& words) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    list += i == 0 ? "" : i + 1 == words.size() ? " or " : ", ";
    list += words[i];
  }
  return list;
}

std::string to_text(const Value& value) {
  struct Writer {
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(std::uint64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return text_of(number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const std::vector<double>& numbers) const {
      return fmt::format("{}", fmt::join(numbers, ","));
    }
    std::string operator()(const std::vector<std::string>& names) const {
      return fmt::format("{}", fmt::join(names, ","));
    }
  };
  return std::visit(Writer{}, value);
}

bool Range::contains(double value) const {
  if (!std::isfinite(value) && !infinite) return false;
  return (least_itself ? value >= least : value > least) && (most_itself ? value <= most : value < most);
}

std::string Range::text() const {
  const std::string low = text_of(least), high = text_of(most);
  const bool below = std::isfinite(most), over = std::isfinite(least);
  if (below && over && least_itself && most_itself) return fmt::format("{} to {}", low, high);
  const std::string from = !over ? "" : least_itself ? fmt::format("{} or more", low) : fmt::format("above {}", low);
  const std::string to = !below ? "" : most_itself ? fmt::format("{} or less", high) : fmt::format("below {}", high);
  return fmt::format("{}{}{}{}", from, over && below ? " and " : "", to, infinite ? ", or inf" : "");
}

std::string Parameter::allowed() const {
  if (type == Type::choice) return either(choices);
  const std::string limits = type == Type::natural ? "0 or more, below 2^64" : range.text();
  const std::string words(type_in_words(type));
  if (limits.empty()) return words;
  return fmt::format("{}{} {}", words, type == Type::numbers ? ", each" : ",", limits);
}

Value parse_value(const Parameter& parameter, std::string_view text) {
  switch (parameter.type) {
    case Type::flag:
      if (text != "true" && text != "false") throw_unknown(parameter.name, text, {"true", "false"});
      return text == "true";
    case Type::integer:
      return parse_number<std::int64_t>(parameter, text);
    case Type::natural:
      if (text.starts_with('-')) {
        throw ParameterError(parameter.name, fmt::format("{} is negative; use {}", excerpt(text), parameter.allowed()));
      }
      return parse_number<std::uint64_t>(parameter, text);
    case Type::number:
      return parse_number<double>(parameter, text);
    case Type::duration:
      return parse_duration(text, parameter.name);
    case Type::choice:
    case Type::text:
      break;
    case Type::numbers: {
      std::vector<double> numbers;
      for (const std::string& piece : split_at_commas(text)) numbers.push_back(parse_number<double>(parameter, piece));
      return numbers;
    }
    case Type::names:
      return text.empty() ? std::vector<std::string>{} : split_at_commas(text);
  }
  return std::string(text);
}

const Description::Field* Description::find(std::string_view name) const {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

void Description::validate(const void* params) const {
  for (const Field& field : fields) detail::check_value(field, field.get(params));
  for (const auto& rule : rules) rule(params);
}

std::string Description::identity(const void* params) const {
  std::string words;
  for (const Field& field : fields) {
    if (!field.changes_answers) continue;
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", field.name, to_text(field.get(params)));
  }
  return words;
}

namespace detail {

void throw_wrong_type(const Parameter& parameter, const Value& value) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  const bool counts = parameter.type == Type::integer || parameter.type == Type::natural;
  if (counts && (whole != nullptr || std::holds_alternative<std::uint64_t>(value))) {  // but not of this size
    throw ParameterError(parameter.name,
                         fmt::format("{} is too {}; use {}", to_text(value),
                                     whole != nullptr && *whole < 0 ? "small" : "large", parameter.allowed()));
  }
  throw ParameterError(parameter.name, fmt::format("'{}' is not {}; use {}", excerpt(to_text(value)),
                                                   type_in_words(parameter.type), parameter.allowed()));
}

void throw_out_of_range(const Parameter& parameter, const Value& value) {
  throw ParameterError(parameter.name, fmt::format("{} is out of range; use {}", to_text(value), parameter.allowed()));
}

Value converted(const Parameter& parameter, const Value& value) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  const auto* natural = std::get_if<std::uint64_t>(&value);
  bool fits = false;
  switch (parameter.type) {
    case Type::flag:
      fits = std::holds_alternative<bool>(value);
      break;
    case Type::integer:
      if (natural != nullptr && std::in_range<std::int64_t>(*natural)) return static_cast<std::int64_t>(*natural);
      fits = whole != nullptr;
      break;
    case Type::natural:
      if (whole != nullptr && *whole >= 0) return static_cast<std::uint64_t>(*whole);
      fits = natural != nullptr;
      break;
    case Type::number:
    case Type::duration:
      if (whole != nullptr) return static_cast<double>(*whole);
      if (natural != nullptr) return static_cast<double>(*natural);
      fits = std::holds_alternative<double>(value);
      break;
    case Type::choice:
    case Type::text:
      fits = std::holds_alternative<std::string>(value);
      break;
    case Type::numbers:
      if (const auto* number = std::get_if<double>(&value)) return std::vector<double>{*number};
      if (whole != nullptr) return std::vector<double>{static_cast<double>(*whole)};
      if (const auto* names = std::get_if<std::vector<std::string>>(&value); names && names->empty()) {
        return std::vector<double>{};
      }
      fits = std::holds_alternative<std::vector<double>>(value);
      break;
    case Type::names:
      if (const auto* name = std::get_if<std::string>(&value)) return std::vector<std::string>{*name};
      if (const auto* none = std::get_if<std::vector<double>>(&value); none && none->empty()) {
        return std::vector<std::string>{};
      }
      fits = std::holds_alternative<std::vector<std::string>>(value);
      break;
  }
  if (!fits) throw_wrong_type(parameter, value);
  return value;
}

void check_value(const Parameter& parameter, const Value& value) {
  const auto check_number = [&](double number) {
    if (parameter.range.contains(number)) return;
    throw_out_of_range(parameter, number);
  };
  if (const auto* whole = std::get_if<std::int64_t>(&value)) check_number(static_cast<double>(*whole));
  if (const auto* number = std::get_if<double>(&value)) check_number(*number);
  if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
    if (numbers->empty()) throw ParameterError(parameter.name, "no number is given; use " + parameter.allowed());
    for (const double number : *numbers) check_number(number);
  }
  if (const auto* word = std::get_if<std::string>(&value); word != nullptr && parameter.type == Type::choice) {
    const auto& words = parameter.choices;
    if (std::find(words.begin(), words.end(), *word) == words.end()) throw_unknown(parameter.name, *word, words);
  }
}

}  // namespace detail

const std::vector<Description::Field>& Parameters::fields() const {
  static const std::vector<Description::Field> none;
  return description_ == nullptr ? none : description_->fields;
}

Value Parameters::get(std::string_view name) const {
  const Description::Field* field = description_ == nullptr ? nullptr : description_->find(name);
  if (field == nullptr) throw ParameterError(std::string(name), "there is no such parameter");
  return field->get(address());
}

void Parameters::set(std::string_view name, const Value& value) {
  const Description::Field* field = description_ == nullptr ? nullptr : description_->find(name);
  if (field == nullptr) throw ParameterError(std::string(name), "there is no such parameter");
  field->set(const_cast<void*>(address()), value);
}

void Parameters::validate() const {
  if (description_ != nullptr) description_->validate(address());
}

std::string Parameters::identity() const {
  return description_ == nullptr ? std::string() : description_->identity(address());
}

}  // namespace fansite
