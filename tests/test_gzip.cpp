// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fansite/base/error.h"
#include "fansite/table/csv.h"
#include "fansite/table/detail/gzip.h"
#include "gzip_writer.h"
#include "support.h"

namespace fansite {
namespace {

using testing::HasSubstr;

std::string error_of(const std::string& packed) {
  try {
    gunzip(packed, "t.csv.gz");
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

std::string long_text() {
  std::string text = "a,b\n";
  for (int row = 0; row < 100000; ++row) text += fmt::format("{},{}\n", row * 7919 % 10007, row);
  return text;
}

TEST(Gzip, UnpacksWhatWasPacked) {
  for (const std::string& text : {std::string(), std::string("a,b\n1,2\n"), long_text()}) {
    EXPECT_TRUE(is_gzip(gzipped(text)));
    EXPECT_EQ(gunzip(gzipped(text), "t"), text);
  }
  EXPECT_FALSE(is_gzip("a,b\n"));
  EXPECT_EQ(gunzip_beginning(gzipped(long_text()).substr(0, 2000), 100), long_text().substr(0, 100));
  EXPECT_EQ(gunzip_beginning("\x1F\x8Bnothing", 100), "");
}

TEST(Gzip, SeveralPackedOneAfterTheOtherAreOne) {
  EXPECT_EQ(gunzip(gzipped("a,b\n") + gzipped("1,2\n") + std::string(512, '\0'), "t"), "a,b\n1,2\n");
}

TEST(Gzip, WhatIsCutShortOrDamagedIsRefusedInOneSentence) {
  const std::string packed = gzipped(long_text());
  for (const std::size_t length : {std::size_t{2}, std::size_t{10}, packed.size() / 2, packed.size() - 1}) {
    EXPECT_EQ(error_of(packed.substr(0, length)),
              "[gunzip] t.csv.gz ends before its packed text does: it was cut short. Copy or pack it again.");
  }
  std::string damaged = packed;
  damaged[packed.size() / 2] = static_cast<char>(damaged[packed.size() / 2] ^ 0x55);
  EXPECT_THAT(error_of(damaged), HasSubstr("is damaged and cannot be unpacked"));
  std::string other_sum = packed;
  other_sum[packed.size() - 6] = static_cast<char>(other_sum[packed.size() - 6] ^ 1);
  EXPECT_THAT(error_of(other_sum), HasSubstr("is damaged"));
  EXPECT_THAT(error_of(packed + "junk"), HasSubstr("is damaged"));
}

TEST(Gzip, FewBytesDoNotFillTheMemory) {
  const std::string row(1000, '1');
  std::string text = "a\n";
  while (text.size() < (std::size_t{1} << 28) + 100000) text += row + '\n';
  EXPECT_THAT(error_of(gzipped(text)), HasSubstr("unpacks to more than 250 times its size"));
}

TEST(Gzip, WhatIsNoTableIsRefusedEarly) {
  std::size_t longest = 0;
  const auto look = [&](std::string_view beginning) {
    longest = std::max(longest, beginning.size());
    check_beginning(beginning, "t");
  };
  EXPECT_THROW(gunzip(gzipped(std::string(1 << 24, '\0')), "t", look), DataError);
  EXPECT_LE(longest, std::size_t{1} << 17);
}

TEST(Gzip, CanBeStopped) {
  const Impatient stopped;
  EXPECT_THROW(gunzip(gzipped(long_text()), "t", {}, &stopped), Interrupted);
}

}  // namespace
}  // namespace fansite
