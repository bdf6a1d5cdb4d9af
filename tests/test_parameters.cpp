// SPDX-License-Identifier: Apache-2.0
//
// Parameters of every type, described as methods describe theirs.
#include "fansite/base/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "properties.h"
#include "support.h"

namespace fansite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- A struct with a field of every type ----------------------------------------------------------------------------

enum class Colour { red, green };
constexpr auto enum_names(Colour) {
  return std::to_array<EnumName<Colour>>({{Colour::red, "red"}, {Colour::green, "green"}});
}

struct StageOfTwo {
  double learning_rate = 0.01;
  int epochs = 10;

  static const Description& description() {
    static const Description list = Describe<StageOfTwo>()
                                        .field("learning_rate", &StageOfTwo::learning_rate, "of Adam", above(0))
                                        .field("epochs", &StageOfTwo::epochs, "at most", at_least(1))
                                        .rule([](const StageOfTwo& p) {
                                          check(p.epochs < 1000 || p.learning_rate < 1, "[epochs] that never ends");
                                        })
                                        .done();
    return list;
  }
};

struct EveryType {
  bool flag = false;
  int count = 3;
  std::int64_t steps = 1'000'000'000'000;
  std::uint64_t seed = 0;
  double level = 0.05;
  double patience = 0;
  double clip = 5;
  Colour colour = Colour::green;
  std::string word = "auto";
  std::string file;
  std::vector<double> widths = {0.5, 1, 2};
  std::vector<std::string> names;
  StageOfTwo first, second{0.5, 20};

  static const Description& description() {
    using P = EveryType;
    static const Description list =
        Describe<P>()
            .field("flag", &P::flag, "yes or no")
            .field("count", &P::count, "of things", from_to(-5, 9))
            .field("steps", &P::steps, "many")
            .field("seed", &P::seed, "of chance")
            .field("level", &P::level, "a share", between(0, 1))
            .field("patience", &P::patience, "for so long", at_least(0))
            .duration()
            .without_effect()
            .field("clip", &P::clip, "at most", {.least = 0, .least_itself = false, .infinite = true})
            .field("colour", &P::colour, "of it")
            .also("color")
            .field("word", &P::word, "of a list")
            .among({"auto", "always", "never"})
            .field("file", &P::file, "to keep it in")
            .without_effect()
            .field("widths", &P::widths, "of kernels", above(0))
            .field("names", &P::names, "of columns")
            .part(&P::first, StageOfTwo::description(), "first_")
            .part(&P::second, StageOfTwo::description())
            .rule([](const P& p) { check(!p.flag || p.count > 0, "[flag] it needs a count above 0"); })
            .done();
    return list;
  }
};

const Description::Field& field(const std::string& name) { return *EveryType::description().find(name); }

/// What setting it says; the value must then be what it was.
std::string refusal(const std::string& name, const Value& value) {
  Parameters parameters = EveryType();
  const std::string before = parameters.identity();
  const std::string message = message_of<ParameterError>([&] { parameters.set(name, value); });
  if (message != "nothing was thrown") {
    EXPECT_EQ(parameters.identity(), before) << name;
  }
  return message;
}
bool accepted(const std::string& name, const Value& value) { return refusal(name, value) == "nothing was thrown"; }

/// As a word of the command line would be taken.
Value through_text(const std::string& name, const Value& value) {
  Parameters parameters = EveryType();
  parameters.set(name, parse_value(field(name), to_text(value)));
  return parameters.get(name);
}

// ---- Values and their texts -----------------------------------------------------------------------------------------

TEST(Parameters, EachFieldHasTypeDefaultAndHelp) {
  using Type = Parameter::Type;
  const std::pair<const char*, Type> types[] = {{"flag", Type::flag},
                                                {"count", Type::integer},
                                                {"steps", Type::integer},
                                                {"seed", Type::natural},
                                                {"level", Type::number},
                                                {"patience", Type::duration},
                                                {"clip", Type::number},
                                                {"colour", Type::choice},
                                                {"word", Type::choice},
                                                {"file", Type::text},
                                                {"widths", Type::numbers},
                                                {"names", Type::names},
                                                {"first_learning_rate", Type::number},
                                                {"first_epochs", Type::integer},
                                                {"learning_rate", Type::number},
                                                {"epochs", Type::integer}};
  ASSERT_EQ(EveryType::description().fields.size(), std::size(types));
  const Parameters defaults = EveryType();
  for (std::size_t i = 0; i < std::size(types); ++i) {
    const Description::Field& entry = EveryType::description().fields[i];
    EXPECT_EQ(entry.name, types[i].first);
    EXPECT_EQ(entry.type, types[i].second) << entry.name;
    EXPECT_FALSE(entry.help.empty()) << entry.name;
    EXPECT_EQ(entry.fallback, defaults.get(entry.name)) << entry.name;
  }
  EXPECT_EQ(field("learning_rate").fallback, Value(0.5));  // of the whole, not of the part
  EXPECT_EQ(field("colour").also, "color");
  EXPECT_THAT(field("colour").choices, ElementsAre("red", "green"));
  EXPECT_THAT(field("word").choices, ElementsAre("auto", "always", "never"));
  EXPECT_EQ(field("count").allowed(), "a whole number, -5 to 9");
  EXPECT_EQ(field("colour").allowed(), "red or green");
  EXPECT_EQ(field("seed").allowed(), "a whole number, 0 or more, below 2^64");
  EXPECT_EQ(field("widths").allowed(), "numbers, each above 0");
  EXPECT_EQ(EveryType::description().find("nothing"), nullptr);
}

