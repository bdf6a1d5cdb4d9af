// SPDX-License-Identifier: Apache-2.0
#include "fansite/entropy/neural/estimators.h"

#include <algorithm>

#include "fansite/entropy/neural/fit.h"

namespace fansite::neural {
namespace {

constexpr int kWide = 100;  // variables, from which on networks have their published sizes

// The recipe and the setter of a row are the same for all but the network itself.
template <class P, class Make>
NetworkKind kind_of(const Make& make) {
  NetworkKind kind;
  kind.parameters = P();
  kind.recipe = [make](const Parameters& parameters) {
    const P& params = parameters.as<P>();
    Recipe recipe;
    recipe.networks = params.networks;
    recipe.train = params.train;
    recipe.network = [params, make](int variables) { return make(params, variables); };
    return recipe;
  };
  kind.set = [](Parameters& parameters, NetworksParams networks, std::int64_t steps) {
    P& params = parameters.as<P>();
    params.networks = networks;
    params.train.steps = steps;
  };
  return kind;
}

template <class P>
Describe<P>& with_subsets(Describe<P>& list) {
  return list.field(
      "subsets", [](auto& p) -> auto& { return p.train.subsets; },
      "which subsets are drawn: leaf (as the paper) or non_leaf");
}

}  // namespace

// ---- NAF ------------------------------------------------------------------------------------------------------------

const Description& NafParams::description() {
  using P = NafParams;
  static const Description list = [] {
    Describe<P> all;
    all.part(&P::networks, NetworksParams::description())
        .field("blocks", &P::blocks, "hidden units of each rank", from_to(1, 1024))
        .field("outputs", &P::outputs, "of each variable; 0: 20, or 16 from 100 variables on", from_to(0, 1024))
        .field("sigmoids", &P::sigmoids, "in the map of each variable", from_to(1, 16))
        .part(&P::train, NetworkTrainParams::description());
    return with_subsets(all).done();
  }();
  return list;
}

flow::Shape shape_of(const NafParams& params, int variables) {
  flow::Shape shape;
  shape.variables = variables;
  shape.blocks = params.blocks;
  shape.ranks = variables - 1;
  shape.outputs = params.outputs > 0 ? params.outputs : variables < kWide ? 20 : 16;
  shape.sigmoids = params.sigmoids;
  return shape;
}

NafParams published_naf(int variables, Index rows) {
  NafParams params;
  params.networks.folds = 1;
  params.train.batch = variables < kWide ? 64 : 256;
  params.train.steps = 5000 * ((rows + params.train.batch - 1) / params.train.batch);
  params.train.learning_rate = 5e-4;
  params.train.decay = Decay::constant;
  params.train.held_out = 0;
  params.train.patience = 0;
  return params;
}

EstimatorMethod naf_estimator() {
  NetworkKind kind = kind_of<NafParams>([](const NafParams& params, int variables) {
    return std::unique_ptr<SubsetNetwork<float>>(std::make_unique<Naf<float>>(shape_of(params, variables)));
  });
  kind.name = "naf";
  kind.summary = "an ensemble of neural autoregressive flows masked for subsets; continuous columns";
  kind.citation = "Huang, Krueger, Lacoste and Courville, Neural Autoregressive Flows, ICML 2018";
  return network_estimator(std::move(kind));
}

// ---- BNAF -----------------------------------------------------------------------------------------------------------

const Description& BnafParams::description() {
  using P = BnafParams;
  static const Description list = [] {
    Describe<P> all;
    all.part(&P::networks, NetworksParams::description())
        .field("width", &P::width, "hidden units of each variable", from_to(1, 1024))
        .field("layers", &P::layers, "hidden layers of a flow", from_to(1, 64))
        .field("flows", &P::flows, "one after the other, all but the last gated", from_to(1, 64))
        .part(&P::train, NetworkTrainParams::description())
        .field(
            "plateau", [](auto& p) -> auto& { return p.train.plateau; },
            "evaluations without improvement before the rate is halved, with --decay plateau", at_least(1))
        .field(
            "amsgrad", [](auto& p) -> auto& { return p.train.amsgrad; },
            "Adam divides by the largest mean square so far")
        .field("polyak", [](auto& p) -> auto& { return p.train.polyak; },
               "densities are of a running mean of the weights that keeps so much each step; 0: of the weights",
               {.least = 0, .most = 1, .most_itself = false});
    return with_subsets(all).done();
  }();
  return list;
}

BnafShape shape_of(const BnafParams& params, int variables) {
  return {variables, params.width, params.layers, params.flows};
}

EstimatorMethod bnaf_estimator() {
  NetworkKind kind = kind_of<BnafParams>([](const BnafParams& params, int variables) {
    return std::unique_ptr<SubsetNetwork<float>>(std::make_unique<Bnaf<float>>(shape_of(params, variables)));
  });
  kind.name = "bnaf";
  kind.summary = "an ensemble of block neural autoregressive flows masked for subsets; continuous columns";
  kind.citation = "De Cao, Titov and Aziz, Block Neural Autoregressive Flow, UAI 2019";
  return network_estimator(std::move(kind));
}

// ---- ACE ------------------------------------------------------------------------------------------------------------

const Description& AceParams::description() {
  using P = AceParams;
  static const Description list =
      Describe<P>()
          .part(&P::networks, NetworksParams::description())
          .field("hidden", &P::hidden, "units of the proposal's layers; 0: 128, or 512 from 100 variables on",
                 from_to(0, 8192))
          .field("residual_blocks", &P::blocks, "of the proposal; 0: 2, or 4 from 100 variables on", from_to(0, 64))
          .field("components", &P::components, "normal distributions in each proposal", from_to(1, 1024))
          .field("context_size", &P::context, "numbers that the energy is told of what is given", from_to(1, 4096))
          .field("energy_hidden", &P::energy_hidden,
                 "units of the energy's layers; 0: 64, or 128 from 100 variables on", from_to(0, 8192))
          .field("energy_blocks", &P::energy_blocks, "of the energy; 0: 2, or 4 from 100 variables on", from_to(0, 64))
          .field("samples", &P::samples, "of the proposal that a density is normalised by; few make entropies too low",
                 from_to(1, 100000))
          .field("energy_terms", &P::energy_terms, "variables of a row that the energy learns from each time; 0: all",
                 at_least(0))
          .field("warm_up", &P::warm_up, "steps before the energy is trained, a quarter of all at most", at_least(0))
          .field("dropout", &P::dropout, "share of inner units that a step leaves out",
                 {.least = 0, .most = 1, .most_itself = false})
          .part(&P::train, NetworkTrainParams::description())
          .done();
  return list;
}

AceShape shape_of(const AceParams& params, int variables) {
  const bool wide = variables >= kWide;
  const auto or_else = [&](int size, int small, int published) { return size > 0 ? size : wide ? published : small; };
  return {.variables = variables,
          .hidden = or_else(params.hidden, 128, 512),
          .blocks = or_else(params.blocks, 2, 4),
          .components = params.components,
          .context = params.context,
          .energy_hidden = or_else(params.energy_hidden, 64, 128),
          .energy_blocks = or_else(params.energy_blocks, 2, 4),
          .samples = params.samples,
          .energy_terms = params.energy_terms,
          .warm_up = std::min(static_cast<double>(params.warm_up), 0.25 * static_cast<double>(params.train.steps)),
          .dropout = params.dropout};
}

EstimatorMethod ace_estimator() {
  NetworkKind kind = kind_of<AceParams>([](const AceParams& params, int variables) {
    return std::unique_ptr<SubsetNetwork<float>>(std::make_unique<Ace<float>>(shape_of(params, variables)));
  });
  kind.name = "ace";
  kind.summary =
      "an ensemble of energy-based conditional densities, whose entropies are too low by sampling; "
      "continuous columns";
  kind.citation = "Strauss and Oliva, Arbitrary Conditional Distributions with Energy, NeurIPS 2021";
  kind.warning =
      "[ace] densities are normalised by a mean over samples, whose logarithm is too small on average: entropies are "
      "somewhat too low; more --samples make that less";
  return network_estimator(std::move(kind));
}

}  // namespace fansite::neural
