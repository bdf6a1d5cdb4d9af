// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/neural/bnaf.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fansite/base/error.h"
#include "fansite/base/parallel.h"

namespace fansite::neural {
namespace {

constexpr double kLogTwo = 0.6931471805599453, kHalfLogTwoPi = 0.9189385332046727;
constexpr Index kRowsInPiece = 16;  // of a batch, computed side by side

template <class Real>
Real softplus(Real x) {
  return std::max(x, Real{0}) + std::log1p(std::exp(-std::abs(x)));
}
template <class Real>
Real sigmoid(Real x) {
  return 1 / (1 + std::exp(-x));
}
// ln(1 − tanh²x)
template <class Real>
Real log_tanh_slope(Real x) {
  return -2 * (x - static_cast<Real>(kLogTwo) + softplus(-2 * x));
}

// Where a layer's parameters lie, and the sizes of its blocks.
struct Place {
  Index w, g, bias, in, out;
};

// A layer as it is used: its weights, and the logarithms of those in diagonal blocks, a row for each output.
template <class Real>
struct Layer {
  Index in, out;  // of a block
  Rows<Real> w, log_diagonal;
  Eigen::Array<Real, 1, Eigen::Dynamic> bias;
};

// One flow over some variables, in their order.
template <class Real>
struct Flow {
  std::vector<Layer<Real>> layers;
  bool gated = false;
  Real gate = 0;
};

// What a batch leaves in a flow, for the way back. Arrays are rows × (variables · block); log slopes of each unit.
template <class Real>
struct Trace {
  std::vector<Rows<Real>> inputs, sums, slopes;  // of each layer: before it, after it, and ln of its slope
  Rows<Real> x, ungated, ungated_slope;
};

// Calls body(row, variable) where the mask has a variable, pieces of rows side by side; null: everywhere.
template <class Real, class Body>
void for_terms(Index rows, Index variables, const Rows<Real>* mask, const Body& body) {
  const Index pieces = (rows + kRowsInPiece - 1) / kRowsInPiece;
  const auto piece = [&](std::ptrdiff_t p) {
    for (Index r = p * kRowsInPiece; r < std::min(rows, (p + 1) * kRowsInPiece); ++r) {
      for (Index v = 0; v < variables; ++v) {
        if (mask == nullptr || (*mask)(r, v) != 0) body(r, v, static_cast<std::size_t>(p));
      }
    }
  };
  if (pieces * variables < 64) {
    for (Index p = 0; p < pieces; ++p) piece(p);
  } else {
    parallel_for(pieces, piece);
  }
}

// y and its log slopes from x; `trace` as the way back needs it.
template <class Real>
void forward(const Flow<Real>& flow, const Rows<Real>* mask, Rows<Real>& x, Rows<Real>& log_slope, Trace<Real>& trace) {
  const Index n = x.rows(), d = x.cols();
  trace.x = x;
  Rows<Real> input = x, slope = Rows<Real>::Zero(n, d);
  for (std::size_t k = 0; k < flow.layers.size(); ++k) {
    const Layer<Real>& layer = flow.layers[k];
    Rows<Real> sums(n, d * layer.out), slopes = Rows<Real>::Zero(n, d * layer.out);
    times_transposed<Real>(input, layer.w, sums);
    const bool last = k + 1 == flow.layers.size();
    Rows<Real> next = Rows<Real>::Zero(n, d * layer.out), next_slope = next;
    for_terms<Real>(n, d, mask, [&](Index r, Index v, std::size_t) {
      for (Index o = v * layer.out; o < (v + 1) * layer.out; ++o) {
        Real top = -std::numeric_limits<Real>::infinity(), total = 0;
        const Real* weights = layer.log_diagonal.data() + o * layer.in;
        const Real* before = slope.data() + r * slope.cols() + v * layer.in;
        for (Index i = 0; i < layer.in; ++i) top = std::max(top, weights[i] + before[i]);
        for (Index i = 0; i < layer.in; ++i) total += std::exp(weights[i] + before[i] - top);
        sums(r, o) += layer.bias[o];
        slopes(r, o) = top + std::log(total);
        next(r, o) = last ? sums(r, o) : std::tanh(sums(r, o));
        next_slope(r, o) = slopes(r, o) + (last ? Real{0} : log_tanh_slope(sums(r, o)));
      }
    });
    trace.inputs.push_back(std::move(input));
    trace.sums.push_back(std::move(sums));
    trace.slopes.push_back(std::move(slope));
    input = std::move(next);
    slope = std::move(next_slope);
  }
  trace.ungated = input;
  trace.ungated_slope = slope;
  if (flow.gated) {
    const Real share = sigmoid(flow.gate), offset = softplus(flow.gate);
    for_terms<Real>(n, d, mask, [&](Index r, Index v, std::size_t) {
      input(r, v) = share * input(r, v) + (1 - share) * x(r, v);
      slope(r, v) = softplus(slope(r, v) + flow.gate) - offset;
    });
  }
  x = std::move(input);
  log_slope += slope;
}

// From the loss by a layer's weights w = e^g v/‖v‖, and by the logarithms of its diagonal, to that by W and g.
template <class Real>
void parameters_back(const Layer<Real>& layer, const Place& place, const Real* own, const Rows<Real>& by_w,
                     const Rows<Real>& by_diagonal, Real* to) {
  const Index out = by_w.rows(), in = by_w.cols(), parts = out < 256 ? 1 : 8;
  Eigen::Map<Rows<Real>> by_parameters(to + place.w, out, in);
  parallel_for(parts, [&](std::ptrdiff_t part) {
    for (Index o = part; o < out; o += parts) {
      const Index before = o / layer.out * layer.in;
      const auto w = layer.w.row(o).head(before + layer.in);
      const auto by = by_w.row(o).head(before + layer.in);
      const Real along = w.dot(by), diagonal = by_diagonal.row(o).sum();
      to[place.g + o] = along + diagonal;
      // u = v/‖v‖ = w e^−g, and ln ‖v‖ = W + g − ln w on the diagonal.
      const Real g = own[place.g + o], e = std::exp(-g);
      const Real norm = std::exp(own[place.w + o * in + before] - layer.log_diagonal(o, 0) + g);
      auto to_row = by_parameters.row(o);
      to_row.setZero();
      // dv = e^g/‖v‖ (by − u (u·by)) − (Σ diagonal) u/‖v‖, and of the diagonal by/v more; dW = dv below, v dv there.
      to_row.head(before + layer.in) = (by / e - w * (along * e) - w * (diagonal * e)) / norm;
      for (Index i = 0; i < layer.in; ++i) {
        const Real v = w[before + i] * e * norm;
        to_row[before + i] = to_row[before + i] * v + by_diagonal(o, i);
      }
    }
  });
}

// From the loss by what a flow's slopes and values are after its gate to that before it, and by the gate. `by_x`: of
// what passes it by.
template <class Real>
double gate_back(const Flow<Real>& flow, const Trace<Real>& trace, const Rows<Real>& mask, Rows<Real>& by_next,
                 Rows<Real>& by_slope, Rows<Real>& by_x) {
  const Real share = sigmoid(flow.gate);
  std::vector<double> by_gate(static_cast<std::size_t>((mask.rows() + kRowsInPiece - 1) / kRowsInPiece), 0.0);
  for_terms<Real>(mask.rows(), mask.cols(), &mask, [&](Index r, Index v, std::size_t piece) {
    const Real open = sigmoid(trace.ungated_slope(r, v) + flow.gate), by_z = by_next(r, v);
    by_gate[piece] += static_cast<double>(by_z * (trace.ungated(r, v) - trace.x(r, v)) * share * (1 - share) +
                                          by_slope(r, v) * (open - share));
    by_next(r, v) = share * by_z;
    by_x(r, v) = (1 - share) * by_z;
    by_slope(r, v) *= open;
  });
  double total = 0;
  for (const double part : by_gate) total += part;
  return total;
}

// ---- Densities ------------------------------------------------------------------------------------------------------

template <class Real>
Flow<Real> of_subset(const Flow<Real>& flow, const flow::Subset& subset) {
  Flow<Real> result;
  result.gated = flow.gated;
  result.gate = flow.gate;
  const auto m = static_cast<Index>(subset.size());
  for (const Layer<Real>& layer : flow.layers) {
    Layer<Real>& part = result.layers.emplace_back(Layer<Real>{layer.in, layer.out, {}, {}, {}});
    part.w = Rows<Real>::Zero(m * layer.out, m * layer.in);
    part.log_diagonal.resize(m * layer.out, layer.in);
    part.bias.resize(m * layer.out);
    for (Index a = 0; a < m; ++a) {
      const Index row = subset[static_cast<std::size_t>(a)] * layer.out;
      part.log_diagonal.middleRows(a * layer.out, layer.out) = layer.log_diagonal.middleRows(row, layer.out);
      part.bias.segment(a * layer.out, layer.out) = layer.bias.segment(row, layer.out);
      for (Index b = 0; b <= a; ++b) {
        part.w.block(a * layer.out, b * layer.in, layer.out, layer.in) =
            layer.w.block(row, subset[static_cast<std::size_t>(b)] * layer.in, layer.out, layer.in);
      }
    }
  }
  return result;
}

template <class Real>
class BnafDensity final : public flow::SubsetDensity {
 public:
  BnafDensity(int variables, std::vector<Flow<Real>> flows) : variables_(variables), flows_(std::move(flows)) {}

