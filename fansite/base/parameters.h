// SPDX-License-Identifier: Apache-2.0
//
// Parameters described once. Beside each Params struct stands the one list of its fields: name, help, range or choices,
// and whether the field changes answers. Command line, JSON both ways, validation, the identity that resumed and
// verified runs compare, Python's arguments and the tables of the documentation are derived from it.
//
//   struct SearchParams {
//     double fdr = 0.05;  ///< …
//     static const Description& description();
//   };
//   const Description& SearchParams::description() {
//     static const Description list = Describe<SearchParams>()
//         .field("fdr", &SearchParams::fdr, "the share of false members to accept", between(0, 1))
//         .done();
//     return list;
//   }
#pragma once

#include <any>
#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "fansite/base/error.h"

namespace fansite {

// ---- Enums: one table of names each, enum_names(value), beside the enum
// ----------------------------------------------

template <class E>
struct EnumName {
  E value;
  std::string_view name;
};

template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E value) {
  enum_names(value);
};

template <NamedEnum E>
constexpr std::string_view name(E value) {
  for (const EnumName<E>& entry : enum_names(value)) {
    if (entry.value == value) return entry.name;
  }
  return "";
}

template <NamedEnum E>
std::vector<std::string> all_names() {
  std::vector<std::string> words;
  for (const EnumName<E>& entry : enum_names(E{})) words.emplace_back(entry.name);
  return words;
}

/// A UsageError that names `what` and lists the words it can be, for a word that means nothing.
[[noreturn]] void throw_unknown(std::string_view what, std::string_view word, const std::vector<std::string>& words);

template <NamedEnum E>
E parse(std::string_view word, std::string_view what = "value") {
  for (const EnumName<E>& entry : enum_names(E{})) {
    if (entry.name == word) return entry.value;
  }
  throw_unknown(what, word, all_names<E>());
}

/// "a, b or c".
std::string either(const std::vector<std::string>& words);

// ---- Values and fields ----------------------------------------------------------------------------------------------

using Value =
    std::variant<bool, std::int64_t, std::uint64_t, double, std::string, std::vector<double>, std::vector<std::string>>;

/// As the command line takes it: 0.05, true, a word, or several with commas between.
std::string to_text(const Value& value);

/// A value that a parameter cannot have. What it says begins with the parameter's name.
class ParameterError : public UsageError {
 public:
  ParameterError(std::string parameter, std::string sentence)
      : UsageError(fmt::format("[{}] {}", parameter, sentence)),
        parameter(std::move(parameter)),
        sentence(std::move(sentence)) {}
  std::string parameter, sentence;
};

/// The numbers that a parameter can be.
struct Range {
  double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
  bool least_itself = true, most_itself = true;
  bool infinite = false;  ///< infinity is one of them
  bool contains(double value) const;
  std::string text() const;  ///< "0 or more", "above 0 and below 1"; "": any
};
inline Range any_number() { return {}; }
inline Range at_least(double least) { return {.least = least}; }
inline Range above(double least) { return {.least = least, .least_itself = false}; }
inline Range between(double least, double most) {
  return {.least = least, .most = most, .least_itself = false, .most_itself = false};
}
inline Range from_to(double least, double most) { return {.least = least, .most = most}; }

struct Parameter {
  /// natural: a whole number below 2^64, such as a seed; duration: seconds, which the command line takes as 90s or 10m.
  enum class Type { flag, integer, natural, number, duration, choice, text, numbers, names };
  std::string name;  ///< as in C++ and Python; the command line writes - for _
  std::string help;  ///< one line
  Type type = Type::text;
  Value fallback;                    ///< the default
  std::vector<std::string> choices;  ///< of a choice
  Range range;                       ///< of numbers
  bool changes_answers = true;       ///< false: it changes cost or what is kept
  std::string also;                  ///< another name on the command line; "": none

  /// What it can be, in words.
  std::string allowed() const;
};

/// The value that a word of the command line means; a ParameterError if it means none.
Value parse_value(const Parameter& parameter, std::string_view text);

class Description {
 public:
  struct Field : Parameter {
    std::function<Value(const void*)> get;
    std::function<void(void*, const Value&)> set;  ///< a ParameterError for what it cannot be
  };
  std::vector<Field> fields;
  std::vector<std::function<void(const void*)>> rules;  ///< of several fields together; they throw

  const Field* find(std::string_view name) const;
  /// Throws a ParameterError that names the first field out of range, or what a rule throws.
  void validate(const void* params) const;
  /// The fields that change answers, in words: equal if the answers must be.
  std::string identity(const void* params) const;
};

namespace detail {

[[noreturn]] void throw_wrong_type(const Parameter& parameter, const Value& value);
[[noreturn]] void throw_out_of_range(const Parameter& parameter, const Value& value);
/// What the value is as the parameter's type: whole numbers will do for numbers; a ParameterError if it is neither.
Value converted(const Parameter& parameter, const Value& value);
/// A ParameterError unless it is in range, finite and among the choices.
void check_value(const Parameter& parameter, const Value& value);

template <class T>
constexpr Parameter::Type type_of() {
  using Type = Parameter::Type;
  if constexpr (std::same_as<T, bool>) {
    return Type::flag;
  } else if constexpr (std::same_as<T, std::uint64_t>) {
    return Type::natural;
  } else if constexpr (std::integral<T>) {
    return Type::integer;
  } else if constexpr (std::floating_point<T>) {
    return Type::number;
  } else if constexpr (std::is_enum_v<T>) {
    return Type::choice;
  } else if constexpr (std::same_as<T, std::vector<double>>) {
    return Type::numbers;
  } else if constexpr (std::same_as<T, std::vector<std::string>>) {
    return Type::names;
  } else {
    return Type::text;
  }
}

template <class T>
Value to_value(const T& field) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(name(field));
  } else if constexpr (std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, std::uint64_t>) {
    return static_cast<std::int64_t>(field);
  } else {
    return Value(field);
  }
}