TEST(Parameters, ATextGivesTheValueOfEveryType) {
  const std::pair<const char*, Value> values[] = {{"flag", true},
                                                  {"flag", false},
                                                  {"count", std::int64_t{-5}},
                                                  {"steps", std::numeric_limits<std::int64_t>::min()},
                                                  {"seed", std::numeric_limits<std::uint64_t>::max()},
                                                  {"level", 0.1},
                                                  {"level", 4.9e-324},
                                                  {"patience", 90.5},
                                                  {"clip", kInfinity},
                                                  {"colour", std::string("red")},
                                                  {"word", std::string("never")},
                                                  {"file", std::string("a, b.json")},
                                                  {"widths", std::vector<double>{1, 0.1, 1e300}},
                                                  {"names", std::vector<std::string>{"a", "", "größe"}},
                                                  {"names", std::vector<std::string>{}},
                                                  {"first_learning_rate", 1e-5},
                                                  {"first_epochs", std::int64_t{7}}};
  for (const auto& [name, value] : values) EXPECT_EQ(through_text(name, value), value) << name << " " << to_text(value);
}

TEST(Parameters, ADurationHasUnits) {
  EXPECT_EQ(parse_value(field("patience"), "1h30m"), Value(5400.0));
  EXPECT_EQ(message_of<ParameterError>([] { parse_value(field("patience"), "soon"); }),
            "[patience] 'soon' is no length of time; write 90s, 10m or 1h30m");
}

TEST(Parameters, WholeNumbersWillDoForNumbersAndNoOtherTypeForAnother) {
  EXPECT_TRUE(accepted("patience", std::int64_t{3}));
  EXPECT_TRUE(accepted("patience", std::uint64_t{3}));
  EXPECT_TRUE(accepted("count", std::uint64_t{3}));
  EXPECT_TRUE(accepted("seed", std::int64_t{3}));
  EXPECT_TRUE(accepted("widths", std::int64_t{2}));
  EXPECT_TRUE(accepted("widths", 2.0));                   // a list of one
  EXPECT_TRUE(accepted("names", std::string("a")));       // likewise
  EXPECT_TRUE(accepted("names", std::vector<double>{}));  // an empty list has no type
  const Value of_each[] = {true,
                           std::int64_t{1},
                           std::uint64_t{1},
                           0.5,
                           std::string("red"),
                           std::vector<double>{1},
                           std::vector<std::string>{"a"}};
  const std::map<std::string, std::set<std::size_t>> taken = {
      {"flag", {0}},   {"count", {1, 2}}, {"seed", {1, 2}}, {"patience", {1, 2, 3}},
      {"colour", {4}}, {"file", {4}},     {"names", {4, 6}}};
  for (const auto& [name, fits] : taken) {
    for (std::size_t i = 0; i < std::size(of_each); ++i) {
      EXPECT_EQ(accepted(name, of_each[i]), fits.contains(i)) << name << " " << to_text(of_each[i]);
    }
  }
  EXPECT_EQ(refusal("count", 0.5), "[count] '0.5' is not a whole number; use a whole number, -5 to 9");
  EXPECT_EQ(refusal("seed", std::int64_t{-1}), "[seed] -1 is too small; use a whole number, 0 or more, below 2^64");
}

