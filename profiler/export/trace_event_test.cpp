// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/trace_event.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace bench {
namespace {

template <class Value>
std::string text(void (*append)(std::string&, Value), Value value) {
  std::string out;
  append(out, value);
  return out;
}

TEST(JsonText, StringsAreEscapedAndValid) {
  const auto string = [](std::string_view t) { return text(append_json_text, t); };
  EXPECT_EQ(string("plain"), R"("plain")");
  EXPECT_EQ(string("a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\n\\u0001\"");
  EXPECT_EQ(string("\u00e9"), "\"\u00e9\"");
  EXPECT_EQ(string("a\xff"), "\"a\ufffd\"");
  EXPECT_EQ(string(std::string_view("\0", 1)), "\"\\u0000\"");
}

TEST(JsonText, MicrosecondsKeepEveryNanosecond) {
  const auto time = [](std::int64_t t) { return text(append_microseconds, t); };
  EXPECT_EQ(time(0), "0");
  EXPECT_EQ(time(7), "0.007");
  EXPECT_EQ(time(1234567), "1234.567");
  EXPECT_EQ(time(1000), "1");
  EXPECT_EQ(time(1010), "1.010");
  EXPECT_EQ(time(-1), "-0.001");
  EXPECT_EQ(time(-2500), "-2.500");
  EXPECT_EQ(time(std::numeric_limits<std::int64_t>::max()), "9223372036854775.807");
}

TEST(JsonText, RealsReadBackTheSame) {
  EXPECT_EQ(text(append_json_real, 0.1), "0.1");
  EXPECT_EQ(std::stod(text(append_json_real, 1.0 / 3)), 1.0 / 3);
}

}  // namespace
}  // namespace bench