template <class T>
void from_value(const Parameter& parameter, const Value& given, T& field) {
  const Value value = converted(parameter, given);
  check_value(parameter, value);
  if constexpr (std::is_enum_v<T>) {
    field = parse<T>(std::get<std::string>(value), parameter.name);
  } else if constexpr (std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, std::uint64_t>) {
    const std::int64_t number = std::get<std::int64_t>(value);
    if (!std::in_range<T>(number)) throw_out_of_range(parameter, value);
    field = static_cast<T>(number);
  } else {
    field = std::get<T>(value);
  }
}

}  // namespace detail

/// Collects the fields of a struct. An accessor is a pointer to the member, or a function from the struct to it.
template <class Params>
class Describe {
 public:
  template <class Access>
  Describe& field(std::string name, Access access, std::string help, Range range = {}) {
    using T = std::remove_cvref_t<std::invoke_result_t<Access, Params&>>;
    Description::Field entry;
    entry.name = std::move(name);
    entry.help = std::move(help);
    entry.type = detail::type_of<T>();
    entry.range = range;
    if constexpr (std::is_enum_v<T>) entry.choices = all_names<T>();
    entry.get = [access](const void* params) {
      return detail::to_value<T>(std::invoke(access, *static_cast<const Params*>(params)));
    };
    entry.fallback = entry.get(&defaults_);
    const Parameter about = entry;
    entry.set = [access, about](void* params, const Value& value) {
      detail::from_value<T>(about, value, std::invoke(access, *static_cast<Params*>(params)));
    };
    list_.fields.push_back(std::move(entry));
    return *this;
  }

  /// The last field is a word of this list, which is made when the program runs.
  Describe& among(std::vector<std::string> choices) {
    Description::Field& last = list_.fields.back();
    last.type = Parameter::Type::choice;
    last.choices = std::move(choices);
    Parameter about = last;
    last.set = [set = std::move(last.set), about](void* params, const Value& value) {
      detail::check_value(about, detail::converted(about, value));
      set(params, value);
    };
    return *this;
  }

  /// The last field is a number of seconds.
  Describe& duration() {
    list_.fields.back().type = Parameter::Type::duration;
    return *this;
  }

  /// Another name of the last field on the command line.
  Describe& also(std::string name) {
    list_.fields.back().also = std::move(name);
    return *this;
  }

  /// The last field changes what a run costs or keeps, and no answer.
  Describe& without_effect() {
    list_.fields.back().changes_answers = false;
    return *this;
  }

  /// All fields of a struct within this one, their names with this before them.
  template <class Access>
  Describe& part(Access access, const Description& inner, const std::string& prefix = {}) {
    for (Description::Field entry : inner.fields) {
      entry.name = prefix + entry.name;
      entry.get = [access, get = std::move(entry.get)](const void* params) {
        return get(&std::invoke(access, *static_cast<const Params*>(params)));
      };
      entry.fallback = entry.get(&defaults_);
      entry.set = [access, set = std::move(entry.set), name = entry.name](void* params, const Value& value) {
        try {
          set(&std::invoke(access, *static_cast<Params*>(params)), value);
        } catch (const ParameterError& error) {
          throw ParameterError(name, error.sentence);
        }
      };
      list_.fields.push_back(std::move(entry));
    }
    for (const auto& rule : inner.rules) {
      list_.rules.push_back(
          [access, rule](const void* params) { rule(&std::invoke(access, *static_cast<const Params*>(params))); });
    }
    return *this;
  }

  Describe& rule(std::function<void(const Params&)> check) {
    list_.rules.push_back(
        [check = std::move(check)](const void* params) { check(*static_cast<const Params*>(params)); });
    return *this;
  }

  Description done() { return std::move(list_); }

 private:
  Params defaults_{};
  Description list_;
};

template <class P>
concept Described = requires {
  { P::description() } -> std::same_as<const Description&>;
};

template <Described P>
void validate(const P& params) {
  P::description().validate(&params);
}

// ---- A struct of any kind -------------------------------------------------------------------------------------------

/// A Params struct with its description: how the lists of methods hand parameters on.
class Parameters {
 public:
  Parameters() = default;
  template <Described P>
  Parameters(P params)  // NOLINT(google-explicit-constructor): a struct is its parameters
      : description_(&P::description()),
        address_([](const std::any& held) -> const void* { return std::any_cast<P>(&held); }),
        held_(std::move(params)) {}

  template <Described P>
  bool holds() const {
    return std::any_cast<P>(&held_) != nullptr;
  }
  /// The struct itself; it must be of this type.
  template <Described P>
  const P& as() const {
    return std::any_cast<const P&>(held_);
  }
  template <Described P>
  P& as() {
    return std::any_cast<P&>(held_);
  }

  const std::vector<Description::Field>& fields() const;
  bool has(std::string_view name) const { return description_ != nullptr && description_->find(name) != nullptr; }
  Value get(std::string_view name) const;
  /// A ParameterError for a name that there is not, or a value that it cannot have.
  void set(std::string_view name, const Value& value);
  void validate() const;
  std::string identity() const;

 private:
  const void* address() const { return address_(held_); }

  const Description* description_ = nullptr;
  const void* (*address_)(const std::any&) = nullptr;
  std::any held_;
};

}  // namespace fansite
