// SPDX-License-Identifier: Apache-2.0
//
// Scripts that complete command lines: what bash makes of them, and that other shells can read them.
#include <cstdio>

#include "tests/program.h"

namespace fansite {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;
using Strings = std::vector<std::string>;

class CompletionTest : public ProgramTest {
 protected:
  /// What a shell prints that runs this, or nothing if there is no such shell.
  std::optional<std::string> printed(const std::string& shell, const std::string& script,
                                     const std::string& flag = "") const {
    if (std::system(("command -v " + shell + " >/dev/null 2>&1").c_str()) != 0) return std::nullopt;
    put("script", script);
    const std::string command = "cd '" + path("") + "' && " + shell + " " + flag + " script 2>&1";
    std::string text;
    FILE* pipe = ::popen(command.c_str(), "r");
    std::array<char, 4096> buffer;
    for (std::size_t got; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
      text.append(buffer.data(), got);
    EXPECT_EQ(::pclose(pipe), 0) << text;
    return text;
  }

  /// What bash offers for the last of these words.
  Strings offers(const Strings& words) const {
    std::string script = works({"completion", "bash"}).out;
    script += "COMP_WORDS=(fansite";
    for (const std::string& word : words) script += " '" + word + "'";
    script += ")\nCOMP_CWORD=" + std::to_string(words.size()) + "\n_fansite\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
    std::istringstream lines(printed("bash", script).value());
    Strings offered;
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty()) offered.push_back(line);
    }
    return offered;
  }
};

TEST_F(CompletionTest, BashOffersCommandsOptionsAndTheirWords) {
  EXPECT_THAT(offers({""}), IsSupersetOf(Strings{"mb", "dag", "simulate", "completion", "help"}));
  EXPECT_THAT(offers({"comp"}), ElementsAre("compare", "completion"));
  EXPECT_THAT(offers({"--v"}), ElementsAre("--version"));
  EXPECT_THAT(offers({"mb", "--dr"}), ElementsAre("--drop"));
  EXPECT_THAT(offers({"mb", "study.csv", "--estimator", ""}), IsSupersetOf(Strings{"auto", "gaussian", "flow"}));
  EXPECT_THAT(offers({"mb", "study.csv", "--estimator", "ga"}), ElementsAre("gaussian"));
  EXPECT_THAT(offers({"mb", "--estimator", "=", "ga"}), ElementsAre("gaussian"));  // --estimator=ga
  EXPECT_THAT(offers({"mb", "--estimator", "="}), Contains("gaussian"));
  EXPECT_THAT(offers({"mb", "--missing", "d"}), ElementsAre("drop"));
  EXPECT_THAT(offers({"dag", "--boundary-method", "ia"}), Contains("iamb"));
  EXPECT_THAT(offers({"entropy", "--effort", "q"}), ElementsAre("quick"));
  EXPECT_THAT(offers({"mb", "--fdr", ""}), IsEmpty());  // a number
  EXPECT_THAT(offers({"bench", "f"}), ElementsAre("flow"));
  EXPECT_THAT(offers({"bench", "flow", "--js"}), ElementsAre("--json"));
  EXPECT_THAT(offers({"methods", "fansite-a"}), ElementsAre("fansite-anm"));
  EXPECT_THAT(offers({"help", "ent"}), ElementsAre("entropy"));
  EXPECT_THAT(offers({"completion", "z"}), ElementsAre("zsh"));
}

TEST_F(CompletionTest, BashOffersFilesWhereFilesGo) {
  put("study one.csv", "a\n1\n");
  put("result.json", "{}");
  EXPECT_THAT(offers({"mb", "stu"}), ElementsAre("study one.csv"));
  EXPECT_THAT(offers({"mb", "x.csv", "--out", "res"}), ElementsAre("result.json"));
  EXPECT_THAT(offers({"report", "result.json", "res"}), ElementsAre("result.json"));
}

TEST_F(CompletionTest, BashCompletesTheLastOfAList) {
  EXPECT_THAT(offers({"compare", "t.csv", "--methods", "iamb,fansite-a"}), ElementsAre("iamb,fansite-anm"));
}

TEST_F(CompletionTest, EveryOptionOfTheHelpIsInEveryScript) {
  for (const char* command : {"simulate", "mb", "dag", "entropy", "compare", "report"}) {
    const Strings in_bash = offers({command, "--"});
    const std::string zsh = works({"completion", "zsh"}).out, fish = works({"completion", "fish"}).out;
    std::istringstream help(works({command, "--help"}).out);
    int options = 0;
    for (std::string line; std::getline(help, line);) {
      if (!line.starts_with("  --")) continue;
      const std::string name = line.substr(2, line.find_first_of(" ,{", 2) - 2);
      EXPECT_THAT(in_bash, Contains(name)) << command;
      EXPECT_THAT(zsh, HasSubstr(name + "["));
      EXPECT_THAT(fish, HasSubstr("__fish_seen_subcommand_from " + std::string(command)));
      EXPECT_THAT(fish, HasSubstr(" -l " + name.substr(2) + " "));
      ++options;
    }
    EXPECT_GT(options, 2) << command;
  }
}

TEST_F(CompletionTest, OtherShellsCanReadTheirScripts) {
  const std::string zsh = works({"completion", "zsh"}).out, fish = works({"completion", "fish"}).out;
  EXPECT_THAT(zsh, StartsWith("#compdef fansite\n"));
  EXPECT_THAT(fish, HasSubstr("complete -c fansite -n '__fish_seen_subcommand_from mb' -l estimator -x -a 'auto "));
  // Quotes and brackets of descriptions do not end a word: as many opened as closed.
  for (const std::string& script : {zsh, fish}) {
    std::istringstream lines(script);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("#") || line.starts_with("_")) continue;
      std::size_t quotes = 0;
      for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\\')
          ++i;
        else
          quotes += line[i] == '\'';
      }
      EXPECT_EQ(quotes % 2, 0u) << line;
    }
  }
  const auto of_zsh = printed("zsh", zsh, "-n"), of_fish = printed("fish", fish, "--no-execute");
  ASSERT_TRUE(of_zsh && of_fish) << "zsh or fish is not installed, so nothing has read its script: run tools/setup.sh";
  EXPECT_EQ(*of_zsh, "");
  EXPECT_EQ(*of_fish, "");
}

TEST_F(CompletionTest, FishOffersThemToo) {
  std::string script = works({"completion", "fish"}).out;
  const Strings lines = {"fansite comp", "fansite mb --dr", "fansite mb t.csv --estimator ga",
                         "fansite bench flow --js"};
  for (const std::string& line : lines) script += "complete -C '" + line + "'\n";
  const auto offered = printed("fish", script, "--no-config");
  ASSERT_TRUE(offered) << "fish is not installed: run tools/setup.sh";
  std::istringstream stream(*offered);
  Strings words;
  for (std::string line; std::getline(stream, line);) words.push_back(line.substr(0, line.find('\t')));
  EXPECT_THAT(words, ElementsAre("compare", "completion", "--drop", "gaussian", "--json"));
}

TEST_F(CompletionTest, UnknownShellsAreRefused) {
  fails({"completion", "tcsh"}, 2, {"[completion] 'tcsh' is unknown; use bash, zsh or fish"});
  fails({"completion"}, 2, {"SHELL is required"});
}

}  // namespace
}  // namespace fansite
