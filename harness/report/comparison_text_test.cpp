// SPDX-License-Identifier: Apache-2.0
#include "harness/report/comparison_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
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

Comparison make_comparison(ComparedCase entry) {
  Comparison result;
  result.base = "a.jsonl";
  result.candidate = "b.jsonl";
  result.cases = {std::move(entry)};
  return result;
}

TEST(ComparisonText, SaysWhatChangedBesideTheEffect) {
  Comparison result = make_comparison(compared("a", CaseVerdict::slower, 3));
  result.changes = {{"library.onednn", "3.1", "3.2"}};
  result.cases[0].changes = {{"implementation", "brgconv:avx512_core", "jit:sse41"}};
  const std::string text = format_comparison(result, {.width = kUnlimitedWidth});
  EXPECT_THAT(text, AllOf(HasSubstr("library.onednn: 3.1 -> 3.2"),
                          HasSubstr("implementation: brgconv:avx512_core -> jit:sse41"),
                          HasSubstr("3.0x slower"), testing::StartsWith("1 slower.\n")));
}

TEST(ComparisonText, SaysHowTheTimeOfTheCountedProgramChanged) {
  Comparison result = make_comparison(compared("a", CaseVerdict::slower, 1.04));
  EXPECT_THAT(format_comparison(result, {}), Not(HasSubstr("As often as")));
  result.counted = {2, 1e6, 1.04e6, 1.04, 1.03, 1.05, CaseVerdict::slower};
  const std::string sentence =
      "As often as the program executes them, 2 cases take 1.040 ms instead of 1.000 ms: 4.0 % "
      "slower.";
  EXPECT_THAT(format_comparison(result, {.width = kUnlimitedWidth}), HasSubstr(sentence));
  EXPECT_THAT(comparison_markdown(result), HasSubstr(sentence));
  const auto document = nlohmann::json::parse(comparison_json(result));
  EXPECT_EQ(document.at("counted").at("base_ns"), 1e6);
  EXPECT_EQ(document.at("counted").at("verdict"), "slower");
}

TEST(EffectText, IsWhatAReaderWouldSay) {
  constexpr EffectDirection kCertain = EffectDirection::certain;
  EXPECT_EQ(format_effect(1 / 2.2, 1 / 2.3, 1 / 2.1, kCertain), "2.2x faster (2.1 to 2.3)");
  EXPECT_EQ(format_effect(1.03, 1.02, 1.04, kCertain), "3.0 % slower (2.0 to 4.0)");
  EXPECT_EQ(format_effect(0.97, 0.96, 0.98, kCertain), "3.0 % faster (2.0 to 4.0)");
  EXPECT_EQ(format_effect(1.3, 1.2, 1.55, kCertain), "30 % slower (20 to 55)");
  EXPECT_EQ(format_effect(12.34, 11, 13, kCertain), "12x slower (11 to 13)");
  EXPECT_EQ(format_effect(1.5, {}, {}, kCertain), "1.5x slower");
  EXPECT_EQ(format_effect(0, {}, {}, kCertain), "n/a");
}

// Cases that were `same` had the text "0.4 % slower (-0.3 to 1.1)", `unclear` ones "4.6x slower".
TEST(EffectText, AnOpenDirectionIsNotNamed) {
  constexpr EffectDirection kOpen = EffectDirection::open;
  EXPECT_EQ(format_effect(1.004, 0.997, 1.011, kOpen), "+0.4 % (-0.3 to +1.1)");
  EXPECT_EQ(format_effect(0.97, 0.92, 1.02, kOpen), "-3.0 % (-8.0 to +2.0)");
  EXPECT_EQ(format_effect(0.9999, 0.99, 1.01, kOpen), "0.0 % (-1.0 to +1.0)");
  EXPECT_EQ(format_effect(1.7, 0.8, 3.4, kOpen), "1.7x (0.80 to 3.4)");
  EXPECT_EQ(format_effect(0.55, 0.3, 1.2, kOpen), "0.55x (0.30 to 1.2)");
  EXPECT_EQ(format_effect(4.6, {}, {}, kOpen), "4.6x");
  EXPECT_EQ(effect_direction(1.01, 1.2), EffectDirection::certain);
  EXPECT_EQ(effect_direction(0.8, 0.9), EffectDirection::certain);
  EXPECT_EQ(effect_direction(0.99, 1.2), kOpen);
  EXPECT_EQ(effect_direction(1.01, {}), kOpen);
}

