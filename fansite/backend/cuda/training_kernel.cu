// SPDX-License-Identifier: Apache-2.0
#include "fansite/backend/cuda/training_kernel.h"

#include <cuda_runtime.h>

#include "fansite/backend/cuda/drawing.cuh"
#include "fansite/backend/cuda/head.cuh"

namespace fansite::cuda {
namespace {

constexpr int kWarps = kWorkers / 32;
constexpr int kHead = 3 * kSigmoids;
constexpr float kBeta1 = 0.9f, kBeta2 = 0.999f, kEpsilon = 1e-8f;

__device__ void workers_sync() { asm volatile("bar.sync 1, %0;" ::"n"(kWorkers) : "memory"); }

/// Shared by the threads of a block.
struct Block {
  DeviceNetwork network;
  Drawing drawing;
  float4 mixing[kHead * kMostOutputs / 4];  // V
  float bias[kHead];                        // c
  float4 parts[kWorkers];                   // of sums over terms
  double loss_parts[kWarps], square_parts[kWarps];
  double log_scale;
  bool stop;
};

__device__ float dot(const float4& a, const float4& b, float sum) {
  return fmaf(a.x, b.x, fmaf(a.y, b.y, fmaf(a.z, b.z, fmaf(a.w, b.w, sum))));
}
__device__ void add_scaled(float4& sum, float scale, const float4& of) {
  sum = {fmaf(scale, of.x, sum.x), fmaf(scale, of.y, sum.y), fmaf(scale, of.z, sum.z), fmaf(scale, of.w, sum.w)};
}
__device__ float squares(const float4& of) { return dot(of, of, 0.0f); }
__device__ float4 times(const float4& a, const float4& b) { return {a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w}; }
__device__ const float4* fours(const float* of) { return reinterpret_cast<const float4*>(of); }
__device__ float4* fours(float* of) { return reinterpret_cast<float4*>(of); }

/// A step on a batch by the workers. kBlocks: α; kQuads: outputs of a variable / 4.
///
/// Outputs are read, multiplied and written in fours: a term, or a block of W2, belongs to kQuads neighbouring threads of
/// a warp. Where kQuads does not divide 32 the last threads of a warp are idle.
template <int kBlocks, int kQuads>
class Step {
 public:
  static constexpr int kStride = (kBlocks + 3) / 4 * 4;  // of hidden values, so that they are read in fours
  static constexpr int kOutputs = 4 * kQuads, kBlockSize = kBlocks * kOutputs;
  static constexpr int kOfWarp = 32 / kQuads, kGroups = kWarps * kOfWarp;  // terms at a time

  __device__ Step(const TrainingShape& shape, Block& block, const DeviceBatch& batch, int worker)
      : s(shape), block(block), n(block.network), b(batch), worker(worker), slot(worker % 32 / kQuads),
        quad(worker % 32 % kQuads), group(slot < kOfWarp ? worker / 32 * kOfWarp + slot : kNoGroup),
        terms(batch.row_start[shape.batch]) {}

  /// Whether the step was taken: loss and gradient are finite.
  __device__ bool take(int step) {
    load_mixing();
    hidden_forward();
    workers_sync();
    output_sums();
    workers_sync();
    heads();
    workers_sync();
    hidden_gradients();
    output_weight_gradients();
    scales_and_biases();
    mixing_gradient_parts();
    workers_sync();
    mixing_gradient();
    input_weight_gradients();
    workers_sync();
    hidden_scales_and_biases();
    return adam(step);
  }

 private:
  static constexpr int kNoGroup = 1 << 30;  // of an idle thread: after all others

  __device__ int output_row(int variable) const {  // of W2: where its blocks start
    const int below = min(variable, s.ranks);
    return kBlockSize * (below * (below - 1) / 2 + (variable - below) * s.ranks);
  }
  __device__ int input_row(int rank) const {  // of W1
    return s.w1 + kBlocks * (rank * (s.variables - s.ranks) + rank * (rank - 1) / 2);
  }
  __device__ int inputs(int rank) const { return rank + s.variables - s.ranks; }

