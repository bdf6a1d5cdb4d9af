// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/flow/detail/learner_kernel.h"

#include "fansite/entropy/flow/detail/denormals.h"

#include <hwy/cache_control.h>
#include <algorithm>
#include <cmath>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fansite/entropy/flow/detail/learner_kernel.cpp"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>

#include "fansite/entropy/flow/detail/head-inl.h"
#include "fansite/entropy/flow/detail/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fansite::flow::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using kernel::AdamStep;
using kernel::OutputPiece;
using kernel::Step;

// A chunk of outputs is 16 floats: one vector, or several where vectors are shorter.
using DF = hn::CappedTag<float, 16>;
using VF = hn::Vec<DF>;
constexpr int kChunk = Layout::kChunk, kGroup = Layout::kGroup, kGroupStride = Layout::kGroupStride;
constexpr DF df;
HWY_INLINE Index lanes() { return static_cast<Index>(hn::Lanes(df)); }

// ---- Hidden nodes ---------------------------------------------------------------------------------------------------

// h = ELU(s1 · Σ_{q≤p} W1[(b, r_p), i_q] x_q + b1); 8 nodes of a group side by side.
void hidden_forward_impl(const Step& step, int first_row, int last_row) {
  const Layout& layout = *step.layout;
  const Batch& batch = *step.batch;
  const hn::CappedTag<float, kGroupStride> d;
  const Index width = layout.hidden_stride;
  for (int row = first_row; row < last_row; ++row) {
    const int first = batch.row_start[static_cast<std::size_t>(row)];
    const int last = batch.row_start[static_cast<std::size_t>(row) + 1] - 1;  // has no rank
    const int* HWY_RESTRICT variable = batch.variable.data();
    const float* HWY_RESTRICT value = batch.value.data();
    for (int t = first; t < last; ++t) {
      const Index rank = batch.rank[static_cast<std::size_t>(t)];
      const float* HWY_RESTRICT w1 = step.weights + layout.w1_rows[static_cast<std::size_t>(rank)];
      const float* HWY_RESTRICT s1 = step.weights + layout.s1 + rank * width;
      const float* HWY_RESTRICT b1 = step.weights + layout.b1 + rank * width;
      float* HWY_RESTRICT h = step.hidden + t * width;
      for (Index b = 0; b < width; b += static_cast<Index>(hn::Lanes(d))) {
        auto even = hn::Zero(d), odd = hn::Zero(d);  // two sums in flight
        int q = first;
        for (; q < t; q += 2) {
          even = hn::MulAdd(hn::Set(d, value[q]), hn::LoadU(d, w1 + variable[q] * width + b), even);
          odd = hn::MulAdd(hn::Set(d, value[q + 1]), hn::LoadU(d, w1 + variable[q + 1] * width + b), odd);
        }
        if (q == t) even = hn::MulAdd(hn::Set(d, value[q]), hn::LoadU(d, w1 + variable[q] * width + b), even);
        hn::StoreU(hn::MulAdd(hn::LoadU(d, s1 + b), hn::Add(even, odd), hn::LoadU(d, b1 + b)), d, h + b);
      }
    }
    // The row's hidden values lie together; the last store runs over into room, or into the next row's, not yet made.
    float* HWY_RESTRICT h = step.hidden + first * width;
    const Index count = (last - first) * width;
    for (Index i = 0; i < count; i += lanes()) {
      const Index rest = count - i;
      const VF value_of = elu(df, hn::LoadU(df, h + i));
      if (rest >= lanes()) {
        hn::StoreU(value_of, df, h + i);
      } else {
        for (Index k = 0; k < rest; k += kGroupStride) {
          const hn::CappedTag<float, kGroupStride> d8;
          for (Index l = 0; l < kGroupStride; l += static_cast<Index>(hn::Lanes(d8))) {
            hn::StoreU(elu(d8, hn::LoadU(d8, h + i + k + l)), d8, h + i + k + l);
          }
        }
      }
    }
  }
}

// ---- Outputs --------------------------------------------------------------------------------------------------------

// The values of a group's six nodes, each in all lanes, and in the four lanes of its place in a quad. A permutation in
// registers is cheaper than a load, of which a core does little more than one per cycle.
#if HWY_CAP_GE512
class Nodes {
 public:
  HWY_INLINE explicit Nodes(const float* HWY_RESTRICT h)
      : values_(hn::ZeroExtendVector(df, hn::Load(hn::CappedTag<float, kGroupStride>(), h))) {}
  HWY_INLINE VF node(const hn::Indices512<float>& which) const { return hn::TableLookupLanes(values_, which); }

 private:
  VF values_;
};
using Places = hn::Indices512<float>;
HWY_INLINE Places node_at(int node) { return hn::IndicesFromVec(df, hn::Set(hn::RebindToSigned<DF>(), node)); }
HWY_INLINE Places quad_places(bool second) {
  HWY_ALIGN static constexpr std::int32_t kFirst[16] = {0, 0, 0, 0, 2, 2, 2, 2, 1, 1, 1, 1, 3, 3, 3, 3};
  HWY_ALIGN static constexpr std::int32_t kSecond[16] = {4, 4, 4, 4, 6, 6, 6, 6, 5, 5, 5, 5, 7, 7, 7, 7};
  return hn::SetTableIndices(df, second ? kSecond : kFirst);
}
#else
class Nodes {
 public:
  HWY_INLINE explicit Nodes(const float* HWY_RESTRICT h) : values_(h) {}
  HWY_INLINE VF node(int which) const { return hn::Set(df, values_[which]); }

