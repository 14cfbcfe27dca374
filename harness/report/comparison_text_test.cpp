// SPDX-License-Identifier: Apache-2.0
#include "harness/report/comparison_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

ComparedCase compared(const std::string& id, CaseVerdict verdict, double ratio) {
  ComparedCase entry;
  entry.id = id;
  entry.group = "conv";
  entry.verdict = verdict;
  entry.base = 1000;
  entry.candidate = 1000 * ratio;
  entry.ratio = ratio;
  entry.low = ratio - 0.01;
  entry.high = ratio + 0.01;
  return entry;
}

Comparison of(ComparedCase entry) {
  Comparison result;
  result.base = "a.jsonl";
  result.candidate = "b.jsonl";
  result.cases = {std::move(entry)};
  return result;
}

TEST(ComparisonText, SaysWhatChangedBesideTheEffect) {
  Comparison result = of(compared("a", CaseVerdict::slower, 3));
  result.changes = {{"library.onednn", "3.1", "3.2"}};
  result.cases[0].changes = {{"implementation", "brgconv:avx512_core", "jit:sse41"}};
  const std::string text = comparison_text(result, {.width = kUnlimitedWidth});
  EXPECT_THAT(text, AllOf(HasSubstr("library.onednn: 3.1 -> 3.2"),
                          HasSubstr("implementation: brgconv:avx512_core -> jit:sse41"),
                          HasSubstr("+200.0 %"), HasSubstr("1 slower")));
}

TEST(ComparisonText, MarkdownEscapesWhatFilesHold) {
  const std::string markdown =
      comparison_markdown(of(compared("<script>|`x`\n", CaseVerdict::same, 1)));
  EXPECT_THAT(markdown, Not(HasSubstr("<script>")));
  EXPECT_THAT(markdown, HasSubstr("&lt;script>\\|\\`x\\` "));
}

TEST(ComparisonText, JsonHoldsRawNumbers) {
  const auto document =
      nlohmann::json::parse(comparison_json(of(compared("a", CaseVerdict::slower, 1.2))));
  EXPECT_EQ(document.at("schema"), "bench.comparison/1");
  EXPECT_EQ(document.at("cases").at(0).at("verdict"), "slower");
  EXPECT_NEAR(document.at("cases").at(0).at("ratio").get<double>(), 1.2, 1e-9);
  EXPECT_EQ(document.at("cases").at(0).at("base_ns"), 1000);
  const auto empty = nlohmann::json::parse(comparison_json({}));
  EXPECT_TRUE(empty.at("cases").empty());
}

TEST(ComparisonText, OfEmptySidesSaysSo) {
  EXPECT_THAT(comparison_text({}, {.width = kUnlimitedWidth}), HasSubstr("no cases"));
}

}  // namespace
}  // namespace bench
