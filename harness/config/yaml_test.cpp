// SPDX-License-Identifier: Apache-2.0
#include "harness/config/yaml.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace bench::yaml {
namespace {

// Formats a tree in one line: scalars plain or "quoted", lists and mappings in flow form.
std::string text_of(const Node& node) {
  std::string text;
  switch (node.kind) {
    case Kind::null:
      return "null";
    case Kind::scalar:
      return node.style == Style::quoted ? "\"" + node.text + "\"" : node.text;
    case Kind::sequence:
      for (const Node* item : node.items) text += (text.empty() ? "" : ", ") + text_of(*item);
      return "[" + text + "]";
    case Kind::mapping:
      for (const Entry& entry : node.entries) {
        text += (text.empty() ? "" : ", ") + entry.key + ": " + text_of(*entry.value);
      }
      return "{" + text + "}";
  }
  return text;
}

std::string tree(const std::string& text) {
  const auto document = parse(text);
  if (document.ok()) return text_of(document->root());
  const Problem& problem = document.error();
  return fmt::format("{}:{}: {}", problem.location.line, problem.location.column, problem.what);
}

TEST(Yaml, ReadsListsMappingsAndBothStylesOfScalars) {
  EXPECT_EQ(tree("a: [1, '2', \"3\"]\nb:\n  - x\n  - y: ~\n"),
            "{a: [1, \"2\", \"3\"], b: [x, {y: null}]}");
  EXPECT_EQ(tree(""), "null");
  EXPECT_EQ(tree("# nothing\n"), "null");
  EXPECT_EQ(tree("\xEF\xBB\xBFhello"), "hello");
  EXPECT_EQ(tree("a: |\n  x\n  y\n"), "{a: \"x\ny\n\"}");
}

TEST(Yaml, LocationsCountFromOne) {
  const auto document = parse("a:\n  - b\n  -   c: d\n");
  ASSERT_TRUE(document.ok());
  const Node& list = *document->root().find("a")->value;
  EXPECT_EQ(list.items[0]->location.line, 2);
  EXPECT_EQ(list.items[0]->location.column, 5);
  const Entry* entry = list.items[1]->find("c");
  EXPECT_EQ(entry->location.line, 3);
  EXPECT_EQ(entry->location.column, 7);
  EXPECT_EQ(entry->value->location.column, 10);
}

TEST(Yaml, AnchorsAndMergeKeys) {
  EXPECT_EQ(tree("a: &x [1, 2]\nb: *x"), "{a: [1, 2], b: [1, 2]}");
  EXPECT_EQ(tree("a: &x {p: 1, q: 2}\nb: {<<: *x, p: 3}"), "{a: {p: 1, q: 2}, b: {p: 3, q: 2}}");
  EXPECT_EQ(tree("a: &x {p: 1}\nb: &y {p: 2, q: 2}\nc: {<<: [*x, *y]}"),
            "{a: {p: 1}, b: {p: 2, q: 2}, c: {p: 1, q: 2}}");
  EXPECT_EQ(tree("a: {'<<': 1}"), "{a: {<<: 1}}");
}

TEST(Yaml, RefusesWhatIsNoSingleSoundDocument) {
  EXPECT_EQ(tree("a: 1\n---\nb: 2\n"), "2:1: a second document starts here");
  EXPECT_EQ(tree("a: &x [*x]"), "1:8: this alias is inside the node that it names");
  EXPECT_EQ(tree("a: *x"), "1:4: syntax error: the referenced anchor is not defined");
  EXPECT_EQ(tree("a: [1"), "1:4: the `[` here is not closed");
  EXPECT_EQ(tree("a: \x02"), "1:4: control character U+0002");
  EXPECT_EQ(tree("ok\n  \xC0\x80"), "2:3: byte 0xc0 is not UTF-8");
  EXPECT_EQ(tree(std::string("\xFF\xFE"
                             "a\0",
                             4)),
            "1:1: byte 0xff is not UTF-8");
}

TEST(Yaml, LimitsHold) {
  EXPECT_EQ(tree(std::string(64, '[') + std::string(64, ']')).size(), 128u);
  EXPECT_EQ(tree(std::string(65, '[') + std::string(65, ']')),
            "1:65: more than 64 levels of nesting");
}

// Each level is ten times as large as the one before: 10^8 nodes from 80 aliases.
TEST(Yaml, AnAliasBombIsRefusedBeforeItExpands) {
  std::string bomb = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n";
  for (int level = 1; level < 9; ++level) {
    bomb +=
        fmt::format("a{0}: &a{0} [*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1},*a{1}]\n",
                    level, level - 1);
  }
  EXPECT_NE(tree(bomb).find("more than 1000000 values, aliases expanded"), std::string::npos);
}

// Merging copies entries: each mapping doubles the number, without any alias in a list.
TEST(Yaml, AMergeBombIsRefused) {
  std::string bomb = "a0: &a0 {k: 1}\n";
  for (int level = 1; level < 60; ++level) {
    bomb += fmt::format("a{0}: &a{0} {{<<: [*a{1}, *a{1}], x{0}: *a{1}, y{0}: *a{1}}}\n", level,
                        level - 1);
  }
  EXPECT_NE(tree(bomb).find("more than 1000000 values, aliases expanded"), std::string::npos);
}

TEST(Yaml, MistakesThatLeaveATreeAreListed) {
  const auto document = parse("a: 1\na: 2\n? [x]\n: 3\nb: !t 4\n<<: 5\n");
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(text_of(document->root()), "{a: 1, b: 4}");
  std::string problems;
  for (const Problem& problem : document->problems()) {
    problems +=
        fmt::format("{}:{} {}\n", problem.location.line, problem.location.column, problem.what);
  }
  EXPECT_EQ(problems,
            "2:1 duplicate key `a`, first at line 1, column 1\n"
            "3:3 a key must be a word, found a list, a mapping or nothing\n"
            "5:4 unknown tag `!t`\n"
            "6:1 `<<` merges mappings, found something else\n");
}

}  // namespace
}  // namespace bench::yaml
