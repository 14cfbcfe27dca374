// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/comparison.hpp"

#include "harness/store/baseline_file.hpp"
#include "tests/fakes/speed_samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

using namespace std::chrono_literals;

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// One process per time of an iteration, in nanoseconds.
std::vector<ProcessSummary> processes_of(const std::vector<double>& times) {
  std::vector<ProcessSummary> processes;
  for (const double time : times) {
    processes.push_back(process_from_iteration(FractionalNanoseconds(time)));
  }
  return processes;
}

MeasuredCase measured(const std::string& id, const std::vector<double>& times) {
  MeasuredCase result;
  result.id = id;
  result.group = id.substr(0, id.find('-'));
  result.processes = processes_of(times);
  return result;
}

Measurement side(std::vector<MeasuredCase> cases) {
  Measurement result;
  result.name = "x.jsonl";
  result.cases = std::move(cases);
  return result;
}

const std::vector<double> kTimes = {1000, 1000.1, 1000.2, 1000.3, 1000.4};
std::vector<double> times(double factor) {
  std::vector<double> scaled = kTimes;
  for (double& time : scaled) time *= factor;
  return scaled;
}

ComparedCase compare_one(const MeasuredCase& base, const MeasuredCase& candidate) {
  return compare(side({base}), side({candidate}), {}).cases.at(0);
}

// 90 executions that became 10 % slower, and 10 that became twice as fast.
TEST(Compare, TheTimeOfAProgramCountsEachCaseAsOftenAsItIsExecuted) {
  std::vector<MeasuredCase> base = {measured("conv-a", times(1)), measured("conv-b", times(1)),
                                    measured("conv-c", times(1))};
  std::vector<MeasuredCase> candidate = {
      measured("conv-a", times(1.1)), measured("conv-b", times(0.5)), measured("conv-c", times(1))};
  EXPECT_FALSE(compare(side(base), side(candidate), {}).counted);
  candidate[0].count = 90;
  candidate[1].count = 10;
  const Comparison result = compare(side(base), side(candidate), {});
  ASSERT_TRUE(result.counted);
  EXPECT_EQ(result.counted->cases, 3u);
  EXPECT_NEAR(result.counted->base, 101 * 1000.2, 1e-6);
  EXPECT_NEAR(result.counted->ratio, 105. / 101, 1e-9);
  EXPECT_EQ(result.counted->verdict, CaseVerdict::slower);
  EXPECT_LT(result.groups.back().ratio, 1) << "the geometric mean of the cases is faster";
}

// Cases without the key, whose default is 1, were left out, though `report` counts them.
TEST(Compare, TheTimeOfAProgramCountsCasesWithoutACountOnceAndLayersNever) {
  std::vector<MeasuredCase> base = {measured("conv-a", times(1)), measured("conv-b", times(1)),
                                    measured("conv-c", times(1))};
  std::vector<MeasuredCase> candidate = base;
  candidate[2].is_layer = true;
  EXPECT_FALSE(compare(side(base), side(candidate), {}).counted);
  candidate[0].count = 3;
  auto result = compare(side(base), side(candidate), {});
  ASSERT_TRUE(result.counted);
  EXPECT_EQ(result.counted->cases, 2u);
  EXPECT_NEAR(result.counted->base, 4 * 1000.2, 1e-6);
}

TEST(Compare, TheCountsOfTheBaseAreUsedOnlyIfTheCandidateHasNone) {
  std::vector<MeasuredCase> base = {measured("conv-a", times(1)), measured("conv-b", times(1))};
  std::vector<MeasuredCase> candidate = base;
  base[0].count = 5;
  auto result = compare(side(base), side(candidate), {});
  ASSERT_TRUE(result.counted);
  EXPECT_NEAR(result.counted->base, 6 * 1000.2, 1e-6);
  candidate[1].count = 2;
  result = compare(side(base), side(candidate), {});
  ASSERT_TRUE(result.counted);
  EXPECT_NEAR(result.counted->base, 3 * 1000.2, 1e-6);
}

