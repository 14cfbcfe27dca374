// SPDX-License-Identifier: Apache-2.0
#include "base/digits.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(FormatWithCommas, EveryThirdDigit) {
  EXPECT_EQ(format_with_commas(0), "0");
  EXPECT_EQ(format_with_commas(999), "999");
  EXPECT_EQ(format_with_commas(1000), "1,000");
  EXPECT_EQ(format_with_commas(2834161664), "2,834,161,664");
}

}  // namespace
}  // namespace bench
