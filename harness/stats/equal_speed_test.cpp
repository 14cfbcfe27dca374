// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/equal_speed.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;

// A process whose samples own their times.
struct Process {
  std::vector<Nanoseconds> samples, canaries;
  std::optional<Nanoseconds> join;
};

TimesBySpeed group(const std::vector<Process>& processes) {
  std::vector<SpeedProcess> views;
  for (const Process& process : processes)
    views.push_back({process.samples, process.canaries, 1, process.join});
  return group_by_speed(views).value();
}

// Five processes of 60 samples, as many in a row at each canary: the time of an iteration is `time`
// of it.
template <class Time>
TimesBySpeed run_at(const std::vector<int>& canaries, const Time& time,
                    std::optional<Nanoseconds> join = {}) {
  std::vector<Process> processes(5);
  for (Process& process : processes) {
    process.join = join;
    for (std::size_t i = 0; i < 60; ++i) {
      const int canary = canaries[i * canaries.size() / 60];
      process.canaries.push_back(Nanoseconds(canary));
      process.samples.push_back(Nanoseconds(std::llround(time(canary))));
    }
  }
  return group(processes);
}

double curve(int canary) { return 100'000 * std::pow(canary / 1500.0, 0.8); }
double slower_curve(int canary) { return 1.05 * curve(canary); }

TEST(EqualSpeed, SamplesAreGroupedByCanaryAndDistanceOfTheThreads) {
  Process near{{100us, 102us, 104us, 106us, 108us, 150us, 150us, 150us, 150us, 150us},
               {1500ns, 1501ns, 1502ns, 1503ns, 1504ns, 3000ns, 3000ns, 3000ns, 3000ns, 3000ns},
               700ns};
  Process far{{120us, 120us, 7ms}, {1500ns, 1500ns, 0ns}, 1600ns};
  const TimesBySpeed times = group({near, far});
  const std::vector<SpeedCell> expected = {{700ns, 1503ns, 5, Picoseconds(104us)},
                                           {700ns, 3000ns, 5, Picoseconds(150us)},
                                           {1600ns, 1500ns, 2, Picoseconds(120us)}};
  EXPECT_EQ(times.cells, expected);
  EXPECT_EQ(times.processes, 2);
}

TEST(EqualSpeed, ARunWithoutCanariesHasNoTimesBySpeed) {
  Process process{{100us}, {0ns}, {}};
  const SpeedProcess view{process.samples, process.canaries, 1, {}};
  EXPECT_FALSE(group_by_speed({&view, 1}));
  EXPECT_FALSE(group_by_speed({}));
}

TEST(EqualSpeed, ATimeIsThatOfAnIteration) {
  Process process{{3us}, {1500ns}, {}};
  const SpeedProcess view{process.samples, process.canaries, 4000, {}};
  EXPECT_EQ(group_by_speed({&view, 1})->cells.front().time, Picoseconds(750));
}

TEST(EqualSpeed, RunsOfOneProgramAreEqualWhateverTheMachineDidMeanwhile) {
  const TimesBySpeed mostly_fast = run_at({1500, 1500, 1500, 2200, 3000}, curve);
  const TimesBySpeed mostly_slow = run_at({1500, 2200, 3000, 3000, 3000}, curve);
  const LogEstimate difference = difference_at_equal_speed(mostly_fast, mostly_slow);
  EXPECT_NEAR(difference.value, 0, 1e-4);
  EXPECT_LT(difference.half_width(), 0.02);
}

TEST(EqualSpeed, ASlowerProgramIsSlowerByAsMuchAtEverySpeed) {
  const LogEstimate difference = difference_at_equal_speed(
      run_at({1500, 1500, 2200}, curve), run_at({1500, 3000, 3000}, slower_curve));
  EXPECT_NEAR(difference.value, std::log(1.05), 1e-4);
  EXPECT_LT(difference.half_width(), 0.02);
}

TEST(EqualSpeed, SwappedSidesGiveTheNegatedDifference) {
  const TimesBySpeed a = run_at({1500, 1700, 2600}, curve), b = run_at({1500, 2600}, slower_curve);
  EXPECT_NEAR(difference_at_equal_speed(a, b).value, -difference_at_equal_speed(b, a).value, 1e-9);
  EXPECT_NEAR(difference_at_equal_speed(a, b).deviation, difference_at_equal_speed(b, a).deviation,
              1e-9);
}

TEST(EqualSpeed, RunsWithoutACommonSpeedAreComparedRoughly) {
  const LogEstimate difference =
      difference_at_equal_speed(run_at({1500}, curve), run_at({2200}, curve));
  EXPECT_NEAR(difference.value, 0, 0.15);
  EXPECT_GT(difference.half_width(), 0.15);
}

TEST(EqualSpeed, ThreadsFartherApartAreNotASlowerProgram) {
  const auto far_curve = [](int canary) { return 1.4 * curve(canary); };
  const TimesBySpeed near = run_at({1500}, curve, 700ns), far = run_at({1500}, far_curve, 1600ns);
  const LogEstimate difference = difference_at_equal_speed(near, far);
  EXPECT_GT(difference.half_width(), difference.value);
  const std::vector<TimesBySpeed> runs = {near, far};
  EXPECT_EQ(EqualSpeedFit(runs).runs_beside(0), (std::vector<bool>{true, false}));
}

TEST(EqualSpeed, ARunWithBothDistancesConnectsTheOthers) {
  const auto far_curve = [](int canary) { return 1.4 * curve(canary); };
  std::vector<Process> both;
  for (int i = 0; i < 4; ++i) {
    const bool is_far = i % 2 == 1;
    both.push_back({std::vector<Nanoseconds>(20, is_far ? 140us : 100us),
                    std::vector<Nanoseconds>(20, 1500ns), is_far ? 1600ns : 700ns});
  }
  const std::vector<TimesBySpeed> runs = {run_at({1500}, curve, 700ns),
                                          run_at({1500}, far_curve, 1600ns), group(both)};
  const EqualSpeedFit fit(runs);
  EXPECT_EQ(fit.runs_beside(0), (std::vector<bool>{true, true, true}));
  EXPECT_NEAR(fit.difference(0, 1).value, 0, 1e-3);
  EXPECT_LT(fit.difference(0, 1).half_width(), 0.03);
  for (const double level : fit.levels()) EXPECT_NEAR(level, fit.levels().front(), 1e-3);
}

TEST(EqualSpeed, ATimeAtALevelIsThatOfTheSamplesThere) {
  const std::vector<TimesBySpeed> runs = {run_at({1500, 1500, 2200, 3000}, curve)};
  const EqualSpeedFit fit(runs, 1500ns);
  EXPECT_NEAR(fit.time_at(0).value, std::log(curve(1500)), 1e-3);
  EXPECT_NEAR(*fit.correction(0, 3000ns, {}), std::log(curve(1500) / curve(3000)), 5e-3);
  EXPECT_FALSE(fit.correction(0, 1800ns, {}));
}

TEST(EqualSpeed, ATimeAtALevelThatWasNotSeenIsLessCertainTheFartherItIs) {
  const std::vector<TimesBySpeed> runs = {run_at({2200}, curve)};
  const double seen = EqualSpeedFit(runs, 2200ns).time_at(0).deviation;
  const double near = EqualSpeedFit(runs, 2000ns).time_at(0).deviation;
  const double far = EqualSpeedFit(runs, 1500ns).time_at(0).deviation;
  EXPECT_LT(seen, near);
  EXPECT_LT(near, far);
  EXPECT_NEAR(EqualSpeedFit(runs, 1500ns).time_at(0).value, std::log(curve(1500)), 2 * far);
}

TEST(EqualSpeed, APlaceThatOneProcessOfFiveSawIsNotTheUsualOne) {
  std::vector<Process> processes(
      5, {std::vector<Nanoseconds>(20, 100us), std::vector<Nanoseconds>(20, 1500ns), 700ns});
  processes[0].join = 475ns;
  processes[0].samples.assign(20, 110us);
  const std::vector<TimesBySpeed> runs = {group(processes)};
  EXPECT_NEAR(EqualSpeedFit(runs, 1500ns).time_at(0).value, std::log(1e5), 1e-3);
}

TEST(EqualSpeed, OneOddProcessOfFiveDoesNotWidenTheInterval) {
  std::vector<Process> processes(
      5, {std::vector<Nanoseconds>(20, 100us), std::vector<Nanoseconds>(20, 1500ns), 700ns});
  processes[3].samples.assign(20, 180us);
  EXPECT_LT(group(processes).process_scatter, 0.01);
  processes[4].samples.assign(20, 180us);
  EXPECT_GT(group(processes).process_scatter, 0.2);
}

// The canary of one sample was disturbed, not the sample.
TEST(EqualSpeed, ADisturbedCanaryIsNoOtherSpeed) {
  Process process{std::vector<Nanoseconds>(9, 100us), std::vector<Nanoseconds>(9, 1500ns), {}};
  process.canaries[4] = 3000ns;
  const std::vector<SpeedCell> expected = {{std::nullopt, 1500ns, 9, Picoseconds(100us)}};
  EXPECT_EQ(group({process}).cells, expected);
}

// Process k takes 1 % longer than process k - 1, as ten samples at a common speed show. At the
// speed of its other samples it was alone, and there it does not differ from the median, which is
// its own.
TEST(EqualSpeed, TheScatterOfProcessesIsThatAtTheirCommonSpeeds) {
  std::vector<Process> processes;
  for (int k = 0; k < 5; ++k) {
    const Nanoseconds common(std::llround(1e5 * std::exp(0.01 * k)));
    Process process{std::vector<Nanoseconds>(10, common), std::vector<Nanoseconds>(10, 1500ns), {}};
    process.samples.insert(process.samples.end(), 20, 150us);
    process.canaries.insert(process.canaries.end(), 20, Nanoseconds(2000 + 200 * k));
    processes.push_back(std::move(process));
  }
  // Six of the ten differences count: 0.01 four times, 0.02 twice.
  const double kept = std::sqrt((4 * 0.0001 + 2 * 0.0004) / 6);
  EXPECT_NEAR(group(processes).process_scatter, 0.6 * kept, 1e-5);
}

TEST(EqualSpeed, TheScatterOfProcessesWithoutACommonSpeedIsUnknown) {
  std::vector<Process> processes;
  for (const Nanoseconds canary : {1500ns, 2000ns, 3000ns}) {
    processes.push_back(
        {std::vector<Nanoseconds>(20, 100us), std::vector<Nanoseconds>(20, canary), {}});
  }
  EXPECT_EQ(group(processes).process_scatter, 0.05);
  EXPECT_EQ(group({processes[0]}).process_scatter, 0) << "one process";
}

// Its threads shared a processor. It was the only one of its run at the other run's distance of
// threads, and so the fit took its 15 times for the difference of the programs.
TEST(EqualSpeed, AnOddProcessDoesNotLinkTwoDistances) {
  const Process odd{std::vector<Nanoseconds>(6, Nanoseconds(6ms)),
                    std::vector<Nanoseconds>(6, 1250ns), 1600ns};
  const Process usual{std::vector<Nanoseconds>(20, Nanoseconds(400us)),
                      std::vector<Nanoseconds>(20, 1250ns), 800ns};
  const TimesBySpeed base = run_at(
      {1250}, [](int) { return 160'000.0; }, Nanoseconds(1700ns));
  const LogEstimate difference =
      difference_at_equal_speed(base, group({odd, usual, usual, usual, usual}));
  EXPECT_NEAR(difference.value, std::log(2.5), 0.05);
  EXPECT_GT(difference.half_width(), 0.3) << "the distances of the threads differed";
}

TEST(EqualSpeed, MoreScatterMakesADifferenceLessCertain) {
  SplitMix random(7);
  const auto noisy = [&](int canary) {
    return curve(canary) * (1 + 0.001 * static_cast<double>(random.below(100)));
  };
  const TimesBySpeed steady = run_at({1500}, curve);
  EXPECT_LT(difference_at_equal_speed(steady, steady).deviation,
            difference_at_equal_speed(steady, run_at({1500}, noisy)).deviation);
}

TEST(EqualSpeed, MergedRunsStandForTheirMean) {
  const std::vector<TimesBySpeed> runs = {run_at({1500, 2200}, curve),
                                          run_at({1500, 3000}, slower_curve)};
  const std::vector<std::size_t> both = {0, 1};
  const TimesBySpeed merged = EqualSpeedFit(runs).merge(both);
  EXPECT_EQ(merged.processes, 10);
  EXPECT_NEAR(difference_at_equal_speed(runs[0], merged).value, std::log(1.05) / 2, 1e-3);
  EXPECT_NEAR(difference_at_equal_speed(merged, runs[1]).value, std::log(1.05) / 2, 1e-3);
}

TEST(EqualSpeed, ARunKeepsTheCellsWithTheMostSamples) {
  Process process;
  for (int stratum = 0; stratum < 100; ++stratum) {
    const Nanoseconds canary(std::llround(1000 * std::exp(0.0201 * stratum)));
    for (int i = 0; i < (stratum < 40 ? 10 : 5); ++i) {
      process.samples.push_back(100us);
      process.canaries.push_back(canary);
    }
  }
  const TimesBySpeed times = group({process});
  ASSERT_EQ(times.cells.size(), kMaxSpeedCells);
  EXPECT_TRUE(std::ranges::is_sorted(times.cells, {}, &SpeedCell::canary));
  for (const SpeedCell& cell : times.cells) EXPECT_EQ(cell.samples, 10);
}

TEST(EqualSpeed, ExtremeValuesStayFinite) {
  const Nanoseconds longest = Nanoseconds::max();
  const TimesBySpeed extreme =
      group({{{1ns, longest}, {1ns, longest}, 1ns}, {{longest, 1ns}, {longest, 1ns}, longest}});
  const LogEstimate difference = difference_at_equal_speed(extreme, run_at({1500}, curve));
  EXPECT_TRUE(std::isfinite(difference.value));
  EXPECT_TRUE(std::isfinite(difference.deviation));
}

TEST(EqualSpeed, TheUsualSpeedOfAProcessIsItsMostFrequentOne) {
  const Process process{{1us, 2us, 3us, 4us}, {1500ns, 2000ns, 2001ns, 0ns}, {}};
  EXPECT_EQ(samples_at_usual_speed({process.samples, process.canaries, 1, {}}),
            (std::vector<Nanoseconds>{2us, 3us}));
}

}  // namespace
}  // namespace bench