TEST(Compare, VerdictsFollowIntervalAndTolerance) {
  const MeasuredCase base = measured("conv-a", times(1));
  const ComparedCase slower = compare_one(base, measured("conv-a", times(1.05)));
  EXPECT_EQ(slower.verdict, CaseVerdict::slower);
  EXPECT_NEAR(*slower.ratio, 1.05, 1e-9);
  EXPECT_GT(*slower.low, 1.04);
  EXPECT_GE(*slower.confidence, 0.95);
  EXPECT_EQ(compare_one(base, measured("conv-a", times(0.9))).verdict, CaseVerdict::faster);
  EXPECT_EQ(compare_one(base, measured("conv-a", times(1.001))).verdict, CaseVerdict::same);
  EXPECT_EQ(compare_one(base, measured("conv-a", times(1.006))).verdict, CaseVerdict::same);
  // Slower, but by less than the tolerance.
  EXPECT_EQ(compare_one(base, measured("conv-a", times(1.0095))).verdict, CaseVerdict::same);
  // The interval is +-8 %.
  EXPECT_EQ(compare_one(base, measured("conv-a", {1000, 1040, 960, 1010, 990})).verdict,
            CaseVerdict::same);
  EXPECT_EQ(compare_one(base, measured("conv-a", {1000, 1060, 940, 1010, 990})).verdict,
            CaseVerdict::unclear);
  EXPECT_EQ(compare_one(base, measured("conv-a", {900, 1300, 950, 1200, 1000})).verdict,
            CaseVerdict::unclear);
}

MeasuredCase at_speed(const std::string& id, const TimesBySpeed& by_speed) {
  MeasuredCase result = measured(id, times(1));
  test::set_by_speed(result, by_speed);
  return result;
}

// The second side was measured on a slower machine: its samples there take 40 % longer.
TEST(Compare, SidesWithCanariesAreComparedAtEqualSpeed) {
  TimesBySpeed slow_machine = test::times_at(1400, Nanoseconds(2200));
  slow_machine.cells.front().samples = 90;
  slow_machine.cells.push_back({std::nullopt, test::kFakeCanary, 10, Picoseconds(1'030'000)});
  std::ranges::reverse(slow_machine.cells);
  const MeasuredCase base = at_speed("a", test::times_at(1000));
  const ComparedCase slower = compare_one(base, at_speed("a", slow_machine));
  EXPECT_EQ(slower.verdict, CaseVerdict::slower);
  EXPECT_NEAR(*slower.ratio, 1.03, 1e-3);
  EXPECT_NEAR(*slower.candidate / *slower.base, *slower.ratio, 1e-9);  // as shown
  EXPECT_NEAR(*slower.base, 1000, 1);
  EXPECT_EQ(slower.confidence, 0.95);
  EXPECT_NEAR(static_cast<double>(slower.at_canary->count()), 1500, 30);
  EXPECT_THAT(slower.base_processes, testing::Each(testing::DoubleNear(1000, 1)));
  EXPECT_EQ(slower.reason, "");
  EXPECT_EQ(compare_one(at_speed("a", slow_machine), base).verdict, CaseVerdict::faster);
  slow_machine.cells.front().time = Picoseconds(1'000'000);
  EXPECT_EQ(compare_one(base, at_speed("a", slow_machine)).verdict, CaseVerdict::same);
}

// The columns were the medians 1000 and 1005, the ratio that of all pairs.
TEST(Compare, TheTimesOfBothSidesHaveTheirRatio) {
  const ComparedCase compared = compare_one(measured("a", {990, 1000, 1200, 1250, 980}),
                                            measured("a", {1005, 1400, 1003, 1350, 1001}));
  EXPECT_EQ(compared.base, 1000);
  EXPECT_NEAR(*compared.candidate / *compared.base, *compared.ratio, 1e-12);
  EXPECT_THAT(compared.candidate_processes,
              testing::Contains(testing::DoubleNear(*compared.candidate, 1e-9)));
}

