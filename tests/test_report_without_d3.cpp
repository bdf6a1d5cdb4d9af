// SPDX-License-Identifier: Apache-2.0
//
// A build without D3 has everything but the page (cmake/dependencies.cmake).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fansite/base/error.h"
#include "fansite/report/html.h"
#include "support.h"

namespace fansite {
namespace {

using testing::HasSubstr;

TEST(ReportWithoutD3, SaysWhatIsMissingAndHowToGetIt) {
  const std::string message = message_of<UsageError>([] { to_html({{"{}", "result.json"}}); });
  EXPECT_THAT(message, HasSubstr("[report] this fansite was built without D3"));
  EXPECT_THAT(message, HasSubstr("node-d3"));
  EXPECT_THAT(message, HasSubstr("FANSITE_D3"));
}

}  // namespace
}  // namespace fansite
