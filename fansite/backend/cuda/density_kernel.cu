// SPDX-License-Identifier: Apache-2.0
#include "fansite/backend/cuda/density_kernel.h"

#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>

#include "fansite/backend/cuda/head.cuh"

namespace fansite::cuda {
namespace {

constexpr int kHead = 3 * kSigmoids;
constexpr float kLn2 = 0.693147181f;

__device__ float exp2_fast(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
__device__ float log2_fast(float x) {
  float result;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
__device__ float reciprocal(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

// log2(1 + x) for x in [0, 1], with a small relative error too; as in density_kernel.cpp.
__device__ float log2p1(float x) {
  float q = fmaf(-0.012310091406106949f, x, 0.06357471644878387f);
  q = fmaf(q, x, -0.15530602633953094f);
  q = fmaf(q, x, 0.2559784948825836f);
  q = fmaf(q, x, -0.35338401794433594f);
  q = fmaf(q, x, 0.48006191849708557f);
  q = fmaf(q, x, -0.7213099598884583f);
  return fmaf(q, x, 1.4426947832107544f) * x;
}

// ELU(y) from y·log2 e.
__device__ float elu_base2(float y) { return fmaf(fmaxf(y, 0.0f), kLn2, exp2_fast(fminf(y, 0.0f)) - 1.0f); }

// ---- Heads ----------------------------------------------------------------------------------------------------------

/// Slopes, shifts and weights of a term's sigmoids, to base 2, from its q.
struct Mixture {
  float a[kSigmoids], b[kSigmoids], e[kSigmoids];

  __device__ explicit Mixture(const float (&q)[kHead]) {
    float most = q[2 * kSigmoids];
#pragma unroll
    for (int i = 1; i < kSigmoids; ++i) most = fmaxf(most, q[2 * kSigmoids + i]);
#pragma unroll
    for (int i = 0; i < kSigmoids; ++i) {
      a[i] = fmaxf(q[i], 1e-6f * 1.44269504f) + log2p1(exp2_fast(-fabsf(q[i])));
      b[i] = q[kSigmoids + i];
      e[i] = exp2_fast(q[2 * kSigmoids + i] - most);
    }
  }

  /// log2 of y/(1−y) at a value, and the derivative's argument of log2.
  __device__ void at(float x, float& z, float& derivative) const {
    float up = 0, down = 0, slope = 0;
#pragma unroll
    for (int i = 0; i < kSigmoids; ++i) {
      const float t = exp2_fast(fminf(fmaf(a[i], x, b[i]), 125.0f));
      const float co_sigma = reciprocal(t + 1.0f);
      const float part_down = e[i] * co_sigma, part_up = part_down * t;
      up += part_up;
      down += part_down;
      slope = fmaf(part_up, a[i] * co_sigma, slope);
    }
    constexpr float kSqueeze = static_cast<float>(0.5e-6 / (1 - 1e-6));  // ½δ/(1−δ)
    const float both = up + down;
    up = fmaf(both, kSqueeze, up);
    down = fmaf(both, kSqueeze, down);
    const float inverse = reciprocal(up * down);
    z = log2_fast(up * up * inverse);
    derivative = fmaxf(slope, 1e-37f) * both * inverse;
  }

  /// ln p of a number, less the constant of each term.
  __device__ float number(float x) const {
    float z, derivative;
    at(x, z, derivative);
    return fmaf(log2_fast(derivative), kLn2, -0.5f * kLn2 * kLn2 * z * z);
  }
  /// ln of the probability of an interval.
  __device__ float interval(float low, float high) const {
    float z_low, z_high, ignored;
    at(low, z_low, ignored);
    at(high, z_high, ignored);
    return log_normal_between(kLn2 * z_low, kLn2 * z_high);
  }
};

// ---- Factors of the base --------------------------------------------------------------------------------------------

// GaussianBase::factor_row and prediction, a thread for each subset.
__global__ void factors(const __grid_constant__ DensityRequest r) {
  constexpr double kSmallest = 1e-6, kSmallestCoarse = 0.02;  // as in base.cpp
  const int subset = r.first + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (subset >= r.first + r.count) return;
  const DeviceSubsets& s = r.subsets;
  const int first = s.start[subset], size = s.start[subset + 1] - first;
  const short* variable = s.variable + first;
  double* rows = s.factor + s.factor_start[subset];
  float* coefficients = s.coefficients + s.factor_start[subset];
  for (int p = 0; p < size; ++p) {
    const int j = variable[p];
    const double* covariance = r.base.covariance + static_cast<long long>(j) * r.network.variables;
    double* row = rows + p * (p + 1) / 2;
    double remaining = covariance[j];
    for (int q = 0; q < p; ++q) {
      const double* earlier = rows + q * (q + 1) / 2;
      double sum = covariance[variable[q]];
      for (int k = 0; k < q; ++k) sum -= row[k] * earlier[k];
      row[q] = sum / earlier[q];
      remaining -= row[q] * row[q];
    }
    const double sigma = sqrt(fmax(remaining, kSmallest * covariance[j])), inverse = 1 / sigma;
    row[p] = sigma;
    for (int q = 0; q < p; ++q) coefficients[p * (p + 1) / 2 + q] = static_cast<float>(-row[q] * inverse);
    const double mean = r.base.mean[j];
    s.scale[first + p] = static_cast<float>(inverse);
    s.shift[first + p] = static_cast<float>(-mean * inverse);
    s.log_scale[first + p] = static_cast<float>(log(sigma));
    double factor = 1, shift = mean, scale = sigma;
    if (r.base.reliability != nullptr && r.base.reliability[j] < 1) {
      factor = 1 / r.base.reliability[j];
      shift = 0;
      double rest = 1;
      for (int q = 0; q < p; ++q) rest -= factor * row[q] * factor * row[q];
      if (rest < kSmallestCoarse) factor *= sqrt((1 - kSmallestCoarse) / (1 - rest));
      scale = sqrt(fmax(rest, kSmallestCoarse));
    }
    s.coarse_factor[first + p] = static_cast<float>(sigma * factor / scale);
    s.coarse_scale[first + p] = static_cast<float>(1 / scale);
    s.coarse_shift[first + p] = static_cast<float>(-shift / scale);
    s.coarse_log_scale[first + p] = static_cast<float>(log(scale));
  }
}

// ---- Densities ------------------------------------------------------------------------------------------------------

/// Floats that the weights of one term take: of those before it, its own bias and hidden nodes, and the base's.
__host__ __device__ constexpr int staged_floats(int blocks, int members) {
  return ((members - 1) * blocks * kHead + kHead + members * blocks + blocks + members + 3) / 4 * 4;
}

/// One subset, or combination of options, and a tile of rows.
template <int kBlocks, int kRows>
class Tile {
 public:
  __device__ Tile(const DensityRequest& request, int item, int tile, float* shared)
      : r(request),
        subset(request.trials.count > 0 ? request.first : request.first + item),
        combination(item),
        first(request.subsets.start[subset]),
        size(request.subsets.start[subset + 1] - first),
        threads(static_cast<int>(blockDim.x)),
        thread(static_cast<int>(threadIdx.x)),
        width(kRows * threads),
        first_row(tile * width),
        values(shared),
        innovations(values + request.longest * width),
        hidden(innovations + request.longest * width),
        staged_(hidden + (request.longest - 1) * kBlocks * width),
        room(staged_floats(kBlocks, request.longest)) {}

  __device__ void run() {
    float sum[kRows] = {};
    if (size > 0) stage(0);
    for (int p = 0; p < size; ++p) {
      __syncthreads();
      if (p + 1 < size) stage(p + 1);
      term(p, sum);
      if (p + 1 < size) hidden_values(p);
    }
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      const int row = first_row + k * threads + thread;
      if (row < r.table.rows) r.out[static_cast<long long>(combination) * r.table.rows + row] = sum[k];
    }
  }

 private:
  __device__ float* staged(int p) const { return staged_ + (p & 1) * room; }
  __device__ int variable(int p) const { return r.subsets.variable[first + p]; }
  __device__ int rank(int p) const { return r.subsets.rank[first + p]; }
  __device__ long long output_row(int j) const {  // of G
    const int n = r.network.ranks;
    const long long pairs = j <= n ? static_cast<long long>(j) * (j - 1) / 2
                                   : static_cast<long long>(n) * (n - 1) / 2 + static_cast<long long>(j - n) * n;
    return pairs * (kBlocks * kHead);
  }
  __device__ long long input_row(int rank) const {  // of W1
    const int n = r.network.ranks;
    return kBlocks * (static_cast<long long>(rank) * (r.network.variables - n) + static_cast<long long>(rank) * (rank - 1) / 2);
  }

  // The weights of term p, by all threads: G of the members before it, g0, W1 and b1 of its rank, the base's.
  __device__ void stage(int p) {
    float* to = staged(p);
    const int j = variable(p);
    const float* g = r.network.g + output_row(j);
    for (int i = thread; i < p * kBlocks * kHead; i += threads) {
      const int q = i / (kBlocks * kHead);
      to[i] = g[rank(q) * (kBlocks * kHead) + i - q * (kBlocks * kHead)];
    }
    to += p * kBlocks * kHead;
    for (int i = thread; i < kHead; i += threads) to[i] = r.network.g0[j * kHead + i];
    to += kHead;
    if (p + 1 < size) {
      const float* w1 = r.network.w1 + input_row(rank(p));
      for (int i = thread; i < (p + 1) * kBlocks; i += threads) {
        to[i] = w1[variable(i / kBlocks) * kBlocks + i % kBlocks];
      }
      for (int i = thread; i < kBlocks; i += threads) {
        to[(p + 1) * kBlocks + i] = r.network.b1[rank(p) * kBlocks + i];
      }
    }
    to += (p + 1) * kBlocks + kBlocks;
    if (r.base.mean != nullptr) {
      const float* from = r.subsets.coefficients + r.subsets.factor_start[subset] + p * (p + 1) / 2;
      for (int i = thread; i < p; i += threads) to[i] = from[i];
    }
  }

  /// A member's cells, [row].
  struct Cells {
    const float *score, *low, *high;
  };
  __device__ Cells cells(int p) const {
    const int trial = r.trials.count > 0 ? r.trials.trial[p] : -1;
    if (trial < 0) {
      const int j = variable(p);
      const long long at = static_cast<long long>(j) * r.table.rows;
      const bool coarse = r.table.low != nullptr && r.table.coarse[j] != 0;
      return {r.table.score + at, coarse ? r.table.low + at : nullptr, coarse ? r.table.high + at : nullptr};
    }
    int rest = combination;
    for (int k = r.trials.count - 1; k > trial; --k) rest /= r.trials.options[k];
    const long long at = static_cast<long long>(rest % r.trials.options[trial]) * r.table.rows;
    const DeviceCells& options = r.trials.cells[p];
    const bool coarse = options.low != nullptr;
    return {options.score + at, coarse ? options.low + at : nullptr, coarse ? options.high + at : nullptr};
  }

  // None is beyond ±1e15; NaN stays.
  __device__ static float clamped(float x) { return fabsf(x) > 1e15f ? copysignf(1e15f, x) : x; }

  __device__ void term(int p, float (&sum)[kRows]) {
    const float* weights = staged(p);
    const float* bias = weights + p * kBlocks * kHead;
    float q[kRows][kHead];
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
#pragma unroll
      for (int c = 0; c < kHead; ++c) q[k][c] = bias[c];
    }
    const float* h = hidden + thread;
    for (int before = 0; before < p; ++before) {
#pragma unroll
      for (int b = 0; b < kBlocks; ++b) {
        float value[kRows];
#pragma unroll
        for (int k = 0; k < kRows; ++k) value[k] = h[k * threads];
        h += width;
        const float4* four = reinterpret_cast<const float4*>(weights + (before * kBlocks + b) * kHead);
#pragma unroll
        for (int c = 0; c < kHead / 4; ++c) {
          const float4 w = four[c];
#pragma unroll
          for (int k = 0; k < kRows; ++k) {
            q[k][4 * c] = fmaf(w.x, value[k], q[k][4 * c]);
            q[k][4 * c + 1] = fmaf(w.y, value[k], q[k][4 * c + 1]);
            q[k][4 * c + 2] = fmaf(w.z, value[k], q[k][4 * c + 2]);
            q[k][4 * c + 3] = fmaf(w.w, value[k], q[k][4 * c + 3]);
          }
        }
      }
    }
    const Cells own = cells(p);
    const float* coefficients = bias + kHead + (p + 2) * kBlocks;
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      const int row = min(first_row + k * threads + thread, r.table.rows - 1);
      const int at = p * width + k * threads + thread;
      const float x = clamped(own.score[row]);
      values[at] = x;
      const Mixture mixture(q[k]);
      if (r.base.mean == nullptr) {
        innovations[at] = x;
        sum[k] += own.low == nullptr ? mixture.number(x) + r.term_constant
                                     : cell_term(mixture, own, row, x, 0, 1, 0, 0);
      } else {
        float before = 0;
        for (int i = 0; i < p; ++i) before = fmaf(coefficients[i], innovations[at - (p - i) * width], before);
        const float u = fmaf(r.subsets.scale[first + p], x, r.subsets.shift[first + p]) + before;
        innovations[at] = u;
        sum[k] += own.low == nullptr
                      ? mixture.number(u) + (r.term_constant - r.subsets.log_scale[first + p])
                      : cell_term(mixture, own, row, x, r.subsets.coarse_factor[first + p] * before,
                                  r.subsets.coarse_scale[first + p], r.subsets.coarse_shift[first + p],
                                  r.subsets.coarse_log_scale[first + p]);
      }
      sum[k] += 0.0f * x;  // what went through minima may have lost a NaN
    }
  }

  // Of a column with intervals: of one, or of a number among them.
  __device__ float cell_term(const Mixture& mixture, const Cells& own, int row, float x, float before, float scale,
                             float shift, float log_scale) const {
    const float low = clamped(own.low[row]), high = clamped(own.high[row]);
    const auto mapped = [&](float value) { return fmaf(scale, value, shift) + before; };
    if (low < high) return mixture.interval(mapped(low), mapped(high));
    return mixture.number(mapped(x)) + (r.term_constant - log_scale);
  }

  __device__ void hidden_values(int p) {
    const float* w1 = staged(p) + p * kBlocks * kHead + kHead;
    const float* bias = w1 + (p + 1) * kBlocks;
    float sum[kRows][kBlocks];
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
#pragma unroll
      for (int b = 0; b < kBlocks; ++b) sum[k][b] = bias[b];
    }
    for (int q = 0; q <= p; ++q) {
#pragma unroll
      for (int k = 0; k < kRows; ++k) {
        const float x = values[q * width + k * threads + thread];
#pragma unroll
        for (int b = 0; b < kBlocks; ++b) sum[k][b] = fmaf(w1[q * kBlocks + b], x, sum[k][b]);
      }
    }
#pragma unroll
    for (int b = 0; b < kBlocks; ++b) {
#pragma unroll
      for (int k = 0; k < kRows; ++k) {
        hidden[(p * kBlocks + b) * width + k * threads + thread] = elu_base2(sum[k][b]);
      }
    }
  }

