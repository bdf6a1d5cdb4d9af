// SPDX-License-Identifier: Apache-2.0
//
// Causal graphs by additive noise: if x_j = f_j(parents) + noise, the true graph has the least entropies of residuals,
// and graphs with the same independences have larger ones. Search inside a given set of links, and what speaks for
// every edge and, apart, for its direction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fansite/base/parameters.h"
#include "fansite/base/progress.h"
#include "fansite/causal/additivity.h"
#include "fansite/causal/constraints.h"
#include "fansite/causal/graph_table.h"
#include "fansite/causal/hidden_causes.h"
#include "fansite/causal/linear_gaussian.h"
#include "fansite/causal/orientation.h"
#include "fansite/causal/regression.h"
#include "fansite/causal/residual_entropy.h"

namespace fansite::causal {

/// On which scale of the columns noise adds.
enum class NoiseScale {
  automatic,     ///< their own, unless it does not seem to add there and a graph explains more of normal scores
  original,      ///< their own
  normal_scores  ///< each column's ranks as those of a normal distribution, which undoes whatever monotone function
                 ///< came last
};
constexpr auto enum_names(NoiseScale) {
  return std::to_array<EnumName<NoiseScale>>({{NoiseScale::automatic, "auto"},
                                              {NoiseScale::original, "original"},
                                              {NoiseScale::normal_scores, "normal-scores"}});
}

/// What the functions of the parents are.
enum class EquationForm {
  automatic,  ///< kernels, unless nothing speaks against linear Gaussian equations: they have nothing to add then
  kernels,    ///< smooth, and noise of any distribution
  linear      ///< linear with Gaussian noise, in closed form
};
constexpr auto enum_names(EquationForm) {
  return std::to_array<EnumName<EquationForm>>(
      {{EquationForm::automatic, "auto"}, {EquationForm::kernels, "kernels"}, {EquationForm::linear, "linear"}});
}

struct AdditiveNoiseParams {
  EquationForm equations = EquationForm::automatic;
  NoiseDistribution noise = NoiseDistribution::any;
  NoiseScale scale = NoiseScale::automatic;
  /// What an edge must gain, in units of ln N / 2N nats a row: the penalty for one parameter (BIC). Residuals are
  /// honest already; this pays for having chosen.
  double penalty = 1;
  int max_parents = 10;
  /// A direction is decided if the best graph with the edge turned round is worse by this many standard errors.
  double confidence = 2.5;
  Index max_rows = 5000;  ///< rows used, drawn at random; 0: all
  int draws = 5;          ///< of missing cells; scores are means over them
  RegressionParams regression;
  std::uint64_t seed = 0;  ///< of landmarks and of the rows drawn
  /// A file that keeps the scores computed, every few seconds and when interrupted; "": none. Scores that are there
  /// already are not computed again, and the result has the same bits as without. The file stays for further searches
  /// of the table, and so does a second one, of normal scores, with ".scores" at the end of its name.
  std::string checkpoint;
  std::optional<std::uint64_t> values_hash = {};  ///< of the values, if it is known already
  /// The graph is of no use where noise does not add: if that is plain after a first climb, its graph is the result,
  /// without evidence for edges, and `given_up`.
  bool only_if_additive = false;

  static const Description& description();
};

/// Throws, before other work, what the search would: a DataError for a checkpoint that is damaged or something else, a
/// UsageError for one of another table or other settings and for a place that cannot be written.
void check_checkpoint(const GraphTable& table, const AdditiveNoiseParams& params);
inline void check_checkpoint(const MatrixView& values, const AdditiveNoiseParams& params) {
  check_checkpoint(GraphTable{values}, params);
}

/// A score difference in nats a row.
struct Evidence {
  double value = 0;
  double standard_error = 0;  ///< over rows
  double stability = 0;       ///< the share of 100 resamples of the rows in which it is positive
};

enum class DirectionBy {
  score,        ///< the data decide it
  collider,     ///< of the edges into a node with unlinked parents
  consequence,  ///< of others: else a cycle or another collider
  knowledge,    ///< it was given, or its opposite forbidden
  nothing       ///< undecided
};
constexpr auto enum_names(DirectionBy) {
  return std::to_array<EnumName<DirectionBy>>({{DirectionBy::score, "score"},
                                               {DirectionBy::collider, "collider"},
                                               {DirectionBy::consequence, "consequence"},
                                               {DirectionBy::knowledge, "knowledge"},
                                               {DirectionBy::nothing, "undecided"}});
}

struct GraphEdge {
  int from = 0, to = 0;  ///< undecided: the direction in `dag`
  Evidence existence;    ///< what the child's residuals lose without it
  Evidence direction;  ///< what the best graph with it turned round loses; infinite if that is forbidden, NaN if it is
                       ///< not known: time ran out, or an end is discrete and nothing else tells
  DirectionBy by = DirectionBy::nothing;
};

struct AdditiveNoiseResult {
  Dag dag;                            ///< the best graph found
  PartialDag partial = {};            ///< with the directions that are known
  std::vector<GraphEdge> edges = {};  ///< by `from`, then `to`
  Matrix weights = {};  ///< (i, j): evidence for i → j, in nats; that of an undecided edge is shared out
  NoiseScale scale = NoiseScale::original;  ///< the one used
  AdditivityTest additivity = {};
  LinearGaussianTest linearity = {};  ///< of the scale used; not tested: kernels were asked for, or too few rows
  bool linear = false;                ///< equations are linear and Gaussian, so the score decides colliders alone
  double score = 0;                   ///< Σ of entropies and penalties, nats a row
  long fits = 0;                      ///< regressions
  Index rows = 0;                     ///< used
  Index draws = 0;                    ///< of the missing cells; 0: none is missing
  std::vector<int> discrete = {};     ///< columns at which no score decides a direction
  /// Pairs of which the equations leave over what is related.
  std::vector<HiddenCause> hidden_causes = {};
  bool given_up = false;   ///< noise does not add, and only_if_additive was asked for
  bool cut_short = false;  ///< time ran out: there may be better graphs, and directions that were not weighed are open
};

/// Levels are children by a regression of their own (level_regression) and, without order, parents as indicators.
/// Between levels, and between levels and numbers, such equations fit either way round: only knowledge, colliders and
/// their consequences direct those edges, and those at a variable where a test refuses that noise adds. Missing cells
/// are drawn several times; a child's score is of the rows that have it.
AdditiveNoiseResult find_additive_noise_graph(const GraphTable& table, const GraphConstraints& constraints,
                                              const AdditiveNoiseParams& params, Progress& progress);
/// Of numbers.
inline AdditiveNoiseResult find_additive_noise_graph(const MatrixView& values, const GraphConstraints& constraints,
                                                     const AdditiveNoiseParams& params, Progress& progress) {
  return find_additive_noise_graph(GraphTable{values}, constraints, params, progress);
}

}  // namespace fansite::causal
