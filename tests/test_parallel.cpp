// SPDX-License-Identifier: Apache-2.0
//
// Loops whose pieces run exactly once each, whatever the number of pieces and threads and however late a thread wakes.
#include "fansite/base/parallel.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "fansite/base/error.h"
#include "support.h"

namespace fansite {
namespace {

// Far longer than a team waits spinning: its threads are asleep afterwards.
void wait_until_asleep() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

// How often each piece of a loop ran.
std::vector<int> runs_of(Team& team, int n) {
  std::vector<std::atomic<int>> runs(static_cast<std::size_t>(n));
  team.run(n, [&](int i) { runs.at(static_cast<std::size_t>(i)).fetch_add(1, std::memory_order_relaxed); });
  return {runs.begin(), runs.end()};
}

std::vector<int> once_each(int n) { return std::vector<int>(static_cast<std::size_t>(n), 1); }

// ---- Team -----------------------------------------------------------------------------------------------------------

class TeamOf : public testing::TestWithParam<int> {
 protected:
  Team team{GetParam()};
};

TEST_P(TeamOf, HasItsSize) { EXPECT_EQ(team.size(), GetParam()); }

TEST_P(TeamOf, RunsEveryPieceOnce) {
  for (int n = 0; n <= 40; ++n) EXPECT_EQ(runs_of(team, n), once_each(n)) << n;
  for (const int n : {1000, 100000}) EXPECT_EQ(runs_of(team, n), once_each(n)) << n;
}

// Plain numbers, no atomics: what a loop wrote is seen by the next one and by the caller.
TEST_P(TeamOf, ThousandsOfShortLoops) {
  constexpr int kLoops = 6000;
  std::vector<int> sums(7);
  long expected = 0, wrong = 0;
  for (int loop = 0; loop < kLoops; ++loop) {
    const int n = loop % 8;
    team.run(n, [&](int i) { sums[static_cast<std::size_t>(i)] += i + 1; });
    expected += n * (n + 1) / 2;
    if (std::accumulate(sums.begin(), sums.end(), 0L) != expected) ++wrong;
  }
  EXPECT_EQ(wrong, 0);
}

// Every thread has a place of its own to be caught asleep: at each loop after a wait, and at a loop right after it.
TEST_P(TeamOf, WakesUpAgain) {
  for (int i = 0; i < 3; ++i) {
    wait_until_asleep();
    EXPECT_EQ(runs_of(team, 100), once_each(100));
    EXPECT_EQ(runs_of(team, 100), once_each(100));
  }
}

TEST_P(TeamOf, UnevenPieces) {
  std::atomic<int> done = 0;
  team.run(20, [&](int i) {
    if (i % 5 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++done;
  });
  EXPECT_EQ(done, 20);  // none is still under way
}

TEST_P(TeamOf, AnExceptionReachesTheCaller) {
  for (const int n : {1, 2, 3, 10, 1000}) {
    for (const int bad : {0, n / 2, n - 1}) {
      std::atomic<int> calls = 0;
      EXPECT_EQ(message_of<DataError>([&] {
                  team.run(n, [&](int i) {
                    ++calls;
                    check_data(i != bad, "piece {}", i);
                  });
                }),
                "piece " + std::to_string(bad));
      EXPECT_LE(calls, n);
      EXPECT_EQ(runs_of(team, n), once_each(n));
    }
  }
}

TEST_P(TeamOf, OneOfManyExceptionsReachesTheCaller) {
  std::set<std::string> seen;
  for (int loop = 0; loop < 200; ++loop) {
    seen.insert(message_of<DataError>([&] { team.run(8, [](int i) { check_data(false, "{}", i); }); }));
    ASSERT_EQ(runs_of(team, 8), once_each(8)) << "nothing is left of it in the next loop";
  }
  for (const std::string& message : seen) EXPECT_TRUE(message.size() == 1 && message >= "0" && message < "8");
}

// The other pieces wait for the one that throws, so that they cannot all be over before.
TEST_P(TeamOf, PiecesNotYetBegunAreDroppedAfterAnException) {
  constexpr int kPieces = 1000000;
  std::atomic<bool> throwing = false;
  std::atomic<int> calls = 0;
  EXPECT_THROW(team.run(kPieces,
                        [&](int i) {
                          ++calls;
                          if (i == 0) {
                            throwing = true;
                            throw std::runtime_error("stop");
                          }
                          do std::this_thread::yield();
                          while (!throwing);
                        }),
               std::runtime_error);
  EXPECT_LT(calls, kPieces);
}

// Not only errors of ours.
TEST_P(TeamOf, AnythingCanBeThrown) {
  EXPECT_THROW(team.run(4, [](int i) { throw i; }), int);
  EXPECT_EQ(runs_of(team, 4), once_each(4));
}

INSTANTIATE_TEST_SUITE_P(Sizes, TeamOf, testing::Range(1, 5), testing::PrintToStringParamName());

TEST(Team, UsesAllItsThreads) {
  Team team(3);
  std::atomic<int> inside = 0;
  // Each piece waits for the others, so that no thread can have two.
  team.run(3, [&](int) {
    ++inside;
    while (inside < 3) std::this_thread::yield();
  });
  EXPECT_EQ(inside, 3);
}

TEST(Team, TheCallerTakesPart) {
  Team alone(1);
  std::thread::id other;
  alone.run(5, [&](int) { other = std::this_thread::get_id(); });
  EXPECT_EQ(other, std::this_thread::get_id());
}

TEST(Team, CanGoAtAnyMoment) {
  for (int i = 0; i < 300; ++i) const Team unused(1 + i % 4);
  for (int i = 0; i < 300; ++i) {
    Team busy(1 + i % 4);
    EXPECT_EQ(runs_of(busy, 5), once_each(5));
  }
  for (int size = 1; size <= 4; ++size) {
    {
      const Team asleep_from_the_start(size);
      wait_until_asleep();
    }
    Team asleep(size);
    runs_of(asleep, 5);
    wait_until_asleep();
  }
  // After an exception too.
  Team failed(3);
  EXPECT_THROW(failed.run(9, [](int) { throw std::runtime_error("stop"); }), std::runtime_error);
}

TEST(Team, TwoAtOnce) {
  constexpr int kLoops = 3000, kPieces = 6;
  std::vector<long> totals(2);
  const auto use = [&](std::size_t which) {
    Team team(2);
    std::vector<long> sums(kPieces);
    for (int loop = 0; loop < kLoops; ++loop) {
      team.run(kPieces, [&](int i) { sums[static_cast<std::size_t>(i)] += 1; });
    }
    totals[which] = std::accumulate(sums.begin(), sums.end(), 0L);
  };
  std::thread other(use, 0);
  use(1);
  other.join();
  EXPECT_EQ(totals, std::vector<long>(2, kLoops * kPieces));
}

TEST(Team, OneInEveryPieceOfAnother) {
  Team outer(2);
  std::vector<int> sums(4);
  outer.run(4, [&](int i) {
    Team inner(2);
    const auto runs = runs_of(inner, 50);
    sums[static_cast<std::size_t>(i)] = std::accumulate(runs.begin(), runs.end(), 0);
  });
  EXPECT_EQ(sums, std::vector<int>(4, 50));
}

TEST(Team, RespectsTheLimit) {
  const int all = thread_count();
  EXPECT_GE(all, 1);
  EXPECT_EQ(Team().size(), all);
  {
    const ThreadLimit one(1);
    EXPECT_EQ(thread_count(), 1);
    EXPECT_EQ(Team().size(), 1);
    EXPECT_EQ(Team(0).size(), 1);
    EXPECT_EQ(Team(3).size(), 3);  // asked for by name
    {
      const ThreadLimit two(2);  // the lowest limit counts
      EXPECT_EQ(thread_count(), 1);
    }
    const ThreadLimit none(0);
    EXPECT_EQ(thread_count(), 1);
  }
  EXPECT_EQ(thread_count(), all);
  const ThreadLimit many(1000000);  // never more than cores
  EXPECT_EQ(Team(0).size(), all);
}

// A thread needs room for its stack, so there are soon no more where room is short. (Sanitizers reserve terabytes.)
TEST(TeamDeathTest, ThreadsThatCannotBeHadAreAnError) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const auto ask = [] {
    const rlimit room{rlim_t{1} << 31, rlim_t{1} << 31};
    ::setrlimit(RLIMIT_AS, &room);
    try {
      const Team team(20000);
    } catch (const std::system_error&) {
      std::_Exit(7);
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(ask(), testing::ExitedWithCode(7), "");
#endif
}

TEST(Team, NegativeNumbersAreRefused) {
  const std::string message = "[threads] -1 threads asked for; use 0 for one per core";
  EXPECT_EQ(message_of<UsageError>([] { const Team team(-1); }), message);
  EXPECT_EQ(message_of<UsageError>([] { const ThreadLimit limit(-1); }), message);
}

// ---- parallel_for ---------------------------------------------------------------------------------------------------

TEST(ParallelFor, RunsEveryPieceOnce) {
  for (const int threads : {0, 1, 2}) {
    const ThreadLimit limit(threads);
    for (const int n : {0, 1, 2, 3, 17, 10000}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(n));
      parallel_for(n, [&](std::ptrdiff_t i) { ++runs.at(static_cast<std::size_t>(i)); });
      EXPECT_EQ(std::vector<int>(runs.begin(), runs.end()), once_each(n)) << threads << ' ' << n;
    }
  }
}

TEST(ParallelFor, ALoopInsideOneThatIsStoppedIsStillComplete) {
  const ThreadLimit limit(2);
  std::atomic<int> incomplete = 0;
  for (int attempt = 0; attempt < 20; ++attempt) {
    std::atomic<bool> inside = false;
    EXPECT_THROW(parallel_for(2,
                              [&](std::ptrdiff_t i) {
                                if (i == 0) {
                                  while (!inside) std::this_thread::yield();
                                  throw DataError("stop");
                                }
                                std::atomic<int> done = 0;
                                parallel_for(200, [&](std::ptrdiff_t) {
                                  inside = true;
                                  std::this_thread::sleep_for(std::chrono::microseconds(50));
                                  ++done;
                                });
                                if (done != 200) ++incomplete;
                              }),
                 DataError);
  }
  EXPECT_EQ(incomplete, 0);
}

TEST(ParallelFor, AnExceptionReachesTheCaller) {
  for (const int threads : {0, 1}) {
    const ThreadLimit limit(threads);
    std::atomic<int> calls = 0;
    EXPECT_EQ(message_of<DataError>([&] {
                parallel_for(100000, [&](std::ptrdiff_t i) {
                  ++calls;
                  check_data(i != 7, "piece {}", i);
                });
              }),
              "piece 7");
    if (threads == 1) {  // else the others might be over first
      EXPECT_LT(calls, 100000);
    }
  }
}

TEST(ParallelFor, Nests) {
  std::atomic<int> calls = 0;
  parallel_for(10, [&](std::ptrdiff_t) { parallel_for(10, [&](std::ptrdiff_t) { ++calls; }); });
  EXPECT_EQ(calls, 100);
}

}  // namespace
}  // namespace fansite