 private:
  const float* HWY_RESTRICT values_;
};
using Places = int;
HWY_INLINE Places node_at(int node) { return node; }
#endif

// Which lanes to take, made once for many terms.
struct NodePlaces {
  Places n0, n1, n2, n3, n4, n5;
#if HWY_CAP_GE512
  Places quad0, quad1;
#endif
};
HWY_INLINE NodePlaces node_places() {
  return {
    node_at(0), node_at(1), node_at(2), node_at(3), node_at(4), node_at(5),
#if HWY_CAP_GE512
        quad_places(false), quad_places(true)
#endif
  };
}

// The hidden nodes that feed a term: those of the earlier variables of its row.
struct Feed {
  const float* hidden;  // [term][hidden_stride]
  const int* rank;      // per term
  int first, last;      // terms
};

// Where the outputs of a term go: their sums, and o = scale · sum + bias.
struct Outputs {
  const float *scale, *bias;
  float *sum, *value;
  HWY_INLINE Outputs from(Index l) const { return {scale + l, bias + l, sum + l, value + l}; }
  HWY_INLINE void store(VF total, Index l) const {
    hn::Store(total, df, sum + l);
    hn::Store(hn::MulAdd(hn::Load(df, scale + l), total, hn::Load(df, bias + l)), df, value + l);
  }
};

// Σ W2 h of one term, over the 16 outputs of a chunk, and over the quad behind it.
template <bool kQuad, bool kPlain>
HWY_INLINE void sum_chunk(const Layout& layout, const float* HWY_RESTRICT weights, const Feed& feed,
                          const NodePlaces& places, const Outputs& out) {
  const int groups = kPlain ? 1 : layout.groups;
  const Index width = kPlain ? kGroupStride : layout.hidden_stride;
  const Index block = layout.w2_block, group_block = layout.group_block;
#if HWY_CAP_GE512
  VF quad = hn::Zero(df), quad1 = quad;
#endif
  for (Index l = 0; l < kChunk; l += lanes()) {
    VF sum0 = hn::Zero(df), sum1 = sum0, sum2 = sum0, sum3 = sum0, sum4 = sum0, sum5 = sum0;
    for (int t = feed.first; t < feed.last; ++t) {
      const float* HWY_RESTRICT w = weights + feed.rank[t] * block + l;
      const float* HWY_RESTRICT h = feed.hidden + t * width;
      for (int g = 0; g < groups; ++g, w += group_block, h += kGroupStride) {
        const Nodes nodes(h);
        sum0 = hn::MulAdd(nodes.node(places.n0), hn::Load(df, w), sum0);
        sum1 = hn::MulAdd(nodes.node(places.n1), hn::Load(df, w + 16), sum1);
        sum2 = hn::MulAdd(nodes.node(places.n2), hn::Load(df, w + 32), sum2);
        sum3 = hn::MulAdd(nodes.node(places.n3), hn::Load(df, w + 48), sum3);
        sum4 = hn::MulAdd(nodes.node(places.n4), hn::Load(df, w + 64), sum4);
        sum5 = hn::MulAdd(nodes.node(places.n5), hn::Load(df, w + 80), sum5);
#if HWY_CAP_GE512
        if (kQuad) {
          quad = hn::MulAdd(nodes.node(places.quad0), hn::Load(df, w + 96), quad);
          quad1 = hn::MulAdd(nodes.node(places.quad1), hn::Load(df, w + 112), quad1);
        }
#endif
      }
    }
    out.store(hn::Add(hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3)), hn::Add(sum4, sum5)), l);
  }
  if (!kQuad) return;
#if HWY_CAP_GE512
  // The four places of a quad hold four parts of the sum.
  quad = hn::Add(quad, quad1);
  quad = hn::Add(quad, hn::SwapAdjacentBlocks(quad));
  quad = hn::Add(quad, hn::ConcatLowerUpper(df, quad, quad));
  out.store(hn::IfThenElseZero(hn::FirstN(df, 4), quad), kChunk);
#else
  for (int l = 0; l < kChunk; ++l) {
    float sum = 0;
    for (int t = feed.first; l < 4 && t < feed.last; ++t) {
      const float* HWY_RESTRICT w = weights + feed.rank[t] * block + kGroup * kChunk;
      const float* HWY_RESTRICT h = feed.hidden + t * width;
      for (int g = 0; g < groups; ++g, w += group_block, h += kGroupStride) {
        for (int b = 0; b < kGroup; ++b) sum += h[b] * w[Layout::kQuadPlaces[b] * 4 + l];
      }
    }
    out.sum[kChunk + l] = sum;
  }
  for (Index l = kChunk; l < 2 * kChunk; l += lanes()) out.store(hn::Load(df, out.sum + l), l);
#endif
}