TEST(ComparisonText, TheFirstSentenceAnswersForAllCases) {
  Comparison result = make_comparison(compared("a", CaseVerdict::slower, 1.21));
  result.cases.push_back(compared("b", CaseVerdict::same, 1));
  result.groups = {{"conv", 2, 1.1, 1.05, 1.15, CaseVerdict::slower},
                   {"all", 2, 1.1, 1.05, 1.15, CaseVerdict::slower}};
  EXPECT_THAT(format_comparison(result, {.width = 200}),
              testing::StartsWith("1 slower, 1 same; the geometric mean is 10 % slower. The case "
                                  "that is `same` changed by at most 1.0 %.\n"));
}

// "1 removed, 1 added." did not say that nothing was compared, nor why.
TEST(ComparisonText, NothingComparableIsTheFirstSentenceWithItsReason) {
  const auto without_ratio = [](const std::string& id, CaseVerdict verdict) {
    ComparedCase entry = compared(id, verdict, 1);
    entry.ratio = entry.low = entry.high = std::nullopt;
    return entry;
  };
  Comparison result = make_comparison(without_ratio("a", CaseVerdict::removed));
  result.cases.push_back(without_ratio("b", CaseVerdict::added));
  EXPECT_THAT(format_comparison(result, {.width = 200}),
              testing::StartsWith("Nothing can be compared: the two have no case in common; 1 "
                                  "removed, 1 added.\n"));
  result.cases.push_back(without_ratio("c", CaseVerdict::incomparable));
  result.cases.back().reason = "machine_class differs: x and y";
  EXPECT_THAT(format_comparison(result, {.width = 200}),
              testing::StartsWith("Nothing can be compared: machine_class differs: x and y; 1 "
                                  "incomparable, 1 removed, 1 added.\n"));
  result.cases.push_back(without_ratio("d", CaseVerdict::failed));
  EXPECT_THAT(format_comparison(result, {.width = 200}),
              testing::StartsWith("1 incomparable, 1 f"));
}

// A case that both sides have was denied if its ratio is unknown.
TEST(ComparisonText, SharedCasesWithoutARatioAreNotCalledMissing) {
  ComparedCase entry = compared("a", CaseVerdict::unclear, 1);
  entry.ratio = entry.low = entry.high = std::nullopt;
  Comparison result = make_comparison(entry);
  EXPECT_THAT(format_comparison(result, {.width = 200}),
              testing::StartsWith("Nothing can be compared: the cases in common have no times on "
                                  "both sides; 1 unclear.\n"));
  result.cases.front().reason = "the base has no time above 0";
  EXPECT_THAT(format_comparison(result, {.width = 200}),
              testing::StartsWith("Nothing can be compared: the base has no time above 0; 1 "
                                  "unclear.\n"));
}

TEST(ComparisonText, TheFirstSentenceSaysIfTheMeanIsUnchanged) {
  Comparison result = make_comparison(compared("a", CaseVerdict::same, 1));
  result.cases.push_back(compared("b", CaseVerdict::same, 1.001));
  result.groups = {{"all", 2, 1, 0.99, 1.01, CaseVerdict::same}};
  EXPECT_THAT(format_comparison(result, {.width = 200}),
              testing::StartsWith("2 same; no change in the geometric mean. The cases that are "
                                  "`same` changed by at most 1.1 %.\n"));
}

