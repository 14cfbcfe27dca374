// SPDX-License-Identifier: Apache-2.0
#include "harness/run/quiet_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class QuietWatchTest : public testing::Test {
 protected:
  QuietWatchTest() { watched_.threads = 2; }
  void add(int looks, Nanoseconds canary, Nanoseconds chain = 500ns, Nanoseconds lost = 0ns) {
    for (int i = 0; i < looks; ++i) {
      watched_.canaries.push_back(canary);
      watched_.chains.push_back(chain);
      watched_.lost.push_back(lost);
    }
  }
  WatchedReply watched_;
};

TEST_F(QuietWatchTest, TellsWhatDisturbsApart) {
  add(60, 1000ns);
  add(30, 1700ns);
  add(7, 1200ns, 600ns);
  add(3, 1000ns, 500ns, 2ms);
  const QuietWatch watch = judge_watch(watched_, {});
  EXPECT_EQ(watch.observations, 100);
  EXPECT_EQ(watch.quiet, 60);
  EXPECT_EQ(watch.neighbour, 30);
  EXPECT_EQ(watch.slow_clock, 7);
  EXPECT_EQ(watch.interrupted, 3);
  const Finding finding = quiet_finding(watch, 10s);
  EXPECT_EQ(finding.level, Finding::Level::note);
  EXPECT_EQ(finding.found,
            "60 % of 10.00 s; a neighbour on the core 30 %, a lower clock 7 %, a processor taken "
            "away 3 %");
  EXPECT_THAT(finding.consequence, HasSubstr("waits"));
}

TEST_F(QuietWatchTest, AQuietMachineIsGood) {
  add(100, 1000ns);
  const Finding finding = quiet_finding(judge_watch(watched_, {}), 10s);
  EXPECT_EQ(finding.level, Finding::Level::good);
  EXPECT_EQ(finding.found, "100 % of 10.00 s");
  EXPECT_EQ(finding.remedy, "");
}

// Equal observations do not show whether the machine is quiet, unless the store has its quiet
// level.
TEST_F(QuietWatchTest, ADisturbanceThatNeverEndsIsSeenByWhatTheStoreKnows) {
  add(100, 1700ns);
  EXPECT_EQ(judge_watch(watched_, {}).quiet, 100);
  QuietLevels levels;
  levels.know(2, 1000ns);
  const QuietWatch watch = judge_watch(watched_, levels);
  EXPECT_EQ(watch.quiet, 0);
  EXPECT_EQ(quiet_finding(watch, 10s).level, Finding::Level::problem);
}

TEST_F(QuietWatchTest, NothingSeenIsNothingSaid) {
  EXPECT_EQ(judge_watch(watched_, {}).observations, 0);
}

}  // namespace
}  // namespace bench