// A 7.3x slowdown with the interval 1.5 to 9.8 was `unclear`.
TEST(Compare, AWideIntervalAboveOneIsSlower) {
  TimesBySpeed wide = test::times_at(7300);
  wide.process_scatter = 0.6;
  const ComparedCase compared =
      compare_one(at_speed("a", test::times_at(1000)), at_speed("a", wide));
  EXPECT_NEAR(*compared.ratio, 7.3, 0.01);
  EXPECT_GT(*compared.low, 1);
  EXPECT_GT(*compared.high, 20);
  EXPECT_EQ(compared.verdict, CaseVerdict::slower);
}

TEST(Compare, TimesThatAreNotComparedAreMedians) {
  Measurement profiled = side({measured("a", {1005, 1400, 1003, 1350, 1001})});
  profiled.incomparable_reason = "profiled";
  const ComparedCase compared = compare(side({measured("a", times(1))}), profiled, {}).cases.at(0);
  EXPECT_EQ(compared.verdict, CaseVerdict::incomparable);
  EXPECT_EQ(compared.reason, "profiled");
  EXPECT_FALSE(compared.ratio);
  EXPECT_EQ(compared.candidate, 1005);
}

// `compare STORE RUN` with no other run in the store listed each fact of the run as changed.
TEST(Compare, ASideWithoutFactsShowsNoChanges) {
  Measurement run = side({measured("a", times(1))});
  run.facts = {{"cpu", "AMD EPYC"}};
  EXPECT_THAT(compare(side({}), run, {}).changes, testing::IsEmpty());
  Measurement other = run;
  other.facts = {{"cpu", "Intel Xeon"}};
  EXPECT_THAT(compare(other, run, {}).changes, testing::SizeIs(1));
}

// A file of an older version has no canaries: both sides are then compared by their medians.
TEST(Compare, ASideWithoutCanariesIsComparedByMedians) {
  const ComparedCase compared =
      compare_one(measured("a", times(1)), at_speed("a", test::times_at(1500)));
  EXPECT_NEAR(*compared.base, 1000.2, 1e-9);
  EXPECT_NEAR(*compared.ratio, 1, 1e-9);  // ratio of the processes' medians
  EXPECT_FALSE(compared.at_canary);
}

// Threads placed farther apart by the host are not a change of the code.
TEST(Compare, ThreadsThatWereFartherApartExplainASlowdown) {
  const MeasuredCase near =
      at_speed("conv-a", test::times_at(1000, test::kFakeCanary, Nanoseconds(700)));
  const MeasuredCase far =
      at_speed("conv-a", test::times_at(1400, test::kFakeCanary, Nanoseconds(1160)));
  const ComparedCase compared = compare_one(near, far);
  EXPECT_EQ(compared.verdict, CaseVerdict::unclear);
  EXPECT_NEAR(*compared.ratio, 1.4, 1e-3);  // the number is given nevertheless
  EXPECT_THAT(compared.reason, HasSubstr("joining them took 700 ns in the base, 1.160 us in the"));
  EXPECT_EQ(compare_one(far, near).verdict, CaseVerdict::unclear);
}

// Earlier, "+209 %" was unclear because joining the threads took a microsecond longer.
TEST(Compare, NoDistanceOfProcessorsExplainsMoreThanTwiceTheTime) {
  const MeasuredCase near =
      at_speed("conv-a", test::times_at(1000, test::kFakeCanary, Nanoseconds(511)));
  const MeasuredCase far =
      at_speed("conv-a", test::times_at(3100, test::kFakeCanary, Nanoseconds(1562)));
  EXPECT_EQ(compare_one(near, far).verdict, CaseVerdict::slower);
  EXPECT_EQ(compare_one(far, near).verdict, CaseVerdict::faster);
}