  __device__ void load_mixing() {
    const float4* from = fours(n.weights + s.v);
    if (worker < kHead * kQuads) block.mixing[worker] = from[worker];
    if (worker < kHead) block.bias[worker] = n.weights[s.c + worker];
    if (worker == kWorkers - 1) {
      double sum = 0;
      for (int i = 0; i < s.batch; ++i) sum += b.log_scale[i];
      block.log_scale = sum;
    }
  }

  // h = ELU(s1 · Σ_{q≤p} W1[(b, r_p), i_q] x_q + b1).
  __device__ void hidden_forward() {
    const float* weights = n.weights;  // in registers: what lies in shared memory is read again after every store
    const float* values = b.value;
    const short *variables = b.variable, *ranks = b.rank;
    const int* firsts = b.first;
    float* hidden = n.hidden;
    for (int i = worker; i < terms * kBlocks; i += kWorkers) {
      const int t = i / kBlocks, node = i % kBlocks, rank = ranks[t];
      if (rank < 0) continue;
      const float* w1 = weights + input_row(rank) + node;
      float sum = 0;
#pragma unroll 4
      for (int q = firsts[t]; q <= t; ++q) sum = fmaf(values[q], w1[variables[q] * kBlocks], sum);
      const float u = fmaf(weights[s.s1 + rank * kBlocks + node], sum, weights[s.b1 + rank * kBlocks + node]);
      hidden[t * kStride + node] = u > 0 ? u : expm1f(u);
    }
  }

  __device__ static void load_hidden(const float* hidden, int term, float (&h)[kStride]) {
    const float4* from = fours(hidden + term * kStride);
#pragma unroll
    for (int k = 0; k < kStride / 4; ++k) {
      const float4 four = from[k];
      h[4 * k] = four.x;
      h[4 * k + 1] = four.y;
      h[4 * k + 2] = four.z;
      h[4 * k + 3] = four.w;
    }
  }

  /// The sum over the groups of a warp, in the threads of the first.
  __device__ void sum_over_slots(float4& sum) const {
#pragma unroll
    for (int width = kOfWarp; width > 1; width = (width + 1) / 2) {
      const int half = (width + 1) / 2, from = worker % 32 + half * kQuads;
      const float4 other = {__shfl_sync(0xffffffffu, sum.x, from & 31), __shfl_sync(0xffffffffu, sum.y, from & 31),
                            __shfl_sync(0xffffffffu, sum.z, from & 31), __shfl_sync(0xffffffffu, sum.w, from & 31)};
      if (slot + half < width) add_scaled(sum, 1.0f, other);
    }
  }

  // o = s2 · Σ W2 h + b2; neighbours in the list have the same variable, hence the same weights.
  __device__ void output_sums() {
    const float *weights = n.weights, *hidden = n.hidden;
    const short *ranks = b.rank, *variables = b.variable;
    const int *firsts = b.first, *output_rows = b.output_row;
    const SortedTerm* sorted = b.by_variable;
    float4 *sums = fours(n.sums), *values = fours(n.outputs);
    const float4 *scales = fours(weights + s.s2), *biases = fours(weights + s.b2);
    for (int i = group; i < terms; i += kGroups) {
      const int t = sorted[i].term, j = variables[t];
      const float4* w2 = fours(weights + output_rows[t]) + quad;
      float4 sum = {0, 0, 0, 0};
#pragma unroll 2
      for (int q = firsts[t]; q < t; ++q) {
        const float4* w = w2 + ranks[q] * (kBlockSize / 4);
        float h[kStride];
        load_hidden(hidden, q, h);
#pragma unroll
        for (int k = 0; k < kBlocks; ++k) add_scaled(sum, h[k], w[k * kQuads]);
      }
      sums[t * kQuads + quad] = sum;
      const float4 scale = scales[j * kQuads + quad], bias = biases[j * kQuads + quad];
      values[t * kQuads + quad] = {fmaf(scale.x, sum.x, bias.x), fmaf(scale.y, sum.y, bias.y),
                                   fmaf(scale.z, sum.z, bias.z), fmaf(scale.w, sum.w, bias.w)};
    }
  }

