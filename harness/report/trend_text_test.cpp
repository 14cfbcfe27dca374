// SPDX-License-Identifier: Apache-2.0
#include "harness/report/trend_text.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <sstream>

namespace bench {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr double kStep = 0.04;

// Ten runs, one a day from 2026-11-01 on, of 100 us in one epoch.
CaseTrend trend(const std::string& id) {
  CaseTrend result;
  result.id = id;
  result.machine_class = "test-2c-00000000";
  result.is_searched = true;
  result.spread = 0.002;
  for (std::size_t i = 0; i < 10; ++i) {
    TrendPoint point;
    point.run = {fmt::format("run-{}", i),
                 fmt::format("2026-11-{:02}T08:00:00Z", i + 1),
                 fmt::format("c{}", i),
                 "nightly",
                 std::nullopt,
                 0,
                 2 * i};
    point.log_time = std::log(100000);
    if (i > 0) point.effect = 0;
    result.points.push_back(std::move(point));
  }
  result.epochs = {{0, 0, 10}};
  return result;
}

CaseTrend stepped(const std::string& id, double effect, std::size_t at = 5) {
  CaseTrend result = trend(id);
  for (std::size_t i = at; i < 10; ++i) result.points[i].log_time += std::log1p(effect);
  result.changes.push_back({TrendChange::Kind::step,
                            at,
                            std::log1p(effect),
                            0.0002,
                            {{"library.onednn", "3.1.0", "3.2.0"}}});
  return result;
}

CaseTrend creeping(const std::string& id) {
  CaseTrend result = trend(id);
  result.points[2].run.anchor = "v1.0";
  result.creeps.push_back({2, std::log1p(0.03), 7});
  return result;
}

std::string text_of(const std::vector<CaseTrend>& trends, const TrendView& view = {},
                    std::size_t width = 80) {
  return format_trends(shown_trends(trends, view), view, {.width = width});
}

TEST(TrendText, TheFirstSentenceIsTheAnswer) {
  const std::string text = text_of({trend("a/x"), stepped("b/x", kStep), trend("c/x")}, {}, 200);
  EXPECT_THAT(text, StartsWith("1 of 3 cases changed since 2026-11-01: b/x became 4.0 % slower on "
                               "2026-11-06 (commit c5).\n"));
  EXPECT_THAT(text, HasSubstr("+4.0% on 2026-11-06 (commit c5); with it: library.onednn 3.1.0 -> "
                              "3.2.0"));
  EXPECT_THAT(text, HasSubstr("every run of the first case:\n  bench history b/x\n"));
  EXPECT_THAT(text_of({trend("a/x"), trend("c/x")}, {}, 200),
              AllOf(StartsWith("0 of 2 cases changed since 2026-11-01.\n"),
                    HasSubstr("every run of a case:\n")));
}

TEST(TrendText, TheWorstCasesComeFirst) {
  const std::vector<CaseTrend> trends = {trend("same"), stepped("faster", -kStep),
                                         stepped("slower", 0.02), stepped("slowest", 0.05),
                                         creeping("creeping")};
  std::vector<std::string> ids;
  for (const ShownTrend& shown : shown_trends(trends, {})) ids.push_back(shown.trend().id);
  EXPECT_THAT(ids, testing::ElementsAre("slowest", "slower", "creeping", "faster", "same"));
  EXPECT_THAT(text_of(trends, {}, 300),
              AllOf(HasSubstr("3 of 5 cases changed"),
                    HasSubstr("faster became 4.0 % faster on 2026-11-06"),
                    HasSubstr("1 case changes slowly: creeping is 3.0 % slower than anchor v1.0, "
                              "in 7 runs without a step of 1 % or more.\n")));
}

// The table showed the median of both runs at both ends: a time of neither run, and "0.0%".
TEST(TrendText, TooFewRunsShowTheTimesOfTheFirstAndTheLastRun) {
  CaseTrend few = trend("a/x");
  few.points.resize(2);
  few.points[0].log_time = std::log(144000);
  few.points[1].log_time = std::log(411000);
  few.epochs = {{0, 0, 2}};
  few.is_searched = false;
  EXPECT_THAT(text_of({few}, {}, 200),
              testing::ContainsRegex(R"(2 +144\.0 us +411\.0 us +\+185\.4%)"));
  const json entry = json::parse(trends_json(shown_trends(std::vector{few}, {}))).at("cases").at(0);
  EXPECT_NEAR(entry.at("first_ns").get<double>(), 144000, 1);
  EXPECT_NEAR(entry.at("last_ns").get<double>(), 411000, 1);
}

TEST(TrendText, SinceHidesEarlierChangesAndComparesWithTheLevelBeforeIt) {
  const std::vector<CaseTrend> trends = {stepped("early", kStep, 3), stepped("late", kStep, 7)};
  TrendView view;
  view.since = "2026-11-08";
  const std::vector<ShownTrend> shown = shown_trends(trends, view);
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_EQ(shown[0].trend().id, "late");
  EXPECT_TRUE(shown[0].is_slower_now());
  EXPECT_NEAR(shown[0].total_effect(), std::log1p(kStep), 1e-12);
  EXPECT_FALSE(shown[1].is_slower_now());
  EXPECT_NEAR(shown[1].total_effect(), 0, 1e-12);
  EXPECT_THAT(text_of(trends, view, 200), HasSubstr("1 of 2 cases changed since 2026-11-08: late"));
  view.since = "2026-12-01";
  EXPECT_TRUE(shown_trends(trends, view).empty());
}

TEST(TrendText, FewRunsAndPendingRunsAreSaid) {
  CaseTrend few = trend("few");
  few.is_searched = false;
  CaseTrend pending = trend("pending");
  pending.pending = PendingChange{2, std::log1p(0.1)};
  EXPECT_THAT(text_of({few, pending}, {}, 300),
              AllOf(StartsWith("0 of 1 case changed since 2026-11-01; 1 may have.\n"),
                    HasSubstr("Not certain yet: pending may have changed: its last 2 runs are "
                              "10.0 % slower than those before, too few to be certain"),
                    HasSubstr("1 case has too few runs: a change point needs 6 runs")));
}

// "0 of 1 case changed" was the headline for cases that nothing was known about.
TEST(TrendText, TheFirstSentenceDoesNotCountCasesThatCannotBeJudged) {
  CaseTrend few = trend("few");
  few.is_searched = false;
  EXPECT_EQ(
      text_of({few}, {}, 300).substr(0, 83),
      "Whether the case changed is unknown: a change point needs 6 runs of an epoch.\n\ntest");
  EXPECT_THAT(text_of({few, few}, {}, 300), StartsWith("Whether the 2 cases changed is unknown: "));
  EXPECT_THAT(text_of({few, stepped("b/x", kStep)}, {}, 300),
              AllOf(StartsWith("1 of 1 case changed"), HasSubstr("1 case has too few runs")));
}

// Six sentences stood above the table.
TEST(TrendText, AtMostThreeSentencesFollowTheFirstOne) {
  CaseTrend few = trend("few"), pending = trend("pending"), accepted = trend("accepted");
  few.is_searched = false;
  pending.pending = PendingChange{2, std::log1p(0.1)};
  accepted.changes.push_back({TrendChange::Kind::accepted, 7, 0.2, std::nullopt, {}});
  const std::vector<CaseTrend> trends = {few, pending, accepted, creeping("creeping"),
                                         stepped("stepped", kStep)};
  const std::string text = text_of(trends, {}, 300);
  EXPECT_THAT(text, AllOf(HasSubstr("\n1 case changes slowly: "), HasSubstr("\nNot certain yet: "),
                          HasSubstr("\n1 case has too few runs: "),
                          HasSubstr("\n1 more note: --explain shows all\n"),
                          Not(HasSubstr("\nAccepted: "))));
  const std::string all =
      format_trends(shown_trends(trends, {}), {}, {.width = 300, .notes = {NoteExtent::all, ""}});
  EXPECT_THAT(all, AllOf(HasSubstr("\nAccepted: "), Not(HasSubstr("more note"))));
}

CaseTrend evident(const std::string& id) {
  CaseTrend result = trend(id);
  result.points.resize(4);
  result.epochs = {{0, 0, 4}};
  result.is_searched = false;
  result.pending =
      PendingChange{2,
                    std::log(3),
                    PendingChange::Certainty::evident,
                    150,
                    {{"env.ONEDNN_MAX_CPU_ISA", std::nullopt, "SSE41"}, {"aslr", "2", "0"}}};
  return result;
}

// Regression test: such a case was "not certain yet" under the headline "0 of 1 case changed".
TEST(TrendText, TheFirstSentenceNamesAnEvidentChangeAndWhatCameWithIt) {
  const std::vector<CaseTrend> trends = {creeping("creeping"), evident("a/x")};
  EXPECT_THAT(text_of(trends, {}, 300),
              AllOf(StartsWith("1 of 2 cases changed since 2026-11-01: a/x is 200.0 % slower since "
                               "2026-11-03 (commit c2): 150 times the run-to-run variation, in 2 "
                               "runs; with it: env.ONEDNN_MAX_CPU_ISA n/a -> SSE41; and 1 more.\n"),
                    HasSubstr("SSE41; aslr 2 -> 0"), Not(HasSubstr("Not certain yet"))));
  const std::vector<ShownTrend> shown = shown_trends(trends, {});
  EXPECT_EQ(shown[0].state(), TrendState::evident);
  EXPECT_TRUE(shown[0].is_slower_now());
  EXPECT_FALSE(shown[0].may_be_slower());
  const json entry = json::parse(trends_json(shown)).at("cases").at(0);
  EXPECT_EQ(entry.at("state"), "evident");
  EXPECT_EQ(entry.at("pending").at("certainty"), "evident");
  EXPECT_EQ(entry.at("pending").at("with").size(), 2u);
  EXPECT_THAT(format_trend_detail(shown[0], {}, {.width = 200}),
              AllOf(HasSubstr("new level: +200.0%; with it: env.ONEDNN_MAX_CPU_ISA n/a -> SSE41"),
                    HasSubstr("with a checkout of commit c1:\n")));
}

TEST(TrendText, APendingSlowdownMayBeOneAndAPendingSpeedupNot) {
  CaseTrend pending = trend("a/x");
  for (const double factor : {1.1, 0.9}) {
    pending.pending = PendingChange{2, std::log(factor)};
    const ShownTrend shown = *ShownTrend::from(pending, {});
    EXPECT_FALSE(shown.is_slower_now());
    EXPECT_EQ(shown.may_be_slower(), factor > 1);
  }
}

// Regression test: only the last 128 runs are searched, but the sentence named the first run of
// all.
TEST(TrendText, TheFirstSentenceNamesTheSpanThatWasSearched) {
  CaseTrend one = trend("a/x");
  one.points.clear();
  for (std::size_t i = 0; i < 300; ++i) {
    TrendPoint& point = one.points.emplace_back();
    point.run.number = i;
    point.run.time = fmt::format("2026-{:02}-{:02}T08:00:00Z", 1 + i / 28, 1 + i % 28);
    point.log_time = std::log(100000);
  }
  one.epochs = {{0, 0, 300}};
  EXPECT_THAT(text_of({one, trend("b/x")}, {}, 300),
              AllOf(StartsWith("0 of 2 cases changed since 2026-07-05.\n"),
                    HasSubstr("Not searched for changes: the oldest 172 runs of 1 case, because "
                              "only the last 128 runs of an epoch are searched.\n")));
  EXPECT_THAT(format_trend_detail(*ShownTrend::from(one, {}), {}, {.width = 200}),
              HasSubstr("Not searched for changes: the oldest 172 runs of 1 case"));
}

TEST(TrendText, ItFitsTheTerminal) {
  const std::string id = "conv/forward/n2c16h14w14k16r3s3p1+bias+relu/f32/onednn/cpu/cold_weights";
  CaseTrend one = stepped(id, kStep);
  one.skipped.push_back({one.points[0].run,
                         "case_hash differs: 0000000000000000, last run "
                         "1111111111111111; they compute different things"});
  const std::vector<CaseTrend> trends = {one, stepped("gemm/forward/m16n16k16/f32/o/cpu/hot", 0.1)};
  for (const std::size_t width : {std::size_t{60}, std::size_t{80}, std::size_t{120}}) {
    TrendView view;
    const ShownTrend shown = *ShownTrend::from(trends[0], view);
    std::istringstream lines(text_of(trends, view, width) +
                             format_trend_detail(shown, view, {.width = width}));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("  bench ")) continue;  // a command for copying
      EXPECT_LE(display_width(line), width) << line;
    }
  }
}