TEST(ComparisonText, NoTextBesideAnUndecidedCaseNamesADirection) {
  ComparedCase wide = compared("conv-a", CaseVerdict::unclear, 4.6);
  wide.low = 0.9;
  wide.high = 24;
  Comparison result = make_comparison(wide);
  result.cases.push_back(compared("conv-b", CaseVerdict::same, 1.004));
  result.groups = {{"all", 2, 2.1, 0.95, 4.9, CaseVerdict::unclear}};
  const std::string text = format_comparison(result, {.width = kUnlimitedWidth});
  EXPECT_THAT(text, testing::StartsWith("1 same, 1 unclear; the geometric mean is 2.1x (0.95 to "
                                        "4.9)."));
  EXPECT_THAT(text,
              AllOf(testing::ContainsRegex("unclear +conv-a .* 4\\.6x +0\\.90 to 24\n"),
                    testing::ContainsRegex("same +conv-b .* \\+0\\.4 % +-0\\.6 to \\+1\\.4\n")));
  for (const std::string& each : {text, comparison_markdown(result)})
    EXPECT_THAT(each, AllOf(Not(HasSubstr("slower")), Not(HasSubstr("faster"))));
  const auto document = nlohmann::json::parse(comparison_json(result));
  EXPECT_EQ(document.at("groups").at(0).at("verdict"), "unclear");
  EXPECT_EQ(document.at("groups").at(0).at("low"), 0.95);
}

ProgramTime program(std::int64_t wall_ms, std::int64_t recorded_ms, std::int64_t samples) {
  ProgramTime time;
  time.coverage.source = WallSource::processes;
  time.coverage.processes.resize(1);
  time.coverage.wall = std::chrono::milliseconds(wall_ms);
  time.coverage.primitives = time.coverage.recorded = std::chrono::milliseconds(recorded_ms);
  const Nanoseconds period = std::chrono::milliseconds(5);
  if (samples > 0) time.objects = {{"libmkl.so", samples, samples * period, 1}};
  return time;
}

// The primitives may be the same while the program is twice as slow.
TEST(ComparisonText, TwoProfilesBeginWithTheWholeProgram) {
  Comparison result = make_comparison(compared("matmul", CaseVerdict::same, 1));
  result.programs = compare_programs(program(1000, 25, 100), program(2000, 25, 300));
  const std::string text = format_comparison(result, {.width = 80});
  EXPECT_THAT(text, AllOf(testing::StartsWith(
                              "The whole program took 1.000 s in the base and 2.000 s in the "
                              "candidate, 2.0x\nslower; the files show 2.5 % and 1.2 % of it. Each "
                              "is one run, so there is no\ninterval.\n1 same"),
                          HasSubstr("(outside)            975.0 ms    1.975 s  2.0x slower"),
                          HasSubstr("libmkl.so            500.0 ms    1.500 s  3.0x slower")));
  EXPECT_THAT(comparison_markdown(result),
              AllOf(HasSubstr("2.0x slower; the files show"),
                    HasSubstr("| (outside) | 975.0 ms | 1.975 s | 2.0x slower |")));
  const auto document = nlohmann::json::parse(comparison_json(result));
  EXPECT_EQ(document["programs"]["parts"][2]["name"], "(outside)");
  EXPECT_EQ(document["programs"]["parts"][2]["base_ns"], 975'000'000);
  EXPECT_EQ(document["programs"]["objects"][0]["ratio"], 3.0);
  EXPECT_DOUBLE_EQ(document["programs"]["base_shown_share"], 0.025);
}

TEST(ComparisonText, ResultsOfRunsHaveNoWholeProgram) {
  const Comparison result = make_comparison(compared("a", CaseVerdict::same, 1));
  EXPECT_THAT(format_comparison(result, {.width = 80}), testing::StartsWith("1 same"));
  EXPECT_FALSE(nlohmann::json::parse(comparison_json(result)).contains("programs"));
}