  // From o to the loss, and the gradients by q, by o and by the sums.
  __device__ void heads() {
    const float weight = 1.0f / static_cast<float>(s.batch);
    const float *innovations = b.innovation, *lows = b.low, *highs = b.high;
    const short* variables = b.variable;
    const float4 *values = fours(n.outputs), *scales = fours(n.weights + s.s2);
    float4 *gradients = fours(n.head), *by_output = fours(n.output_gradient), *by_sum = fours(n.sum_gradient);
    double loss = 0;
    for (int t = worker; t < terms; t += kWorkers) {
      float q[kHead], gradient[kHead];
#pragma unroll
      for (int k = 0; k < kHead; ++k) q[k] = block.bias[k];
#pragma unroll
      for (int l = 0; l < kQuads; ++l) {
        const float4 o = values[t * kQuads + l];
#pragma unroll
        for (int k = 0; k < kHead; ++k) q[k] = dot(block.mixing[k * kQuads + l], o, q[k]);
      }
      loss -= static_cast<double>(head(q, innovations[t], lows[t], highs[t], weight, gradient) * weight);
#pragma unroll
      for (int k = 0; k < kHead; k += 4) {
        gradients[t * (kHead / 4) + k / 4] = {gradient[k], gradient[k + 1], gradient[k + 2], gradient[k + 3]};
      }
      const int j = variables[t];
#pragma unroll 1
      for (int l = 0; l < kQuads; ++l) {
        float4 sum = {0, 0, 0, 0};
#pragma unroll
        for (int k = 0; k < kHead; ++k) add_scaled(sum, gradient[k], block.mixing[k * kQuads + l]);
        const float4 scale = scales[j * kQuads + l];
        by_output[t * kQuads + l] = sum;
        by_sum[t * kQuads + l] = times(sum, scale);
      }
    }
    loss_ = loss;
  }

  // ∂s2, ∂b2, a warp for each variable, whose terms its groups share.
  __device__ void scales_and_biases() {
    const float4 *sums = fours(n.sums) + quad, *gradients = fours(n.output_gradient) + quad;
    const SortedTerm* sorted = b.by_variable;
    const int* starts = b.variable_start;
    for (int j = worker / 32; j < s.variables; j += kWarps) {
      const int end = starts[j + 1];
      float4 by_scale = {0, 0, 0, 0}, by_bias = {0, 0, 0, 0};
      if (slot < kOfWarp) {
#pragma unroll 4
        for (int k = starts[j] + slot; k < end; k += kOfWarp) {
          const int t = sorted[k].term;
          const float4 g = gradients[t * kQuads];
          add_scaled(by_bias, 1.0f, g);
          add_scaled(by_scale, 1.0f, times(g, sums[t * kQuads]));
        }
      }
      __syncwarp();
      sum_over_slots(by_scale);
      sum_over_slots(by_bias);
      if (slot > 0) continue;
      store_gradients(s.s2 + j * kOutputs + 4 * quad, by_scale);
      store_gradients(s.b2 + j * kOutputs + 4 * quad, by_bias);
    }
  }

  // ∂V = Σ_t gradient by q ⊗ o, four of its numbers a thread, and ∂c, each over slices of the terms.
  static constexpr int kMixingParts = kHead * kQuads + kHead, kSlices = kWorkers / kMixingParts;
  __device__ void mixing_gradient_parts() {
    const int slice = worker / kMixingParts, at = worker % kMixingParts;
    if (slice >= kSlices) return;
    const int first = static_cast<int>(static_cast<long long>(terms) * slice / kSlices);
    const int last = static_cast<int>(static_cast<long long>(terms) * (slice + 1) / kSlices);
    const bool is_bias = at >= kHead * kQuads;
    const int k = is_bias ? at - kHead * kQuads : at / kQuads, l = is_bias ? 0 : at % kQuads;
    const float* gradients = n.head + k;
    const float4* values = fours(n.outputs) + l;
    float4 sum = {0, 0, 0, 0};
    float bias = 0;
#pragma unroll 8
    for (int t = first; t < last; ++t) {
      const float gradient = gradients[t * kHead];
      add_scaled(sum, gradient, values[t * kQuads]);
      bias += gradient;
    }
    if (is_bias) sum.x = bias;
    block.parts[worker] = sum;
  }