TEST(TrendText, TheDetailHasEveryRunAndMarksTheChange) {
  CaseTrend one = stepped("a/x", kStep);
  one.points[4].run.anchor = "v1.0";
  one.points[5].effect = std::log1p(kStep);
  one.skipped.push_back({{"run-z", "2026-11-03T09:00:00Z", "cz", "again", std::nullopt, 0, 5},
                         "throttled differs: yes in this run, no in the last run"});
  const std::string text = format_trend_detail(*ShownTrend::from(one, {}), {}, {.width = 200});
  EXPECT_THAT(text, StartsWith("a/x became 4.0 % slower on 2026-11-06 (commit c5).\n"
                               "11 runs in 1 epoch on test-2c-00000000; run-to-run variation "
                               "0.20 %."));
  const std::size_t skipped = text.find("not compared: throttled differs");
  EXPECT_LT(text.find("2026-11-03 08:00"), skipped);
  EXPECT_LT(skipped, text.find("2026-11-04 08:00"));
  EXPECT_LT(text.find("2026-11-06 08:00"), text.find("new level: +4.0% on 2026-11-06"));
  EXPECT_LT(text.find("new level: +4.0% on 2026-11-06"), text.find("2026-11-07 08:00"));
  EXPECT_THAT(
      text, AllOf(HasSubstr("v1.0"), HasSubstr("nightly"), HasSubstr("run-9"),
                  HasSubstr("with a checkout of commit c4:\n  bench duet a/x --base CHECKOUT\n")));
}