TEST(Parameters, WordsThatMeanNothingAreQuoted) {
  const auto message = [](const std::string& name, const std::string& text) {
    return message_of<ParameterError>([&] { parse_value(field(name), text); });
  };
  EXPECT_EQ(message("flag", "yes"), "[flag] 'yes' is unknown; use true or false");
  EXPECT_EQ(message("count", "3.5"), "[count] '3.5' is not a whole number; use a whole number, -5 to 9");
  EXPECT_EQ(message("count", ""), "[count] '' is not a whole number; use a whole number, -5 to 9");
  EXPECT_EQ(message("steps", "9223372036854775808"), "[steps] 9223372036854775808 is out of range; use a whole number");
  EXPECT_EQ(message("seed", "-1"), "[seed] -1 is negative; use a whole number, 0 or more, below 2^64");
  EXPECT_THAT(message("seed", "18446744073709551616"), HasSubstr("is out of range"));
  EXPECT_EQ(message("level", "five"), "[level] 'five' is not a number; use a number, above 0 and below 1");
  EXPECT_EQ(message("level", "0.5 "), "[level] '0.5 ' is not a number; use a number, above 0 and below 1");
  EXPECT_EQ(message("widths", "1,,2"), "[widths] '' is not numbers; use numbers, each above 0");
}

// ---- What they can be -----------------------------------------------------------------------------------------------

TEST(Parameters, ABoundIsInTheRangeOrNot) {
  const double next = std::nextafter(0.0, 1.0), below = std::nextafter(1.0, 0.0);
  EXPECT_FALSE(between(0, 1).contains(0));
  EXPECT_TRUE(between(0, 1).contains(next));
  EXPECT_TRUE(between(0, 1).contains(below));
  EXPECT_FALSE(between(0, 1).contains(1));
  EXPECT_TRUE(from_to(0, 1).contains(0));
  EXPECT_TRUE(from_to(0, 1).contains(1));
  EXPECT_FALSE(from_to(0, 1).contains(-next));
  EXPECT_FALSE(from_to(0, 1).contains(std::nextafter(1.0, 2.0)));
  EXPECT_TRUE(at_least(0).contains(0));
  EXPECT_FALSE(at_least(0).contains(-next));
  EXPECT_FALSE(above(0).contains(0));
  EXPECT_TRUE(above(0).contains(next));
  EXPECT_TRUE(any_number().contains(-1e308));
  const Range endless{.least = 0, .infinite = true};
  EXPECT_TRUE(endless.contains(kInfinity));
  EXPECT_FALSE(endless.contains(-kInfinity));
  EXPECT_FALSE(endless.contains(std::nan("")));
  EXPECT_EQ(endless.text(), "0 or more, or inf");
  const Range half_open{.least = 0, .most = 1, .most_itself = false};
  EXPECT_TRUE(half_open.contains(0));
  EXPECT_FALSE(half_open.contains(1));
  for (const Range& range : {between(0, 1), from_to(0, 1), at_least(0), above(0), any_number(), half_open}) {
    for (const double odd : {kInfinity, -kInfinity, std::nan("")}) EXPECT_FALSE(range.contains(odd)) << range.text();
  }
  EXPECT_EQ(between(0, 1).text(), "above 0 and below 1");
  EXPECT_EQ(from_to(-5, 9).text(), "-5 to 9");
  EXPECT_EQ(at_least(0.5).text(), "0.5 or more");
  EXPECT_EQ(above(0).text(), "above 0");
  EXPECT_EQ(half_open.text(), "0 or more and below 1");
  EXPECT_EQ((Range{.most = 3}).text(), "3 or less");
  EXPECT_EQ(any_number().text(), "");
}

TEST(Parameters, ValuesOutOfRangeAreRefused) {
  for (const double bad : {0.0, 1.0, -1.0, 2.0, kInfinity, -kInfinity, std::nan("")}) {
    EXPECT_THAT(refusal("level", bad), HasSubstr("is out of range; use a number, above 0 and below 1")) << bad;
  }
  EXPECT_EQ(refusal("level", 2.0), "[level] 2 is out of range; use a number, above 0 and below 1");
  for (const double bad : {kInfinity, std::nan("")}) {
    EXPECT_FALSE(accepted("patience", bad));
    EXPECT_FALSE(accepted("widths", std::vector<double>{1, bad}));
  }
  EXPECT_TRUE(accepted("clip", kInfinity));
  EXPECT_EQ(refusal("clip", 0.0), "[clip] 0 is out of range; use a number, above 0, or inf");
  EXPECT_TRUE(accepted("count", std::int64_t{-5}));
  EXPECT_TRUE(accepted("count", std::int64_t{9}));
  EXPECT_EQ(refusal("count", std::int64_t{10}), "[count] 10 is out of range; use a whole number, -5 to 9");
  EXPECT_EQ(refusal("widths", std::vector<double>{1, 0}), "[widths] 0 is out of range; use numbers, each above 0");
  EXPECT_EQ(refusal("widths", std::vector<double>{}), "[widths] no number is given; use numbers, each above 0");
  EXPECT_EQ(refusal("colour", std::string("blue")), "[colour] 'blue' is unknown; use red or green");
  EXPECT_EQ(refusal("word", std::string("often")), "[word] 'often' is unknown; use auto, always or never");
}