  __device__ void mixing_gradient() {
    if (worker >= kMixingParts) return;
    float4 sum = {0, 0, 0, 0};
    for (int slice = 0; slice < kSlices; ++slice) add_scaled(sum, 1.0f, block.parts[slice * kMixingParts + worker]);
    if (worker < kHead * kQuads) {
      store_gradients(s.v + 4 * worker, sum);
    } else {
      store_gradient(s.c + worker - kHead * kQuads, sum.x);
    }
  }

  // Σ over the row's later variables of W2ᵀ (gradient by their sums), times ELU'.
  __device__ void hidden_gradients() {
    const int count = b.rank_start[s.ranks];
    const float4 *weights = fours(n.weights) + quad, *gradients = fours(n.sum_gradient) + quad;
    const short* ranks = b.rank;
    const SortedTerm* sorted = b.by_rank;
    const int *ends = b.end, *output_rows = b.output_row;
    const float* hidden = n.hidden;
    float* back = n.back;
    for (int start = worker / 32 * kOfWarp; start < count; start += kGroups) {
      const bool has = slot < kOfWarp && start + slot < count;
      const int t = has ? sorted[start + slot].term : 0;
      float sum[kBlocks];
#pragma unroll
      for (int k = 0; k < kBlocks; ++k) sum[k] = 0;
      if (has) {
        const float4* of_rank = weights + ranks[t] * (kBlockSize / 4);
        const int end = ends[t];
#pragma unroll 2
        for (int later = t + 1; later < end; ++later) {
          const float4 g = gradients[later * kQuads];
          const float4* w = of_rank + output_rows[later] / 4;
#pragma unroll
          for (int k = 0; k < kBlocks; ++k) sum[k] = dot(g, w[k * kQuads], sum[k]);
        }
      }
      int next = quad;  // the nodes that this thread writes are quad, quad + kQuads, …
#pragma unroll
      for (int k = 0; k < kBlocks; ++k) {
        float all = 0;
#pragma unroll
        for (int of = 0; of < kQuads; ++of) all += __shfl_sync(0xffffffffu, sum[k], min(slot * kQuads + of, 31));
        if (!has || k != next) continue;
        next += kQuads;
        const float h = hidden[t * kStride + k];
        back[t * kStride + k] = all * (h > 0 ? 1.0f : h + 1.0f);  // ELU': 1 or e^u
      }
    }
  }

  // ∂W2 of a (variable, rank) block: Σ h ⊗ (gradient by the sums) over the rows that have both, the rank earlier.
  __device__ void output_weight_gradients() {
    const float* hidden = n.hidden;
    const float4 *gradients = fours(n.output_gradient) + quad, *scales = fours(n.weights + s.s2) + quad;
    float4* to = fours(n.gradient) + quad;
    const SortedTerm* sorted = b.by_variable;
    const int *starts = b.variable_start, *row_starts = b.row_start;
    const std::uint8_t* at_rank = b.at_rank;
    for (int i = group; i < s.output_pair_count; i += kGroups) {
      const int pair = s.output_pairs[i], j = pair >> 16, rank = pair & 0xffff, end = starts[j + 1];
      float4 sum[kBlocks];
#pragma unroll
      for (int k = 0; k < kBlocks; ++k) sum[k] = {0, 0, 0, 0};
#pragma unroll 2
      for (int k = starts[j]; k < end; ++k) {
        const SortedTerm term = sorted[k];
        const int place = at_rank[term.row * s.ranks + rank], feed = row_starts[term.row] + place;
        if (place == kNone || feed >= term.term) continue;
        const float4 g = gradients[term.term * kQuads];
        float h[kStride];
        load_hidden(hidden, feed, h);
#pragma unroll
        for (int m = 0; m < kBlocks; ++m) add_scaled(sum[m], h[m], g);
      }
      const float4 scale = scales[j * kQuads];
      float4* block_gradient = to + (output_row(j) + rank * kBlockSize) / 4;
      float square = 0;
#pragma unroll
      for (int k = 0; k < kBlocks; ++k) {
        const float4 gradient = times(sum[k], scale);
        square += squares(gradient);
        block_gradient[k * kQuads] = gradient;
      }
      square_ += static_cast<double>(square);
    }
  }

