// SPDX-License-Identifier: Apache-2.0
//
// Tables that should not be believed, as users meet them: a warning names what is wrong, and nothing is claimed that is
// not so. docs/trust.md shows them.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "fansite/base/random.h"
#include "tests/program.h"

namespace fansite {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class TrustTest : public ProgramTest {
 protected:
  /// Writes t.csv: so many rows, each filled in by the call.
  template <class Row>
  void table(const std::string& header, int rows, Row&& row) const {
    std::string text = header + "\n";
    const auto columns = static_cast<std::size_t>(std::count(header.begin(), header.end(), ',') + 1);
    std::vector<double> cells(columns, 0.0);
    for (int i = 0; i < rows; ++i) {
      row(i, cells);
      for (std::size_t j = 0; j < columns; ++j) text += fmt::format("{}{}", j == 0 ? "" : ",", cells[j]);
      text += "\n";
    }
    put("t.csv", text);
  }

  struct Told {
    Json json;
    std::string words;
    std::size_t members = 0;
  };
  Told boundaries(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> words = {"mb", "t.csv", "--effort", "quick", "--steps", "2000", "--out", "r.json"};
    words.insert(words.end(), options.begin(), options.end());
    Told told{{}, works(words).err};
    told.json = json("r.json");
    for (const Json& boundary : told.json.at("boundaries")) told.members += boundary.at("members").size();
    EXPECT_EQ(told.json.at("warnings").empty(), told.words.find("warning: ") == std::string::npos);
    return told;
  }
};

TEST_F(TrustTest, RandomWalks) {
  for (const int rows : {90, 400}) {
    Random random(Key{3});
    table("a,b,c,d,e,f", rows, [&](int, std::vector<double>& x) {
      for (double& cell : x) cell += random.normal();
    });
    const Told told = boundaries();
    EXPECT_EQ(told.members, 0u) << rows;
    EXPECT_THAT(told.words, AllOf(HasSubstr("neighbouring rows are alike"), HasSubstr("blocks, which count as")));
    EXPECT_THAT(works({"dag", "t.csv", "--method", "pc"}).err, HasSubstr("pc takes rows as independent all the same"));
    EXPECT_THAT(works({"mb", "t.csv", "--method", "iamb"}).err,
                HasSubstr("iamb takes rows as independent all the same"));
  }
}

TEST_F(TrustTest, CopiedRows) {
  for (const double noise : {0.0, 1e-3}) {
    Random random(Key{5});
    std::vector<std::vector<double>> first(20, std::vector<double>(7));
    table("a,b,c,d,e,f,id", 400, [&](int i, std::vector<double>& x) {
      std::vector<double>& original = first[static_cast<std::size_t>(i % 20)];
      for (std::size_t j = 0; j < 6; ++j) {
        if (i < 20) original[j] = random.normal();
        x[j] = original[j] + noise * random.normal();
      }
      x[6] = 1 + (i * 7) % 400;
    });
    const Told told = boundaries();
    EXPECT_EQ(told.members, 0u) << noise;
    EXPECT_THAT(told.words, AllOf(HasSubstr("380 of 400 rows"), HasSubstr("repeat an earlier one"),
                                  HasSubstr("20 independent rows show strong relations only")));
    EXPECT_THAT(told.words, HasSubstr("'id' holds 400 whole numbers"));
  }
}

TEST_F(TrustTest, AWildCellDecidesNothing) {
  const auto members = [&](double wild) {
    Random random(Key{6});
    table("a,b,c", 400, [&](int i, std::vector<double>& x) {
      x[0] = random.normal();
      x[1] = i == 17 && wild != 0 ? wild : x[0] + random.normal();
      x[2] = x[0] + random.normal();
    });
    const Told told = boundaries();
    EXPECT_EQ(told.words.find("the cell of 'b' in row 18") != std::string::npos, wild != 0) << told.words;
    return told.members;
  };
  const std::size_t clean = members(0);
  EXPECT_EQ(clean, 4u);
  for (const double wild : {1e5, 1e308}) EXPECT_EQ(members(wild), clean) << wild;
}

// Six pairs of counts, most of them 0, in which a linear relation explains little.
TEST_F(TrustTest, ZeroRichCountsKeepTheirPairs) {
  Random random(Key{7});
  table("a,b,c,d,e,f,g,h", 500, [&](int, std::vector<double>& x) {
    for (std::size_t j = 0; j < 8; j += 2) {
      const double z = random.normal();
      x[j] = std::max(0.0, std::round(std::exp(1.5 * z) - 1));
      x[j + 1] = std::max(0.0, std::round(std::exp(1.5 * (0.8 * z + 0.6 * random.normal())) - 1));
    }
  });
  const Told told = boundaries({"--refine", "auto"});
  const Json& all = told.json.at("boundaries");
  for (std::size_t j = 0; j < 8; ++j) {
    ASSERT_FALSE(all[j].at("members").empty()) << j << told.words;
    EXPECT_EQ(all[j].at("members")[0].at("name"), all[j ^ 1].at("target"));
  }
}

TEST_F(TrustTest, TwoValuesThatTellTooMuch) {
  Random random(Key{8});
  table("sex,y,u", 400, [&](int i, std::vector<double>& x) {
    x = {static_cast<double>(i % 2), 5 * (i % 2) + 0.1 * random.normal(), random.normal()};
  });
  EXPECT_THAT(boundaries().words, HasSubstr("the values of 'sex' tell 0.69 nats at most"));
}

TEST_F(TrustTest, WhatALineCannotSeeIsNotEmpty) {
  Random random(Key{9});
  table("x,y,u", 400, [&](int, std::vector<double>& x) {
    x[0] = random.normal();
    x[1] = x[0] * x[0] + 0.1 * random.normal();
    x[2] = random.normal();
  });
  EXPECT_THAT(boundaries({"--estimator", "gaussian"}).words, HasSubstr("2 boundaries are empty but cannot be"));
  const Told told = boundaries();
  EXPECT_EQ(told.members, 2u) << told.words;
  EXPECT_THAT(told.words, Not(HasSubstr("cannot be")));
}

TEST_F(TrustTest, TenRows) {
  Random random(Key{10});
  table("a,b,c,d", 10, [&](int, std::vector<double>& x) {
    for (double& cell : x) cell = random.normal();
    x[1] += x[0];
  });
  EXPECT_THAT(boundaries().words, HasSubstr("10 independent rows show strong relations only"));
  EXPECT_THAT(works({"dag", "t.csv", "--method", "ges"}).err,
              AllOf(HasSubstr("[dag] 10 independent rows"), HasSubstr("a missing edge says little")));
}

// The noise of y multiplies: directions that additive noise would decide are open.
TEST_F(TrustTest, DirectionsUnderARefusedAssumptionAreOpen) {
  Random random(Key{11});
  table("x,y,u", 800, [&](int, std::vector<double>& x) {
    x[0] = random.normal();
    x[1] = (1.5 + x[0]) * (1 + 0.8 * random.normal());
    x[2] = random.normal();
  });
  const Outcome told = works({"dag", "t.csv", "--effort", "quick", "--steps", "2000", "--scale", "original"});
  EXPECT_THAT(told.err, HasSubstr("noise does not just add there"));
  ASSERT_EQ(told.json().at("edges").size(), 1u);
  EXPECT_EQ(told.json().at("edges")[0].at("directed"), false);
}

// SynTReN's genes, where a measured regulator is a noisy copy of what acts: six of ten members are not in the graph.
TEST_F(TrustTest, NoisyCopiesOfWhatActs) {
  const std::string genes = std::string(FANSITE_SHARED_DIR) + "/data/syntren/data.csv";
  if (!std::filesystem::exists(genes)) GTEST_SKIP() << genes << " is not there";
  const std::string told = works({"mb", genes, "--effort", "quick", "--steps", "2000", "--out", "r.json"}).err;
  EXPECT_THAT(told, HasSubstr("a tenth of measurement noise in one other member would explain away"));
  const Json result = json("r.json");
  int members = 0, firm = 0;
  for (const Json& boundary : result.at("boundaries")) {
    for (const Json& member : boundary.at("members")) ++members, firm += member.value("fragile", false) ? 0 : 1;
  }
  EXPECT_GT(members, 40);
  EXPECT_LT(10 * firm, members);
}

TEST_F(TrustTest, PartsOfAWhole) {
  Random random(Key{13});
  table("a,b,c,d", 300, [&](int, std::vector<double>& x) {
    double sum = 0;
    for (double& cell : x) sum += cell = std::exp(random.normal());
    for (double& cell : x) cell = std::round(1e5 * cell / sum) / 1e5;
  });
  EXPECT_THAT(boundaries({"--estimator", "gaussian"}).words, HasSubstr("are determined almost exactly by others"));
}

}  // namespace
}  // namespace fansite