  int variables() const override { return variables_; }
  int largest_subset() const override { return variables_; }

  using flow::SubsetDensity::log_density;
  Eigen::MatrixXf log_density(const flow::CellColumns& rows, std::span<const flow::Subset> subsets) const override {
    std::vector<std::vector<Flow<Real>>> parts(subsets.size());
    for (std::size_t s = 0; s < subsets.size(); ++s) {
      for (const Flow<Real>& flow : flows_) parts[s].push_back(of_subset(flow, subsets[s]));
    }
    Eigen::MatrixXf result = Eigen::MatrixXf::Zero(rows.rows(), static_cast<Index>(subsets.size()));
    for_pieces(static_cast<Index>(subsets.size()), rows.rows(), [&](Index s, Index first, Index count) {
      const flow::Subset& subset = subsets[static_cast<std::size_t>(s)];
      if (subset.empty()) return;
      std::vector<char> absent;
      Rows<Real> z = gathered<Real>(rows, subset, first, count, absent);
      Rows<Real> slope = Rows<Real>::Zero(z.rows(), z.cols());
      for (const Flow<Real>& flow : parts[static_cast<std::size_t>(s)]) {
        Trace<Real> trace;
        forward<Real>(flow, nullptr, z, slope, trace);
      }
      for (Index i = 0; i < count; ++i) {
        const Real sum = (slope.row(i).array() - z.row(i).array().square() / 2).sum() -
                         static_cast<Real>(kHalfLogTwoPi) * static_cast<Real>(z.cols());
        result(first + i, s) = absent[static_cast<std::size_t>(i)] != 0 ? std::numeric_limits<float>::quiet_NaN()
                                                                        : static_cast<float>(sum);
      }
    });
    return result;
  }