  // ∂W1, so far as if s1 were 1: Σ x ⊗ (gradient by u) over the rows that have the rank and, not after it, the variable.
  // Four nodes a thread.
  __device__ void input_weight_gradients() {
    constexpr int kFours = kStride / 4;
    const SortedTerm* sorted = b.by_rank;
    const int *starts = b.rank_start, *row_starts = b.row_start;
    const std::uint8_t* positions = b.position;
    const float* values = b.value;
    const float4* back = fours(n.back);
    float* gradients = n.gradient;
    for (int i = worker; i < s.input_pair_count * kFours; i += kWorkers) {
      const int pair = s.input_pairs[i / kFours], four = i % kFours, rank = pair >> 16, variable = pair & 0xffff;
      const int end = starts[rank + 1];
      float4 sum = {0, 0, 0, 0};
#pragma unroll 4
      for (int k = starts[rank]; k < end; ++k) {
        const SortedTerm term = sorted[k];
        const int place = positions[term.row * s.variables + variable], q = row_starts[term.row] + place;
        if (place != kNone && q <= term.term) add_scaled(sum, values[q], back[term.term * kFours + four]);
      }
      float* to = gradients + input_row(rank) + variable * kBlocks + 4 * four;
      to[0] = sum.x;
      to[1] = sum.y;
      if (4 * four + 2 < kBlocks) {  // α is even
        to[2] = sum.z;
        to[3] = sum.w;
      }
    }
  }

  // ∂s1 = Σ_i W1 ∂W1 of those, which then take their factor s1; ∂b1. Four threads a node.
  __device__ void hidden_scales_and_biases() {
    constexpr int kParts = 4;
    const int part = worker % kParts, count = s.ranks * kBlocks;
    const float *weights = n.weights, *back = n.back;
    float* gradients = n.gradient;
    const SortedTerm* sorted = b.by_rank;
    const int* starts = b.rank_start;
    for (int start = worker / 32 * (32 / kParts); start < count; start += kWorkers / kParts) {
      const int i = start + worker % 32 / kParts;
      float by_scale = 0, by_bias = 0;
      if (i < count) {
        const int rank = i / kBlocks, node = i % kBlocks, row = input_row(rank) + node, inputs_of = inputs(rank);
        const float scale = weights[s.s1 + i];
        float square = 0;
#pragma unroll 2
        for (int variable = part; variable < inputs_of; variable += kParts) {
          const int at = row + variable * kBlocks;
          const float raw = gradients[at], gradient = raw * scale;
          by_scale = fmaf(raw, weights[at], by_scale);
          square = fmaf(gradient, gradient, square);
          gradients[at] = gradient;
        }
        square_ += static_cast<double>(square);
        const int end = starts[rank + 1];
#pragma unroll 4
        for (int k = starts[rank] + part; k < end; k += kParts) by_bias += back[sorted[k].term * kStride + node];
      }
#pragma unroll
      for (int distance = kParts / 2; distance > 0; distance /= 2) {
        by_scale += __shfl_xor_sync(0xffffffffu, by_scale, distance);
        by_bias += __shfl_xor_sync(0xffffffffu, by_bias, distance);
      }
      if (i < count && part == 0) {
        store_gradient(s.s1 + i, by_scale);
        store_gradient(s.b1 + i, by_bias);
      }
    }
  }

