// SPDX-License-Identifier: Apache-2.0
#include "harness/config/yaml.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace bench::yaml {
namespace {

// Returns the message for a text.
std::string reported(const std::string& text) {
  const auto document = parse(text);
  if (document.ok()) return "no syntax error";
  const Problem& problem = document.error();
  return fmt::format("{}:{}: {}; {}", problem.location.line, problem.location.column, problem.what,
                     problem.next);
}

// Returns the message for a document with one case. Its line 1 is `cases:`; `lines` follow.
std::string reported_of_case(const std::string& lines) { return reported("cases:\n" + lines); }

TEST(YamlSyntaxMistakes, AMissingSpaceAfterAColonIsFoundInItsOwnLine) {
  EXPECT_EQ(reported_of_case("  - op: gemm\n    m:1\n    n: 2\n"),
            "3:5: a space is missing after the colon of `m`; write `m: 1`");
  EXPECT_EQ(reported_of_case("  - op: gemm\n    m:1\n    n:2\n    k: 3\n"),
            "3:5: a space is missing after the colon of `m`; write `m: 1`");
  EXPECT_EQ(reported_of_case("  - op:gemm\n    m: 1\n"),
            "2:5: a space is missing after the colon of `op`; write `op: gemm`");
  EXPECT_EQ(reported("version:1\ncases: []\n"),
            "1:1: a space is missing after the colon of `version`; write `version: 1`");
}

TEST(YamlSyntaxMistakes, AWrongIndentationNamesTheLineThatItDoesNotFit) {
  EXPECT_EQ(reported_of_case("  - op: gemm\n    m: 1\n     n: 2\n"),
            "4:6: wrong indentation: `n` begins after 5 spaces, but `m` in line 3 after 4; keys of "
            "one mapping begin in the same column");
  EXPECT_EQ(reported_of_case("  - op: gemm\n    m: 1\n   n: 2\n"),
            "4:4: wrong indentation: `n` begins after 3 spaces, but `m` in line 3 after 4; keys of "
            "one mapping begin in the same column");
  EXPECT_EQ(reported_of_case("  - op: gemm\n  m: 1\n  n: 2\n"),
            "3:3: wrong indentation: `m` begins after 2 spaces, but `op` in line 2 after 4; keys "
            "of one mapping begin in the same column");
  EXPECT_EQ(reported_of_case("  - op: gemm\n    m: 1\n   - op: conv\n"),
            "4:4: wrong indentation: `-` begins after 3 spaces, but `-` in line 2 after 2; items "
            "of one list begin in the same column");
}

TEST(YamlSyntaxMistakes, CommentsAndEmptyLinesBetweenDoNotHideTheMistake) {
  EXPECT_EQ(reported_of_case("  - op: gemm\n    m: 1\n\n # a comment\n     n: 2\n"),
            "6:6: wrong indentation: `n` begins after 5 spaces, but `m` in line 3 after 4; keys of "
            "one mapping begin in the same column");
}

TEST(YamlSyntaxMistakes, ABracketThatIsNotClosedIsFoundWhereItOpens) {
  EXPECT_EQ(reported_of_case("  - op: gemm\n    n: [1, 2\n    k: 3\n"),
            "3:8: the `[` here is not closed; add `]`, or the comma that is missing between two "
            "entries");
  EXPECT_EQ(reported_of_case("  - { op: gemm, m: 1\n"),
            "2:5: the `{` here is not closed; add `}`, or the comma that is missing between two "
            "entries");
}

TEST(YamlSyntaxMistakes, ATabAndTwoKeysInOneLineAreNamed) {
  EXPECT_EQ(reported_of_case("  - op: gemm\n\tm: 1\n"),
            "3:1: a tab indents this line; YAML is indented with spaces: replace the tab");
  EXPECT_EQ(reported_of_case("  - op: gemm\n    sweep: n: [1, 2]\n"),
            "3:12: `sweep` and `n` are two keys in one line; write `sweep: { n: [1, 2] }`");
}

TEST(YamlSyntaxMistakes, OtherErrorsStayAsTheLibraryReportsThem) {
  EXPECT_EQ(reported("a: %b\n").find("syntax error: "), 5u) << reported("a: %b\n");
  EXPECT_FALSE(find_syntax_mistake("", {1, 1}));
  EXPECT_FALSE(find_syntax_mistake("\n\n#\n- \n", {9, 1}));
}

}  // namespace
}  // namespace bench::yaml
