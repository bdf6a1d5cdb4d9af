// SPDX-License-Identifier: Apache-2.0
//
// The whole library, in dependency order.
#pragma once

// clang-format off
#include "fansite/version.h"
#include "fansite/error.h"
#include "fansite/progress.h"
#include "fansite/parallel.h"
#include "fansite/special.h"
#include "fansite/random.h"
#include "fansite/matrix.h"
#include "fansite/data.h"
#include "fansite/graph.h"
#include "fansite/simulate.h"
#include "fansite/metrics.h"
#include "fansite/covariance.h"
#include "fansite/entropy.h"
#include "fansite/gaussian.h"
#include "fansite/search.h"
#include "fansite/boundaries.h"
#include "fansite/report/json.h"
