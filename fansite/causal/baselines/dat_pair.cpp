// SPDX-License-Identifier: Apache-2.0
#include "fansite/causal/baselines/dat_pair.h"

#include <algorithm>
#include <cmath>

#include "fansite/base/adam.h"
#include "fansite/base/error.h"
#include "fansite/base/special.h"

namespace fansite::causal {
namespace {

NetworkShape with_one_more(NetworkShape shape) {
  ++shape.inputs;
  return shape;
}

template <class Real>
Real sigmoid(Real logit) {
  return static_cast<Real>(portable::sigmoid(static_cast<double>(logit)));
}

template <class Values>
double mean_square(const Values& values) {
  return values.template cast<double>().squaredNorm() / static_cast<double>(values.cols());
}

}  // namespace

double heavy_laplace(double uniform) {
  const double size = -portable::log(2 * std::min(uniform, 1 - uniform) + 1e-10);
  const double heavy = size > 1 ? portable::exp(1.1 * portable::log(size)) : size;
  return uniform < 0.5 ? -heavy : heavy;
}

// ---- The two networks -----------------------------------------------------------------------------------------------

template <class Real>
PairNetworks<Real>::PairNetworks(const NetworkShape& shape, int rows)
    : first_(shape, rows),
      second_(with_one_more(shape), rows),
      logits_(static_cast<std::size_t>(shape.inputs), 0),
      by_logits_(logits_.size(), 0),
      inputs_(shape.inputs + 1, rows),
      residual_(2, rows) {}

template <class Real>
std::vector<double> PairNetworks<Real>::psi() const {
  std::vector<double> values;
  for (const Real logit : logits_) values.push_back(static_cast<double>(sigmoid(logit)));
  return values;
}

template <class Real>
typename PairNetworks<Real>::Losses PairNetworks<Real>::forward(const PairBatch<Real>& batch, Random& first_masks,
                                                                Random& second_masks) {
  const Index members = batch.members.rows();
  Eigen::Array<Real, Eigen::Dynamic, 1> psi(members);
  for (Index k = 0; k < members; ++k) psi(k) = sigmoid(logits_[static_cast<std::size_t>(k)]);
  for (Index row = 0; row < inputs_.cols(); ++row) {
    inputs_.col(row).head(members).array() =
        psi * batch.members.col(row).array() + (1 - psi) * batch.noise.col(row).array();
  }
  inputs_.row(members) = batch.x;
  const Values& predicted = first_.forward(inputs_.topRows(members), first_masks);
  residual_.row(0) = batch.y - predicted.row(0);
  residual_.row(1) = residual_.row(0).array().square().matrix() - predicted.row(1);
  second_outputs_ = second_.forward(inputs_, second_masks);
  return {mean_square(residual_), mean_square(Values(residual_ - second_outputs_))};
}

// By r the difference of the losses has the derivative 2r − 2(r − h) = 2h, by network 2's outputs h 2(r − h), each over
// the number of rows; r falls as network 1's outputs rise.
template <class Real>
std::span<const Real> PairNetworks<Real>::backward_to_logits(const PairBatch<Real>& batch) {
  const Index members = batch.members.rows();
  const auto share = static_cast<Real>(2.0 / static_cast<double>(residual_.cols()));
  const Values by_first = -share * second_outputs_, by_second = share * (residual_ - second_outputs_);
  Values by_mixture = first_.backward_to_inputs(by_first);
  by_mixture += second_.backward_to_inputs(by_second).topRows(members);
  for (Index k = 0; k < members; ++k) {
    const Real by_psi = by_mixture.row(k).dot(batch.members.row(k) - batch.noise.row(k));
    const Real psi = sigmoid(logits_[static_cast<std::size_t>(k)]);
    by_logits_[static_cast<std::size_t>(k)] = by_psi * psi * (1 - psi);
  }
  return by_logits_;
}

template <class Real>
void PairNetworks<Real>::backward_to_networks() {
  const auto share = static_cast<Real>(-2.0 / static_cast<double>(residual_.cols()));
  const Values by_first = share * residual_, by_second = share * (residual_ - second_outputs_);
  first_.backward_to_parameters(by_first);
  second_.backward_to_parameters(by_second);
}

template class PairNetworks<float>;
template class PairNetworks<double>;

// ---- Training -------------------------------------------------------------------------------------------------------

namespace {

enum Stream : std::uint64_t { kFirst, kSecond, kFirstMasks, kSecondMasks, kNoise };

class PairTraining {
 public:
  PairTraining(const RowBatches& table, const OrderedPair& pair, const RegressorParams& params, Key key)
      : table_(table),
        pair_(pair),
        rate_(params.rate),
        key_(key),
        cursor_(table),
        networks_(params.shape(static_cast<int>(pair.members.size())), table.batch()),
        logits_adam_(networks_.logits().size(), AdamRates{.beta1 = 0.9, .beta2 = 0.9}),
        first_adam_(networks_.first().parameters().size()),
        second_adam_(networks_.second().parameters().size()) {
    const auto members = static_cast<Index>(pair.members.size());
    batch_.members.resize(members, table.batch());
    batch_.noise.resize(members, table.batch());
    batch_.x.resize(table.batch());
    batch_.y.resize(table.batch());
    Random first(key.split(kFirst)), second(key.split(kSecond));
    initialise(networks_.first().shape(), first, networks_.first().parameters());
    initialise(networks_.second().shape(), second, networks_.second().parameters());
  }

