// SPDX-License-Identifier: Apache-2.0
//
// Loops over independent pieces of work, on oneTBB. Every piece is a function of its index alone and writes only its
// own slot, so results have the same bits for any number of threads.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace fansite {

/// Limits the threads of every parallel loop while it lives; 0 means one per core.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  struct Control;
  std::unique_ptr<Control> control_;
};

/// Threads that a parallel loop started now may use.
int thread_count();

/// Threads of one's own for loops that are over in microseconds: they wait for the next one spinning, and sleep only
/// when none comes for a while.
class Team {
 public:
  /// That many threads including the caller's; 0 means thread_count().
  explicit Team(int threads = 0);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const;
  /// Calls body(i) for i in 0..n-1, in any order, and returns when all are done. The first exception reaches the
  /// caller.
  void run(int n, const std::function<void(int)>& body);

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

/// Calls body(i) for i in 0..n-1, in any order. The first exception thrown stops the loop and reaches the caller. One
/// that returns has done every piece, also inside a piece of another that is being stopped.
void parallel_for(std::ptrdiff_t n, const std::function<void(std::ptrdiff_t)>& body);

}  // namespace fansite