// Adds h ⊗ (gradient by the sums) of one term to the gradients of the blocks that feed it.
template <bool kQuad, bool kPlain>
HWY_INLINE void add_chunk_gradient(const Layout& layout, const float* HWY_RESTRICT back, const Feed& feed,
                                   const NodePlaces& places, float* HWY_RESTRICT gradient) {
  const int groups = kPlain ? 1 : layout.groups;
  const Index width = kPlain ? kGroupStride : layout.hidden_stride;
  const Index block = layout.w2_block, group_block = layout.group_block;
#if HWY_CAP_GE512
  const VF quad = hn::LoadDup128(df, back + (kQuad ? kChunk : 0));
#endif
  const auto add = [](VF node, VF by, float* to)
                       HWY_ATTR { hn::Store(hn::MulAdd(node, by, hn::Load(df, to)), df, to); };
  for (Index l = 0; l < kChunk; l += lanes()) {
    const VF main = hn::Load(df, back + l);
    for (int t = feed.first; t < feed.last; ++t) {
      float* HWY_RESTRICT to = gradient + feed.rank[t] * block + l;
      const float* HWY_RESTRICT h = feed.hidden + t * width;
      for (int g = 0; g < groups; ++g, to += group_block, h += kGroupStride) {
        const Nodes nodes(h);
        add(nodes.node(places.n0), main, to);
        add(nodes.node(places.n1), main, to + 16);
        add(nodes.node(places.n2), main, to + 32);
        add(nodes.node(places.n3), main, to + 48);
        add(nodes.node(places.n4), main, to + 64);
        add(nodes.node(places.n5), main, to + 80);
#if HWY_CAP_GE512
        if (kQuad) {
          add(nodes.node(places.quad0), quad, to + 96);
          add(nodes.node(places.quad1), quad, to + 112);
        }
#endif
      }
    }
  }
#if !HWY_CAP_GE512
  for (int t = feed.first; kQuad && t < feed.last; ++t) {
    float* HWY_RESTRICT to = gradient + feed.rank[t] * block + kGroup * kChunk;
    const float* HWY_RESTRICT h = feed.hidden + t * width;
    for (int g = 0; g < groups; ++g, to += group_block, h += kGroupStride) {
      for (int b = 0; b < kGroup; ++b) {
        for (int l = 0; l < 4; ++l) to[Layout::kQuadPlaces[b] * 4 + l] += h[b] * back[kChunk + l];
      }
    }
  }
#endif
}

template <bool kQuad, bool kPlain>
HWY_INLINE void sum_term(const Layout& layout, const float* weights, const Feed& feed, const NodePlaces& places,
                         const Outputs& out) {
  for (int c = 0; !kPlain && c + 1 < layout.chunks; ++c) {
    sum_chunk<false, kPlain>(layout, weights + c * kGroup * kChunk, feed, places, out.from(c * kChunk));
  }
  const int last = kPlain ? 0 : layout.chunks - 1;
  sum_chunk<kQuad, kPlain>(layout, weights + last * kGroup * kChunk, feed, places, out.from(last * kChunk));
}

template <bool kQuad, bool kPlain>
HWY_INLINE void add_term_gradient(const Layout& layout, const float* back, const Feed& feed, const NodePlaces& places,
                                  float* gradient) {
  for (int c = 0; !kPlain && c + 1 < layout.chunks; ++c) {
    add_chunk_gradient<false, kPlain>(layout, back + c * kChunk, feed, places, gradient + c * kGroup * kChunk);
  }
  const int last = kPlain ? 0 : layout.chunks - 1;
  add_chunk_gradient<kQuad, kPlain>(layout, back + last * kChunk, feed, places, gradient + last * kGroup * kChunk);
}

// Σ squares of whole vectors.
HWY_INLINE double sum_of_squares(const float* values, Index count) {
  VF sum0 = hn::Zero(df), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  const Index n = lanes();
  Index i = 0;
  for (; i + 4 * n <= count; i += 4 * n) {
    const VF a = hn::Load(df, values + i), b = hn::Load(df, values + i + n);
    const VF c = hn::Load(df, values + i + 2 * n), e = hn::Load(df, values + i + 3 * n);
    sum0 = hn::MulAdd(a, a, sum0);
    sum1 = hn::MulAdd(b, b, sum1);
    sum2 = hn::MulAdd(c, c, sum2);
    sum3 = hn::MulAdd(e, e, sum3);
  }
  for (; i < count; i += n) {
    const VF a = hn::Load(df, values + i);
    sum0 = hn::MulAdd(a, a, sum0);
  }
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(df, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3)))));
}

constexpr Index kTermsAtOnce = 8;

#if HWY_CAP_GE512
// to[term][n] = Σ_m from[term][m] · matrix[m][n] for 8 terms and two vectors of n, so that each broadcast serves twice.
HWY_INLINE void multiply8_wide(const float* HWY_RESTRICT from, Index from_stride, Index inner,
                               const float* HWY_RESTRICT matrix, float* HWY_RESTRICT to) {
  constexpr Index kStride = 2 * kChunk;
  VF a0 = hn::Zero(df), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0;
  VF b0 = a0, b1 = a0, b2 = a0, b3 = a0, b4 = a0, b5 = a0, b6 = a0, b7 = a0;
  for (Index m = 0; m < inner; ++m) {
    const VF left = hn::Load(df, matrix + m * kStride), right = hn::Load(df, matrix + m * kStride + kChunk);
    const float* HWY_RESTRICT x = from + m;
    const auto add = [&](Index term, VF& a, VF& b) HWY_ATTR {
      const VF value = hn::Set(df, x[term * from_stride]);
      a = hn::MulAdd(value, left, a);
      b = hn::MulAdd(value, right, b);
    };
    add(0, a0, b0);
    add(1, a1, b1);
    add(2, a2, b2);
    add(3, a3, b3);
    add(4, a4, b4);
    add(5, a5, b5);
    add(6, a6, b6);
    add(7, a7, b7);
  }
  const auto store = [&](Index term, VF a, VF b) HWY_ATTR {
    hn::Store(a, df, to + term * kStride);
    hn::Store(b, df, to + term * kStride + kChunk);
  };
  store(0, a0, b0);
  store(1, a1, b1);
  store(2, a2, b2);
  store(3, a3, b3);
  store(4, a4, b4);
  store(5, a5, b5);
  store(6, a6, b6);
  store(7, a7, b7);
}
#endif

