// SPDX-License-Identifier: Apache-2.0
//
// fansite/flow/: the settings of networks and where they are kept.
#include "fansite/entropy/flow/ensemble.h"
#include "fansite/entropy/flow/model_file.h"
#include "src/bindings.h"

namespace fansite::python {

void bind_flow(nb::module_& m) {
  using flow::EnsembleParams;
  using flow::ModelFiles;
  using flow::TrainParams;
  nb::class_<ModelFiles>(m, "ModelFiles", "Where trained networks are kept; an empty path is nowhere.")
      .def_rw("model", &ModelFiles::model)
      .def_rw("save_model", &ModelFiles::save_model)
      .def_rw("checkpoint", &ModelFiles::checkpoint);
  nb::class_<TrainParams> train(m, "TrainParams", "How a network is trained.");
  train.def_rw("steps", &TrainParams::steps)
      .def_rw("batch", &TrainParams::batch)
      .def_rw("learning_rate", &TrainParams::learning_rate)
      .def_rw("held_out", &TrainParams::held_out)
      .def_rw("patience", &TrainParams::patience);
  def_choice(train, "base", &TrainParams::base, flow::parse_base);
  def_choice(train, "schedule", &TrainParams::schedule, flow::parse_schedule);
  nb::class_<EnsembleParams> ensemble(m, "EnsembleParams", "How many networks are trained, and on which rows.");
  ensemble.def_rw("folds", &EnsembleParams::folds)
      .def_rw("repeats", &EnsembleParams::repeats)
      .def_rw("blocks", &EnsembleParams::blocks)
      .def_rw("train", &EnsembleParams::train)
      .def_rw("seed", &EnsembleParams::seed);
  def_choice(ensemble, "transform", &EnsembleParams::transform, parse_transform);
}

}  // namespace fansite::python
