// SPDX-License-Identifier: Apache-2.0
//
// fansite report, from result files to a page. What the page does in a browser is tested in tests/page.
#include "program.h"

namespace fansite {
namespace {

using testing::HasSubstr;

class ReportTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    works({"simulate", "--nodes", "8", "--degree", "1.5", "--rows", "300", "--seed", "5", "--out", "s", "--quiet"});
    works({"mb", "s/data.csv", "--estimator", "gaussian", "--out", "b.json", "--quiet"});
    works({"dag", "s/data.csv", "--boundaries", "b.json", "--out", "g.json", "--quiet"});
  }
};

TEST_F(ReportTest, WritesOnePage) {
  const Outcome outcome = works({"report", "b.json", "g.json", "--out", "page.html", "--title", "Eight <genes>"});
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "written to page.html\n");
  const std::string page = content("page.html");
  EXPECT_THAT(page, HasSubstr("<title>Eight &lt;genes&gt;</title>"));
  EXPECT_THAT(page, HasSubstr("fansite.boundaries/2"));
  EXPECT_THAT(page, HasSubstr("fansite.graph/2"));
  EXPECT_LT(page.size(), 1'000'000u);
  // In the other order the same page, but for the order of its data.
  works({"report", "g.json", "b.json", "--out", "other.html", "--title", "Eight <genes>", "--quiet"});
  EXPECT_EQ(content("other.html").size(), page.size());
}

TEST_F(ReportTest, OneResultIsEnoughAndPipesWork) {
  const std::string page = works({"report", "g.json"}).out;
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_EQ(works(Call{.arguments = {"report", "-"}, .input = content("g.json")}).out, page);
  EXPECT_EQ(works({"report", "g.json", "--out", "-"}).out, page);
}

TEST_F(ReportTest, SaysWhatIsWrong) {
  works({"entropy", "s/data.csv", "--target", "x1", "--given", "x2", "--estimator", "gaussian", "--out", "e.json",
         "--quiet"});
  works({"simulate", "--nodes", "9", "--rows", "50", "--out", "t", "--quiet"});
  works({"mb", "t/data.csv", "--estimator", "gaussian", "--out", "t.json", "--quiet"});
  put("half.json", content("b.json").substr(0, 700));
  put("text.json", "hello");
  put("empty.json", "");
  fails({"report"}, 2, {"RESULT"});
  fails({"report", "none.json"}, 2, {"none.json"});
  fails({"report", "none.json", "--out", "p.html"}, 2, {"none.json"});
  fails({"report", "b.json", "b.json", "--out", "p.html"}, 2, {"both of format fansite.boundaries/2"});
  fails({"report", "b.json", "g.json", "b.json", "g.json", "b.json"}, 2, {"report --help"});
  fails({"report", "-", "-"}, 2, {"standard input can be read once"});
  fails({"report", "b.json", "--out", "no/such/place.html"}, 2, {"no/such/place.html"});
  fails({"report", "half.json", "--out", "p.html"}, 3, {"half.json is not a JSON result", "written completely"});
  fails({"report", "text.json"}, 3, {"text.json is not a JSON result"});
  fails({"report", "empty.json"}, 3, {"empty.json is not a JSON result"});
  fails(Call{.arguments = {"report", "-"}, .input = "{"}, 3, {"standard input is not a JSON result"});
  fails({"report", "e.json"}, 3, {"fansite.entropy/2", "Give boundaries"});
  fails({"report", "s/simulation.json"}, 3, {"fansite.simulation/2"});
  fails({"report", "g.json", "t.json"}, 3, {"different variables"});
}

}  // namespace
}  // namespace fansite