// An int has no room for what its range, which knows no largest number, allows.
TEST(Parameters, NumbersThatTheFieldCannotHoldAreOutOfRange) {
  EXPECT_EQ(refusal("epochs", std::int64_t{1} << 40),
            "[epochs] 1099511627776 is out of range; use a whole number, 1 or more");
  EXPECT_TRUE(accepted("epochs", std::int64_t{std::numeric_limits<int>::max()}));
  EXPECT_TRUE(accepted("steps", std::numeric_limits<std::int64_t>::max()));
}

TEST(Parameters, AFieldOfAPartIsNamedAsTheWholeNamesIt) {
  EXPECT_EQ(refusal("first_learning_rate", 0.0), "[first_learning_rate] 0 is out of range; use a number, above 0");
  EXPECT_EQ(refusal("learning_rate", 0.0), "[learning_rate] 0 is out of range; use a number, above 0");
  EveryType params;
  params.first.learning_rate = -1;
  EXPECT_EQ(message_of<ParameterError>([&] { validate(params); }),
            "[first_learning_rate] -1 is out of range; use a number, above 0");
  try {
    validate(params);
  } catch (const ParameterError& error) {
    EXPECT_EQ(error.parameter, "first_learning_rate");
    EXPECT_EQ(error.sentence, "-1 is out of range; use a number, above 0");
  }
  Parameters parameters = EveryType();
  parameters.set("first_epochs", std::int64_t{4});
  EXPECT_EQ(parameters.as<EveryType>().first.epochs, 4);
  EXPECT_EQ(parameters.as<EveryType>().second.epochs, 20);
}

TEST(Parameters, RulesOfTheWholeAndOfItsPartsAreKept) {
  EveryType params;
  validate(params);
  params.flag = true;
  params.count = 0;
  EXPECT_EQ(message_of<UsageError>([&] { validate(params); }), "[flag] it needs a count above 0");
  params = {};
  params.second = {2, 5000};
  EXPECT_EQ(message_of<UsageError>([&] { validate(params); }), "[epochs] that never ends");
  params.level = kInfinity;  // fields come first
  EXPECT_THAT(message_of<UsageError>([&] { validate(params); }), HasSubstr("[level] inf is out of range"));
}

TEST(Parameters, EnumsHaveNamesAndBack) {
  EXPECT_EQ(name(Colour::green), "green");
  EXPECT_EQ(parse<Colour>("red"), Colour::red);
  EXPECT_THAT(all_names<Colour>(), ElementsAre("red", "green"));
  EXPECT_EQ(message_of<ParameterError>([] { parse<Colour>("blue"); }), "[value] 'blue' is unknown; use red or green");
  EXPECT_EQ(message_of<ParameterError>([] { parse<Colour>("", "colour"); }),
            "[colour] '' is unknown; use red or green");
  EXPECT_EQ(either({}), "");
  EXPECT_EQ(either({"a"}), "a");
  EXPECT_EQ(either({"a", "b", "c"}), "a, b or c");
}

// ---- A struct of any kind -------------------------------------------------------------------------------------------

TEST(Parameters, TheIdentityHasWhatChangesAnswersAndNothingElse) {
  const std::string before = Parameters(EveryType()).identity();
  EXPECT_EQ(
      before,
      "flag false, count 3, steps 1000000000000, seed 0, level 0.05, clip 5, colour green, word auto, widths 0.5,1,2, "
      "names , first_learning_rate 0.01, first_epochs 10, learning_rate 0.5, epochs 20");
  for (const Description::Field& entry : EveryType::description().fields) {
    const bool named = (", " + before).find(", " + entry.name + " ") != std::string::npos;
    EXPECT_EQ(named, entry.changes_answers) << entry.name;
  }
  const auto with = [](const std::string& name, const Value& value) {
    Parameters parameters = EveryType();
    parameters.set(name, value);
    return parameters.identity();
  };
  EXPECT_EQ(with("file", std::string("elsewhere")), before);
  EXPECT_EQ(with("patience", 7.0), before);
  EXPECT_EQ(with("level", 0.05), before);
  EXPECT_NE(with("level", std::nextafter(0.05, 1.0)), before);  // every bit counts
  EXPECT_NE(with("flag", true), before);
  EXPECT_NE(with("colour", std::string("red")), before);
  EXPECT_NE(with("widths", std::vector<double>{0.5, 1}), before);
  EXPECT_NE(with("first_epochs", std::int64_t{11}), before);
}