TEST(Compare, SidesWithoutACommonSpeedHaveAWiderIntervalAndTheReason) {
  const MeasuredCase base = at_speed("a", test::times_at(1000));
  const ComparedCase other = compare_one(base, at_speed("a", test::times_at(1250, 2200ns)));
  EXPECT_EQ(other.verdict, CaseVerdict::unclear);
  ASSERT_TRUE(other.low);
  EXPECT_LT(*other.low, 1);
  EXPECT_EQ(other.reason,
            "the machine never had the same speed for both sides: its canary took 1.500 us in the "
            "base, 2.200 us in the candidate; measure both sides together (bench duet)");
}

TEST(Compare, FewProcessesAtEqualSpeedAreTooFewForAVerdict) {
  TimesBySpeed few = test::times_at(2000);
  few.processes = 2;
  const ComparedCase compared =
      compare_one(at_speed("conv-a", test::times_at(1000)), at_speed("conv-a", few));
  EXPECT_EQ(compared.verdict, CaseVerdict::unclear);
  EXPECT_NEAR(*compared.ratio, 2, 1e-2);
  EXPECT_FALSE(compared.low);
  EXPECT_THAT(compared.reason, HasSubstr("5 and 2 processes of the two sides count"));
}

// 7.3 times the time was `unclear`, since one process has no interval.
TEST(Compare, AFactorThatEqualRunsNeverHaveIsNamedWithoutAnInterval) {
  TimesBySpeed slow = test::times_at(7300);
  slow.processes = 1;
  const MeasuredCase base = at_speed("conv-a", test::times_at(1000));
  const ComparedCase compared = compare_one(base, at_speed("conv-a", slow));
  EXPECT_EQ(compared.verdict, CaseVerdict::slower);
  EXPECT_FALSE(compared.low);
  EXPECT_THAT(compared.reason, HasSubstr("; equal runs do not differ by a factor of 2.5"));
  EXPECT_EQ(compare_one(at_speed("conv-a", slow), base).verdict, CaseVerdict::faster);
  EXPECT_EQ(compare_one(measured("a", {1000}), measured("a", {2600})).verdict, CaseVerdict::slower);
  MeasuredCase only_median = measured("a", {});
  only_median.median = Nanoseconds(300);
  EXPECT_EQ(compare_one(only_median, measured("a", {1000})).verdict, CaseVerdict::slower);
}

// Such a pair was `unclear` on every machine whose runs differ by a few per cent.
TEST(Compare, EqualRunsOfANoisyMachineAreTheSameIfATenthIsExcluded) {
  TimesBySpeed noisy = test::times_at(1010);
  noisy.process_scatter = 0.035;
  const ComparedCase compared =
      compare_one(at_speed("a", test::times_at(1000)), at_speed("a", noisy));
  EXPECT_LT(*compared.low, 1 / 1.05);
  EXPECT_EQ(compared.verdict, CaseVerdict::same);
  noisy.process_scatter = 0.07;
  EXPECT_EQ(compare_one(at_speed("a", test::times_at(1000)), at_speed("a", noisy)).verdict,
            CaseVerdict::unclear);
  noisy = test::times_at(1040);
  noisy.process_scatter = 0.035;
  EXPECT_EQ(compare_one(at_speed("a", test::times_at(1000)), at_speed("a", noisy)).verdict,
            CaseVerdict::unclear)
      << "the effect is more than a quarter of the bound";
}

TEST(Compare, TheLargestChangeOfCasesThatAreTheSameIsKnown) {
  Comparison result = compare(side({measured("a", times(1)), measured("b", times(1))}),
                              side({measured("a", times(1.004)), measured("b", times(1.2))}), {});
  EXPECT_NEAR(*result.largest_same(), 0.008, 1e-3);
  std::erase_if(result.cases,
                [](const ComparedCase& entry) { return entry.verdict == CaseVerdict::same; });
  EXPECT_FALSE(result.largest_same());
}

