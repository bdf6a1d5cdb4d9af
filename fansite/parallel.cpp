// SPDX-License-Identifier: Apache-2.0
#include "fansite/parallel.h"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>

#include <algorithm>

#include "fansite/error.h"

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

void parallel_for(std::ptrdiff_t n, const std::function<void(std::ptrdiff_t)>& body) {
  LoopOrder order;
  // Grain 1: the pieces are large (a target, a tile, a megabyte of text) and uneven.
  tbb::parallel_for(
      tbb::blocked_range<std::ptrdiff_t>(0, n, 1),
      [&](const tbb::blocked_range<std::ptrdiff_t>& range) {
        const LoopOrder::Piece piece(order);
        for (std::ptrdiff_t i = range.begin(); i != range.end(); ++i) body(i);
      },
      tbb::simple_partitioner());
}

}  // namespace fansite