  const DensityRequest& r;
  const int subset, combination, first, size, threads, thread, width, first_row;
  float *values, *innovations, *hidden;  // [member][row of the tile], the last [member][α][row]
  float* staged_;  // weights of the present term and of the next
  const int room;
};

template <int kBlocks, int kRows>
__global__ __launch_bounds__(128) void densities(const __grid_constant__ DensityRequest request, int tiles) {
  extern __shared__ float4 shared[];
  const int item = static_cast<int>(blockIdx.x) / tiles, tile = static_cast<int>(blockIdx.x) % tiles;
  Tile<kBlocks, kRows>(request, item, tile, reinterpret_cast<float*>(shared)).run();
}

// The shared memory that a block can have; 0: that cannot be told.
int most_shared_memory() {
  static std::atomic<int> known = 0;
  int most = known;
  if (most == 0 && cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0) == cudaSuccess) known = most;
  return most;
}

// Allows the kernel all of it. Once: the limit is the kernel's, whichever thread of the host launches it.
template <int kBlocks, int kRows>
cudaError_t allow_shared_memory() {
  static std::atomic<bool> allowed = false;
  if (allowed) return cudaSuccess;
  const cudaError_t error =
      cudaFuncSetAttribute(densities<kBlocks, kRows>, cudaFuncAttributeMaxDynamicSharedMemorySize, most_shared_memory());
  allowed = error == cudaSuccess;
  return error;
}

