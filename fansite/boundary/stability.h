// SPDX-License-Identifier: Apache-2.0
//
// In how many resamples of the rows would a member of a Gaussian boundary be found?
#pragma once

#include "fansite/boundary/search.h"
#include "fansite/table/covariance.h"
#include "fansite/table/dataset.h"

namespace fansite {

/// Fills in `stability` of the members that have none: the share of 100 resamples of the rows (bootstrap, Poisson
/// weights; of groups where there are any) in which the pair's partial correlation, given the smaller of both
/// boundaries as found, has a p-value up to the threshold of the search. So it is how much a member hangs on which rows
/// there are, the sets beside it staying as they are. Nothing is filled in where the threshold is not known, cells are
/// missing or columns are not plain numbers, or more than 2·10⁷ rows times members would be looked at.
void add_stability(const Dataset& data, const Covariance& covariance, Boundaries& found);

}  // namespace fansite
