// SPDX-License-Identifier: Apache-2.0
//
// A system that refuses: every call that writes fails once, and so does every large request for memory (faults.cpp).
// And runs that are killed, at every such call and at instants over their whole length.
#include <cmath>

#include "tests/program.h"

namespace fansite {
namespace {

using testing::AnyOf;
using testing::StartsWith;
using Strings = std::vector<std::string>;

struct Work {
  Strings words;
  Strings results;           ///< the last one is written last
  bool keeps_state = false;  ///< before the result is written
  bool together = false;     ///< unless it is the names that cannot be given, all of them stay as they were
};

const Strings kFewSteps = {"--folds", "2", "--repeats", "1", "--steps", "10"};

Strings joined(Strings words, const Strings& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const Work kGaussian = {{"mb", "s/data.csv", "--estimator", "gaussian", "--out", "r.json", "--quiet"}, {"r.json"}};
const Work kFlow = {
    joined({"mb", "s/data.csv", "--estimator", "flow", "--out", "r.json", "--quiet"}, kFewSteps), {"r.json"}, true};
const Work kGraph = {{"dag", "s/data.csv", "--estimator", "gaussian", "--checkpoint", "c", "--csv", "r.csv", "--out",
                      "r.json", "--quiet"},
                     {"r.csv", "r.json"},
                     true};
const Work kEntropy = {joined({"entropy", "s/data.csv", "--target", "x1", "--given", "x2", "--checkpoint", "c",
                               "--save-model", "r.model", "--out", "r.json", "--quiet"},
                              kFewSteps),
                       {"r.model", "r.json"},
                       true};
const Work kSimulation = {{"simulate", "--nodes", "4", "--rows", "1000", "--out", "t", "--quiet"},
                          {"t/dag.csv", "t/simulation.json", "t/data.csv"},
                          false,
                          true};

class FaultTest : public ProgramTest {
 protected:
  void simulate(const Strings& size) const {
    works(joined({"simulate", "--sem", "gp", "--seed", "5", "--out", "s", "--quiet"}, size));
  }

  // Removes what a run has made, or puts other files in place of its results.
  void reset(const Work& work, const std::string& previous) const {
    for (const std::string& name : entries()) {
      const bool given = name == "s" || name.starts_with("s/");
      if (!given) std::filesystem::remove_all(path(name));
    }
    if (previous.empty()) return;
    for (const std::string& result : work.results) {
      std::filesystem::create_directories(std::filesystem::path(path(result)).parent_path());
      put(result, previous);
    }
  }

  Strings contents(const Work& work) const {
    Strings texts;
    for (const std::string& result : work.results) {
      texts.push_back(std::filesystem::exists(path(result)) ? without_timing(content(result)) : "");
    }
    return texts;
  }

  bool has_checkpoint() const {
    const Strings names = entries();
    return std::any_of(names.begin(), names.end(), [](const std::string& name) {
      return name.find(".checkpoint") != std::string::npos || name == "c" || name.starts_with("c.");
    });
  }

  bool has_lock() const {
    const Strings names = entries();
    return std::any_of(names.begin(), names.end(), [](const std::string& name) { return name.ends_with(".lock"); });
  }
};

#ifdef FANSITE_FAULTS

class InjectedFaultTest : public FaultTest {
 protected:
  void SetUp() override {
    FaultTest::SetUp();
    // A program without shared libraries does not load ours.
    with_faults({"--version"}, {});
    if (!std::filesystem::exists(count_file())) GTEST_SKIP() << "LD_PRELOAD has no effect on this program";
    simulate({"--nodes", "4", "--rows", "200"});
  }
  void TearDown() override {
    std::filesystem::remove(count_file());
    FaultTest::TearDown();
  }

  struct Seen {
    long calls = 0, allocations = 0;
    std::string failed;
  };
  Seen seen() const {
    Seen seen;
    std::ifstream(count_file()) >> seen.calls >> seen.allocations >> seen.failed;
    return seen;
  }

  Outcome with_faults(const Strings& words, const Strings& faults) const {
    Call call{.arguments = words};
    call.environment =
        joined({"LD_PRELOAD=" FANSITE_FAULTS, "FAULT_DIR=" + path(""), "FAULT_COUNT=" + count_file()}, faults);
    return run(call);
  }

  // One sentence with the right exit code, every result as it was or whole, and nothing left over.
  void expect_safe(const Work& work, const Outcome& outcome, const std::string& previous, const Strings& whole) const {
    EXPECT_EQ(outcome.signal, 0);
    EXPECT_THAT(outcome.code, AnyOf(0, 1));
    EXPECT_FALSE(has_temporary_file());
    EXPECT_FALSE(has_lock());
    const Strings found = contents(work);
    if (outcome.code == 0) {
      EXPECT_EQ(outcome.err, "");
      EXPECT_EQ(found, whole);
      return;
    }
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.lines().size(), 1u);
    EXPECT_THAT(outcome.err, AnyOf(StartsWith("fansite: [write] "), StartsWith("fansite: out of memory: ")));
    for (std::size_t r = 0; r < found.size(); ++r) {
      const bool kept = found[r] == previous;
      const bool replaced = found[r] == whole[r] && (!work.together || seen().failed == "rename");
      EXPECT_TRUE(kept || replaced) << work.results[r] << ": " << found[r];
    }
    EXPECT_EQ(found.back(), previous);
    // Once there is something to go on from, it stays until the result is there.
    const bool last =
        outcome.err.find("writing '" + work.results.back() + "'") != std::string::npos && seen().failed != "open";
    EXPECT_TRUE(has_checkpoint() || !last || !work.keeps_state);
  }

  // What a failed run has kept is enough to go on from.
  void expect_to_go_on(const Work& work, const Strings& whole) const {
    if (!has_checkpoint()) return;
    works(work.words.front() == "entropy" ? work.words : joined(work.words, {"--resume"}));
    EXPECT_EQ(contents(work), whole);
    EXPECT_FALSE(has_checkpoint());
  }

  Strings undisturbed(const Work& work) const {
    reset(work, "");
    const Outcome outcome = with_faults(work.words, {});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return contents(work);
  }

  void every_call_fails_once(const Work& work) const {
    const Strings whole = undisturbed(work);
    const long calls = seen().calls;
    ASSERT_GE(calls, 4);
    for (long n = 1; n <= calls; ++n) {
      for (const std::string previous : {"", "the previous result\n"}) {
        reset(work, previous);
        const Outcome outcome = with_faults(work.words, {"FAULT_AT=" + std::to_string(n)});
        SCOPED_TRACE(testing::Message() << n << " of " << calls << ", " << seen().failed << ": " << outcome.err);
        EXPECT_NE(seen().failed, "nothing");
        expect_safe(work, outcome, previous, whole);
        expect_to_go_on(work, whole);
      }
    }
  }

  // At most `most` of them, evenly.
  void allocations_fail_once(const Work& work, long most) const {
    const Strings whole = undisturbed(work);
    const long allocations = seen().allocations;
    ASSERT_GE(allocations, 4);
    const long tried = std::min(most, allocations);
    for (long i = 1; i <= tried; ++i) {
      const long n = i * allocations / tried;
      reset(work, "");
      const Outcome outcome = with_faults(work.words, {"FAULT_ALLOC_AT=" + std::to_string(n)});
      SCOPED_TRACE(testing::Message() << n << " of " << allocations << ", " << seen().failed << ": " << outcome.err);
      expect_safe(work, outcome, "", whole);
    }
  }

  void killed_at_every_call(const Work& work) const {
    const Strings whole = undisturbed(work);
    const Strings left = entries();
    const long calls = seen().calls;
    for (long n = 1; n <= calls; ++n) {
      SCOPED_TRACE(testing::Message() << "killed instead of call " << n << " of " << calls);
      reset(work, "");
      ASSERT_EQ(with_faults(work.words, {"FAULT_KILL_AT=" + std::to_string(n)}).signal, SIGKILL);
      const Strings found = contents(work);
      for (std::size_t r = 0; r < found.size(); ++r) EXPECT_TRUE(found[r].empty() || found[r] == whole[r]);
      works(work.words.front() == "mb" || work.words.front() == "dag" ? joined(work.words, {"--resume"}) : work.words);
      EXPECT_EQ(contents(work), whole);
      EXPECT_EQ(entries(), left);
    }
  }

 private:
  std::string count_file() const {  // not below the folder that is looked at
    std::string folder = path("");
    while (folder.ends_with('/')) folder.pop_back();
    return folder + ".count";
  }
};

TEST_F(InjectedFaultTest, EveryCallFailsOnceInBoundariesOfAClosedForm) { every_call_fails_once(kGaussian); }
TEST_F(InjectedFaultTest, EveryCallFailsOnceInBoundariesOfNetworks) { every_call_fails_once(kFlow); }
TEST_F(InjectedFaultTest, EveryCallFailsOnceInAGraph) { every_call_fails_once(kGraph); }
TEST_F(InjectedFaultTest, EveryCallFailsOnceInEntropies) { every_call_fails_once(kEntropy); }
TEST_F(InjectedFaultTest, EveryCallFailsOnceInASimulation) { every_call_fails_once(kSimulation); }

// Of 1.1 MB, so that every copy of it counts.
TEST_F(InjectedFaultTest, LargeAllocationsFailOnce) {
  works({"simulate", "--sem", "linear", "--nodes", "20", "--rows", "7000", "--out", "s", "--quiet"});
  allocations_fail_once(kGaussian, 30);
  Work one_target = kFlow;
  one_target.words = joined(one_target.words, {"--target", "x3", "--refine", "none"});
  allocations_fail_once(one_target, 12);
  allocations_fail_once({{"simulate", "--nodes", "20", "--rows", "7000", "--out", "t", "--quiet"}, kSimulation.results},
                        20);
}

TEST_F(InjectedFaultTest, KilledAtEveryCall) {
  for (const Work& work : {kGaussian, kFlow, kGraph, kEntropy, kSimulation}) killed_at_every_call(work);
}

#else

TEST_F(FaultTest, NeedsAProgramWithoutSanitizers) { GTEST_SKIP() << "faults.cpp is not built for this kind of build"; }

#endif

// ---- Killed by the clock --------------------------------------------------------------------------------------------

// Five chains: killed ten times at instants spread over the length of the run, each time going on from what is there.
TEST_F(FaultTest, KilledAtFiftyInstants) {
  simulate({"--nodes", "6", "--rows", "300"});
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  const Work work = {{"mb", "s/data.csv", "--estimator", "flow", "--folds", "2", "--repeats", "1", "--steps", "6000",
                      "--seed", "1", "--checkpoint", "c", "--out", "r.json", "--quiet"},
                     {"r.json"}};
  const auto start = Clock::now();
  works(work.words);
  const double length = seconds_since(start);
  const Strings whole = contents(work), left = entries();

  for (int chain = 0; chain < 5; ++chain) {
    reset(work, "");
    Strings words = work.words;
    for (int link = 0; link < 10; ++link) {
      // Multiples of the golden ratio: evenly spread, no two alike.
      const double share = std::fmod(0.6180339887498949 * (10 * chain + link + 1), 1.0);
      Call call{.arguments = words};
      const auto begun = Clock::now();
      call.interrupted = [&] { return seconds_since(begun) >= share * length; };
      call.interrupt_signal = SIGKILL;
      const Outcome outcome = run(call);
      SCOPED_TRACE(testing::Message() << "chain " << chain << ", killed after " << share << " of the run");
      EXPECT_TRUE(outcome.signal == SIGKILL || outcome.code == 0) << outcome.err;  // it may have ended before
      EXPECT_THAT(contents(work).front(), AnyOf("", whole.front()));
      if (link == 0) words.push_back("--resume");
    }
    works(words);
    EXPECT_EQ(contents(work), whole);
    EXPECT_EQ(entries(), left);
  }
}

}  // namespace
}  // namespace fansite