// The interval has a column of its own, which a narrow table omits.
TEST(ComparisonText, ANarrowTableOmitsIntervalsAndStatesNothingTwice) {
  const Comparison result = make_comparison(
      compared("conv/forward/c64h56w56k64r3s3p1/f32/onednn/cpu/hot", CaseVerdict::slower, 1.2));
  EXPECT_THAT(format_comparison(result, {.width = 120}), HasSubstr("20 % slower  19 to 21\n"));
  const std::string narrow = format_comparison(result, {.width = 50});
  EXPECT_THAT(narrow, AllOf(HasSubstr("20 % slower\n"), Not(HasSubstr("19 to 21"))));
}

// `run` showed 413.4 us and `compare` 411.5 us for the same file, and nothing said why.
TEST(ComparisonText, SaysThatTimesAreThoseAtEqualSpeedAndNotThoseOfRun) {
  Comparison result = make_comparison(compared("a", CaseVerdict::slower, 1.2));
  result.cases[0].at_canary = Nanoseconds(1500);
  const ConsoleOptions wide{.width = kUnlimitedWidth};
  EXPECT_THAT(format_comparison(result, wide),
              HasSubstr("\nTimes of both sides are those at equal speed of the machine "
                        "(docs/compare.md).\n"));
  result.cases.push_back(compared("b", CaseVerdict::same, 1));
  EXPECT_THAT(
      format_comparison(result, wide),
      HasSubstr("\nTimes of 1 of 2 cases are those at equal speed of the machine; in the other "
                "rows, `base` is a median, and `candidate` is that time multiplied by the ratio "
                "(docs/compare.md).\n"));
  result.cases.erase(result.cases.begin());
  EXPECT_THAT(format_comparison(result, wide),
              HasSubstr("\nIn each row, `base` is a median, and `candidate` is that time "));
  result.cases[0].ratio.reset();
  EXPECT_THAT(format_comparison(result, wide), Not(HasSubstr("`base` is")));
}

// Both times were 3 ns, and the change 26 %.
TEST(ComparisonText, TimesBelowAMicrosecondKeepFourDigits) {
  EXPECT_EQ(format_compared_time(3.4121), "3.412 ns");
  EXPECT_EQ(format_compared_time(800), "800 ns");
  EXPECT_EQ(format_compared_time(999.99), "1000 ns");
  EXPECT_EQ(format_compared_time(1204.3), "1.204 us");
  EXPECT_EQ(format_compared_time(std::nullopt), "n/a");
}

TEST(ComparisonText, MarkdownEscapesWhatFilesHold) {
  const std::string markdown =
      comparison_markdown(make_comparison(compared("<script>|`x`\n", CaseVerdict::same, 1)));
  EXPECT_THAT(markdown, Not(HasSubstr("<script>")));
  EXPECT_THAT(markdown, HasSubstr("&lt;script>\\|\\`x\\` "));
}

TEST(ComparisonText, JsonHoldsRawNumbers) {
  const auto document = nlohmann::json::parse(
      comparison_json(make_comparison(compared("a", CaseVerdict::slower, 1.2))));
  EXPECT_EQ(document.at("schema"), "bench.comparison/1");
  EXPECT_EQ(document.at("cases").at(0).at("verdict"), "slower");
  EXPECT_NEAR(document.at("cases").at(0).at("ratio").get<double>(), 1.2, 1e-9);
  EXPECT_EQ(document.at("cases").at(0).at("base_ns"), 1000);
  const auto empty = nlohmann::json::parse(comparison_json({}));
  EXPECT_TRUE(empty.at("cases").empty());
}

TEST(ComparisonText, EmptySidesPrintNoCases) {
  EXPECT_THAT(format_comparison({}, {.width = kUnlimitedWidth}), HasSubstr("no cases"));
}

}  // namespace
}  // namespace bench
