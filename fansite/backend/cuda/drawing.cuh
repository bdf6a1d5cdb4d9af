// SPDX-License-Identifier: Apache-2.0
//
// A step's batch drawn on the device, from the same keys as on the processor: SubsetSampler and Batch of
// entropy/flow/batch.cpp, innovations of base.cpp, noise of trainer.cpp. By kProducers threads.
//
// Each row's words of the stream start where those of the row before end. Where all that counts is how many variables a
// row draws, one thread finds these places first, and then rows are drawn side by side; where absent cells or factors
// have a say too, or a word has to be drawn again (one of 10⁸), a warp draws one row after the other.
#pragma once

#include <cuda_runtime.h>

#include "fansite/backend/cuda/philox.cuh"
#include "fansite/backend/cuda/training_kernel.h"

namespace fansite::cuda {

__device__ inline void producers_sync() { asm volatile("bar.sync 2, %0;" ::"n"(kProducers) : "memory"); }

/// Where a table's row starts.
struct DeviceRow {
  const float *score, *low, *high;
  __device__ DeviceRow(const DeviceNetwork& n, const TrainingShape& s, int row) {
    const long long at = static_cast<long long>(row) * s.variables;
    score = n.score + at;
    low = n.low == nullptr ? nullptr : n.low + at;
    high = n.low == nullptr ? nullptr : n.high + at;
  }
  __device__ bool interval(int j) const { return low != nullptr && low[j] < high[j]; }
};

/// A set of variables, one bit each, over a warp: thread i has those from 32·i on.
class WarpSet {
 public:
  /// Whether it was not there yet.
  __device__ bool take(int variable) {
    const std::uint32_t word = __shfl_sync(0xffffffffu, bits_, variable >> 5), bit = 1u << (variable & 31);
    if (lane() == variable >> 5) bits_ |= bit;
    return (word & bit) == 0;
  }
  __device__ void invert(int pool) {
    const int mine = min(max(pool - 32 * lane(), 0), 32);
    bits_ = ~bits_ & (mine == 32 ? 0xffffffffu : (1u << mine) - 1);
  }
  /// The members in ascending order; how many.
  __device__ int write(short* to) const {
    int count = __popc(bits_), before = count;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const int other = __shfl_up_sync(0xffffffffu, before, distance);
      if (lane() >= distance) before += other;
    }
    const int total = __shfl_sync(0xffffffffu, before, 31);
    before -= count;
    for (std::uint32_t rest = bits_; rest != 0; rest &= rest - 1) {
      to[before++] = static_cast<short>(32 * lane() + __ffs(static_cast<int>(rest)) - 1);
    }
    return total;
  }

 private:
  __device__ static int lane() { return static_cast<int>(threadIdx.x & 31); }
  std::uint32_t bits_ = 0;
};

/// SubsetSampler::draw into `subset`, by a whole warp; how many columns.
__device__ inline int draw_variables(const TrainingShape& s, WarpStream& random, short* subset) {
  const int pool = s.leaf ? s.drawn - 1 : s.drawn;
  const int size = s.leaf ? static_cast<int>(random.below(static_cast<std::uint32_t>(s.max_size) + 1))
                          : 1 + static_cast<int>(random.below(static_cast<std::uint32_t>(s.max_size)));
  const bool inverted = size > pool / 2;
  WarpSet set;
  for (int top = pool - (inverted ? pool - size : size); top < pool; ++top) {
    if (!set.take(static_cast<int>(random.below(static_cast<std::uint32_t>(top) + 1)))) set.take(top);
  }
  if (inverted) set.invert(pool);
  int count = set.write(subset);
  if (s.leaf) subset[count++] = static_cast<short>(s.drawn - 1);  // all threads write the same
  __syncwarp();
  return count;
}

/// Variables to their columns (SubsetSampler::expand); `list` is the warp's own.
__device__ inline int expand(const TrainingShape& s, const int* first_column, WarpStream& random, int count, short* list,
                             short* subset) {
  const auto width = [&](int variable) { return first_column[variable + 1] - first_column[variable]; };
  int columns = 0;
  for (int p = 0; p < count; ++p) columns += width(list[p]);
  while (columns > s.most_columns && count > 1) {
    const int gone = static_cast<int>(random.below(static_cast<std::uint32_t>(count) - 1));
    columns -= width(list[gone]);
    __syncwarp();
    if ((threadIdx.x & 31) == 0) {
      for (int p = gone; p + 1 < count; ++p) list[p] = list[p + 1];
    }
    __syncwarp();
    --count;
  }
  if ((threadIdx.x & 31) == 0) {
    int at = 0;
    for (int p = 0; p < count; ++p) {
      for (int k = 0; k < width(list[p]); ++k) subset[at++] = static_cast<short>(first_column[list[p]] + k);
    }
  }
  __syncwarp();
  return columns;
}