// `history` and `baseline list` showed two times of one run without the reason.
TEST(TrendText, ATimeAtEqualSpeedIsNotTheMedianThatTheStoreLists) {
  CaseTrend one = trend("a/x");
  EXPECT_THAT(text_of({one}, {}, 200),
              HasSubstr("\nTimes are medians over each run's processes.\n"));
  one.basis = TrendBasis::equal_speed;
  const std::string sentence =
      "\nTimes are those at equal speed of the machine, so that runs are comparable; `bench "
      "baseline "
      "list` shows the medians as measured.\n";
  EXPECT_THAT(text_of({one, one}, {}, 200), HasSubstr(sentence));
  EXPECT_THAT(format_trend_detail(*ShownTrend::from(one, {}), {}, {.width = 200}),
              HasSubstr(sentence));
}

// If one of several cases had times at equal speed, the sentence claimed it for all.
TEST(TrendText, TimesAtEqualSpeedAreCountedIfOtherCasesHaveMedians) {
  CaseTrend one = trend("a/x");
  one.basis = TrendBasis::equal_speed;
  EXPECT_THAT(text_of({one, trend("b/x"), trend("c/x")}, {}, kUnlimitedWidth),
              HasSubstr("\nTimes of 1 of 3 cases are those at equal speed of the machine, so that "
                        "their runs are comparable; `bench baseline list` shows their medians as "
                        "measured. Times of the other cases are medians over each run's "
                        "processes.\n"));
}

