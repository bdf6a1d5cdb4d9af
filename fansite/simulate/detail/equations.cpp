// SPDX-License-Identifier: Apache-2.0
#include "fansite/simulate/detail/equations.h"

#include <algorithm>
#include <cmath>

#include "fansite/base/detail/vectorise.h"
#include "fansite/base/special.h"
#include "fansite/simulate/detail/gaussian_process.h"

namespace fansite::equations {
namespace {

constexpr Index kRows = 256;  // rows that a network handles at a time, so that its hidden values stay in cache

// Streams under the key of a variable's function.
enum Stream : std::uint64_t { kFunction, kOutput };

FANSITE_VECTOR_CLONES void add_multiple(double* __restrict sum, const double* __restrict x, double factor,
                                        Index count) {
  for (Index i = 0; i < count; ++i) sum[i] += x[i] * factor;
}

FANSITE_VECTOR_CLONES void add(double* __restrict sum, const double* __restrict x, Index count) {
  for (Index i = 0; i < count; ++i) sum[i] += x[i];
}

double median(const double* values, Index count) {
  std::vector<double> sorted(values, values + count);
  const auto middle = sorted.begin() + count / 2;
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

double integer_power(double x, int exponent) {
  double power = x;
  for (int i = 1; i < exponent; ++i) power *= x;
  return power;
}

struct Moments {
  double mean, deviation;
};

Moments moments(Noise distribution) {
  switch (distribution) {
    case Noise::uniform:
      return {0.0, 0x1.279a74590331cp-1};  // 1/√3
    case Noise::laplace:
      return {0.0, 0x1.6a09e667f3bcdp+0};  // √2
    case Noise::gumbel:
      return {0x1.2788cfc6fb619p-1, 0x1.48550c5f58d5dp+0};  // Euler's constant, π/√6
    case Noise::exponential:
      return {1.0, 1.0};
    default:
      return {0.0, 1.0};
  }
}

}  // namespace

double signed_weight(Random& random, double low, double high) {
  const double size = random.uniform(low, high);
  return random.coin() ? size : -size;
}

void draw_noise(Noise distribution, Index rows, Key key, double* values) {
  Random random(key);
  const auto fill = [&](auto draw) {
    for (Index i = 0; i < rows; ++i) values[i] = draw();
  };
  switch (distribution) {
    case Noise::uniform:
      return fill([&] { return random.uniform(-1.0, 1.0); });
    case Noise::laplace:
      return fill([&] { return random.laplace(); });
    case Noise::gumbel:
      return fill([&] { return random.gumbel(); });
    case Noise::exponential:
      return fill([&] { return random.exponential(); });
    default:
      return fill([&] { return random.normal(); });
  }
}

void linear(const Inputs& in, const std::vector<double>& weights, double* x) {
  if (in.parents.empty()) return;
  std::vector<double> sum(static_cast<std::size_t>(in.rows), 0.0);
  for (std::size_t k = 0; k < weights.size(); ++k) add_multiple(sum.data(), in.parents[k], weights[k], in.rows);
  add(x, sum.data(), in.rows);
}

void gp(const Inputs& in, const Progress& progress, double* x) {
  if (in.parents.empty()) return;
  const Vector f = draw_gaussian_process(in.parents, in.rows, in.key.split(kFunction), progress);
  add(x, f.data(), in.rows);
}

// As in the simulators of NOTEARS and gcastle: weights of both layers from ±[low, high], no biases.
void mlp(const Inputs& in, double weight_low, double weight_high, double* x) {
  if (in.parents.empty()) return;
  constexpr std::size_t kHidden = 100;
  Random random(in.key.split(kFunction));
  std::vector<double> first(in.parents.size() * kHidden), second(kHidden);
  for (double& w : first) w = signed_weight(random, weight_low, weight_high);
  for (double& w : second) w = signed_weight(random, weight_low, weight_high);

  double hidden[kRows], sum[kRows];
  for (Index begin = 0; begin < in.rows; begin += kRows) {
    const Index size = std::min(kRows, in.rows - begin);
    std::fill(sum, sum + size, 0.0);
    for (std::size_t unit = 0; unit < kHidden; ++unit) {
      std::fill(hidden, hidden + size, 0.0);
      for (std::size_t k = 0; k < in.parents.size(); ++k) {
        add_multiple(hidden, in.parents[k] + begin, first[k * kHidden + unit], size);
      }
      portable::sigmoid(hidden, size);
      add_multiple(sum, hidden, second[unit], size);
    }
    add(x + begin, sum, size);
  }
}

// g is one of four maps, rising or falling, each with a positive derivative everywhere:
//   u/√(1 + a|u|)         grows like a root           a in [0.5, 2]
//   sinh(a u)/a           grows exponentially         a in [0.3, 0.6]
//   u + a u³              cubic                       a in [0.05, 0.3]
//   u/4 + 4 σ(a u)        a soft step on a slope      a in [1, 3]
void pnl(const Inputs& in, const Progress& progress, double* x) {
  gp(in, progress, x);
  Random random(in.key.split(kOutput));
  const std::uint32_t shape = random.below(4);
  const double sign = random.coin() ? 1.0 : -1.0;
  const auto apply = [&](auto g) {
    for (Index i = 0; i < in.rows; ++i) x[i] = sign * g(x[i]);
  };
  switch (shape) {
    case 0: {
      const double a = random.uniform(0.5, 2.0);
      return apply([=](double u) { return u / std::sqrt(1.0 + a * (u < 0 ? -u : u)); });
    }
    case 1: {
      const double a = random.uniform(0.3, 0.6);
      return apply([=](double u) {
        const double e = portable::exp(a * u);
        return 0.5 * (e - 1.0 / e) / a;
      });
    }
    case 2: {
      const double a = random.uniform(0.05, 0.3);
      return apply([=](double u) { return u + a * (u * u * u); });
    }
    default: {
      const double a = random.uniform(1.0, 3.0);
      return apply([=](double u) { return 0.25 * u + 4.0 * portable::sigmoid(a * u); });
    }
  }
}

// x_j = (b + Σ_i s_ij h_ij(x_i)) · exp(σ ε): basal production b in [0.1, 0.3], strengths s in [1, 3], and h the Hill
// function r^n/(1 + r^n) of an activator or 1/(1 + r^n) of a repressor, with r = x_i/K, n among 1, 2, 4 and the
// half-saturation K within a factor of 0.7 to 1.4 of the parent's median, where regulation is neither off nor
// saturated. ε is the noise, centred and scaled to variance 1; σ is 0.3, and 0.7 for genes without regulators, which
// answer to what is not measured.
void gene(const Inputs& in, const std::vector<double>& signs, Noise distribution, double* x) {
  const double scale = in.parents.empty() ? 0.7 : 0.3;
  const Moments noise = moments(distribution);
  for (Index i = 0; i < in.rows; ++i) x[i] = scale * ((x[i] - noise.mean) / noise.deviation);
  portable::exp(x, in.rows);

  Random random(in.key.split(kFunction));
  const double basal = in.parents.empty() ? 1.0 : random.uniform(0.1, 0.3);
  std::vector<double> production(static_cast<std::size_t>(in.rows), basal);
  for (std::size_t k = 0; k < in.parents.size(); ++k) {
    const double* parent = in.parents[k];
    const double strength = random.uniform(1.0, 3.0);
    const double half = median(parent, in.rows) * random.uniform(0.7, 1.4);
    const int exponent = 1 << random.below(3);
    for (Index i = 0; i < in.rows; ++i) {
      const double power = integer_power(parent[i] / half, exponent);
      production[static_cast<std::size_t>(i)] += strength * ((signs[k] > 0 ? power : 1.0) / (1.0 + power));
    }
  }
  for (Index i = 0; i < in.rows; ++i) x[i] *= production[static_cast<std::size_t>(i)];
}

}  // namespace fansite::equations