/// Less those that are absent in a row that has one at least; if all are, one of those it has.
__device__ inline int leave_out_absent(const TrainingShape& s, WarpStream& random, const DeviceRow& row, int count,
                                       short* subset) {
  const bool first = (threadIdx.x & 31) == 0;
  int kept = 0;
  for (int p = 0; p < count; ++p) {
    const short j = subset[p];
    if (isnan(row.score[j])) continue;
    __syncwarp();
    if (first) subset[kept] = j;
    ++kept;
  }
  __syncwarp();
  if (kept > 0) return kept;
  int held = 0;
  for (int j = 0; j < s.variables; ++j) held += isnan(row.score[j]) ? 0 : 1;
  int skip = static_cast<int>(random.below(static_cast<std::uint32_t>(held)));
  for (int j = 0; j < s.variables; ++j) {
    if (!isnan(row.score[j]) && skip-- == 0 && first) subset[0] = static_cast<short>(j);
  }
  __syncwarp();
  return 1;
}

/// The subsets of all rows one after the other, by one warp.
__device__ inline void draw_one_by_one(const TrainingShape& s, const DeviceNetwork& n, DeviceBatch& b, const int* rows,
                                       StreamKey key, short* list) {
  WarpStream random(key);
  int start = 0;
  for (int i = 0; i < s.batch; ++i) {
    if (threadIdx.x % 32 == 0) b.row_start[i] = start;
    short* subset = b.variable + start;
    int count = draw_variables(s, random, n.first_column == nullptr ? subset : list);
    if (n.first_column != nullptr) count = expand(s, n.first_column, random, count, list, subset);
    const DeviceRow row(n, s, rows[i]);
    if (s.absent) count = leave_out_absent(s, random, row, count, subset);
    if (n.noise > 0) {
      if (threadIdx.x % 32 == 0) n.noise_at[i] = static_cast<int>(random.at());
      int numbers = count;
      if (row.low != nullptr) {
        for (int p = 0; p < count; ++p) numbers -= row.interval(subset[p]) ? 1 : 0;
      }
      random.skip(2 * numbers);
    }
    start += count;
  }
  if (threadIdx.x % 32 == 0) b.row_start[s.batch] = start;
}

/// Lemire's draw from one word; false if it has to be drawn again.
__device__ inline bool below(std::uint32_t word, std::uint32_t n, int& result) {
  const unsigned long long product = static_cast<unsigned long long>(word) * n;
  result = static_cast<int>(product >> 32);
  return static_cast<std::uint32_t>(product) > n;
}

__device__ inline int draws_of(const TrainingShape& s, int size) {
  const int pool = s.leaf ? s.drawn - 1 : s.drawn;
  return size > pool / 2 ? pool - size : size;
}

/// Where each row's words start, by one thread; false if a word has to be drawn again.
__device__ inline bool find_places(const TrainingShape& s, const DeviceNetwork& n, DeviceBatch& b) {
  const std::uint32_t* words = n.words;
  int at = 0, start = 0;
  bool fine = true;
  for (int i = 0; i < s.batch; ++i) {
    int size = 0;  // is in its range even if the word has to be drawn again
    fine = below(words[at], static_cast<std::uint32_t>(s.leaf ? s.max_size + 1 : s.max_size), size) && fine;
    if (!s.leaf) ++size;
    const int count = size + (s.leaf ? 1 : 0);
    b.row_start[i] = start;
    n.drawn_at[i] = at + 1;
    n.drawn[i] = size;
    at += 1 + draws_of(s, size);
    n.noise_at[i] = at;
    if (n.noise > 0) at += 2 * count;
    start += count;
  }
  b.row_start[s.batch] = start;
  return fine;
}

