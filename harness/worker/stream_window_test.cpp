// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/stream_window.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

StreamWindow window_of(const std::vector<StreamTimes>& streams, std::int64_t required) {
  const auto window = find_window(streams, required);
  EXPECT_TRUE(window.has_value());
  return window.value_or(StreamWindow{});
}

TEST(FindWindow, BeginsAfterTheLastLeadInAndEndsWithTheLastRequiredIteration) {
  // The lead-ins end at 10 and 15. The first stream's iteration from 10 to 20 begins too early; the
  // one from 40 to 50 ends too late.
  const StreamWindow window =
      window_of({{0ns, 10ns, 20ns, 30ns, 40ns, 50ns}, {5ns, 15ns, 25ns, 35ns, 45ns}}, 2);
  EXPECT_EQ(window.begin, 15ns);
  EXPECT_EQ(window.end, 40ns);
  EXPECT_THAT(window.counted, ElementsAre(2, 2));
  EXPECT_THAT(window.spans, ElementsAre(20ns, 20ns));
  EXPECT_THAT(window.latencies, UnorderedElementsAre(10ns, 10ns, 10ns, 10ns));
}

TEST(FindWindow, AFasterStreamCountsMoreIterations) {
  const StreamWindow window =
      window_of({{0ns, 4ns, 8ns, 12ns, 16ns, 20ns, 24ns, 28ns, 32ns}, {0ns, 10ns, 20ns, 31ns}}, 2);
  EXPECT_EQ(window.begin, 10ns);
  EXPECT_EQ(window.end, 31ns);
  EXPECT_THAT(window.counted, ElementsAre(4, 2));
  EXPECT_THAT(window.spans, ElementsAre(16ns, 21ns));
  EXPECT_THAT(window.latencies, UnorderedElementsAre(4ns, 4ns, 4ns, 4ns, 10ns, 11ns));
}

TEST(FindWindow, IterationsAtItsEndsCount) {
  const StreamWindow window = window_of({{0ns, 5ns, 6ns, 7ns}, {1ns, 5ns, 6ns, 7ns}}, 2);
  EXPECT_THAT(window.counted, ElementsAre(2, 2));
}

TEST(FindWindow, OneStreamHasAllIterationsAfterItsLeadIn) {
  const StreamWindow window = window_of({{0ns, 90ns, 100ns, 112ns, 120ns}}, 3);
  EXPECT_EQ(window.begin, 90ns);
  EXPECT_THAT(window.latencies, ElementsAre(10ns, 12ns, 8ns));
}

TEST(FindWindow, AStreamWithoutTheRequiredIterationsGivesNone) {
  EXPECT_EQ(find_window(std::vector<StreamTimes>{{0ns}, {0ns, 1ns, 2ns}}, 1), std::nullopt);
  // All iterations of the first stream begin before the lead-in of the second one ends.
  EXPECT_EQ(find_window(std::vector<StreamTimes>{{0ns, 1ns, 2ns, 3ns}, {0ns, 9ns, 10ns}}, 1),
            std::nullopt);
}

TEST(TimeAtThroughput, AddsTheRatesOfTheStreams) {
  StreamWindow window;
  window.counted = {4, 2};
  window.spans = {16ns, 21ns};
  // 4/16 + 2/21 iterations per nanosecond.
  EXPECT_EQ(time_at_throughput(window, 1000), Nanoseconds(2897));
  window = {};
  window.counted = {3, 3};
  window.spans = {30ms, 30ms};
  EXPECT_EQ(time_at_throughput(window, 6), 30ms);
  EXPECT_EQ(time_at_throughput(window, 1), 5ms);
}

}  // namespace
}  // namespace bench
