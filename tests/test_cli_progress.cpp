// SPDX-License-Identifier: Apache-2.0
//
// What long work says while it goes on: one line on a terminal, lines in a log if asked for, nothing in a pipe.
#include <pty.h>

#include "tests/program.h"

namespace fansite {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using Strings = std::vector<std::string>;

class ProgressTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    works({"simulate", "--sem", "gp", "--nodes", "6", "--rows", "300", "--seed", "5", "--out", "s", "--quiet"});
  }

  /// A second of training or so.
  Strings mb(const Strings& more = {}) const {
    Strings words = {"mb", path("s/data.csv"), "--estimator", "flow",  "--folds",     "2", "--repeats",
                     "1",  "--steps",          "20000",       "--out", path("r.json")};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  /// What the program says to a terminal.
  static std::string on_terminal(Strings words) {
    words.insert(words.begin(), FANSITE_PROGRAM);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    int terminal = -1;
    const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
    if (child == 0) {
      ::execv(FANSITE_PROGRAM, argv.data());
      ::_exit(127);
    }
    std::string said;
    std::array<char, 4096> buffer;
    for (;;) {  // a terminal whose other end is gone gives an error, not an end
      const ssize_t got = ::read(terminal, buffer.data(), buffer.size());
      if (got <= 0) break;
      said.append(buffer.data(), static_cast<std::size_t>(got));
    }
    ::close(terminal);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << said;
    return said;
  }
};

TEST_F(ProgressTest, OnATerminalOneLineSaysWhatHowFarAndHowLong) {
  const std::string said = on_terminal(mb());
  EXPECT_THAT(said, ContainsRegex("\r\x1b\\[Ktraining \\[#*\\.*\\] [0-9]+ %  [0-9.]+ (s|min)[^\r]* left"));
  // It is wiped before the answer, which stands alone.
  const std::size_t answer = said.find("6 boundaries of 300 rows");
  ASSERT_NE(answer, std::string::npos);
  EXPECT_THAT(said.substr(answer), Not(HasSubstr("\x1b")));
  EXPECT_THAT(on_terminal(mb({"--quiet"})), "");
}

TEST_F(ProgressTest, InAPipeThereIsNone) {
  const Outcome outcome = works(mb());
  EXPECT_THAT(outcome.err, Not(HasSubstr("left")));
  EXPECT_THAT(outcome.err, Not(HasSubstr("training:")));
}

TEST_F(ProgressTest, VerboseSaysItInLines) {
  const Outcome outcome = works(mb({"--verbose"}));
  EXPECT_THAT(outcome.err, ContainsRegex(" s  training: 40000 steps\n"));
  EXPECT_THAT(outcome.err, ContainsRegex(" s  searching: 6 steps\n"));
  EXPECT_THAT(outcome.err, HasSubstr("6 boundaries of 300 rows"));
  fails(mb({"--verbose", "--quiet"}), 2, {"--verbose", "--quiet"});
}

}  // namespace
}  // namespace fansite