// The headline was "5 unclear; the geometric mean is 4.6x slower".
TEST(Compare, AMeanOfUndecidedCasesHasNoDirection) {
  const auto mean_of = [](double first, double second) {
    return compare(side({measured("conv-a", {1000}), measured("conv-b", {1000})}),
                   side({measured("conv-a", {first}), measured("conv-b", {second})}), {})
        .groups.back();
  };
  const GroupRatio undecided = mean_of(2400, 2400);
  EXPECT_NEAR(undecided.ratio, 2.4, 1e-9);
  EXPECT_EQ(undecided.verdict, CaseVerdict::unclear);
  EXPECT_LT(undecided.low, 1);
  EXPECT_EQ(mean_of(7000, 7000).verdict, CaseVerdict::slower);
  EXPECT_EQ(mean_of(7000, 200).verdict, CaseVerdict::unclear);
  const Comparison decided =
      compare(side({measured("conv-a", times(1)), measured("conv-b", times(1))}),
              side({measured("conv-a", times(1.1)), measured("conv-b", times(1))}), {});
  EXPECT_EQ(decided.groups.back().verdict, CaseVerdict::slower);
}

// Otherwise one comparison in twenty would call equal runs different, and there are many cases.
TEST(Compare, TheIntervalAllowsForWhatTwoRunsDifferByBeyondTheirProcesses) {
  const ComparedCase compared =
      compare_one(measured("conv-a", times(1)), measured("conv-a", times(1.02)));
  // From the processes only: 1.02 to within 0.04 %.
  EXPECT_NEAR(*compared.low, 1.02 * std::exp(-0.0036), 2e-4);
  EXPECT_NEAR(*compared.high, 1.02 * std::exp(0.0036), 2e-4);
}

TEST(Compare, TooFewProcessesHaveNoInterval) {
  const ComparedCase one = compare_one(measured("a", {1000}), measured("a", {2000}));
  EXPECT_EQ(one.verdict, CaseVerdict::unclear);
  EXPECT_NEAR(*one.ratio, 2, 1e-9);
  EXPECT_FALSE(one.low.has_value());
  EXPECT_THAT(one.reason, HasSubstr("too few"));
  MeasuredCase only_median = measured("a", {});
  only_median.median = Nanoseconds(500);
  const ComparedCase median = compare_one(only_median, measured("a", {1000}));
  EXPECT_NEAR(*median.ratio, 2, 1e-9);
  EXPECT_THAT(median.reason, HasSubstr("no interval"));
}

// The reason blamed medians, also of a side that has none.
TEST(Compare, AMissingTimeIsTheReasonWhyACaseHasNoRatio) {
  MeasuredCase untimed = measured("conv-a", {});
  MeasuredCase timed = untimed;
  timed.median = FractionalNanoseconds(5);
  const ComparedCase no_base = compare_one(untimed, timed);
  EXPECT_FALSE(no_base.ratio);
  EXPECT_EQ(no_base.reason, "the base has no time above 0");
  EXPECT_EQ(compare_one(timed, untimed).reason, "the candidate has no time above 0");
  EXPECT_EQ(compare_one(untimed, untimed).reason, "neither side has a time above 0");
  EXPECT_EQ(compare_one(timed, timed).reason, "no interval: the source contains only medians");
}

