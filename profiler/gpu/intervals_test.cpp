// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/intervals.hpp"

#include "tests/fakes/gpu_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using test::during;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Intervals, UnionOfWhatOverlapsTouchesAndNests) {
  EXPECT_THAT(merge_intervals({during(50, 60), during(0, 10), during(5, 20), during(6, 7),
                               during(20, 30), during(40, 40), during(80, 70)}),
              ElementsAre(during(0, 30), during(50, 60)));
  EXPECT_THAT(merge_intervals({}), IsEmpty());
}

TEST(Intervals, TotalCountsOverlapsTwice) {
  const std::vector intervals = {during(0, 10), during(5, 10)};
  EXPECT_EQ(total_length(intervals), 15ns);
  EXPECT_EQ(total_length(merge_intervals(intervals)), 10ns);
}

TEST(Intervals, CoveredPercentOfEachPeriod) {
  // 0-10 is fully covered, 10-20 half, 20-30 not at all. 30-35 is a shorter, fully covered period.
  const std::vector disjoint = {during(0, 15), during(30, 35)};
  EXPECT_THAT(covered_percent(disjoint, 10ns),
              ElementsAre(CounterPoint{0ns, 100}, CounterPoint{10ns, 50}, CounterPoint{20ns, 0},
                          CounterPoint{30ns, 100}, CounterPoint{35ns, 0}));
  EXPECT_THAT(covered_percent(std::vector{during(100, 104), during(106, 110)}, 1000ns),
              ElementsAre(CounterPoint{100ns, 80}, CounterPoint{110ns, 0}));
  EXPECT_THAT(covered_percent({}, 10ns), IsEmpty());
}

TEST(Intervals, OpenCountAtEveryChange) {
  const std::vector intervals = {during(0, 10), during(5, 20), during(10, 15)};
  EXPECT_THAT(open_count(intervals),
              ElementsAre(CounterPoint{0ns, 1}, CounterPoint{5ns, 2}, CounterPoint{10ns, 2},
                          CounterPoint{15ns, 1}, CounterPoint{20ns, 0}));
}

}  // namespace
}  // namespace bench
