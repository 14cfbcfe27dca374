// SPDX-License-Identifier: Apache-2.0
#include "profiler/clock_pair.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;

// Shows these times, one at each reading; the last one again and again.
class ScriptedClock final : public Clock {
 public:
  explicit ScriptedClock(std::vector<Nanoseconds> times) : times_(std::move(times)) {}
  Nanoseconds now() override {
    const Nanoseconds time = times_[next_];
    if (next_ + 1 < times_.size()) ++next_;
    return time;
  }

 private:
  std::vector<Nanoseconds> times_;
  std::size_t next_ = 0;
};

TEST(ClockPair, IsTheReadingThatNothingInterrupted) {
  // The thread waited 40 ms in the first and 5 ms in the third reading.
  ScriptedClock monotonic({0ms, 40ms, 50ms, 50002us, 60ms, 65ms, 70ms, 71ms, 80ms, 90ms});
  ScriptedClock realtime({1s, 1050001us, 1062ms, 1070ms});
  EXPECT_EQ(read_clock_pair(realtime, monotonic), (ClockPair{1050001us, 50001us}));
}

TEST(ClockPair, DetailsStateWhatTheyWereMadeFrom) {
  const ProfileClocks clocks{ClockPair{10s, 1s}, ClockPair{15s, 6s}, "boot"};
  ClockDetails details;
  describe_clocks(clocks, details);
  const ProfileClocks read = parse_clocks(details);
  EXPECT_EQ(read.start, clocks.start);
  EXPECT_EQ(read.end, clocks.end);
  EXPECT_EQ(read.boot, "boot");
}

TEST(ClockPair, TextsThatAreNoTimesAreUnknown) {
  for (const char* text : {"", "-1", "1e9", "9223372036854775807", "x"}) {
    const ProfileClocks clocks =
        parse_clocks({{"clock.start.realtime_ns", text}, {"clock.start.monotonic_ns", "1"}});
    EXPECT_EQ(clocks.start, std::nullopt) << text;
    EXPECT_EQ(clocks.realtime_offset(), std::nullopt) << text;
  }
}

TEST(ClockPair, TheOffsetIsTheMeanOfBothPairsAndTheDriftTheirDifference) {
  const ProfileClocks clocks{ClockPair{10s, 1s}, ClockPair{20s + 4ms, 11s}, ""};
  EXPECT_EQ(clocks.realtime_offset(), 9s + 2ms);
  EXPECT_EQ(clocks.drift(), 4ms);
  EXPECT_EQ((ProfileClocks{ClockPair{10s, 1s}, std::nullopt, ""}.drift()), 0ns);
}

}  // namespace
}  // namespace bench
