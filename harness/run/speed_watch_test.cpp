// SPDX-License-Identifier: Apache-2.0
#include "harness/run/speed_watch.hpp"

#include "harness/stats/equal_speed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Five processes with samples of a machine with two threads. Work takes as much longer as the
// canary.
class SpeedWatchTest : public testing::Test {
 protected:
  SpeedWatchTest() : processes_(kWatchProcesses) {
    for (WatchedReply& process : processes_) {
      process.threads = 2;
      process.join = 700ns;
    }
  }
  static void add(WatchedReply& process, int samples, Nanoseconds canary, Nanoseconds chain = 500ns,
                  Nanoseconds lost = 0ns) {
    for (int i = 0; i < samples; ++i) {
      process.canaries.push_back(canary);
      process.chains.push_back(chain);
      process.lost.push_back(lost);
      process.compute.push_back(100 * canary);
      process.memory.push_back(90 * canary);
    }
  }
  void add(int samples, Nanoseconds canary, Nanoseconds chain = 500ns, Nanoseconds lost = 0ns) {
    for (WatchedReply& process : processes_) add(process, samples, canary, chain, lost);
  }
  SpeedWatch judge(Nanoseconds time = 10s) const { return judge_speed(processes_, time); }
  std::vector<Finding> findings(Nanoseconds time = 10s) const {
    return speed_findings(judge(time), time);
  }

  std::vector<WatchedReply> processes_;
};

TEST_F(SpeedWatchTest, StatesAreThePeaksOfTheCanariesFastestFirst) {
  add(60, 1500ns);
  add(30, 2200ns);
  add(7, 3000ns);
  add(3, 5000ns);  // too few for a state
  EXPECT_EQ(judge().samples, 500);
  EXPECT_THAT(judge().states,
              ElementsAre(SpeedState{1500ns, 0.60, false}, SpeedState{2200ns, 0.30, true},
                          SpeedState{3000ns, 0.07, false}));
}

TEST_F(SpeedWatchTest, AStateHasTheLooksWithinThreePercent) {
  add(10, 1480ns);
  add(60, 1500ns);
  add(30, 1530ns);
  EXPECT_THAT(judge().states, ElementsAre(SpeedState{1500ns, 1.0, true}));
}

TEST_F(SpeedWatchTest, ThePresentStateIsThatOfTheLastSecond) {
  add(100, 1500ns);
  add(processes_.back(), 60, 2200ns);  // in the last of ten seconds, which has 56 samples
  EXPECT_FALSE(judge().states.at(0).is_present);
  EXPECT_TRUE(judge().states.at(1).is_present);
  EXPECT_TRUE(judge(1s).states.at(0).is_present);
}

TEST_F(SpeedWatchTest, TheCausesOfSlowLooksAreToldApart) {
  add(60, 1000ns);
  add(30, 1700ns);
  add(7, 1200ns, 600ns);
  add(3, 1000ns, 500ns, 2ms);
  const SpeedWatch watch = judge();
  EXPECT_NEAR(watch.neighbour, 0.30, 1e-9);
  EXPECT_NEAR(watch.slow_clock, 0.07, 1e-9);
  EXPECT_NEAR(watch.interrupted, 0.03, 1e-9);
  const Finding finding = findings().at(0);
  EXPECT_EQ(finding.level, Finding::Level::note);
  EXPECT_EQ(finding.found,
            "3 speeds in 10.00 s: the same work took 1.000 us (63 % of the time), 1.200 us (7 %), "
            "1.700 us (30 %, now); slower because of a neighbour on the core (30 %), a lower clock "
            "(7 %), "
            "a processor taken away (3 %)");
  EXPECT_THAT(finding.remedy, HasSubstr("whole cores"));
}

TEST_F(SpeedWatchTest, ASteadyMachineIsGood) {
  add(100, 1000ns);
  const std::vector<Finding> rows = findings();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].level, Finding::Level::good);
  EXPECT_EQ(rows[0].found,
            "one speed in 10.00 s: the same work took 1.000 us (100 % of the time, now)");
  EXPECT_EQ(rows[0].remedy, "");
  EXPECT_EQ(rows[1].level, Finding::Level::good);
  EXPECT_EQ(rows[1].remedy, "");
}

