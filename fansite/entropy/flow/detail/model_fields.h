// SPDX-License-Identifier: Apache-2.0
//
// What a model or a checkpoint holds: one list for writing and for reading. Private to model_write.cpp, model_read.cpp
// and model_checks.cpp.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <type_traits>

#include "fansite/entropy/flow/ensemble.h"

namespace fansite::flow::model_format {

template <class T, class U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

/// A number that a header shows in hexadecimal digits.
template <class T>
struct Hex {
  T& number;
};
template <class T>
Hex(T&) -> Hex<T>;

template <class F, Is<Shape> T>
void fields(const F& field, T& shape) {
  field("variables", shape.variables);
  field("blocks", shape.blocks);
  field("ranks", shape.ranks);
  field("outputs", shape.outputs);
  field("sigmoids", shape.sigmoids);
}

template <class F, Is<TrainParams> T>
void fields(const F& field, T& train) {
  field("steps", train.steps);
  field("batch", train.batch);
  field("max_size", train.max_size);
  field("subsets", train.subsets);
  field("base", train.base);
  field("schedule", train.schedule);
  field("learning_rate", train.learning_rate);
  field("clip", train.clip);
  field("noise", train.noise);
  field("held_out", train.held_out);
  field("patience", train.patience);
  field("evaluate_every", train.evaluate_every);
}

template <class F, Is<EnsembleParams> T>
void fields(const F& field, T& params) {
  field("folds", params.folds);
  field("repeats", params.repeats);
  field("linear", params.linear);
  field("transform", params.transform);
  field("seed", params.seed);
  field("shape", params.shape);
  field("train", params.train);
}

template <class F, Is<ColumnTransform> T>
void fields(const F& field, T& transform) {
  field("kind", transform.kind);
  field("shift", transform.shift);
  field("scale", transform.scale);
  field("log_slope", transform.log_slope);
}

template <class F, Is<Factor> T>
void fields(const F& field, T& factor) {
  field("name", factor.name);
  field("levels", factor.levels);
  field("columns", factor.columns);
}

template <class F, Is<Network> T>
void fields(const F& field, T& network) {
  field("repeat", network.repeat);
  field("fold", network.fold);
  field("steps", network.trained.steps);
  field("kept_step", network.trained.kept_step);
  field("undone_steps", network.trained.undone_steps);
  field("order", network.order);
  field("curve", network.trained.curve);
}

template <class F, Is<Ensemble> T>
void fields(const F& field, T& ensemble) {
  field("variables", ensemble.names);
  field("factors", ensemble.factors);
  field("rows", ensemble.rows);
  field("data_hash", Hex{ensemble.data_hash});
  field("params", ensemble.params);
  field("transforms", ensemble.transforms);
  field("networks", ensemble.networks);
  int models = static_cast<int>(ensemble.linear.size());
  field("linear_models", models);
  // A damaged number must not ask for memory; that it is wrong shows in the checks.
  if constexpr (!std::is_const_v<T>) ensemble.linear.resize(static_cast<std::size_t>(std::clamp(models, 0, 1000)));
}

template <class F, Is<Training::State> T>
void fields(const F& field, T& state) {
  field("step", state.step);
  field("kept_step", state.kept_step);
  field("undone", state.undone);
  field("undone_in_a_row", state.undone_in_a_row);
  field("waited", state.waited);
  field("best_loss", state.best_loss);
  field("loss_sum", state.loss_sum);
  field("loss_count", state.loss_count);
  field("stopped", state.stopped);
  field("learner_steps", state.learner.steps);
  field("backup_steps", state.backup.steps);
  field("curve", state.curve);
}

template <class A, Is<Ensemble> T>
void arrays(const A& array, T& ensemble) {
  for (std::size_t j = 0; j < ensemble.transforms.size(); ++j) {
    if (ensemble.transforms[j].kind != TransformKind::rank) continue;
    array(fmt::format("transforms/{}/x", j), ensemble.transforms[j].x);
    array(fmt::format("transforms/{}/z", j), ensemble.transforms[j].z);
    array(fmt::format("transforms/{}/low", j), ensemble.transforms[j].low);
    array(fmt::format("transforms/{}/high", j), ensemble.transforms[j].high);
  }
  for (std::size_t r = 0; r < ensemble.fold_of_row.size(); ++r) {
    array(fmt::format("fold_of_row/{}", r), ensemble.fold_of_row[r]);
  }
  for (std::size_t m = 0; m < ensemble.networks.size(); ++m) {
    array(fmt::format("networks/{}/weights", m), ensemble.networks[m].trained.weights.values);
    array(fmt::format("networks/{}/base", m), ensemble.networks[m].trained.base);
  }
  for (std::size_t fold = 0; fold < ensemble.linear.size(); ++fold) {
    array(fmt::format("linear/{}", fold), ensemble.linear[fold]);
  }
  array("linear_share", ensemble.linear_share.share);
}

template <class A, Is<Training::State> T>
void arrays(const A& array, T& state) {
  array("learner/weights", state.learner.weights);
  array("learner/mean", state.learner.mean);
  array("learner/square", state.learner.square);
  array("backup/weights", state.backup.weights);
  array("backup/mean", state.backup.mean);
  array("backup/square", state.backup.square);
  array("best", state.best);
}

template <class T>
concept HasFields = requires(T& value, void (*ignore)(const char*, ...)) {
  fields(ignore, value);
};

}  // namespace fansite::flow::model_format