// The command listed the default store, which is not the one of the table.
TEST(TrendText, TheCommandThatListsMediansNamesTheStore) {
  CaseTrend one = trend("a/x");
  one.basis = TrendBasis::equal_speed;
  TrendView view;
  view.store_option = " --baseline stored";
  EXPECT_THAT(text_of({one}, view, kUnlimitedWidth),
              HasSubstr("`bench baseline list --baseline stored` shows"));
}

// Earlier, the state of the case was that of a change that the accepted epoch supersedes.
TEST(TrendText, AnAcceptedEpochSupersedesEarlierChanges) {
  CaseTrend one = stepped("a/x", -kStep, 4);
  for (std::size_t i = 7; i < 10; ++i) {
    one.points[i].run.epoch = 1;
    one.points[i].run.reason = "checks its input (#1)";
    one.points[i].log_time += 0.2;
  }
  one.epochs = {{0, 0, 7}, {1, 7, 3}};
  one.changes.push_back({TrendChange::Kind::accepted, 7, std::log1p(0.22), std::nullopt, {}});
  const std::vector<CaseTrend> trends = {one};
  EXPECT_EQ(shown_trends(trends, {})[0].state(), TrendState::accepted);
  EXPECT_FALSE(shown_trends(trends, {})[0].is_slower_now());
  EXPECT_THAT(text_of(trends, {}, 300),
              AllOf(StartsWith("0 of 1 case changed since 2026-11-01.\nAccepted: a/x is 22.0 % "
                               "slower since epoch 1, accepted on 2026-11-08 (commit c7): checks "
                               "its input (#1).\n"),
                    HasSubstr("-4.0% on 2026-11-05 (commit c4)")));
  EXPECT_THAT(format_trend_detail(*ShownTrend::from(one, {}), {}, {.width = 200}),
              AllOf(HasSubstr("epoch"), HasSubstr("bench baseline show a/x\n")));
}

