// SPDX-License-Identifier: Apache-2.0
#include "base/utc_time.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(UtcTimeTest, ADateMayHaveTheBeginningOfATime) {
  for (const char* text : {"2026-11-01", "2026-11-01T", "2026-11-01T08:00", "2024-02-29"})
    EXPECT_TRUE(is_utc_date(text)) << text;
  for (const char* text : {"", "2026-11", "2026-11-31", "2026-13-01", "26-11-01T08:00", "yesterday",
                           "2026-11-01 08:00", "2026-11-01T08:00:00Z "})
    EXPECT_FALSE(is_utc_date(text)) << text;
}

TEST(UtcTimeTest, ATimeIsComplete) {
  for (const char* text : {"2026-11-21T08:00:00Z", "1970-01-01T00:00:00Z", "2016-12-31T23:59:60Z"})
    EXPECT_TRUE(is_utc_time(text)) << text;
  for (const char* text : {"", "2026-11-21", "2026-11-21T08:00", "2026-11-21T08:00:00",
                           "2026-11-21T24:00:00Z", "2026-11-21T08:60:00Z", "2026-11-21T08:00:61Z",
                           "2026-02-29T08:00:00Z", "2026-11-21T08:00:00+01:00", "garbage"})
    EXPECT_FALSE(is_utc_time(text)) << text;
}

}  // namespace
}  // namespace bench