// to[term][n] = start[n] + Σ_m from[term][m] · matrix[m][n] for 8 terms; n runs over whole vectors.
HWY_INLINE void multiply8(const float* HWY_RESTRICT from, Index from_stride, Index inner,
                          const float* HWY_RESTRICT matrix, const float* HWY_RESTRICT start, float* HWY_RESTRICT to,
                          Index to_stride) {
  for (Index n = 0; n < to_stride; n += lanes()) {
    const VF begin = start != nullptr ? hn::Load(df, start + n) : hn::Zero(df);
    VF s0 = begin, s1 = begin, s2 = begin, s3 = begin, s4 = begin, s5 = begin, s6 = begin, s7 = begin;
    for (Index m = 0; m < inner; ++m) {
      const VF row = hn::Load(df, matrix + m * to_stride + n);
      const float* HWY_RESTRICT x = from + m;
      s0 = hn::MulAdd(hn::Set(df, x[0]), row, s0);
      s1 = hn::MulAdd(hn::Set(df, x[from_stride]), row, s1);
      s2 = hn::MulAdd(hn::Set(df, x[2 * from_stride]), row, s2);
      s3 = hn::MulAdd(hn::Set(df, x[3 * from_stride]), row, s3);
      s4 = hn::MulAdd(hn::Set(df, x[4 * from_stride]), row, s4);
      s5 = hn::MulAdd(hn::Set(df, x[5 * from_stride]), row, s5);
      s6 = hn::MulAdd(hn::Set(df, x[6 * from_stride]), row, s6);
      s7 = hn::MulAdd(hn::Set(df, x[7 * from_stride]), row, s7);
    }
    hn::Store(s0, df, to + n);
    hn::Store(s1, df, to + to_stride + n);
    hn::Store(s2, df, to + 2 * to_stride + n);
    hn::Store(s3, df, to + 3 * to_stride + n);
    hn::Store(s4, df, to + 4 * to_stride + n);
    hn::Store(s5, df, to + 5 * to_stride + n);
    hn::Store(s6, df, to + 6 * to_stride + n);
    hn::Store(s7, df, to + 7 * to_stride + n);
  }
}

// to[m][n] = Σ_terms left[term][m] · right[term][n] for m = 0..3 and one vector of n, and the same for 4 more.
HWY_INLINE void outer_sums(const float* HWY_RESTRICT left, Index left_stride, const float* HWY_RESTRICT right,
                           Index right_stride, Index terms, bool eight, float* HWY_RESTRICT to) {
  VF s0 = hn::Zero(df), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  for (Index t = 0; t < terms; ++t) {
    const VF r = hn::Load(df, right + t * right_stride);
    const float* HWY_RESTRICT x = left + t * left_stride;
    s0 = hn::MulAdd(hn::Set(df, x[0]), r, s0);
    s1 = hn::MulAdd(hn::Set(df, x[1]), r, s1);
    s2 = hn::MulAdd(hn::Set(df, x[2]), r, s2);
    s3 = hn::MulAdd(hn::Set(df, x[3]), r, s3);
    if (eight) {
      s4 = hn::MulAdd(hn::Set(df, x[4]), r, s4);
      s5 = hn::MulAdd(hn::Set(df, x[5]), r, s5);
      s6 = hn::MulAdd(hn::Set(df, x[6]), r, s6);
      s7 = hn::MulAdd(hn::Set(df, x[7]), r, s7);
    }
  }
  hn::StoreU(s0, df, to);
  hn::StoreU(s1, df, to + right_stride);
  hn::StoreU(s2, df, to + 2 * right_stride);
  hn::StoreU(s3, df, to + 3 * right_stride);
  if (eight) {
    hn::StoreU(s4, df, to + 4 * right_stride);
    hn::StoreU(s5, df, to + 5 * right_stride);
    hn::StoreU(s6, df, to + 6 * right_stride);
    hn::StoreU(s7, df, to + 7 * right_stride);
  }
}

/// The terms of some variables in their order, with the arrays of the piece that hold them: whole groups of 16 terms,
/// of which the last ones may be empty.
struct PieceTerms {
  PieceTerms(const Step& step, int first_variable, int last_variable, OutputPiece& piece)
      : first_variable(first_variable),
        last_variable(last_variable),
        begin(step.batch->var_start[static_cast<std::size_t>(first_variable)]),
        count(step.batch->var_start[static_cast<std::size_t>(last_variable)] - begin),
        padded((count + kChunk - 1) / kChunk * kChunk),
        terms(step.batch->by_variable.data() + begin),
        o(piece.values.get(padded * step.layout->output_stride)),
        head(piece.head.get(padded * kernel::mixing_stride(*step.layout))) {}

  Index end_index(const Step& step, int variable) const {
    return step.batch->var_start[static_cast<std::size_t>(variable) + 1] - begin;
  }

  int first_variable, last_variable, begin;
  Index count, padded;
  const int* terms;
  float *o, *head;  ///< outputs and q of each term; then their gradients
};

Feed term_feed(const Step& step, int t) {
  const Batch& batch = *step.batch;
  return Feed{step.hidden, batch.rank.data(),
              batch.row_start[static_cast<std::size_t>(batch.row[static_cast<std::size_t>(t)])], t};
}