std::size_t shared_bytes(int blocks, int width, int longest) {
  const std::size_t rows = static_cast<std::size_t>(width) * static_cast<std::size_t>(2 * longest + (longest - 1) * blocks);
  return (rows + 2 * static_cast<std::size_t>(staged_floats(blocks, longest))) * sizeof(float);
}

template <int kBlocks, int kRows>
bool launch(const DensityRequest& request, int threads, cudaStream_t stream, cudaError_t& error) {
  const int width = threads * kRows;
  const std::size_t bytes = shared_bytes(kBlocks, width, request.longest);
  if (bytes > static_cast<std::size_t>(most_shared_memory())) return false;
  error = allow_shared_memory<kBlocks, kRows>();
  if (error != cudaSuccess) return true;
  const int tiles = (request.table.rows + width - 1) / width;
  const int items = request.trials.count > 0 ? request.trials.combinations : request.count;
  densities<kBlocks, kRows><<<items * tiles, threads, bytes, stream>>>(request, tiles);
  error = cudaGetLastError();
  return true;
}

// The more rows a thread has the fewer times weights are read, if there is room for their hidden values.
template <int kBlocks>
cudaError_t launch_largest(const DensityRequest& request, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  for (const int threads : {128, 64, 32}) {
    if (launch<kBlocks, 2>(request, threads, stream, error)) return error;
  }
  if (launch<kBlocks, 1>(request, 32, stream, error)) return error;
  return cudaErrorInvalidValue;
}

}  // namespace

bool can_compute_densities(int blocks, int longest) {
  return shared_bytes(blocks, 32, longest) <= static_cast<std::size_t>(most_shared_memory());
}

bool has_density_kernel(int blocks) { return blocks == 6 || blocks == 12 || blocks == 24; }

int launch_factors(const DensityRequest& request, void* stream) {
  constexpr int kThreads = 64;
  factors<<<(request.count + kThreads - 1) / kThreads, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(request);
  return cudaGetLastError();
}

int launch_densities(const DensityRequest& request, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  if (request.network.blocks == 6) return launch_largest<6>(request, on);
  if (request.network.blocks == 12) return launch_largest<12>(request, on);
  return launch_largest<24>(request, on);
}

}  // namespace fansite::cuda