 private:
  int variables_;
  std::vector<Flow<Real>> flows_;
  UnsplitBlas unsplit_;
};

}  // namespace

template <class Real>
struct Bnaf<Real>::Plan {
  BnafShape shape;
  std::vector<Place> layers;  // of one flow
  Index flow_size = 0;        // without the gate
  Index size = 0;

  Index first(Index flow) const { return flow * (flow_size + 1); }
  Index gate(Index flow) const { return first(flow) + flow_size; }

  explicit Plan(const BnafShape& s) : shape(s) {
    const Index d = s.variables;
    for (int k = 0; k <= s.layers; ++k) {
      Place place{flow_size, 0, 0, k == 0 ? 1 : s.width, k == s.layers ? 1 : s.width};
      place.g = place.w + d * place.out * d * place.in;
      place.bias = place.g + d * place.out;
      flow_size = place.bias + d * place.out;
      layers.push_back(place);
    }
    size = s.flows * (flow_size + 1) - 1;
  }

  Layer<Real> layer(const Real* at, const Place& place, Eigen::Array<Real, Eigen::Dynamic, 1>* norms = nullptr) const {
    const Index d = shape.variables, out = d * place.out, in = d * place.in;
    const Eigen::Map<const Rows<Real>> w(at + place.w, out, in);
    Layer<Real> layer{place.in, place.out, Rows<Real>::Zero(out, in), Rows<Real>(out, place.in), {}};
    layer.bias = Eigen::Map<const Eigen::Array<Real, 1, Eigen::Dynamic>>(at + place.bias, out);
    if (norms != nullptr) norms->resize(out);
    for (Index o = 0; o < out; ++o) {
      const Index before = o / place.out * place.in;  // inputs of earlier variables
      auto row = layer.w.row(o);
      row.head(before) = w.row(o).head(before);
      row.segment(before, place.in) = w.row(o).segment(before, place.in).array().exp();
      const Real norm = row.norm(), g = at[place.g + o];
      if (norms != nullptr) (*norms)[o] = norm;
      row *= std::exp(g) / norm;
      layer.log_diagonal.row(o) = w.row(o).segment(before, place.in).array() + (g - std::log(norm));
    }
    return layer;
  }