  // L1 − L2 of this step's batch.
  double forward(int step) {
    fill(step);
    const auto masks = [&](Stream stream) {
      return Random(key_.split(stream).split(static_cast<std::uint64_t>(step)));
    };
    Random first = masks(kFirstMasks), second = masks(kSecondMasks);
    const auto losses = networks_.forward(batch_, first, second);
    check_data(std::isfinite(losses.first) && std::isfinite(losses.second),
               "[dat] the losses of a pair are not finite after {} steps; use a smaller --dat-rate", step);
    return losses.first - losses.second;
  }

  void train(int step) {
    forward(step);
    if (step % 2 == 0) {
      logits_adam_.step(networks_.logits(), networks_.backward_to_logits(batch_), rate_);
      return;
    }
    networks_.backward_to_networks();
    first_adam_.step(networks_.first().parameters(), networks_.first().gradient(), rate_);
    second_adam_.step(networks_.second().parameters(), networks_.second().gradient(), rate_);
  }

  std::vector<double> psi() const { return networks_.psi(); }

 private:
  void fill(int step) {
    const std::span<const int> rows = cursor_.rows(step);
    Random noise(key_.split(kNoise).split(static_cast<std::uint64_t>(step)));
    for (Index row = 0; row < batch_.members.cols(); ++row) {
      const auto values = table_.values().col(rows[static_cast<std::size_t>(row)]);
      for (Index k = 0; k < batch_.members.rows(); ++k) {
        const int member = pair_.members[static_cast<std::size_t>(k)];
        batch_.members(k, row) = member < 0 ? 0 : values(member);
        const double uniform = (static_cast<double>(noise.bits()) + 0.5) * 0x1p-32;
        batch_.noise(k, row) = static_cast<float>(0.5 * heavy_laplace(uniform));
      }
      batch_.x(row) = values(pair_.i);
      batch_.y(row) = values(pair_.j);
    }
  }

  const RowBatches& table_;
  const OrderedPair& pair_;
  double rate_;
  Key key_;
  RowBatches::Cursor cursor_;
  PairNetworks<float> networks_;
  Adam<float> logits_adam_, first_adam_, second_adam_;
  PairBatch<float> batch_;
};

}  // namespace

std::vector<double> test_pair(const RowBatches& table, const OrderedPair& pair, const RegressorParams& params,
                              int scoring, int steps, Key key, Progress& progress) {
  constexpr int kReportEvery = 10;
  PairTraining training(table, pair, params, key);
  const auto share = static_cast<double>(params.steps) / (static_cast<double>(params.steps) + scoring);
  const int trained = std::min(static_cast<int>(share * steps), steps - 1);
  double explained = 0;
  for (int step = 0; step < steps; ++step) {
    if (step < trained) {
      training.train(step);
    } else {
      explained += training.forward(step);
    }
    const int done = (step % kReportEvery) + 1;
    if (done < kReportEvery && step + 1 < steps) continue;
    progress.advance(done);
    throw_if_interrupted(progress);
    if (progress.out_of_time() && step + 1 < steps) return {};
  }
  std::vector<double> answer = {explained / (steps - trained)};
  const std::vector<double> psi = training.psi();
  answer.insert(answer.end(), psi.begin(), psi.end());
  return answer;
}

}  // namespace fansite::causal
