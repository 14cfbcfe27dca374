// SPDX-License-Identifier: Apache-2.0
#include "profiler/onednn/log_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::Optional;
using namespace std::string_literals;

std::string cleaned(const std::string& line) {
  std::string buffer;
  return std::string(clean_log_line(line, buffer));
}

TEST(LogText, OnlyCharactersOfTheProgramRemain) {
  EXPECT_EQ(cleaned("\x1b[32mdnnl_verbose,\x1b[01;31m\x1b[Kexec\x1b[m\x1b[K,1\x1b[0m"),
            "dnnl_verbose,exec,1");
  EXPECT_EQ(cleaned("\x1b]0;title\adnnl\x1b(B"), "dnnl(B");  // an unknown sequence loses ESC only
  EXPECT_EQ(cleaned("a\0b\xc2\xa0"s + "c&nbsp;d\xe2\x80\x8b,\xef\xbb\xbf" + "e"), "ab c d,e");
  EXPECT_EQ(cleaned("\x1b["), "[");
  EXPECT_EQ(cleaned("gr\xc3\xbc\xc3\x9f & co"), "gr\xc3\xbc\xc3\x9f & co");
  std::string buffer;
  const std::string plain = "dnnl_verbose,exec";
  EXPECT_EQ(clean_log_line(plain, buffer).data(), plain.data());  // not copied
}

TEST(LogText, LinesInJsonObjectsAreThoseOfTheFirstRecordsMember) {
  JsonLogLines lines;
  EXPECT_EQ(lines.unpack(R"({"log":"epoch 1\n","stream":"stdout"})"), std::nullopt);
  EXPECT_THAT(lines.unpack(R"({"log":"dnnl_verbose,info,a\n","stream":"stdout"})"),
              Optional(ElementsAre("dnnl_verbose,info,a")));
  EXPECT_THAT(lines.unpack(R"( {"stream":"stdout","log":"epoch 2\n"})"),
              Optional(ElementsAre("epoch 2")));
  EXPECT_EQ(lines.unpack(R"({"stream":"stdout"})"), std::nullopt);
  EXPECT_EQ(lines.unpack("dnnl_verbose,exec,cpu"), std::nullopt);
  EXPECT_EQ(lines.unpack(R"({"log":"dnnl_verbose,)"), std::nullopt);  // not JSON
  JsonLogLines nested;
  EXPECT_THAT(nested.unpack(R"({"a":{"b":"x\ndnnl_verbose,info,b"},"c":1})"),
              Optional(ElementsAre("x", "dnnl_verbose,info,b")));
}

TEST(LogText, FindsWhatClosesARecord) {
  struct ClosingRow {
    std::string text;
    std::size_t size;
  };
  for (const ClosingRow& row : {ClosingRow{"", 0},
                                {"0.25", 0},
                                {"0.25ms", 0},
                                {"0.25\"", 1},
                                {"0.25\\n", 2},
                                {"0.25</code>", 7},
                                {"0.25&quot;", 6},
                                {"0.25;", 1},
                                {"0.25 |", 1},
                                {"0.25 >", 0}}) {
    EXPECT_EQ(closing_size(row.text), row.size) << row.text;
  }
}

}  // namespace
}  // namespace bench
