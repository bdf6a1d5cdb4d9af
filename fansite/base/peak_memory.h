// SPDX-License-Identifier: Apache-2.0
//
// The most memory that this process has had during a piece of work.
#pragma once

namespace fansite {

class PeakMemory {
 public:
  /// Linux begins to count anew, for whoever else looks at it too. Where it cannot, the count is of the whole process.
  PeakMemory();
  /// In MB, since then, with all that was there before.
  double megabytes() const;
};

}  // namespace fansite
