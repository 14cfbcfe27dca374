// SPDX-License-Identifier: Apache-2.0
#include "profiler/onednn/milliseconds.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

struct Row {
  std::string_view text;
  std::int64_t nanoseconds;
};

TEST(Milliseconds, AreExact) {
  for (const auto& [text, nanoseconds] : {Row{"20.7539", 20'753'900},
                                          {"20,7539", 20'753'900},
                                          {"0.0100098", 10'010},  // rounded from 10009.8
                                          {"0", 0},
                                          {"1e-05", 10},
                                          {"1e-06", 1},
                                          {"5e-07", 1},
                                          {"4.9e-07", 0},
                                          {"1e-30", 0},
                                          {"2.5e+06", 2'500'000'000'000},
                                          {"138.439", 138'439'000},
                                          {".5", 500'000},
                                          {"7.", 7'000'000},
                                          {"1795264483859.837891", 1'795'264'483'859'837'891},
                                          {"0e999", 0}}) {
    const auto parsed = parse_milliseconds(text);
    ASSERT_TRUE(parsed.has_value()) << text;
    EXPECT_EQ(parsed->count(), nanoseconds) << text;
  }
}

TEST(Milliseconds, RefuseWhatIsNoTime) {
  for (const std::string_view text :
       {"", ".", "-1", "+1", "nan", "inf", "1e", "1e+", "1e1.5", "1 ", " 1", "1.2.3", "0x10",
        "1e999", "1e13", "99999999999999999999", "9223372036854775807", "1e0005", "2.4e12"}) {
    EXPECT_FALSE(parse_milliseconds(text).has_value()) << text;
  }
}

TEST(Microseconds, OfATraceKeepAllDigits) {
  for (const auto& [text, nanoseconds] :
       {Row{"5104228899061.655", 5'104'228'899'061'655},  // a double has 5104228899061.6553
        Row{"1666382280874284.123", 1'666'382'280'874'284'123},
        Row{"1666382280874284.1234999999", 1'666'382'280'874'284'123},
        Row{"1666382280874284", 1'666'382'280'874'284'000}, Row{"0.0005", 1}, Row{"3.007", 3'007},
        Row{"1.5e3", 1'500'000}}) {
    const auto parsed = parse_decimal_microseconds(text);
    ASSERT_TRUE(parsed.has_value()) << text;
    EXPECT_EQ(parsed->count(), nanoseconds) << text;
  }
  for (const std::string_view text : {"", "-1", "NaN", "1666382280874284123456"}) {
    EXPECT_FALSE(parse_decimal_microseconds(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace bench
