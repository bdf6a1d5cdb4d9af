// SPDX-License-Identifier: Apache-2.0
//
// How strong must what the table does not hold be, to explain a member away?
#pragma once

#include "fansite/boundary/search.h"
#include "fansite/table/dataset.h"
#include "fansite/table/facts.h"

namespace fansite {

/// A hidden common cause that explains this share of what the other members leave over, of the target and of the member
/// alike, would explain away an information of so many nats between them (the robustness value of Cinelli and Hazlett,
/// 2020). With f² = r²/(1 − r²) and r² = 1 − e^(−2·information), the partial correlation of a normal distribution with
/// that information: ½ (√(f⁴ + 4f²) − f²).
double robustness_to_hidden_cause(double information);

/// The smallest share of measurement noise in the variance of each of the others that would explain away what two
/// normal variables have in common given them: with s of the variances of S noise, cov(T, z | S) = σ_Tz − Σ_TS (Σ_SS −
/// s·diag Σ_SS)⁻¹ Σ_Sz, and s is where it becomes 0. NaN: no share does. `correlation`: of T, z and then S.
double robustness_to_noise(const MatrixView& correlation);

/// The smallest share of measurement noise in the variance of a single one of the others that would do so, or that
/// would leave nothing of T or z for anything else to tell, since they follow that one so closely; infinite without
/// others. With P = Σ_SS⁻¹, a = P Σ_ST and b = P Σ_Sz, noise s in variable k of S adds −a_k b_k s / (1 − s P_kk) to
/// cov(T, z | S) and −a_k² s / (1 − s P_kk) to var(T | S). `correlation`: of T, z and then S.
double robustness_to_noise_in_one(const MatrixView& correlation);

/// Marks as fragile every member that a tenth of measurement noise in one other would explain away, and says how many
/// that are, if they are most of all; else 0, and nothing is marked. Columns that follow each other so closely are
/// common in exact simulations, too, so this is no sign of noise by itself.
int mark_close(const Dataset& data, const TableFacts& facts, Boundaries& found);

/// Fills in both for every member, on normal scores; what is nominal, or related without a correlation that can be told
/// from 0, has no robustness to noise.
void add_robustness(const Dataset& data, const TableFacts& facts, Boundaries& found);

/// What a member of this table typically explains of its target beside the others: the median of r² = 1 −
/// e^(−2·unique) over all members. 0: there are none.
double typical_strength(const Boundaries& found);

/// Marks as fragile the members that a hidden common cause no stronger than the typical member would explain away, and
/// those that a tenth of measurement noise in the others would. Causes that were measured are the yardstick for those
/// that were not (the benchmark of Cinelli and Hazlett, 2020); a typical member itself is never fragile by this.
void mark_weak(Boundaries& found);

}  // namespace fansite