  std::vector<Flow<Real>> flows(std::span<const Real> parameters) const {
    std::vector<Flow<Real>> result;
    for (Index f = 0; f < shape.flows; ++f) {
      Flow<Real>& flow = result.emplace_back();
      for (const Place& place : layers) flow.layers.push_back(layer(parameters.data() + first(f), place));
      flow.gated = f + 1 < shape.flows;
      if (flow.gated) flow.gate = parameters[static_cast<std::size_t>(gate(f))];
    }
    return result;
  }
};

template <class Real>
Bnaf<Real>::Bnaf(const BnafShape& shape) {
  check(shape.variables > 0, "[bnaf] a flow needs at least one variable, got {}", shape.variables);
  check(shape.width > 0 && shape.layers > 0 && shape.flows > 0, "[bnaf] width, layers and flows are 1 or more");
  plan_ = std::make_unique<const Plan>(shape);
}
template <class Real>
Bnaf<Real>::~Bnaf() = default;

template <class Real>
int Bnaf<Real>::variables() const {
  return plan_->shape.variables;
}
template <class Real>
std::size_t Bnaf<Real>::size() const {
  return static_cast<std::size_t>(plan_->size);
}

template <class Real>
void Bnaf<Real>::start(Key key, std::span<Real> parameters) const {
  const Plan& plan = *plan_;
  Random random(key);
  const Index d = plan.shape.variables;
  for (Index f = 0; f < plan.shape.flows; ++f) {
    Real* at = parameters.data() + plan.first(f);
    for (const Place& place : plan.layers) {
      const Index out = d * place.out, in = d * place.in;
      for (Index o = 0; o < out; ++o) {
        // Xavier: uniform within √(6 / (inputs + outputs)), of the blocks that a variable has.
        const Index seen = (o / place.out + 1) * place.in;
        const double bound = std::sqrt(6.0 / static_cast<double>(seen + place.out));
        for (Index i = 0; i < in; ++i) {
          at[place.w + o * in + i] = i < seen ? static_cast<Real>(random.uniform(-bound, bound)) : Real{0};
        }
      }
      for (Index o = 0; o < out; ++o) at[place.g + o] = static_cast<Real>(std::log(random.uniform()));
      const double bound = 1 / std::sqrt(static_cast<double>(out));
      for (Index o = 0; o < out; ++o) at[place.bias + o] = static_cast<Real>(random.uniform(-bound, bound));
    }
    if (f + 1 < plan.shape.flows) {
      parameters[static_cast<std::size_t>(plan.gate(f))] = static_cast<Real>(random.normal());
    }
  }
}

template <class Real>
double Bnaf<Real>::loss(std::span<const Real> parameters, const SubsetBatch<Real>& batch,
                        std::span<Real> gradient) const {
  const Plan& plan = *plan_;
  const Index n = batch.rows(), d = plan.shape.variables;
  const std::vector<Flow<Real>> flows = plan.flows(parameters);
  Rows<Real> z = batch.values.cwiseProduct(batch.mask), log_slope = Rows<Real>::Zero(n, d);
  std::vector<Trace<Real>> traces(flows.size());
  for (std::size_t f = 0; f < flows.size(); ++f) forward(flows[f], &batch.mask, z, log_slope, traces[f]);
  double sum = 0;
  for (Index r = 0; r < n; ++r) {
    for (Index v = 0; v < d; ++v) {
      if (batch.mask(r, v) == 0) continue;
      const auto at = static_cast<double>(z(r, v));
      sum += static_cast<double>(log_slope(r, v)) - 0.5 * at * at - kHalfLogTwoPi;
    }
  }
  const double loss = -sum / static_cast<double>(n);
  if (gradient.empty()) return loss;

  const Real each = static_cast<Real>(1.0 / static_cast<double>(n));
  const auto pieces = static_cast<std::size_t>((n + kRowsInPiece - 1) / kRowsInPiece);
  Rows<Real> by_z = z.cwiseProduct(batch.mask) * each;
  const Rows<Real> by_log_slope = batch.mask * -each;
  for (std::size_t f = flows.size(); f-- > 0;) {
    const Flow<Real>& flow = flows[f];
    const Trace<Real>& trace = traces[f];
    Real* to = gradient.data() + plan.first(static_cast<Index>(f));
    Rows<Real> by_next = by_z, by_slope = by_log_slope, by_x = Rows<Real>::Zero(n, d);
    if (flow.gated) {
      gradient[static_cast<std::size_t>(plan.gate(static_cast<Index>(f)))] =
          static_cast<Real>(gate_back(flow, trace, batch.mask, by_next, by_slope, by_x));
    }
    for (std::size_t k = flow.layers.size(); k-- > 0;) {
      const Layer<Real>& layer = flow.layers[k];
      const Place& place = plan.layers[k];
      const bool last = k + 1 == flow.layers.size();
      Rows<Real> by_sum = Rows<Real>::Zero(n, d * layer.out), by_before = Rows<Real>::Zero(n, d * layer.in);
      std::vector<Rows<Real>> by_diagonal(pieces, Rows<Real>::Zero(d * layer.out, layer.in));
      for_terms<Real>(n, d, &batch.mask, [&](Index r, Index v, std::size_t piece) {
        const Real* before = trace.slopes[k].data() + r * trace.slopes[k].cols() + v * layer.in;
        for (Index o = v * layer.out; o < (v + 1) * layer.out; ++o) {
          const Real tanh = last ? Real{0} : std::tanh(trace.sums[k](r, o));
          by_sum(r, o) = last ? by_next(r, o) : by_next(r, o) * (1 - tanh * tanh) - 2 * tanh * by_slope(r, o);
          // The logarithm of a sum of exponentials: each by its share.
          const Real* weights = layer.log_diagonal.data() + o * layer.in;
          Real top = -std::numeric_limits<Real>::infinity(), total = 0;
          for (Index i = 0; i < layer.in; ++i) top = std::max(top, weights[i] + before[i]);
          for (Index i = 0; i < layer.in; ++i) total += std::exp(weights[i] + before[i] - top);
          for (Index i = 0; i < layer.in; ++i) {
            const Real part = by_slope(r, o) * std::exp(weights[i] + before[i] - top) / total;
            by_before(r, v * layer.in + i) += part;
            by_diagonal[piece](o, i) += part;
          }
        }
      });
      for (std::size_t p = 1; p < pieces; ++p) by_diagonal.front() += by_diagonal[p];
      const Index out = d * layer.out, in = d * layer.in;
      Rows<Real> by_w(out, in), by_input(n, in);
      transposed_times<Real>(by_sum, trace.inputs[k], by_w);
      times<Real>(by_sum, layer.w, by_input);
      Eigen::Map<Eigen::Array<Real, 1, Eigen::Dynamic>>(to + place.bias, out) = by_sum.colwise().sum().array();
      const Real* own = parameters.data() + plan.first(static_cast<Index>(f));
      parameters_back(layer, place, own, by_w, by_diagonal.front(), to);
      by_next = std::move(by_input);
      by_slope = std::move(by_before);
    }
    by_z = (by_next + by_x).cwiseProduct(batch.mask);
  }
  return loss;
}

template <class Real>
std::unique_ptr<const flow::SubsetDensity> Bnaf<Real>::density(std::span<const Real> parameters) const {
  return std::make_unique<BnafDensity<Real>>(variables(), plan_->flows(parameters));
}

template <class Real>
typename Bnaf<Real>::Mapped Bnaf<Real>::reference(std::span<const Real> parameters, std::span<const double> row,
                                                  const flow::Subset& subset) const {
  const Plan& plan = *plan_;
  const auto d = static_cast<std::size_t>(plan.shape.variables);
  const auto has = [&](std::size_t v) { return std::binary_search(subset.begin(), subset.end(), static_cast<int>(v)); };
  std::vector<double> x(d, 0.0), log_slope(d, 0.0);
  for (const int v : subset) x[static_cast<std::size_t>(v)] = row[static_cast<std::size_t>(v)];
  for (Index f = 0; f < plan.shape.flows; ++f) {
    const Real* at = parameters.data() + plan.first(f);
    std::vector<double> input = x, slope(d, 1.0);  // du/dx_v of each unit of v
    for (std::size_t k = 0; k < plan.layers.size(); ++k) {
      const Place& place = plan.layers[k];
      const auto in = static_cast<std::size_t>(place.in), out = static_cast<std::size_t>(place.out);
      std::vector<double> next(d * out, 0.0), next_slope(d * out, 0.0);
      for (std::size_t o = 0; o < d * out; ++o) {
        const std::size_t v = o / out;
        if (!has(v)) continue;
        double squares = 0, sum = 0, own = 0;
        for (std::size_t i = 0; i < (v + 1) * in; ++i) {
          const auto w = static_cast<double>(at[static_cast<std::size_t>(place.w) + o * d * in + i]);
          const double weight = i / in == v ? std::exp(w) : w;
          squares += weight * weight;
          sum += weight * input[i];
          if (i / in == v) own += weight * slope[i];
        }
        const double scale =
            std::exp(static_cast<double>(at[static_cast<std::size_t>(place.g) + o])) / std::sqrt(squares);
        next[o] = scale * sum + static_cast<double>(at[static_cast<std::size_t>(place.bias) + o]);
        next_slope[o] = scale * own;
        if (k + 1 == plan.layers.size()) continue;
        next[o] = std::tanh(next[o]);
        next_slope[o] *= 1 - next[o] * next[o];
      }
      input = next;
      slope = next_slope;
    }
    for (const int v : subset) {
      const auto at_v = static_cast<std::size_t>(v);
      double share = 1;
      if (f + 1 < plan.shape.flows)
        share = sigmoid(static_cast<double>(parameters[static_cast<std::size_t>(plan.gate(f))]));
      x[at_v] = share * input[at_v] + (1 - share) * x[at_v];
      log_slope[at_v] += std::log(share * slope[at_v] + 1 - share);
    }
  }
  Mapped mapped;
  for (const int v : subset) {
    mapped.z.push_back(x[static_cast<std::size_t>(v)]);
    mapped.log_slope.push_back(log_slope[static_cast<std::size_t>(v)]);
  }
  return mapped;
}

template class Bnaf<float>;
template class Bnaf<double>;

}  // namespace fansite::neural
