// SPDX-License-Identifier: Apache-2.0
#include "cli/boundaries_options.h"

namespace fansite::cli {

void BoundariesOptions::add_to(CLI::App& command) {
  SearchParams& search = params_.search;
  table.add_to(command);
  command.add_option("--target", params_.targets, "a variable to find the boundary of (repeatable); default: all")
      ->allow_extra_args(false);
  command
      .add_option("--estimator", estimator_,
                  "of the entropies: gaussian (linear relations), flow (any), or auto (by a test of the data)")
      ->capture_default_str();
  command.add_option("--effort", effort_, "flow: quick (a first look), normal or thorough")->capture_default_str();
  command.add_option("--repeats", params_.repeats, "flow: networks for each part of the rows; 0: by effort")
      ->capture_default_str();
  command
      .add_option("--folds", params_.folds,
                  "flow: each network leaves one of so many parts of the rows out; 0: by effort")
      ->capture_default_str();
  command.add_option("--steps", params_.steps, "flow: training steps of each network; 0: by effort")
      ->capture_default_str();
  command.add_option("--model", params_.files.model, "flow: use this trained model instead of training one");
  command.add_option("--save-model", params_.files.save_model, "flow: keep the trained model in this file");
  command.add_option("--checkpoint", params_.files.checkpoint,
                     "flow: keep the run's state in this file, and continue from it if it is there; default: beside "
                     "--out, see --resume");
  command.add_option("--stop", stop_, "calibrated (by the data, see --fdr) or paper (by --eps-grow, --eps-shrink)")
      ->capture_default_str();
  command.add_option("--fdr", search.fdr, "calibrated: the share of false members to accept")->capture_default_str();
  command.add_option("--eps-grow", search.eps_grow, "paper: a gain up to this many nats is a miss")
      ->capture_default_str();
  command.add_option("--eps-shrink", search.eps_shrink, "paper: a member worth up to this many nats goes")
      ->capture_default_str();
  command
      .add_option("--patience,--rho", search.patience,
                  "misses in a row before growing stops; -1: 15, or 6 for calibrated flows, 1 if quick")
      ->capture_default_str();
  command.add_option("--max-size", search.max_size, "largest set while growing; 0: what the rows allow")
      ->capture_default_str();
  command.add_option("--rule", rule_, "symmetry: or (one search may propose), and (both must), none")
      ->capture_default_str();
  command.add_option("--knowledge", knowledge_,
                     "a file of edges that must or cannot be, tiers, roots, sinks, members (docs/knowledge.md)");
  command
      .add_option("--refine", refine_,
                  "graph (boundaries as a causal graph sees them), none, or auto (flow: if noise adds)")
      ->capture_default_str();
  command.add_option("--seed", params_.seed, "of every random choice; kept in the result")
      ->check(refuse_bad_seed, "")
      ->capture_default_str();
}

BoundariesParams BoundariesOptions::parsed() const {
  BoundariesParams result = params_;
  result.estimator = parse_estimator(estimator_);
  result.effort = parse_effort(effort_);
  result.search.stop = parse_stop_rule(stop_);
  result.search.rule = parse_symmetry(rule_);
  result.refine = parse_refine(refine_);
  validate(result.search);
  return result;
}

Knowledge BoundariesOptions::load_knowledge(const Dataset& data) const {
  return knowledge_.empty() ? Knowledge() : fansite::load_knowledge(knowledge_, data.names);
}

}  // namespace fansite::cli