TEST(Compare, WhatCannotBeComparedIsSaid) {
  MeasuredCase base = measured("a", kTimes);
  MeasuredCase candidate = base;
  base.case_hash = "1111";
  candidate.case_hash = "2222";
  const ComparedCase hash = compare_one(base, candidate);
  EXPECT_EQ(hash.verdict, CaseVerdict::incomparable);
  EXPECT_THAT(hash.reason, HasSubstr("case_hash"));
  EXPECT_FALSE(hash.ratio.has_value());
  candidate = measured("a", {});
  candidate.outcome = Outcome::wrong_result;
  candidate.reason = "element 3 is off";
  EXPECT_EQ(compare_one(measured("a", kTimes), candidate).verdict, CaseVerdict::failed);
  EXPECT_EQ(compare_one(candidate, candidate).verdict, CaseVerdict::incomparable);
  Measurement below = side({measured("a", kTimes)});
  below.incomparable_reason = "measured below `nsys`";
  EXPECT_EQ(compare(below, side({measured("a", times(2))}), {}).cases[0].verdict,
            CaseVerdict::incomparable);
}

TEST(Compare, TimesOfDifferentMachineClassesAreIncomparableUnlessAskedFor) {
  MeasuredCase base = measured("a", times(1));
  MeasuredCase candidate = measured("a", times(2));
  base.machine = {{"machine_class", "emerald-2c"}};
  candidate.machine = {{"machine_class", "zen4-2c"}};
  const ComparedCase refused = compare_one(base, candidate);
  EXPECT_EQ(refused.verdict, CaseVerdict::incomparable);
  EXPECT_FALSE(refused.ratio.has_value());
  EXPECT_THAT(refused.reason, AllOf(HasSubstr("machine_class differs: emerald-2c and zen4-2c"),
                                    HasSubstr("--across-machines")));
  ComparisonOptions across;
  across.machines = Machines::any;
  const ComparedCase asked = compare(side({base}), side({candidate}), across).cases.at(0);
  EXPECT_EQ(asked.verdict, CaseVerdict::slower);
  EXPECT_NEAR(*asked.ratio, 2, 1e-9);
  // A fact that only one side has is ignored, as in a report of another tool.
  candidate.machine = {{"num_cpus", "2"}};
  EXPECT_EQ(compare_one(base, candidate).verdict, CaseVerdict::slower);
}

TEST(Compare, AFileThatCannotBeReadIsNoAddedCase) {
  Measurement base = side({});
  base.unreadable = {{store_file_name("conv-a"), "b/conv-a.jsonl:1: schema bench.baseline/2"}};
  const MeasuredCase candidate = measured("conv-a", times(1));
  const ComparedCase compared = compare(base, side({candidate}), {}).cases.at(0);
  EXPECT_EQ(compared.verdict, CaseVerdict::incomparable);
  EXPECT_EQ(compared.reason, "b/conv-a.jsonl:1: schema bench.baseline/2");
  EXPECT_EQ(compare(side({}), side({candidate}), {}).cases.at(0).verdict, CaseVerdict::added);
}

TEST(Compare, WorstFirstAndMeansOfGroups) {
  const Comparison result =
      compare(side({measured("conv-a", times(1)), measured("conv-b", times(1)),
                    measured("gemm-c", times(1)), measured("gemm-gone", times(1)),
                    measured("gemm-e", times(1))}),
              side({measured("conv-a", times(1.1)), measured("conv-b", times(1.3)),
                    measured("gemm-c", times(1)), measured("gemm-new", times(1)),
                    measured("gemm-e", times(0.5))}),
              {});
  std::vector<std::string> ids;
  for (const ComparedCase& entry : result.cases) ids.push_back(entry.id);
  EXPECT_THAT(ids, ElementsAre("conv-b", "conv-a", "gemm-gone", "gemm-c", "gemm-new", "gemm-e"));
  ASSERT_EQ(result.groups.size(), 3u);
  EXPECT_EQ(result.groups[0].group, "conv");
  EXPECT_NEAR(result.groups[0].ratio, std::sqrt(1.1 * 1.3), 1e-9);
  EXPECT_EQ(result.groups[2].group, "all");
  EXPECT_EQ(result.groups[2].cases, 4u);
  EXPECT_EQ(result.count(CaseVerdict::slower), 2u);
  EXPECT_EQ(result.count(CaseVerdict::removed), 1u);
}

