// SPDX-License-Identifier: Apache-2.0
//
// Lengths of time as people write and read them.
#include "fansite/base/duration.h"

#include <gtest/gtest.h>

#include "fansite/base/parameters.h"
#include "properties.h"
#include "support.h"

namespace fansite {
namespace {

TEST(ParseDuration, SecondsMinutesAndHours) {
  EXPECT_EQ(parse_duration("90", "budget"), 90);
  EXPECT_EQ(parse_duration("90s", "budget"), 90);
  EXPECT_EQ(parse_duration("0.5", "budget"), 0.5);
  EXPECT_EQ(parse_duration("10m", "budget"), 600);
  EXPECT_EQ(parse_duration("1.5h", "budget"), 5400);
  EXPECT_EQ(parse_duration("1h30m", "budget"), 5400);
  EXPECT_EQ(parse_duration("2h5m7s", "budget"), 7507);
  EXPECT_EQ(parse_duration("1h20s", "budget"), 3620);
  EXPECT_EQ(parse_duration("1m30", "budget"), 90);
  EXPECT_EQ(parse_duration("0h1m", "budget"), 60);
}

TEST(ParseDuration, AnythingElseIsRefused) {
  for (const char* text : {"",      "s",    "m",    "h",    "0",    "0s",         "0h0m",  "-5",   "-5s", "1h-5m",
                           "5 m",   " 5",   "5d",   "5ms",  "1,5h", "1e3",        "0x10",  "nan",  "inf", "infs",
                           "30m1h", "1h1h", "5m5m", "1s2s", "90 ",  "one minute", "9e999", "1h30x"}) {
    EXPECT_THROW(parse_duration(text, "time_budget"), ParameterError) << text;
  }
  EXPECT_EQ(message_of<UsageError>([] { parse_duration("soon", "time_budget"); }),
            "[time_budget] 'soon' is no length of time; write 90s, 10m or 1h30m");
}

TEST(ParseDuration, AnyBytesGiveSecondsOrAParameterError) {
  EXPECT_TRUE(rc::check("any bytes", [] {
    const std::string text = *rc::gen::container<std::string>(
        rc::gen::oneOf(rc::gen::arbitrary<char>(), rc::gen::element('0', '1', '9', '.', 's', 'm', 'h', '-')));
    try {
      RC_ASSERT(parse_duration(text, "x") > 0);
    } catch (const ParameterError& error) {
      RC_ASSERT(error.parameter == "x");
    }
  }));
}

TEST(DurationText, HasTheUnitsThatMatter) {
  EXPECT_EQ(duration_text(0), "0.0 s");
  EXPECT_EQ(duration_text(0.44), "0.4 s");
  EXPECT_EQ(duration_text(9.94), "9.9 s");
  EXPECT_EQ(duration_text(9.95), "10 s");
  EXPECT_EQ(duration_text(45.2), "45 s");
  EXPECT_EQ(duration_text(200), "3 min 20 s");
  EXPECT_EQ(duration_text(7500), "2 h 5 min");
}

// Rounding carries: never 60 s or 60 min.
TEST(DurationText, RoundsUpIntoTheNextUnit) {
  EXPECT_EQ(duration_text(59.4), "59 s");
  EXPECT_EQ(duration_text(59.6), "1 min 0 s");
  EXPECT_EQ(duration_text(119.7), "2 min 0 s");
  EXPECT_EQ(duration_text(3599.4), "59 min 59 s");
  EXPECT_EQ(duration_text(3599.6), "1 h 0 min");
  EXPECT_EQ(duration_text(7199), "2 h 0 min");
}

}  // namespace
}  // namespace fansite