TEST(TrendText, AChangeThatRoundsToZeroHasNoSign) {
  CaseTrend one = trend("a/x");
  one.points[9].log_time -= 0.0001;
  one.points[9].effect = -0.0001;
  EXPECT_THAT(format_trend_detail(*ShownTrend::from(one, {}), {}, {.width = 200}),
              AllOf(HasSubstr(" 0.0%"), Not(HasSubstr("-0.0%"))));
}

TEST(TrendText, EscapeSequencesFromTheStoreAreNotPrinted) {
  CaseTrend one = stepped("a\x1b[2J/x", kStep);
  one.machine_class = "evil\x1b[2J";
  one.points[5].run.reason = "evil\x1b[2J";
  EXPECT_THAT(text_of({one}) + format_trend_detail(*ShownTrend::from(one, {}), {}, {.width = 200}),
              Not(HasSubstr("\x1b")));
}

TEST(TrendText, JsonHasAllNumbers) {
  CaseTrend one = stepped("a/x", kStep);
  one.creeps.push_back({2, std::log1p(0.03), 7});
  const json document = json::parse(trends_json(shown_trends(std::vector{one}, {})));
  const json& entry = document.at("cases").at(0);
  EXPECT_EQ(entry.at("state"), "creeping");
  EXPECT_NEAR(entry.at("first_ns"), 100000, 1e-6);
  EXPECT_NEAR(entry.at("last_ns"), 104000, 1e-6);
  EXPECT_NEAR(entry.at("change"), kStep, 1e-12);
  EXPECT_EQ(entry.at("runs").size(), 10u);
  const json& change = entry.at("change_points").at(0);
  EXPECT_EQ(change.at("kind"), "step");
  EXPECT_EQ(change.at("commit"), "c5");
  EXPECT_EQ(change.at("p_value"), 0.0002);
  EXPECT_EQ(change.at("with").at(0).at("to"), "3.2.0");
  EXPECT_EQ(entry.at("creep").at(0).at("runs"), 7);
}

}  // namespace
}  // namespace bench