TEST(Compare, WhatChanged) {
  MeasuredCase base = measured("a", kTimes);
  base.exact = {"brgconv:avx512_core", {{"layout.source", "acdb"}}};
  MeasuredCase candidate = measured("a", times(3));
  candidate.exact = {"jit:sse41", {{"layout.source", "aBcd8b"}}};
  Measurement left = side({base});
  left.facts = {{"library.onednn", "3.1"}, {"cpu", "X"}, {"arena.bytes", "1"}};
  Measurement right = side({candidate});
  right.facts = {{"library.onednn", "3.2"}, {"cpu", "X"}, {"arena.bytes", "2"}, {"thp", "always"}};
  const Comparison result = compare(left, right, {});
  EXPECT_THAT(result.changes, ElementsAre(Change{"library.onednn", "3.1", "3.2"},
                                          Change{"thp", std::nullopt, "always"}));
  EXPECT_THAT(result.cases[0].changes,
              ElementsAre(Change{"implementation", "brgconv:avx512_core", "jit:sse41"},
                          Change{"layout.source", "acdb", "aBcd8b"}));
  EXPECT_EQ(result.count(CaseVerdict::slower), 1u);
}

TEST(Compare, DigestsAndPrimitivesChangeOnlyWhereBothAreKnown) {
  using Facts = std::map<std::string, std::string>;
  const auto changes = [](const Facts& from, const Facts& to, const std::string& seed) {
    MeasuredCase base = measured("a", kTimes), candidate = base;
    base.exact.facts = from;
    candidate.exact.facts = to;
    Measurement left = side({base}), right = side({candidate});
    left.facts = {{"config.seed", "1"}};
    right.facts = {{"config.seed", seed}};
    return compare(left, right, {}).cases.at(0).changes;
  };
  const Facts known = {{"output.digest", "aa"}, {"primitives", "2"}};
  const Facts other = {{"output.digest", "bb"}, {"primitives", "3"}};
  const Change digest{"output.digest", "aa", "bb"}, primitives{"primitives", "2", "3"};
  EXPECT_THAT(changes(known, other, "1"), ElementsAre(digest, primitives));
  EXPECT_THAT(changes(known, known, "1"), IsEmpty());
  EXPECT_THAT(changes({}, known, "1"), IsEmpty());  // from an earlier version
  EXPECT_THAT(changes(known, {}, "1"), IsEmpty());
  EXPECT_THAT(changes({{"output.digest", "varies"}}, known, "1"), IsEmpty());
  EXPECT_THAT(changes(known, {{"output.digest", "varies"}}, "1"), IsEmpty());
  EXPECT_THAT(changes(known, other, "2"), ElementsAre(primitives));  // other data
}

TEST(Compare, EmptySidesAreNoError) {
  EXPECT_THAT(compare({}, {}, {}).cases, IsEmpty());
  EXPECT_THAT(compare({}, {}, {}).groups, IsEmpty());
}

TEST(Compare, TimesOfADeviceUnderOtherConditionsAreIncomparable) {
  MeasuredCase base = measured("gemm-a", times(1));
  MeasuredCase candidate = measured("gemm-a", times(2));
  for (MeasuredCase* entry : {&base, &candidate}) {
    entry->device.emplace().emplace("gpu.name", "A");
    entry->clock_hz = 1'700'000'000;
  }
  EXPECT_EQ(compare_one(base, candidate).verdict, CaseVerdict::slower);
  candidate.clock_hz = 1'500'000'000;
  const ComparedCase compared = compare_one(base, candidate);
  EXPECT_EQ(compared.verdict, CaseVerdict::incomparable);
  EXPECT_EQ(compared.reason,
            "clock_hz differs: 1.70 GHz in the base, 1.50 GHz in the candidate, 13.3 % apart");
  EXPECT_FALSE(compared.ratio);
}

}  // namespace
}  // namespace bench
