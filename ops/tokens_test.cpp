// SPDX-License-Identifier: Apache-2.0
#include "ops/parameter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace bench::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using enum ParameterKind;

constexpr std::array<std::string_view, 3> kFunctions = {"max", "clip", "add"};

constexpr std::array<std::string_view, 3> kTypes = {"default", "s8", "u8"};

constexpr std::array<Parameter, 12> kTokenTable = {{
    {"function", "", word, "required", "what", 1, kFunctions},
    {"shape", "", shape, "optional", "sizes"},
    {"a", "a", shape, "optional", "sizes of the first operand"},
    {"n", "n", count, "1", "images"},
    {"stride", "u", spatial, "1", "step"},
    {"pad", "p", padding, "0", "zeros", 0},
    {"dilation", "e", spatial, "1", "distance"},
    {"alpha", "alpha", real, "0", "slope"},
    {"beta", "beta", real, "0", "offset"},
    {"bias", "bias", flag, "false", "adds"},
    {"scale", "noscale", flag, "true", "multiplies"},
    {"type", "dst", word, "default", "type of the result", 1, kTypes},
}};

ParameterSet parsed(std::string_view text) {
  Result<ParsedTokens> result = parse_tokens(kTokenTable, text);
  EXPECT_TRUE(result.ok()) << text << ": " << result.error().message();
  return std::move(result).value().parameters;
}

void expect_same_text(std::string_view text) { EXPECT_EQ(format_tokens(parsed(text)), text); }

TEST(Tokens, TextIsReproduced) {
  for (const char* text : {"max", "max-n2", "clip-1x64x56x56", "clip-1x64-alpha-0.5beta1e30+bias",
                           "add-a4x1024n3", "max-n9223372036854775807", "max-u2x1", "max-p0_1",
                           "max-p0_1x2", "max-u2p1e2", "clip-alpha1e-05beta0.1", "max+bias"}) {
    expect_same_text(text);
  }
}

TEST(Tokens, DefaultsAreLeftOut) {
  EXPECT_EQ(format_tokens(parsed("max-n1u1p0e1alpha0")), "max");
  EXPECT_EQ(format_tokens(parsed("max-u1x1p0x0_0")), "max");
}

// Before, `+noscale` was read as true, which is the default, and was lost.
TEST(Tokens, AFlagThatIsTrueByDefaultIsPrintedIfItIsFalse) {
  const ParameterSet off = parsed("max+noscale");
  EXPECT_FALSE(off.flag("scale"));
  EXPECT_EQ(format_tokens(off), "max+noscale");
  EXPECT_EQ(format_tokens(parsed("max+noscale+bias")), "max+bias+noscale");
  ParameterSet on = parsed("max");
  on.set("scale", true);
  EXPECT_EQ(format_tokens(on), "max");
}

TEST(Tokens, AWordWithATokenIsAFlag) {
  EXPECT_EQ(parsed("max-n2+dst_u8+bias").word("type"), "u8");
  EXPECT_EQ(format_tokens(parsed("max-n2+dst_u8+bias")), "max-n2+bias+dst_u8");
  EXPECT_EQ(format_tokens(parsed("max-n2+dst_default")), "max-n2");
  EXPECT_FALSE(parse_tokens(kTokenTable, "max+dst_u8+dst_s8").ok());
  EXPECT_EQ(parse_tokens(kTokenTable, "max+dst_f7")->rest, (std::vector<std::string>{"dst_f7"}));
}

TEST(Tokens, EqualEntriesAreOneNumber) {
  EXPECT_EQ(format_tokens(parsed("max-u2x2x2p1_1x1")), "max-u2p1");
  EXPECT_EQ(format_tokens(parsed("max-p1_2x1_2")), "max-p1_2");
}

TEST(Tokens, AnyOrderIsRead) { EXPECT_EQ(format_tokens(parsed("max-e2p1u2n5")), "max-n5u2p1e2"); }

TEST(Tokens, ExponentsDoNotSwallowTheDilation) {
  const ParameterSet set = parsed("max-n1e2");
  EXPECT_EQ(set.count("n"), 1);
  EXPECT_EQ(set.numbers("dilation"), (std::vector<std::int64_t>{2}));
}

TEST(Tokens, UnknownFlagsAreHandedBackInOrder) {
  const Result<ParsedTokens> result = parse_tokens(kTokenTable, "max-n2+add+bias+relu");
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->parameters.flag("bias"));
  EXPECT_THAT(result->rest, ElementsAre("add", "relu"));
  EXPECT_THAT(parse_tokens(kTokenTable, "max")->rest, IsEmpty());
}

std::string message(std::string_view text) {
  const Result<ParsedTokens> result = parse_tokens(kTokenTable, text);
  return result.ok() ? "accepted" : result.error().message();
}

TEST(Tokens, ErrorsNameTheTextAndWhatIsValid) {
  EXPECT_THAT(message("max-q3"), HasSubstr("unknown token `q` in `max-q3`"));
  EXPECT_THAT(message("max-q3"), HasSubstr("a, n, u, p, e, alpha, beta"));
  EXPECT_THAT(message("max-nn3"), HasSubstr("unknown token `nn`"));
  EXPECT_THAT(message("max-7-8"), HasSubstr("unknown token `8` in `max-7-8`"));
  EXPECT_THAT(message("mox"), HasSubstr("did you mean `max`?"));
  EXPECT_THAT(message(""), HasSubstr("unknown `function`"));
  EXPECT_THAT(message("max-n"), HasSubstr("`n` (n) is followed by ``, expected a number"));
  EXPECT_THAT(message("max-n0"), HasSubstr("`n` is 0, expected an integer >= 1"));
  EXPECT_THAT(message("max-n2n3"), HasSubstr("`n` is given twice"));
  EXPECT_THAT(message("max-n9223372036854775808"), HasSubstr("below 2^63"));
  EXPECT_THAT(message("max-u2x"), HasSubstr("`u` (stride)"));
  EXPECT_THAT(message("max-p1_"), HasSubstr("`p` (pad)"));
  EXPECT_THAT(message("max-p-1"), HasSubstr(">= 0"));
  EXPECT_THAT(message("clip-alphanan"), HasSubstr("alphanan"));
  EXPECT_THAT(message("max+bias+bias"), HasSubstr("`+bias` is given twice"));
  EXPECT_THAT(message("max-n2 "), HasSubstr("unknown token ` `"));
}

TEST(Tokens, NoTextMakesItThroughThatIsNotReadWhole) {
  // Bytes that no id contains, each at every position of a valid text.
  const std::string valid = "clip-1x64-alpha0.5beta2+bias";
  for (std::size_t i = 0; i < valid.size(); ++i) {
    for (const char byte : {'\0', '\n', '/', '%', '\xff', 'A'}) {
      std::string text = valid;
      text[i] = byte;
      const Result<ParsedTokens> result = parse_tokens(kTokenTable, text);
      if (result.ok()) {
        EXPECT_FALSE(result->rest.empty()) << text;
      }
    }
  }
}

}  // namespace
}  // namespace bench::ops