/// One row's subset from words whose places are known, by one thread; false if one has to be drawn again.
__device__ inline bool draw_row(const TrainingShape& s, const DeviceNetwork& n, DeviceBatch& b, int i) {
  constexpr int kWords = kMostVariables / 64;
  unsigned long long chosen[kWords];
  const int pool = s.leaf ? s.drawn - 1 : s.drawn, size = n.drawn[i], used = (pool + 63) / 64;
  const std::uint32_t* words = n.words + n.drawn_at[i];
  for (int w = 0; w < used; ++w) chosen[w] = 0;
  const auto take = [&](int variable) {
    const unsigned long long bit = 1ull << (variable & 63), word = chosen[variable >> 6];
    chosen[variable >> 6] = word | bit;
    return (word & bit) == 0;
  };
  bool fine = true;
  for (int top = pool - draws_of(s, size); top < pool; ++top) {
    int draw = 0;
    fine = below(*words++, static_cast<std::uint32_t>(top) + 1, draw) && fine;
    if (!take(draw)) take(top);
  }
  short* to = b.variable + b.row_start[i];
  for (int w = 0; w < used; ++w) {
    const int left = pool - 64 * w;
    unsigned long long rest = chosen[w];
    if (size > pool / 2) rest = ~rest & (left >= 64 ? ~0ull : (1ull << left) - 1);
    for (; rest != 0; rest &= rest - 1) *to++ = static_cast<short>(64 * w + __ffsll(static_cast<long long>(rest)) - 1);
  }
  if (s.leaf) *to = static_cast<short>(s.drawn - 1);
  return fine;
}

/// What the threads that draw share.
struct Drawing {
  short list[kMostVariables];
  double factor[kProducers / 32][kSmallFactor * (kSmallFactor + 1) / 2];
  bool again;
};

__device__ inline void draw_subsets(const TrainingShape& s, const DeviceNetwork& n, DeviceBatch& b, const int* rows,
                                    StreamKey key, int thread, Drawing& drawing) {
  const bool by_places = n.first_column == nullptr && !s.absent && !(n.noise > 0 && n.low != nullptr);
  if (by_places) {
    for (int block = thread; block < s.words / 4; block += kProducers) {
      const Words four = stream_block(key, static_cast<unsigned long long>(block));
      reinterpret_cast<uint4*>(n.words)[block] = {four.word[0], four.word[1], four.word[2], four.word[3]};
    }
    producers_sync();
    if (thread == 0) drawing.again = !find_places(s, n, b);
    producers_sync();
    for (int i = thread; i < s.batch; i += kProducers) {
      if (!draw_row(s, n, b, i)) drawing.again = true;
    }
    producers_sync();
  }
  if (thread < 32 && (!by_places || drawing.again)) draw_one_by_one(s, n, b, rows, key, drawing.list);
  producers_sync();
}

/// assign_ranks of entropy/flow/shape.cpp.
__device__ inline void assign_ranks(const TrainingShape& s, const short* subset, int count, short* ranks) {
  const long long slots = s.variables - 1;
  int next = 0;
  for (int p = 0; p < count; ++p) {
    const long long scaled = static_cast<long long>(s.ranks) * (subset[p] + 1);
    const int rank = max(next, static_cast<int>((scaled + slots - 1) / slots) - 1);
    ranks[p] = static_cast<short>(rank);
    next = rank + 1;
  }
  int last = s.ranks - 1;
  for (int p = count - 1; p >= 0 && ranks[p] > last; --p, --last) ranks[p] = static_cast<short>(last);
}

__device__ inline double from_lane(double value, int lane) { return __shfl_sync(0xffffffffu, value, lane); }

