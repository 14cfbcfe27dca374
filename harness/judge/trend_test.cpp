// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/trend.hpp"

#include "base/random.hpp"
#include "harness/stats/change_points.hpp"
#include "tests/fakes/baseline_records.hpp"
#include "tests/fakes/speed_samples.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace bench {
namespace {

using namespace std::chrono_literals;

using test::baseline;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

// A run-to-run variation of some 0.2 %, in an order without a pattern.
double noise(int number) { return 0.0004 * ((number * 37) % 11 - 5); }

BaselineRecord run(int number, std::int64_t epoch, double microseconds) {
  BaselineRecord record =
      baseline(1, epoch, Nanoseconds(std::llround(1000 * microseconds * (1 + noise(number)))));
  record.run_id = fmt::format("run-{:03}", number);
  record.time = fmt::format("2026-{:02}-{:02}T08:00:00Z", 1 + number / 28, 1 + number % 28);
  record.commit = fmt::format("c{:03}", number);
  return record;
}

struct Part {
  int runs;
  double microseconds;
  std::int64_t epoch = 0;
};
BaselineHistory history(const std::vector<Part>& parts) {
  BaselineHistory result{"store/x.jsonl", {}, {}};
  int number = 0;
  for (const Part& part : parts) {
    for (int i = 0; i < part.runs; ++i)
      result.records.push_back(run(number++, part.epoch, part.microseconds));
  }
  return result;
}

CaseTrend trend_of(BaselineHistory records) {
  std::vector<CaseTrend> trends = compute_trends(std::vector{std::move(records)}, {});
  EXPECT_THAT(trends, SizeIs(1));
  return trends.at(0);
}

using Kind = TrendChange::Kind;

TEST(Trend, AStepHasItsRunItsEffectAndWhatChangedWithIt) {
  BaselineHistory runs = history({{12, 100}, {8, 104}});
  for (std::size_t i = 12; i < 20; ++i) {
    runs.records[i].environment.libraries["onednn"] = "3.3.0";
    runs.records[i].measured.exact.implementation = "jit:b";
  }
  for (std::size_t i = 0; i < 12; ++i) {
    runs.records[i].environment.libraries["onednn"] = "3.2.0";
    runs.records[i].measured.exact.implementation = "jit:a";
  }
  const CaseTrend trend = trend_of(runs);
  ASSERT_THAT(trend.changes, SizeIs(1));
  const TrendChange& change = trend.changes[0];
  EXPECT_EQ(change.kind, Kind::step);
  EXPECT_EQ(trend.points[change.point].run.commit, "c012");
  EXPECT_THAT(change.effect, DoubleNear(std::log(1.04), 0.002));
  EXPECT_THAT(change.with, ElementsAre(Change{"implementation", "jit:a", "jit:b"},
                                       Change{"library.onednn", "3.2.0", "3.3.0"}));
  EXPECT_EQ(trend.present_change(), &trend.changes[0]);
  EXPECT_THAT(trend.present_level(), DoubleNear(std::log(104000), 0.002));
  EXPECT_THAT(trend.level_near(0), DoubleNear(std::log(100000), 0.002));
  EXPECT_TRUE(trend.is_searched);
  EXPECT_THAT(trend.creeps, IsEmpty());
}

TEST(Trend, AChangeBelowTheToleranceIsNone) {
  EXPECT_THAT(trend_of(history({{15, 100}, {15, 100.6}})).changes, IsEmpty());
}

TEST(Trend, AnAcceptedLevelIsNoDetectedChange) {
  const CaseTrend trend = trend_of(history({{12, 100}, {12, 120, 1}}));
  ASSERT_THAT(trend.changes, SizeIs(1));
  EXPECT_EQ(trend.changes[0].kind, Kind::accepted);
  EXPECT_EQ(trend.changes[0].point, 12u);
  EXPECT_THAT(trend.changes[0].effect, DoubleNear(std::log(1.2), 0.002));
  EXPECT_EQ(trend.present_change(), nullptr);
  ASSERT_THAT(trend.epochs, SizeIs(2));
  EXPECT_EQ(trend.epochs[1].number, 1);
  EXPECT_EQ(trend.epochs[1].first, 12u);
  EXPECT_EQ(trend.points[12].effect, std::nullopt);
}

TEST(Trend, EveryEpochIsSearched) {
  const CaseTrend trend = trend_of(history({{12, 100}, {12, 110}, {12, 90, 1}, {12, 95, 1}}));
  std::vector<std::pair<Kind, std::size_t>> found;
  for (const TrendChange& change : trend.changes) found.emplace_back(change.kind, change.point);
  EXPECT_THAT(found, ElementsAre(std::pair(Kind::step, std::size_t{12}),
                                 std::pair(Kind::accepted, std::size_t{24}),
                                 std::pair(Kind::step, std::size_t{36})));
  // From the last level of the old epoch to the first one of the new epoch.
  EXPECT_THAT(trend.changes[1].effect, DoubleNear(std::log(90.0 / 110), 0.002));
}

BaselineHistory creeping(int runs, double percent_per_run) {
  BaselineHistory result{"store/x.jsonl", {}, {}};
  for (int i = 0; i < runs; ++i)
    result.records.push_back(run(i, 0, 100 * (1 + percent_per_run / 100 * i)));
  return result;
}

TEST(Trend, CreepIsTheSumOfSmallChangesSinceAnAnchor) {
  BaselineHistory runs = creeping(20, 0.25);
  runs.records[7].anchor = "v1.0";
  const CaseTrend trend = trend_of(runs);
  ASSERT_THAT(trend.creeps, SizeIs(2));  // since the first run and since the anchor
  EXPECT_EQ(trend.creeps[0].since, 7u);
  EXPECT_EQ(trend.creeps[0].runs, 12u);
  EXPECT_THAT(trend.creeps[0].effect, DoubleNear(0.025, 0.006));
  EXPECT_EQ(trend.creeps[1].since, 0u);
  EXPECT_THAT(trend.creeps[1].effect, DoubleNear(0.043, 0.006));
  for (const TrendChange& change : trend.changes) EXPECT_EQ(change.kind, Kind::gradual);
  EXPECT_FALSE(trend.pending.has_value());
}

TEST(Trend, AStepIsNoCreepAndACreepToFasterIsNone) {
  EXPECT_THAT(trend_of(history({{10, 100}, {10, 104}})).creeps, IsEmpty());
  EXPECT_THAT(trend_of(creeping(20, -0.25)).creeps, IsEmpty());
  EXPECT_THAT(trend_of(creeping(20, 0.05)).creeps, IsEmpty());  // 1 % in all
  EXPECT_THAT(trend_of(creeping(6, 1)).creeps, IsEmpty());      // too few runs
}

TEST(Trend, FewClearRunsArePending) {
  const CaseTrend trend = trend_of(history({{12, 100}, {2, 110}}));
  EXPECT_THAT(trend.changes, IsEmpty());
  ASSERT_TRUE(trend.pending.has_value());
  EXPECT_EQ(trend.pending->runs, 2u);
  EXPECT_THAT(trend.pending->effect, DoubleNear(std::log(1.1), 0.004));
  EXPECT_FALSE(trend_of(history({{14, 100}})).pending.has_value());
}

using Certainty = PendingChange::Certainty;

// Regression test: a slowdown by a factor of 3 that lasted four runs was "not certain yet", as one
// by 2 %, and nothing said that a variable of the library changed with it.
TEST(Trend, AChangeOfManyTimesTheVariationIsEvidentWhileItIsPending) {
  BaselineHistory runs = history({{5, 100}, {4, 300}});
  for (std::size_t i = 5; i < 9; ++i) {
    runs.records[i].environment.details["env.ONEDNN_MAX_CPU_ISA"] = "SSE41";
    runs.records[i].environment.details["aslr"] = "0";
    runs.records[i].measured.exact.implementation = "jit:sse41";
  }
  for (std::size_t i = 0; i < 5; ++i) runs.records[i].measured.exact.implementation = "jit:avx2";
  const CaseTrend trend = trend_of(runs);
  EXPECT_THAT(trend.changes, IsEmpty());
  ASSERT_TRUE(trend.pending.has_value());
  EXPECT_EQ(trend.pending->certainty, Certainty::evident);
  EXPECT_EQ(trend.pending->runs, 4u);
  EXPECT_NEAR(trend.pending->effect, std::log(3), 0.01);
  ASSERT_TRUE(trend.pending->sigmas.has_value());
  EXPECT_GT(*trend.pending->sigmas, 100);
  // What usually changes a time comes first.
  EXPECT_THAT(trend.pending->with,
              ElementsAre(Change{"implementation", "jit:avx2", "jit:sse41"},
                          Change{"env.ONEDNN_MAX_CPU_ISA", std::nullopt, "SSE41"},
                          Change{"aslr", std::nullopt, "0"}));
}

TEST(Trend, EvenOneRunOnEachSideIsEnoughForAnEvidentChange) {
  for (const auto& parts : std::vector<std::vector<Part>>{{{1, 100}, {1, 300}},
                                                          {{2, 100}, {4, 300}},
                                                          {{4, 100}, {1, 300}},
                                                          {{2, 300}, {1, 100}}}) {
    const CaseTrend trend = trend_of(history(parts));
    ASSERT_TRUE(trend.pending.has_value());
    EXPECT_EQ(trend.pending->certainty, Certainty::evident);
    EXPECT_EQ(trend.pending->runs, static_cast<std::size_t>(parts.back().runs));
  }
}

// Regression test: one disturbed run long ago kept every later slowdown pending.
TEST(Trend, OneDisturbedRunBeforeAChangeDoesNotHideThatItIsEvident) {
  BaselineHistory runs = history({{12, 100}, {3, 130}});
  runs.records[2] = run(2, 0, 131);
  const CaseTrend trend = trend_of(runs);
  ASSERT_TRUE(trend.pending.has_value());
  EXPECT_EQ(trend.pending->certainty, Certainty::evident);
  EXPECT_EQ(trend.pending->runs, 3u);
  runs.records[7] = run(7, 0, 131);
  const CaseTrend twice = trend_of(runs);
  EXPECT_TRUE(!twice.pending || twice.pending->certainty == Certainty::possible)
      << "two of twelve runs are too many";
  BaselineHistory short_change = history({{12, 100}, {2, 130}});
  short_change.records[2] = run(2, 0, 131);
  EXPECT_EQ(trend_of(short_change).pending, std::nullopt) << "two runs may both be disturbed";
}

// Regression test: "0 of 1 case changed" after one good and four slow runs that vary.
TEST(Trend, FourSlowRunsAfterOneGoodRunAreNamedAlsoIfTheyVary) {
  BaselineHistory slow = history({{1, 100}, {4, 300}});
  for (const auto& [number, time] : {std::pair(2, 330.0), {3, 260.0}, {4, 310.0}})
    slow.records[static_cast<std::size_t>(number)] = run(number, 0, time);
  const CaseTrend evident = trend_of(slow);
  ASSERT_TRUE(evident.pending.has_value());
  EXPECT_EQ(evident.pending->certainty, Certainty::evident);
  EXPECT_EQ(evident.pending->runs, 4u);
  EXPECT_LT(*evident.pending->sigmas, 10) << "the factor alone makes it evident";
  // A smaller factor within the variation is possible.
  BaselineHistory slower = history({{1, 100}, {4, 150}});
  for (const auto& [number, time] : {std::pair(2, 158.0), {3, 146.0}, {4, 156.0}})
    slower.records[static_cast<std::size_t>(number)] = run(number, 0, time);
  const CaseTrend possible = trend_of(slower);
  ASSERT_TRUE(possible.pending.has_value());
  EXPECT_EQ(possible.pending->certainty, Certainty::possible);
  EXPECT_EQ(possible.pending->runs, 4u);
  EXPECT_FALSE(trend_of(history({{5, 100}})).pending.has_value());
}

TEST(Trend, SmallChangesAndRunsThatVaryAreNotEvident) {
  EXPECT_EQ(trend_of(history({{12, 100}, {2, 103}})).pending->certainty, Certainty::possible);
  EXPECT_FALSE(trend_of(history({{1, 100}, {1, 103}})).pending.has_value());
  // A single run may have been disturbed, so it must be twice as far away.
  EXPECT_EQ(trend_of(history({{12, 100}, {1, 106}})).pending->certainty, Certainty::possible);
  BaselineHistory varying = history({{12, 100}});
  for (std::size_t i = 0; i < 12; i += 2)
    varying.records[i] = run(static_cast<int>(i), 0, i % 4 == 0 ? 130 : 75);
  varying.records.push_back(run(12, 0, 160));
  const CaseTrend trend = trend_of(varying);
  EXPECT_TRUE(!trend.pending || trend.pending->certainty == Certainty::possible);
}

// Regression test: runs used to be ordered by time. With a clock at 1970, a slowdown was an
// improvement.
TEST(Trend, AClockThatJumpsBackDoesNotReverseAChange) {
  BaselineHistory runs = history({{12, 100}, {8, 130}});
  for (std::size_t i = 12; i < 20; ++i) runs.records[i].time = "1970-01-01T00:00:00Z";
  const BaselineHistory parsed = parse_baseline_file(
      [&] {
        std::string text;
        for (const BaselineRecord& record : runs.records) text += to_json_line(record) + "\n";
        return text;
      }(),
      "x.jsonl", std::nullopt);
  EXPECT_THAT(parsed.problems, IsEmpty());
  const CaseTrend trend = trend_of(parsed);
  ASSERT_THAT(trend.changes, SizeIs(1));
  EXPECT_NEAR(trend.changes[0].effect, std::log(1.3), 0.01);
}

TEST(Trend, RunsThatAreNotComparableAreNamed) {
  BaselineHistory runs = history({{10, 100}, {10, 200, 1}});
  for (std::size_t i = 0; i < 10; ++i) runs.records[i].measured.case_hash = "0000000000000000";
  const CaseTrend trend = trend_of(runs);
  EXPECT_THAT(trend.points, SizeIs(10));
  ASSERT_THAT(trend.skipped, SizeIs(10));
  EXPECT_EQ(trend.skipped[0].run.run_id, "run-000");
  EXPECT_THAT(trend.skipped[0].reason, HasSubstr("case_hash differs: 0000000000000000"));
  EXPECT_THAT(trend.changes, IsEmpty());
}

BaselineRecord run_at(int number, Nanoseconds canary, double nanoseconds,
                      std::optional<Nanoseconds> join = std::nullopt) {
  BaselineRecord record = run(number, 0, 100);
  TimesBySpeed times = test::times_at(nanoseconds, canary, join);
  times.cells.push_back({join, 2000ns, 20, Picoseconds(130'000'000)});
  test::set_by_speed(record.measured, times);
  return record;
}

// Every other run was measured on a slower machine.
TEST(Trend, RunsWithCanariesAreComparedAtEqualSpeed) {
  BaselineHistory runs{"x", {}, {}};
  for (int i = 0; i < 8; ++i) {
    runs.records.push_back(i % 2 == 0 ? run_at(i, 1500ns, 100'000) : run_at(i, 2000ns, 130'000));
  }
  runs.records[3].measured.by_speed.reset();
  const CaseTrend trend = trend_of(runs);
  EXPECT_EQ(trend.basis, TrendBasis::equal_speed);
  for (const TrendPoint& point : trend.points)
    EXPECT_THAT(point.log_time, DoubleNear(std::log(100'000), 0.005));
  ASSERT_THAT(trend.skipped, SizeIs(1));
  EXPECT_THAT(trend.skipped[0].reason, HasSubstr("no canaries"));
  for (std::size_t i = 0; i < 6; ++i) runs.records[i].measured.by_speed = std::nullopt;
  EXPECT_EQ(trend_of(runs).basis, TrendBasis::median);
}

TEST(Trend, RunsWithThreadsAtAnotherDistanceAreNotCompared) {
  BaselineHistory runs{"x", {}, {}};
  for (int i = 0; i < 8; ++i)
    runs.records.push_back(run_at(i, 1500ns, 100'000, i == 5 ? 4000ns : 1000ns));
  const CaseTrend trend = trend_of(runs);
  ASSERT_THAT(trend.skipped, SizeIs(1));
  EXPECT_EQ(trend.skipped[0].run.run_id, "run-005");
  EXPECT_THAT(trend.skipped[0].reason, HasSubstr("joining them took 4.000 us"));
}

// The mean of two distances was farther than each of them, so that no run was left.
TEST(Trend, SomeRunIsAlwaysLeft) {
  BaselineHistory runs{"x",
                       {run_at(0, 1500ns, 100'000, 1000ns), run_at(1, 1500ns, 100'000, 9000ns),
                        run_at(2, 1500ns, 100'000, 9000ns)},
                       {}};
  EXPECT_THAT(trend_of(runs).points, SizeIs(2));
  // The others compute something else, and the last run has no canaries: it must stay nevertheless.
  runs.records[0].measured.case_hash = runs.records[1].measured.case_hash = "0000000000000000";
  runs.records[2].measured.by_speed.reset();
  EXPECT_THAT(trend_of(runs).points, SizeIs(1));
}

// Some of many cases without a change have a p-value below 1 % by chance.
TEST(Trend, CasesWithoutAChangeHaveNone) {
  std::vector<BaselineHistory> histories;
  for (int i = 0; i < 60; ++i) {
    BaselineHistory runs{"x", {}, {}};
    SplitMix random(static_cast<std::uint64_t>(1000 + i));
    for (int number = 0; number < 20; ++number) {
      const auto time = 100000 + static_cast<std::int64_t>(random.below(10000));
      runs.records.push_back(baseline(1 + number, 0, Nanoseconds(time)));
    }
    histories.push_back(std::move(runs));
  }
  const auto changed = [](const std::vector<CaseTrend>& trends) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < trends.size(); ++i) {
      if (!trends[i].changes.empty()) found.push_back(i);
    }
    return found;
  };
  EXPECT_THAT(changed(compute_trends(histories, {})), IsEmpty());
  histories[17] = history({{10, 100}, {10, 110}});
  EXPECT_THAT(changed(compute_trends(histories, {})), ElementsAre(17));
}

TEST(Trend, OfALongEpochTheLastRunsAreSearched) {
  const CaseTrend trend = trend_of(history({{40, 100}, {200, 110}, {40, 120}}));
  ASSERT_THAT(trend.changes, SizeIs(1));
  EXPECT_EQ(trend.changes[0].point, 240u);
  EXPECT_THAT(trend.points, SizeIs(280));
}

TEST(Trend, RunsThatAreNotSearchedAreCounted) {
  const CaseTrend trend = trend_of(history({{100, 100}, {200, 140}, {5, 100, 1}}));
  EXPECT_EQ(trend.unsearched(), 300 - kMaxSeries);
  EXPECT_EQ(trend.epochs[0].first_searched(), 300 - kMaxSeries);
  EXPECT_EQ(trend.first_searched(), 300u);
  EXPECT_EQ(trend_of(history({{20, 100}})).unsearched(), 0u);
}

TEST(Trend, HistoriesWithoutARunHaveNoTrend) {
  EXPECT_THAT(compute_trends(std::vector{BaselineHistory{"x", {}, {"x:1: truncated"}}}, {}),
              IsEmpty());
}

}  // namespace
}  // namespace bench