/// o = s2 · Σ W2 h + b2; the sums are kept for the gradient of s2.
template <bool kQuad, bool kPlain>
void output_values(const Step& step, const PieceTerms& piece) {
  const Layout& layout = *step.layout;
  const Index stride = layout.output_stride;
  const NodePlaces places = node_places();
  std::fill_n(piece.o + piece.count * stride, (piece.padded - piece.count) * stride, 0.0f);
  Index i = 0;
  for (int j = piece.first_variable; j < piece.last_variable; ++j) {
    const float* HWY_RESTRICT w2 = step.weights + layout.w2_blocks[static_cast<std::size_t>(j)];
    const float* HWY_RESTRICT s2 = step.weights + layout.s2 + j * stride;
    const float* HWY_RESTRICT b2 = step.weights + layout.b2 + j * stride;
    for (const Index stop = piece.end_index(step, j); i < stop; ++i) {
      sum_term<kQuad, kPlain>(layout, w2, term_feed(step, piece.terms[i]), places,
                              Outputs{s2, b2, step.outputs + piece.terms[i] * stride, piece.o + i * stride});
    }
  }
}

/// 16 terms of which some are numbers and some intervals: each sort by its own kernel, the other's results unused.
void head_mixed(const Step& step, const int* terms, Index real, const float* value, float* q, float* density,
                float weight) {
  const Index mixing = kernel::mixing_stride(*step.layout);
  const int sigmoids = step.layout->shape.sigmoids;
  HWY_ALIGN float low[kChunk] = {}, high[kChunk] = {}, cell_density[kChunk];
  Index intervals = 0;
  for (Index k = 0; k < real; ++k) {
    low[k] = step.batch->low[static_cast<std::size_t>(terms[k])];
    high[k] = step.batch->high[static_cast<std::size_t>(terms[k])];
    intervals += low[k] < high[k] ? 1 : 0;
  }
  if (intervals == 0) return head_terms(sigmoids, mixing, value, q, density, weight);
  if (intervals == real) return head_cells(sigmoids, mixing, low, high, q, density, weight);
  HWY_ALIGN float cells[kChunk * 48];  // 3k padded to whole vectors is no more
  std::copy_n(q, kChunk * mixing, cells);
  head_terms(sigmoids, mixing, value, q, density, weight);
  head_cells(sigmoids, mixing, low, high, cells, cell_density, weight);
  for (Index k = 0; k < real; ++k) {
    if (!(low[k] < high[k])) continue;
    density[k] = cell_density[k];
    if (weight != 0) std::copy_n(cells + k * mixing, mixing, q + k * mixing);
  }
}

/// q = V o + c, then the sigmoids; q becomes its gradient if that is asked for. Gives the sum of −log densities.
double sigmoid_losses(const Step& step, const PieceTerms& piece) {
  const Layout& layout = *step.layout;
  const Index stride = layout.output_stride, mixing = kernel::mixing_stride(layout);
  for (Index t = 0; t < piece.padded; t += kTermsAtOnce) {
    multiply8(piece.o + t * stride, stride, layout.shape.outputs, step.mixing, step.weights + layout.c,
              piece.head + t * mixing, mixing);
  }
  double loss = 0;
  for (Index t = 0; t < piece.padded; t += kChunk) {
    HWY_ALIGN float value[kChunk] = {}, density[kChunk];
    const Index real = std::min<Index>(kChunk, piece.count - t);
    for (Index k = 0; k < real; ++k) {
      value[k] = step.batch->innovation[static_cast<std::size_t>(piece.terms[t + k])];
    }
    const float weight = step.gradient != nullptr ? -step.row_weight : 0.0f;
    if (step.batch->low.empty()) {
      head_terms(layout.shape.sigmoids, mixing, value, piece.head + t * mixing, density, weight);
    } else {
      head_mixed(step, piece.terms + t, real, value, piece.head + t * mixing, density, weight);
    }
    for (Index k = 0; k < real; ++k) loss -= static_cast<double>(density[k]);
  }
  return loss;
}

/// The gradients of V and c, then back through V: o becomes the gradient by o. The empty terms have none.
void mixing_backward(const Step& step, const PieceTerms& piece, std::vector<float>& mixing_gradient) {
  const Layout& layout = *step.layout;
  const Index stride = layout.output_stride, mixing = kernel::mixing_stride(layout);
  const Index mixed = kernel::mixing_outputs(layout);
  float* HWY_RESTRICT o = piece.o;
  float* HWY_RESTRICT head = piece.head;
  std::fill_n(head + piece.count * mixing, (piece.padded - piece.count) * mixing, 0.0f);
  mixing_gradient.resize(static_cast<std::size_t>((mixed + 1) * mixing));
  for (Index m = 0; m < mixing; m += lanes()) {
    float* to = mixing_gradient.data() + m;
    for (Index l = 0; l < mixed; l += 8) {
      outer_sums(o + l, stride, head + m, mixing, piece.count, l + 8 <= mixed, to + l * mixing);
    }
    VF sum = hn::Zero(df);
    for (Index t = 0; t < piece.count; ++t) sum = hn::Add(sum, hn::Load(df, head + t * mixing + m));
    hn::StoreU(sum, df, to + mixed * mixing);
  }
  for (Index t = 0; t < piece.padded; t += kTermsAtOnce) {
#if HWY_CAP_GE512
    if (stride == 2 * kChunk) {
      multiply8_wide(head + t * mixing, mixing, 3 * layout.shape.sigmoids, step.weights + layout.v, o + t * stride);
      continue;
    }
#endif
    multiply8(head + t * mixing, mixing, 3 * layout.shape.sigmoids, step.weights + layout.v, nullptr, o + t * stride,
              stride);
  }
}