/// GaussianBase::innovations of one row's terms, by a warp: a column of the Cholesky factor at a time, while the rest of
/// the covariance loses what that column explains. A thread has the rows lane, lane + 32, … of it. `factor` has room for
/// the triangle.
__device__ inline double innovations(const TrainingShape& s, const DeviceNetwork& n, const DeviceRow& row, DeviceBatch& b,
                                     int first, int count, double* factor) {
  constexpr double kSmallest = 1e-6, kSmallestCoarse = 0.02;  // as in base.cpp
  const int lane = static_cast<int>(threadIdx.x & 31);
  const short* subset = b.variable + first;
  const auto entry = [&](int p, int q) -> double& { return factor[p * (p + 1) / 2 + q]; };
  for (int p = lane; p < count; p += 32) {
    const double* covariance = n.base_covariance + static_cast<long long>(subset[p]) * s.variables;
    for (int q = 0; q <= p; ++q) entry(p, q) = covariance[subset[q]];
  }
  __syncwarp();
  double logs = 0;
  for (int from = 0; from < count; from += 32) {  // of the rows that this thread finishes
    const int p = from + lane;
    const bool has = p < count;
    const int j = has ? subset[p] : 0;
    const float x = has ? b.value[first + p] : 0.0f;
    const double mean = n.base_mean[j];
    double sum = 0, explained = 0, left = static_cast<double>(x) - mean, sigma = 1;
    for (int k = 0; k < min(from + 32, count); ++k) {
      if (k < from) {  // columns that are done: their innovations lie in the diagonal's place
        if (has) {
          const double l = entry(p, k);
          sum += l * entry(k, k);
          explained += l * l;
        }
        continue;
      }
      const int owner = k - from;
      double root = 0, u = 0;
      if (lane == owner) {
        const double variance = n.base_covariance[static_cast<long long>(j) * s.variables + j];
        root = rsqrt(fmax(entry(p, p), kSmallest * variance));
        sigma = 1 / root;
        u = (left - sum) * root;
      }
      root = from_lane(root, owner);
      u = from_lane(u, owner);
      for (int i = lane; i < count; i += 32) {
        if (i > k) entry(i, k) *= root;
      }
      __syncwarp();
      for (int i = lane; i < count; i += 32) {
        if (i <= k) continue;
        const double l = entry(i, k);
        for (int q = k + 1; q <= i; ++q) entry(i, q) -= l * entry(q, k);
      }
      __syncwarp();
      if (has && p > k) {
        const double l = entry(p, k);
        sum += l * u;
        explained += l * l;
      }
      if (lane == owner) entry(k, k) = u;
      __syncwarp();
    }
    if (has) {
      double by = 1, shift = mean, scale = sigma;
      if (n.reliability != nullptr && n.reliability[j] < 1) {  // GaussianBase::prediction
        by = 1 / n.reliability[j];
        shift = 0;
        const double rest = 1 - by * by * explained;
        if (rest < kSmallestCoarse) by *= sqrt((1 - kSmallestCoarse) / (1 - rest));
        scale = sqrt(fmax(rest, kSmallestCoarse));
      }
      const int t = first + p;
      const double inverse = 1 / scale;
      const auto mapped = [&](float value) {
        return static_cast<float>((static_cast<double>(value) - shift - by * sum) * inverse);
      };
      const bool interval = row.interval(j);
      const float u = mapped(x);
      b.innovation[t] = u;
      b.low[t] = interval ? mapped(row.low[j]) : u;
      b.high[t] = interval ? mapped(row.high[j]) : u;
      if (!interval) logs += log(scale);
    }
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) logs += __shfl_xor_sync(0xffffffffu, logs, distance);
  return logs;
}

/// Ranks, values with their noise, innovations and places of one row's terms, by a warp.
__device__ inline void fill_row(const TrainingShape& s, const DeviceNetwork& n, DeviceBatch& b, int i, int table_row,
                                StreamKey key, double* factor) {
  const int lane = static_cast<int>(threadIdx.x & 31);
  const int first = b.row_start[i], last = b.row_start[i + 1], count = last - first;
  const DeviceRow row(n, s, table_row);
  std::uint8_t* position = b.position + i * s.variables;
  std::uint8_t* at_rank = b.at_rank + i * s.ranks;
  for (int j = lane; j < s.variables; j += 32) position[j] = kNone;
  for (int r = lane; r < s.ranks; r += 32) at_rank[r] = kNone;
  const bool full = s.ranks == s.variables - 1;
  if (!full && lane == 0) assign_ranks(s, b.variable + first, count - 1, b.rank + first);
  __syncwarp();
  const double keep = 1 / sqrt(1 + n.noise * n.noise);
  int numbers = 0;  // before this thread's
  for (int from = 0; from < count; from += 32) {
    const int p = from + lane, t = first + p;
    const bool has = p < count;
    const int j = has ? b.variable[t] : 0;
    const bool number = has && !row.interval(j);
    const unsigned all = __ballot_sync(0xffffffffu, number);
    if (has) {
      float x = row.score[j];
      if (n.noise > 0 && number) {
        const int word = n.noise_at[i] + 2 * (numbers + __popc(all & ((1u << lane) - 1)));
        x = static_cast<float>(keep * (static_cast<double>(x) + n.noise * normcdfinv(stream_uniform(key, word))));
      }
      const int rank = p + 1 == count ? -1 : full ? j : b.rank[t];
      b.rank[t] = static_cast<short>(rank);
      b.row[t] = static_cast<short>(i);
      b.first[t] = first;
      b.end[t] = last;
      const int below_full = min(j, s.ranks);  // ranks that feed earlier variables: Σ_{i<j} min(i, R)
      b.output_row[t] = s.blocks * s.outputs * (below_full * (below_full - 1) / 2 + (j - below_full) * s.ranks);
      b.value[t] = x;
      position[j] = static_cast<std::uint8_t>(p);
      if (rank >= 0) at_rank[rank] = static_cast<std::uint8_t>(p);
      b.innovation[t] = x;
      b.low[t] = number ? x : row.low[j];
      b.high[t] = number ? x : row.high[j];
    }
    numbers += __popc(all);
  }
  __syncwarp();
  const double logs = n.base_mean == nullptr ? 0.0 : innovations(s, n, row, b, first, count, factor);
  if (lane == 0) b.log_scale[i] = logs;
}

