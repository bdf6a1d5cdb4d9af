// SPDX-License-Identifier: Apache-2.0
//
// Parameters described once: words, ranges, values from text, identity.
#include "fansite/base/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "properties.h"
#include "support.h"

namespace fansite {
namespace {

using testing::ElementsAre;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

enum class Colour { red, green, blue };
constexpr auto enum_names(Colour) {
  return std::to_array<EnumName<Colour>>({{Colour::red, "red"}, {Colour::green, "green"}, {Colour::blue, "blue"}});
}

struct Inner {
  double width = 2;
  static const Description& description() {
    static const Description list = Describe<Inner>().field("width", &Inner::width, "how wide", from_to(1, 4)).done();
    return list;
  }
};

struct Example {
  bool flag = false;
  int count = 3;
  std::uint64_t seed = 7;
  double share = 0.5;
  double limit = 5;
  double pause = 0;
  Colour colour = Colour::green;
  std::string word = "any";
  std::vector<double> numbers = {1, 2.5};
  std::vector<std::string> names = {"a"};
  Inner inner;

  static const Description& description() {
    using P = Example;
    static const Description list =
        Describe<P>()
            .field("flag", &P::flag, "yes or no")
            .field("count", &P::count, "how many", at_least(1))
            .field("seed", &P::seed, "of chance")
            .field("share", &P::share, "of all", between(0, 1))
            .field("limit", &P::limit, "at most", {.least = 0, .least_itself = false, .infinite = true})
            .field("pause", &P::pause, "between two", at_least(0))
            .duration()
            .without_effect()
            .field("colour", &P::colour, "of the page")
            .field("word", &P::word, "of a list")
            .among({"any", "none"})
            .also("w")
            .field("numbers", &P::numbers, "several", above(0))
            .field("names", &P::names, "of columns")
            .part(&P::inner, Inner::description(), "inner_")
            .rule([](const P& p) { check(p.flag || p.count < 100, "[count] so many need the flag"); })
            .done();
    return list;
  }
};

std::string refusal(const std::string& name, const Value& value) {
  Parameters parameters = Example();
  return message_of<ParameterError>([&] { parameters.set(name, value); });
}

TEST(Names, AreReadBackAndListedWhenUnknown) {
  for (const Colour colour : {Colour::red, Colour::green, Colour::blue}) EXPECT_EQ(parse<Colour>(name(colour)), colour);
  EXPECT_THAT(all_names<Colour>(), ElementsAre("red", "green", "blue"));
  EXPECT_EQ(message_of<ParameterError>([] { parse<Colour>("Red"); }),
            "[value] 'Red' is unknown; use red, green or blue");
  EXPECT_EQ(message_of<ParameterError>([] { parse<Colour>("", "colour"); }),
            "[colour] '' is unknown; use red, green or blue");
  EXPECT_EQ(either({"a", "b"}), "a or b");
  EXPECT_EQ(either({"a"}), "a");
}

TEST(Ranges, SayWhatTheyHold) {
  EXPECT_EQ(any_number().text(), "");
  EXPECT_EQ(at_least(0).text(), "0 or more");
  EXPECT_EQ(above(0.5).text(), "above 0.5");
  EXPECT_EQ(between(0, 1).text(), "above 0 and below 1");
  EXPECT_EQ(from_to(1, 1000).text(), "1 to 1000");
  EXPECT_EQ((Range{.least = 0, .most = 1, .most_itself = false}).text(), "0 or more and below 1");
  EXPECT_EQ((Range{.most = 3}).text(), "3 or less");
  EXPECT_EQ((Range{.least = 0, .infinite = true}).text(), "0 or more, or inf");
}

TEST(Ranges, HoldWhatTheySay) {
  EXPECT_TRUE(at_least(0).contains(0));
  EXPECT_FALSE(above(0).contains(0));
  EXPECT_FALSE(between(0, 1).contains(1));
  EXPECT_TRUE(from_to(0, 1).contains(1));
  for (const Range& range : {any_number(), at_least(0), above(0)}) {
    for (const double odd : {kInfinity, -kInfinity, std::nan("")}) EXPECT_FALSE(range.contains(odd)) << odd;
  }
  const Range endless{.least = 0, .infinite = true};
  EXPECT_TRUE(endless.contains(kInfinity));
  EXPECT_FALSE(endless.contains(-kInfinity));
  EXPECT_FALSE(endless.contains(std::nan("")));
}

TEST(Describe, EveryFieldHasItsTypeAndDefault) {
  using Type = Parameter::Type;
  const Description& list = Example::description();
  std::vector<std::string> names;
  for (const auto& field : list.fields) names.push_back(field.name);
  EXPECT_THAT(names, ElementsAre("flag", "count", "seed", "share", "limit", "pause", "colour", "word", "numbers",
                                 "names", "inner_width"));
  EXPECT_EQ(list.find("flag")->type, Type::flag);
  EXPECT_EQ(list.find("count")->type, Type::integer);
  EXPECT_EQ(list.find("seed")->type, Type::natural);
  EXPECT_EQ(list.find("share")->type, Type::number);
  EXPECT_EQ(list.find("pause")->type, Type::duration);
  EXPECT_EQ(list.find("colour")->type, Type::choice);
  EXPECT_EQ(list.find("word")->type, Type::choice);
  EXPECT_EQ(list.find("numbers")->type, Type::numbers);
  EXPECT_EQ(list.find("names")->type, Type::names);
  EXPECT_EQ(list.find("nothing"), nullptr);
  EXPECT_EQ(list.find("word")->also, "w");
  EXPECT_EQ(to_text(list.find("colour")->fallback), "green");
  EXPECT_EQ(to_text(list.find("numbers")->fallback), "1,2.5");
  EXPECT_EQ(to_text(list.find("inner_width")->fallback), "2");
  EXPECT_EQ(list.find("count")->allowed(), "a whole number, 1 or more");
  EXPECT_EQ(list.find("colour")->allowed(), "red, green or blue");
  EXPECT_EQ(list.find("seed")->allowed(), "a whole number, 0 or more, below 2^64");
  EXPECT_EQ(list.find("numbers")->allowed(), "numbers, each above 0");
}

TEST(Parameters, AreSetAndReadByName) {
  Parameters parameters = Example();
  parameters.set("count", std::int64_t{8});
  parameters.set("share", 0.25);
  parameters.set("limit", kInfinity);
  parameters.set("limit", std::int64_t{4});  // a whole number is a number
  parameters.set("colour", std::string("blue"));
  parameters.set("inner_width", 3.5);
  const Example& example = parameters.as<Example>();
  EXPECT_EQ(example.count, 8);
  EXPECT_EQ(example.share, 0.25);
  EXPECT_EQ(example.limit, 4);
  EXPECT_EQ(example.colour, Colour::blue);
  EXPECT_EQ(example.inner.width, 3.5);
  EXPECT_EQ(to_text(parameters.get("colour")), "blue");
  EXPECT_TRUE(parameters.holds<Example>());
  EXPECT_FALSE(parameters.holds<Inner>());
  EXPECT_FALSE(Parameters().has("count"));
}

TEST(Parameters, CopiesAreApart) {
  Parameters one = Example();
  Parameters two = one;
  two.set("count", std::int64_t{9});
  EXPECT_EQ(one.as<Example>().count, 3);
}

TEST(Parameters, WhatCannotBeIsNamed) {
  EXPECT_EQ(refusal("count", std::int64_t{0}), "[count] 0 is out of range; use a whole number, 1 or more");
  EXPECT_EQ(refusal("count", 1.5), "[count] '1.5' is not a whole number; use a whole number, 1 or more");
  EXPECT_EQ(refusal("count", std::int64_t{1} << 40),
            "[count] '1099511627776' is not a whole number; use a whole number, 1 or more");
  EXPECT_EQ(refusal("seed", std::int64_t{-1}),
            "[seed] '-1' is not a whole number; use a whole number, 0 or more, below 2^64");
  EXPECT_EQ(refusal("share", 1.0), "[share] 1 is out of range; use a number, above 0 and below 1");
  EXPECT_EQ(refusal("share", std::nan("")), "[share] nan is out of range; use a number, above 0 and below 1");
  EXPECT_EQ(refusal("limit", 0.0), "[limit] 0 is out of range; use a number, above 0, or inf");
  EXPECT_EQ(refusal("colour", std::string("pink")), "[colour] 'pink' is unknown; use red, green or blue");
  EXPECT_EQ(refusal("word", std::string("some")), "[word] 'some' is unknown; use any or none");
  EXPECT_EQ(refusal("numbers", std::vector<double>{1, -2}), "[numbers] -2 is out of range; use numbers, each above 0");
  EXPECT_EQ(refusal("numbers", std::vector<double>{}), "[numbers] no number is given; use numbers, each above 0");
  EXPECT_EQ(refusal("inner_width", 9.0), "[inner_width] 9 is out of range; use a number, 1 to 4");
  EXPECT_EQ(refusal("nothing", 9.0), "[nothing] there is no such parameter");
}

TEST(Parameters, AreValidatedFieldByFieldThenByRules) {
  Example example;
  EXPECT_NO_THROW(validate(example));
  example.inner.width = 0;
  EXPECT_EQ(message_of<UsageError>([&] { validate(example); }),
            "[inner_width] 0 is out of range; use a number, 1 to 4");
  example = {};
  example.count = 100;
  EXPECT_EQ(message_of<UsageError>([&] { validate(example); }), "[count] so many need the flag");
  example.flag = true;
  EXPECT_NO_THROW(validate(example));
}

TEST(Parameters, IdentityHasWhatChangesAnswers) {
  Example example, other;
  const auto identity = [](const Example& of) { return Parameters(of).identity(); };
  EXPECT_EQ(identity(example),
            "flag false, count 3, seed 7, share 0.5, limit 5, colour green, word any, numbers 1,2.5, names a, "
            "inner_width 2");
  other.pause = 10;
  EXPECT_EQ(identity(other), identity(example));
  other.share = std::nextafter(0.5, 1);
  EXPECT_NE(identity(other), identity(example));
}

TEST(ParseValue, IsWhatTheCommandLineMeans) {
  const auto value = [](const char* name, std::string_view text) {
    return parse_value(*Example::description().find(name), text);
  };
  EXPECT_EQ(value("flag", "true"), Value(true));
  EXPECT_EQ(value("count", "12"), Value(std::int64_t{12}));
  EXPECT_EQ(value("seed", "18446744073709551615"), Value(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_EQ(value("limit", "inf"), Value(kInfinity));
  EXPECT_EQ(value("pause", "1h30m"), Value(5400.0));
  EXPECT_EQ(value("numbers", "1,0.5"), Value(std::vector<double>{1, 0.5}));
  EXPECT_EQ(value("names", "a,b"), Value(std::vector<std::string>{"a", "b"}));
  const auto refused = [&](const char* name, std::string_view text) {
    return message_of<ParameterError>([&] { value(name, text); });
  };
  EXPECT_EQ(refused("flag", "yes"), "[flag] 'yes' is unknown; use true or false");
  EXPECT_EQ(refused("count", "many"), "[count] 'many' is not a whole number; use a whole number, 1 or more");
  EXPECT_EQ(refused("count", "99999999999999999999"),
            "[count] 99999999999999999999 is too large; use a whole number, 1 or more");
  EXPECT_EQ(refused("seed", "-1"), "[seed] -1 is negative; use a whole number, 0 or more, below 2^64");
  EXPECT_EQ(refused("share", ""), "[share] '' is not a number; use a number, above 0 and below 1");
}

TEST(ParseValue, TextOfAnyValueIsReadBack) {
  EXPECT_TRUE(rc::check("numbers", [] {
    Parameter number, whole;
    number.type = Parameter::Type::number;
    whole.type = Parameter::Type::integer;
    const double value = *rc::gen::arbitrary<double>();
    RC_ASSERT(parse_value(number, to_text(value)) == Value(value));
    const auto integer = *rc::gen::arbitrary<std::int64_t>();
    RC_ASSERT(parse_value(whole, to_text(integer)) == Value(integer));
  }));
}

}  // namespace
}  // namespace fansite