/// From the gradient by o to those of s2, b2 and W2; gives the sum of their squares.
template <bool kQuad, bool kPlain>
double output_backward(const Step& step, const PieceTerms& piece) {
  const Layout& layout = *step.layout;
  const Index stride = layout.output_stride;
  const NodePlaces places = node_places();
  const int* HWY_RESTRICT terms = piece.terms;
  double square = 0;
  Index i = 0;
  for (int j = piece.first_variable; j < piece.last_variable; ++j) {
    const float* HWY_RESTRICT s2 = step.weights + layout.s2 + j * stride;
    float* HWY_RESTRICT ds2 = step.gradient + layout.s2 + j * stride;
    float* HWY_RESTRICT db2 = step.gradient + layout.b2 + j * stride;
    float* HWY_RESTRICT dw2 = step.gradient + layout.w2_blocks[static_cast<std::size_t>(j)];
    const Index stop = piece.end_index(step, j);
    for (Index l = 0; l < stride; l += lanes()) {
      VF by_scale = hn::Zero(df), by_bias = by_scale;
      const VF scale = hn::Load(df, s2 + l);
      for (Index t = i; t < stop; ++t) {
        const VF g = hn::Load(df, piece.o + t * stride + l);
        by_scale = hn::MulAdd(g, hn::Load(df, step.outputs + terms[t] * stride + l), by_scale);
        by_bias = hn::Add(by_bias, g);
        hn::Store(hn::Mul(g, scale), df, step.output_gradient + terms[t] * stride + l);
      }
      hn::Store(by_scale, df, ds2 + l);
      hn::Store(by_bias, df, db2 + l);
    }
    const Index size = layout.w2_block * layout.fan_in(j);
    for (; i < stop; ++i) {
      add_term_gradient<kQuad, kPlain>(layout, step.output_gradient + terms[i] * stride, term_feed(step, terms[i]),
                                       places, dw2);
    }
    square += sum_of_squares(ds2, stride) + sum_of_squares(db2, stride) + sum_of_squares(dw2, size);
  }
  return square;
}

template <bool kQuad, bool kPlain>
void outputs_of(const Step& step, int first_variable, int last_variable, OutputPiece& piece) {
  const PieceTerms terms(step, first_variable, last_variable, piece);
  output_values<kQuad, kPlain>(step, terms);
  piece.loss = sigmoid_losses(step, terms) * static_cast<double>(step.row_weight);
  piece.square = 0;
  if (step.gradient == nullptr) return;
  mixing_backward(step, terms, piece.mixing_gradient);
  piece.square = output_backward<kQuad, kPlain>(step, terms);
}

void outputs_impl(const Step& step, int first_variable, int last_variable, OutputPiece& piece) {
  const bool plain = step.layout->groups == 1 && step.layout->chunks == 1;  // as the paper's shapes are
  if (plain && step.layout->quad) return outputs_of<true, true>(step, first_variable, last_variable, piece);
  if (plain) return outputs_of<false, true>(step, first_variable, last_variable, piece);
  if (step.layout->quad) return outputs_of<true, false>(step, first_variable, last_variable, piece);
  outputs_of<false, false>(step, first_variable, last_variable, piece);
}

// ---- Hidden backward ------------------------------------------------------------------------------------------------