TEST(Parameters, CopiesAreIndependent) {
  const Parameters original = EveryType();
  Parameters copy = original, assigned;
  assigned = copy;
  copy.set("level", 0.5);
  assigned.as<EveryType>().widths = {9};
  EXPECT_EQ(original.get("level"), Value(0.05));
  EXPECT_EQ(copy.get("level"), Value(0.5));
  EXPECT_EQ(copy.get("widths"), Value(std::vector<double>{0.5, 1, 2}));
  EXPECT_EQ(assigned.get("widths"), Value(std::vector<double>{9}));
  EXPECT_EQ(assigned.get("level"), Value(0.05));
}

TEST(Parameters, NamesThatThereAreNot) {
  Parameters parameters = EveryType();
  EXPECT_TRUE(parameters.has("level"));
  EXPECT_FALSE(parameters.has("color"));  // a name on the command line only
  for (const char* unknown : {"", "levels", "first_", "second_epochs", "Level"}) {
    const std::string sentence = std::string("[") + unknown + "] there is no such parameter";
    EXPECT_FALSE(parameters.has(unknown));
    EXPECT_EQ(message_of<ParameterError>([&] { parameters.get(unknown); }), sentence);
    EXPECT_EQ(message_of<ParameterError>([&] { parameters.set(unknown, 1.0); }), sentence);
  }
}

TEST(Parameters, OfNoStructAreNone) {
  Parameters none;
  EXPECT_TRUE(none.fields().empty());
  EXPECT_FALSE(none.has("level"));
  EXPECT_EQ(none.identity(), "");
  none.validate();
  EXPECT_THROW(none.get("level"), ParameterError);
  EXPECT_FALSE(none.holds<EveryType>());
  const Parameters some = StageOfTwo();
  EXPECT_TRUE(some.holds<StageOfTwo>());
  EXPECT_FALSE(some.holds<EveryType>());
}

// ---- Properties -----------------------------------------------------------------------------------------------------

/// Any finite number, of any size.
double any_finite() {
  for (;;) {
    const double number = std::bit_cast<double>(*rc::gen::arbitrary<std::uint64_t>());
    if (std::isfinite(number)) return number;
  }
}

TEST(ParametersProperties, TheTextOfAValueGivesItBack) {
  EXPECT_TRUE(rc::check("set(parse_value(to_text(v))) is v for every type", [] {
    const auto expect_back = [](const std::string& name, const Value& value) {
      RC_ASSERT(through_text(name, value) == value);
    };
    expect_back("flag", *rc::gen::arbitrary<bool>());
    expect_back("count", *rc::gen::inRange<std::int64_t>(-5, 10));
    expect_back("steps", *rc::gen::arbitrary<std::int64_t>());
    expect_back("seed", *rc::gen::arbitrary<std::uint64_t>());
    expect_back("first_learning_rate", std::max(std::abs(any_finite()), 4.9e-324));
    std::vector<double> widths;
    for (int i = *rc::gen::inRange(1, 5); i > 0; --i) widths.push_back(std::max(std::abs(any_finite()), 4.9e-324));
    expect_back("widths", widths);
    auto names = *rc::gen::container<std::vector<std::string>>(rc::gen::nonEmpty(rc::gen::string<std::string>()));
    for (std::string& name : names) std::replace(name.begin(), name.end(), ',', ';');  // commas divide
    expect_back("names", names);
    expect_back("file", *rc::gen::string<std::string>());
  }));
}

TEST(ParametersProperties, WhatIsRefusedChangesNothingAndWhatIsTakenIsValid) {
  EXPECT_TRUE(rc::check("set either throws and leaves the struct, or the struct validates", [] {
    Parameters parameters = EveryType();
    const std::string before = parameters.identity();
    const std::string name = *rc::gen::element<std::string>("level", "first_learning_rate", "widths", "count");
    const double number = *rc::gen::oneOf(rc::gen::cast<double>(rc::gen::inRange(-3, 4)),
                                          rc::gen::map(rc::gen::arbitrary<std::uint64_t>(),
                                                       [](std::uint64_t bits) { return std::bit_cast<double>(bits); }));
    const Value value = name == "count" ? Value(*rc::gen::arbitrary<std::int64_t>()) : Value(number);
    try {
      parameters.set(name, value);
    } catch (const ParameterError& error) {
      RC_ASSERT(error.parameter == name);
      RC_ASSERT(parameters.identity() == before);
      return;
    }
    parameters.validate();
  }));
}

}  // namespace
}  // namespace fansite