/// Terms to be sorted by variable or rank, then row. `place` is [row][key], their places in their rows.
struct TermList {
  const std::uint8_t* place;
  int keys;
  SortedTerm* sorted;
  int* starts;
};

/// A warp for each key, its threads for rows: how many terms it has, or, once it is known where they start, which.
template <bool kPlace>
__device__ inline void go_through(const TrainingShape& s, const DeviceBatch& b, const TermList& list, int thread) {
  const int lane = thread % 32;
  for (int key = thread / 32; key < list.keys; key += kProducers / 32) {
    int at = kPlace ? list.starts[key] : 0;
    for (int from = 0; from < s.batch; from += 32) {
      const int i = from + lane, p = i < s.batch ? list.place[i * list.keys + key] : kNone;
      const unsigned all = __ballot_sync(0xffffffffu, p != kNone);
      if (kPlace && p != kNone) list.sorted[at + __popc(all & ((1u << lane) - 1))] = {b.row_start[i] + p, i};
      at += __popc(all);
    }
    if (!kPlace && lane == 0) list.starts[key + 1] = at;
  }
}

/// Counts to starts, by a warp.
__device__ inline void add_up(const TermList& list, int lane) {
  int before = 0;
  for (int from = 0; from < list.keys; from += 32) {
    const int key = from + lane;
    int sum = key < list.keys ? list.starts[key + 1] : 0;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const int other = __shfl_up_sync(0xffffffffu, sum, distance);
      if (lane >= distance) sum += other;
    }
    if (key < list.keys) list.starts[key + 1] = before + sum;
    before += __shfl_sync(0xffffffffu, sum, 31);
  }
  if (lane == 0) list.starts[0] = 0;
}

__device__ inline void sort_terms(const TrainingShape& s, const DeviceBatch& b, int thread) {
  const TermList by_variable{b.position, s.variables, b.by_variable, b.variable_start};
  const TermList by_rank{b.at_rank, s.ranks, b.by_rank, b.rank_start};
  go_through<false>(s, b, by_variable, thread);
  go_through<false>(s, b, by_rank, thread);
  producers_sync();
  if (thread / 32 == 0) add_up(by_variable, thread);
  if (thread / 32 == 1) add_up(by_rank, thread - 32);
  producers_sync();
  go_through<true>(s, b, by_variable, thread);
  go_through<true>(s, b, by_rank, thread);
}

/// The batch of one step.
__device__ inline void draw_batch(const TrainingShape& s, const DeviceNetwork& n, DeviceBatch& b, int step, int thread,
                                  Drawing& drawing) {
  const StreamKey key = split(n.subset_key, static_cast<unsigned long long>(n.first_step + step));
  const int* rows = n.rows + static_cast<long long>(step) * s.batch;
  draw_subsets(s, n, b, rows, key, thread, drawing);
  const int warp = thread / 32;
  double* factor = s.most_terms <= kSmallFactor
                       ? drawing.factor[warp]
                       : n.factor + static_cast<long long>(warp) * s.most_terms * (s.most_terms + 1) / 2;
  for (int i = warp; i < s.batch; i += kProducers / 32) fill_row(s, n, b, i, rows[i], key, factor);
  producers_sync();
  sort_terms(s, b, thread);
}

}  // namespace fansite::cuda