// Σ over the row's later variables of W2ᵀ (gradient by o): the gradient by the 6 hidden nodes of one term.
template <bool kQuad, bool kPlain>
HWY_INLINE void hidden_gradient(const Layout& layout, const float* HWY_RESTRICT weights, int rank,
                                const int* HWY_RESTRICT variable, int first, int last, int group,
                                const float* HWY_RESTRICT out, float* HWY_RESTRICT gradient) {
  const Index stride = layout.output_stride;
  const int chunks = kPlain ? 1 : layout.chunks;
  const Index offset = rank * layout.w2_block + group * layout.group_block;
  const Index* HWY_RESTRICT blocks = layout.w2_blocks.data();
#if HWY_CAP_GE512
  {
    VF g0 = hn::Zero(df), g1 = g0, g2 = g0, g3 = g0, g4 = g0, g5 = g0, q0 = g0, q1 = g0;
    for (int t = first; t < last; ++t) {
      const float* HWY_RESTRICT w = weights + blocks[variable[t]] + offset;
      const float* HWY_RESTRICT o = out + t * stride;
      for (int c = 0; c < chunks; ++c, w += 96, o += kChunk) {
        const VF main = hn::Load(df, o);
        g0 = hn::MulAdd(main, hn::Load(df, w), g0);
        g1 = hn::MulAdd(main, hn::Load(df, w + 16), g1);
        g2 = hn::MulAdd(main, hn::Load(df, w + 32), g2);
        g3 = hn::MulAdd(main, hn::Load(df, w + 48), g3);
        g4 = hn::MulAdd(main, hn::Load(df, w + 64), g4);
        g5 = hn::MulAdd(main, hn::Load(df, w + 80), g5);
      }
      if (kQuad) {
        const VF quad = hn::LoadDup128(df, o);
        q0 = hn::MulAdd(quad, hn::Load(df, w), q0);
        q1 = hn::MulAdd(quad, hn::Load(df, w + 16), q1);
      }
    }
    // Eight sums over 16 lanes, folded together: halves, then 128-bit blocks, where nodes 0, 2, 1, 3 and 4, -, 5, -
    // meet their quads, then lanes.
    const VF g01 = hn::Add(hn::ConcatLowerLower(df, g1, g0), hn::ConcatUpperUpper(df, g1, g0));
    const VF g23 = hn::Add(hn::ConcatLowerLower(df, g3, g2), hn::ConcatUpperUpper(df, g3, g2));
    const VF g45 = hn::Add(hn::ConcatLowerLower(df, g5, g4), hn::ConcatUpperUpper(df, g5, g4));
    VF low = hn::Add(hn::OddEvenBlocks(g23, g01), hn::SwapAdjacentBlocks(hn::OddEvenBlocks(g01, g23)));
    VF high = hn::Add(g45, hn::SwapAdjacentBlocks(g45));
    if (kQuad) {
      low = hn::Add(low, q0);
      high = hn::Add(high, q1);
    }
    low = hn::Add(low, hn::Shuffle1032(low));
    high = hn::Add(high, hn::Shuffle1032(high));
    low = hn::Add(low, hn::Shuffle2301(low));
    high = hn::Add(high, hn::Shuffle2301(high));
    HWY_ALIGN static constexpr std::int32_t kNodes[16] = {0, 8, 4, 12, 1, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    const VF both = hn::TableLookupLanes(hn::OddEven(high, low), hn::SetTableIndices(df, kNodes));
    hn::Store(hn::IfThenElseZero(hn::FirstN(df, kGroup), both), df, gradient);
  }
#else
  for (int b = 0; b < kGroup; ++b) {
    VF sum = hn::Zero(df);
    float tail = 0;
    for (int t = first; t < last; ++t) {
      const float* HWY_RESTRICT w = weights + blocks[variable[t]] + offset;
      const float* HWY_RESTRICT o = out + t * stride;
      for (int c = 0; c < chunks; ++c, w += 96, o += kChunk) {
        for (Index l = 0; l < kChunk; l += lanes()) {
          sum = hn::MulAdd(hn::Load(df, o + l), hn::Load(df, w + b * kChunk + l), sum);
        }
      }
      if (kQuad) {
        for (int l = 0; l < 4; ++l) tail += o[l] * w[Layout::kQuadPlaces[b] * 4 + l];
      }
    }
    gradient[b] = hn::GetLane(hn::SumOfLanes(df, sum)) + tail;
  }
  gradient[6] = gradient[7] = 0;
#endif
}

template <bool kQuad, bool kPlain>
double hidden_backward_of(const Step& step, int first_rank, int last_rank) {
  const Layout& layout = *step.layout;
  const Batch& batch = *step.batch;
  const hn::CappedTag<float, kGroupStride> d;
  const Index width = kPlain ? kGroupStride : layout.hidden_stride;
  const int groups = kPlain ? 1 : layout.groups;
  // In locals: after a store of a vector the compiler would read them from the batch again.
  const int* HWY_RESTRICT variable = batch.variable.data();
  const float* HWY_RESTRICT values = batch.value.data();
  const float* HWY_RESTRICT hidden = step.hidden;
  double square = 0;
  for (int r = first_rank; r < last_rank; ++r) {
    float* HWY_RESTRICT dw1 = step.gradient + layout.w1_rows[static_cast<std::size_t>(r)];
    float* HWY_RESTRICT ds1 = step.gradient + layout.s1 + r * width;
    float* HWY_RESTRICT db1 = step.gradient + layout.b1 + r * width;
    const Index inputs = layout.inputs(r);
    // The next rank's blocks lie one behind each of this rank's.
    if (r + 1 < layout.shape.ranks) {
      for (int j = r + 2; j < layout.shape.variables; ++j) {
        const float* next = step.weights + layout.w2_blocks[static_cast<std::size_t>(j)] + (r + 1) * layout.w2_block;
        for (Index i = 0; i < layout.w2_block; i += kChunk) hwy::Prefetch(next + i);
      }
    }
    std::fill_n(dw1, inputs * width, 0.0f);
    std::fill_n(ds1, width, 0.0f);
    std::fill_n(db1, width, 0.0f);
    for (int k = batch.rank_start[static_cast<std::size_t>(r)]; k < batch.rank_start[static_cast<std::size_t>(r) + 1];
         ++k) {
      const int t = batch.by_rank[static_cast<std::size_t>(k)];
      const std::size_t row = static_cast<std::size_t>(batch.row[static_cast<std::size_t>(t)]);
      const int first = batch.row_start[row];
      for (int g = 0; g < groups; ++g) {
        HWY_ALIGN float back[kChunk];
        hidden_gradient<kQuad, kPlain>(layout, step.weights, r, variable, t + 1, batch.row_start[row + 1], g,
                                       step.output_gradient, back);
        const Index at = g * kGroupStride;
        const float* HWY_RESTRICT h = hidden + t * width + at;
        for (Index b = 0; b < kGroupStride; b += static_cast<Index>(hn::Lanes(d))) {
          const auto value = hn::LoadU(d, h + b);
          const auto one = hn::Set(d, 1.0f);
          const auto slope = hn::IfThenElse(hn::Gt(value, hn::Zero(d)), one, hn::Add(value, one));  // ELU': 1 or e^u
          const auto pre = hn::Mul(hn::Load(d, back + b), slope);
          hn::StoreU(hn::Add(pre, hn::LoadU(d, db1 + at + b)), d, db1 + at + b);
          float* HWY_RESTRICT dw = dw1 + at + b;
          for (int q = first; q <= t; ++q) {
            float* HWY_RESTRICT to = dw + variable[q] * width;
            hn::StoreU(hn::MulAdd(hn::Set(d, values[q]), pre, hn::LoadU(d, to)), d, to);
          }
        }
      }
    }
    // So far by u = Σ W1 x, as if s1 were 1: then ∂s1 = Σ_i W1 ∂W1, and ∂W1 takes its factor s1.
    const float* HWY_RESTRICT w1 = step.weights + layout.w1_rows[static_cast<std::size_t>(r)];
    const float* HWY_RESTRICT s1 = step.weights + layout.s1 + r * width;
    for (Index b = 0; b < width; b += static_cast<Index>(hn::Lanes(d))) {
      const auto scale = hn::LoadU(d, s1 + b);
      auto by_scale = hn::Zero(d);
      auto squares = hn::Zero(d);
      for (Index i = 0; i < inputs; ++i) {
        const auto raw = hn::LoadU(d, dw1 + i * width + b);
        by_scale = hn::MulAdd(raw, hn::LoadU(d, w1 + i * width + b), by_scale);
        const auto g = hn::Mul(raw, scale);
        squares = hn::MulAdd(g, g, squares);
        hn::StoreU(g, d, dw1 + i * width + b);
      }
      hn::StoreU(by_scale, d, ds1 + b);
      const auto bias = hn::LoadU(d, db1 + b);
      squares = hn::MulAdd(by_scale, by_scale, hn::MulAdd(bias, bias, squares));
      square += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, squares)));
    }
  }
  return square;
}

