// SPDX-License-Identifier: Apache-2.0
#include "fansite/base/parallel.h"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "fansite/base/error.h"

#if defined(__SANITIZE_THREAD__)
extern "C" void __tsan_acquire(void*);
extern "C" void __tsan_release(void*);
#endif

namespace fansite {
namespace {

// Debian's oneTBB is not built with TSan, which therefore cannot see that a loop starts its pieces and waits for them.
// This tells it so, and nothing more: pieces are not ordered among each other.
class LoopOrder {
 public:
#if defined(__SANITIZE_THREAD__)
  LoopOrder() { __tsan_release(&started_); }
  ~LoopOrder() { __tsan_acquire(&done_); }
#endif
  class Piece {
   public:
#if defined(__SANITIZE_THREAD__)
    explicit Piece(LoopOrder& order) : order_(order) { __tsan_acquire(&order_.started_); }
    ~Piece() { __tsan_release(&order_.done_); }

   private:
    LoopOrder& order_;
#else
    explicit Piece(LoopOrder&) {}
#endif
  };

#if defined(__SANITIZE_THREAD__)
 private:
  char started_ = 0, done_ = 0;
#endif
};

}  // namespace

struct ThreadLimit::Control {
  explicit Control(std::size_t threads) : limit(tbb::global_control::max_allowed_parallelism, threads) {}
  tbb::global_control limit;
};

ThreadLimit::ThreadLimit(int threads) {
  check(threads >= 0, "[threads] {} threads asked for; use 0 for one per core", threads);
  if (threads > 0) control_ = std::make_unique<Control>(static_cast<std::size_t>(threads));
}

ThreadLimit::~ThreadLimit() = default;

int thread_count() {
  const auto allowed = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
  return std::min(static_cast<int>(allowed), tbb::info::default_concurrency());
}

// ---- Team -----------------------------------------------------------------------------------------------------------

struct Team::Shared {
  Shared() = default;
  // Through the other constructor, so that a thread that cannot be made sends those before it home (~Shared).
  explicit Shared(int threads) : Shared() {
    for (int t = 1; t < threads; ++t) {
      workers.emplace_back([this] {
        for (unsigned seen = 0;;) {
          seen = wait_for_change(seen);
          if (stopping.load(std::memory_order_relaxed)) return;
          work();
          working.fetch_sub(1, std::memory_order_release);
        }
      });
    }
  }

  ~Shared() {
    stopping.store(true, std::memory_order_relaxed);
    loop.fetch_add(1, std::memory_order_release);
    loop.notify_all();
    for (std::thread& worker : workers) worker.join();
  }

  // Spins for some 100 µs, far longer than the gap between two loops, then sleeps.
  unsigned wait_for_change(unsigned seen) const {
    for (int spin = 0;; ++spin) {
      const unsigned now = loop.load(std::memory_order_acquire);
      if (now != seen) return now;
      if (spin < kSpins) {
        relax(spin);
      } else {
        loop.wait(seen, std::memory_order_acquire);
      }
    }
  }

  // A pause now and then a turn for others: with fewer cores than threads, spinning alone would stall those waited for.
  static void relax(int spin) {
    if (spin % 64 == 63) {
      std::this_thread::yield();
    } else {
#if defined(__x86_64__) || defined(__i386__)
      __builtin_ia32_pause();
#endif
    }
  }

  void work() {
    for (;;) {
      const int i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= count) return;
      try {
        (*body)(i);
      } catch (...) {
        const std::lock_guard lock(failure_lock);
        if (!failure) failure = std::current_exception();
        next.store(count, std::memory_order_relaxed);
      }
    }
  }

  static constexpr int kSpins = 4000;
  std::vector<std::thread> workers;
  alignas(64) std::atomic<unsigned> loop = 0;  // counts the loops begun
  alignas(64) std::atomic<int> next = 0;       // the next piece
  alignas(64) std::atomic<int> working = 0;    // workers not yet done with this loop
  std::atomic<bool> stopping = false;
  const std::function<void(int)>* body = nullptr;
  int count = 0;
  std::mutex failure_lock;
  std::exception_ptr failure;
};

Team::Team(int threads) {
  check(threads >= 0, "[threads] {} threads asked for; use 0 for one per core", threads);
  shared_ = std::make_unique<Shared>(threads > 0 ? threads : thread_count());
}

Team::~Team() = default;

int Team::size() const { return static_cast<int>(shared_->workers.size()) + 1; }

void Team::run(int n, const std::function<void(int)>& body) {
  Shared& s = *shared_;
  if (s.workers.empty() || n <= 1) {
    for (int i = 0; i < n; ++i) body(i);
    return;
  }
  s.body = &body;
  s.count = n;
  s.next.store(0, std::memory_order_relaxed);
  s.working.store(static_cast<int>(s.workers.size()), std::memory_order_relaxed);
  s.loop.fetch_add(1, std::memory_order_release);
  s.loop.notify_all();
  s.work();
  for (int spin = 0; s.working.load(std::memory_order_acquire) > 0; ++spin) Shared::relax(spin);
  if (s.failure) std::rethrow_exception(std::exchange(s.failure, nullptr));
}

// ---- Loops ----------------------------------------------------------------------------------------------------------

void parallel_for(std::ptrdiff_t n, const std::function<void(std::ptrdiff_t)>& body) {
  LoopOrder order;
  // Of its own: else a loop inside a piece of one that is being stopped would return with pieces left out and no word
  // of it, and what was computed of them would be wrong.
  tbb::task_group_context context(tbb::task_group_context::isolated);
  // Grain 1: the pieces are large (a target, a tile, a megabyte of text) and uneven.
  tbb::parallel_for(
      tbb::blocked_range<std::ptrdiff_t>(0, n, 1),
      [&](const tbb::blocked_range<std::ptrdiff_t>& range) {
        const LoopOrder::Piece piece(order);
        for (std::ptrdiff_t i = range.begin(); i != range.end(); ++i) body(i);
      },
      tbb::simple_partitioner(), context);
}

}  // namespace fansite