TEST_F(SpeedWatchTest, ThePrecisionIsThatOfTheDifferenceOfTwoSuchRuns) {
  add(50, 1000ns);
  add(50, 1700ns);
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    for (Nanoseconds& time : processes_[i].memory) time += time * static_cast<int>(i) / 50;
  }
  std::vector<SpeedProcess> views;
  for (const WatchedReply& process : processes_)
    views.push_back({process.memory, process.canaries, 1, 700ns});
  const TimesBySpeed times = group_by_speed(views).value();
  const SpeedWatch watch = judge();
  ASSERT_TRUE(watch.compute_precision && watch.memory_precision);
  EXPECT_DOUBLE_EQ(*watch.memory_precision,
                   std::expm1(difference_at_equal_speed(times, times).half_width()));
  EXPECT_LT(*watch.compute_precision, 0.01);
  EXPECT_GT(*watch.memory_precision, 0.03);
}

TEST_F(SpeedWatchTest, FewLooksOrProcessesHaveNoPrecision) {
  add(9, 1000ns);
  EXPECT_FALSE(judge().compute_precision);
  add(1, 1000ns);
  EXPECT_TRUE(judge().compute_precision);
  processes_.resize(2);
  EXPECT_FALSE(judge().compute_precision);
  const Finding finding = findings(20ms).at(1);
  EXPECT_EQ(finding.level, Finding::Level::note);
  EXPECT_EQ(finding.found, "n/a: 20.00 ms do not suffice for 3 processes with 10 samples each");
  EXPECT_THAT(finding.remedy, HasSubstr("--watch 10s"));
}

// A time of 0 means that the work was interrupted.
TEST_F(SpeedWatchTest, InterruptedWorkDoesNotCount) {
  add(10, 1000ns);
  for (WatchedReply& process : processes_) process.memory[3] = 0ns;
  EXPECT_TRUE(judge().compute_precision);
  EXPECT_FALSE(judge().memory_precision);
}

TEST_F(SpeedWatchTest, NoLooksAreNoSpeed) {
  EXPECT_EQ(judge().samples, 0);
  EXPECT_THAT(judge().states, IsEmpty());
  EXPECT_EQ(findings().at(0).found, "no usual speed in 10.00 s");
  EXPECT_EQ(format_speed_histogram(judge()), "");
}

TEST(SpeedFindings, LevelAndAdviceDependOnTheWorsePrecision) {
  SpeedWatch watch;
  watch.compute_precision = 0.012;
  watch.memory_precision = 0.03;
  const auto precision = [&] { return speed_findings(watch, 10s).at(1); };
  EXPECT_EQ(precision().level, Finding::Level::good);
  watch.memory_precision = 0.038;
  EXPECT_EQ(precision().level, Finding::Level::note);
  EXPECT_EQ(precision().found,
            "two runs can be compared here: to about +-1.2 % for compute-bound and +-3.8 % for "
            "memory-bound cases");
  EXPECT_THAT(precision().remedy, HasSubstr("`bench gate --base FOLDER`"));
  watch.compute_precision = 0.11;
  EXPECT_EQ(precision().level, Finding::Level::problem);
  EXPECT_EQ(
      precision().found,
      "two runs can be compared here for memory-bound cases, to about +-3.8 %, but hardly for "
      "compute-bound cases: +-11.0 %");
  watch.memory_precision = 0.2;
  EXPECT_THAT(precision().found, HasSubstr("can hardly be compared here: to about +-11.0 %"));
}

TEST_F(SpeedWatchTest, TheHistogramHasABarPerClassAndMarksThePresentSpeed) {
  add(50, 1000ns);
  add(25, 1030ns);
  add(25, 1050ns);
  EXPECT_EQ(format_speed_histogram(judge()),
            "How long the same work took in 500 samples:\n"
            "     993 ns   50 %  ##################################################\n"
            "   1.013 us   25 %  ######################### now\n"
            "   1.033 us   25 %  #########################\n");
}

TEST_F(SpeedWatchTest, ManySpeedsFitTwelveLinesOfEightyColumns) {
  for (int i = 0; i < 400; ++i) add(1, Nanoseconds(std::llround(1000 * std::exp(0.005 * i))));
  add(1, 5s);
  const std::string text = format_speed_histogram(judge());
  EXPECT_LE(std::ranges::count(text, '\n'), 12);
  double sum = 0;
  for (const SpeedBar& bar : judge().bars) sum += bar.share;
  EXPECT_NEAR(sum, 1, 1e-9);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(end - at, 80U);
    at = end + 1;
  }
}

}  // namespace
}  // namespace bench