double hidden_backward_impl(const Step& step, int first_rank, int last_rank) {
  const bool plain = step.layout->groups == 1 && step.layout->chunks == 1;
  if (plain && step.layout->quad) return hidden_backward_of<true, true>(step, first_rank, last_rank);
  if (plain) return hidden_backward_of<false, true>(step, first_rank, last_rank);
  if (step.layout->quad) return hidden_backward_of<true, false>(step, first_rank, last_rank);
  return hidden_backward_of<false, false>(step, first_rank, last_rank);
}

// ---- Adam -----------------------------------------------------------------------------------------------------------

void adam_impl(const AdamStep& step, Index first, Index last) {
  const VF clip = hn::Set(df, step.gradient_scale);
  const VF rate = hn::Set(df, step.rate);
  const VF keep1 = hn::Set(df, kernel::kBeta1), add1 = hn::Set(df, 1 - kernel::kBeta1);
  const VF keep2 = hn::Set(df, kernel::kBeta2), add2 = hn::Set(df, 1 - kernel::kBeta2);
  const VF square_scale = hn::Set(df, step.square_scale);
  const VF tiny = hn::Set(df, 1e-30f);  // its root is far below ε
  const VF half = hn::Set(df, 0.5f), three_halves = hn::Set(df, 1.5f), epsilon = hn::Set(df, kernel::kEpsilon);
  for (Index i = first; i < last; i += lanes()) {
    const VF g = hn::Mul(hn::Load(df, step.gradient + i), clip);
    hn::Store(hn::Zero(df), df, step.gradient + i);  // while it is in the nearest cache
    const VF mean = hn::MulAdd(keep1, hn::Load(df, step.mean + i), hn::Mul(add1, g));
    const VF square = hn::MulAdd(keep2, hn::Load(df, step.square + i), hn::Mul(hn::Mul(add2, g), g));
    hn::Store(mean, df, step.mean + i);
    hn::Store(square, df, step.square + i);
    const VF corrected = hn::MulAdd(square, square_scale, tiny);
    VF root = hn::ApproximateReciprocalSqrt(corrected);
    root = hn::Mul(root, hn::NegMulAdd(hn::Mul(half, corrected), hn::Mul(root, root), three_halves));
#if !HWY_ARCH_X86
    root = hn::Mul(root, hn::NegMulAdd(hn::Mul(half, corrected), hn::Mul(root, root), three_halves));
#endif
    const VF denominator = hn::MulAdd(corrected, root, epsilon);
    const VF move = hn::Mul(hn::Mul(rate, mean), fast_reciprocal(df, denominator));
    hn::Store(hn::Sub(hn::Load(df, step.weights + i), move), df, step.weights + i);
  }
}

}  // namespace fansite::flow::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fansite::flow {
HWY_EXPORT(hidden_forward_impl);
HWY_EXPORT(outputs_impl);
HWY_EXPORT(hidden_backward_impl);
HWY_EXPORT(adam_impl);
}  // namespace fansite::flow

namespace fansite::flow::kernel {

int mixing_stride(const Layout& layout) {
  return (3 * layout.shape.sigmoids + Layout::kChunk - 1) / Layout::kChunk * Layout::kChunk;
}

int mixing_outputs(const Layout& layout) { return (layout.shape.outputs + 3) / 4 * 4; }

void hidden_forward(const Step& step, int first_row, int last_row) {
  const FlushDenormals flush;
  HWY_DYNAMIC_DISPATCH(hidden_forward_impl)(step, first_row, last_row);
}

void outputs(const Step& step, int first_variable, int last_variable, OutputPiece& piece) {
  const FlushDenormals flush;
  HWY_DYNAMIC_DISPATCH(outputs_impl)(step, first_variable, last_variable, piece);
}

double hidden_backward(const Step& step, int first_rank, int last_rank) {
  const FlushDenormals flush;
  return HWY_DYNAMIC_DISPATCH(hidden_backward_impl)(step, first_rank, last_rank);
}

void adam(const AdamStep& step, Index first, Index last) {
  const FlushDenormals flush;
  HWY_DYNAMIC_DISPATCH(adam_impl)(step, first, last);
}

}  // namespace fansite::flow::kernel
#endif  // HWY_ONCE