  __device__ bool adam(int step) {
    double loss = warp_sum(loss_), square = warp_sum(square_);
    if (worker % 32 == 0) {
      block.loss_parts[worker / 32] = loss;
      block.square_parts[worker / 32] = square;
    }
    workers_sync();
    loss = block.log_scale / s.batch;
    square = 0;
    for (int i = 0; i < kWarps; ++i) {
      loss += block.loss_parts[i];
      square += block.square_parts[i];
    }
    const double norm = sqrt(square);
    if (!isfinite(loss) || !isfinite(norm)) return false;
    const float clip = static_cast<float>(fmin(1.0, static_cast<double>(s.clip) / (norm + 1e-6)));
    const float rate = n.rate[step], square_scale = n.square_scale[step];
    const auto move = [&](float& weight, float& mean, float& second, float gradient) {
      const float g = gradient * clip;
      mean = fmaf(kBeta1, mean, (1 - kBeta1) * g);
      second = fmaf(kBeta2, second, (1 - kBeta2) * g * g);
      weight -= rate * mean / (sqrtf(second * square_scale) + kEpsilon);
    };
    float4 *__restrict__ weights = fours(n.weights), *__restrict__ means = fours(n.mean);
    float4* __restrict__ second_moments = fours(n.square);
    const float4* __restrict__ gradients = fours(static_cast<const float*>(n.gradient));
    const int count = s.size / 4;
    // Moments and gradients are of no use before the next step: they leave the cache to what is.
#pragma unroll 2
    for (int i = worker; i < count; i += kWorkers) {
      float4 w = weights[i], m = __ldcs(means + i), v = __ldcs(second_moments + i);
      const float4 g = __ldcs(gradients + i);
      move(w.x, m.x, v.x, g.x);
      move(w.y, m.y, v.y, g.y);
      move(w.z, m.z, v.z, g.z);
      move(w.w, m.w, v.w, g.w);
      weights[i] = w;
      __stcs(means + i, m);
      __stcs(second_moments + i, v);
    }
    if (worker == 0) n.losses[step] = loss;
    return true;
  }

  __device__ void store_gradient(int at, float gradient) {
    n.gradient[at] = gradient;
    square_ += static_cast<double>(gradient) * static_cast<double>(gradient);
  }
  __device__ void store_gradients(int at, const float4& gradient) {
    *fours(n.gradient + at) = gradient;
    square_ += static_cast<double>(squares(gradient));
  }
  __device__ static double warp_sum(double value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
  }

  const TrainingShape& s;
  Block& block;
  const DeviceNetwork& n;
  const DeviceBatch& b;
  const int worker, slot, quad, group, terms;
  double loss_ = 0, square_ = 0;
};

template <int kBlocks, int kQuads>
__global__ __launch_bounds__(kThreads, 1) void train(const __grid_constant__ TrainingShape shape,
                                                     const DeviceNetwork* networks) {
  __shared__ Block block;
  if (threadIdx.x == 0) {
    block.network = networks[blockIdx.x];
    block.stop = false;
  }
  __syncthreads();
  const int steps = block.network.steps;
  const bool draws = threadIdx.x >= kWorkers;
  const int thread = static_cast<int>(threadIdx.x) - kWorkers;
  if (draws && steps > 0) draw_batch(shape, block.network, block.network.batch[0], 0, thread, block.drawing);
  __syncthreads();
  int taken = 0;
  for (; taken < steps; ++taken) {
    if (draws) {
      if (taken + 1 < steps) {
        draw_batch(shape, block.network, block.network.batch[(taken + 1) & 1], taken + 1, thread, block.drawing);
      }
    } else {
      Step<kBlocks, kQuads> step(shape, block, block.network.batch[taken & 1], static_cast<int>(threadIdx.x));
      if (!step.take(taken) && threadIdx.x == 0) block.stop = true;
    }
    __syncthreads();
    if (block.stop) break;
  }
  if (threadIdx.x == 0) *block.network.taken = taken;
}

template <int kBlocks>
void launch(const TrainingShape& shape, const DeviceNetwork* networks, int count, cudaStream_t stream) {
  if (shape.outputs == 16) train<kBlocks, 4><<<count, kThreads, 0, stream>>>(shape, networks);
  if (shape.outputs == 20) train<kBlocks, 5><<<count, kThreads, 0, stream>>>(shape, networks);
  if (shape.outputs == 32) train<kBlocks, 8><<<count, kThreads, 0, stream>>>(shape, networks);
}

}  // namespace

bool has_training_kernel(int blocks) { return blocks == 6 || blocks == 12 || blocks == 24; }

int padded_outputs(int outputs) { return outputs <= 16 ? 16 : outputs <= 20 ? 20 : 32; }

int launch_training(const TrainingShape& shape, const DeviceNetwork* networks, int count, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  if (shape.blocks == 6) launch<6>(shape, networks, count, on);
  if (shape.blocks == 12) launch<12>(shape, networks, count, on);
  if (shape.blocks == 24) launch<24>(shape, networks, count, on);
  return cudaGetLastError();
}

}  // namespace fansite::cuda
