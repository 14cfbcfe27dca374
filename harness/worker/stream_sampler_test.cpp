// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/stream_sampler.hpp"

#include "harness/worker/warmup.hpp"
#include "tests/fakes/per_thread_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>

namespace bench {
namespace {

using namespace std::chrono_literals;
using test::PerThreadClock;

// An instance of a case whose iterations take `duration` on the clock of its thread.
class StreamInvocation final : public ops::Invocation {
 public:
  StreamInvocation(PerThreadClock& clock, Nanoseconds duration, std::int64_t fails_at)
      : clock_(clock), duration_(duration), fails_at_(fails_at) {}
  bool run() noexcept override {
    clock_.advance(duration_);
    return runs_++ != fails_at_;
  }
  std::string error() const override { return "the kernel failed"; }

 private:
  PerThreadClock& clock_;
  Nanoseconds duration_;
  std::int64_t fails_at_, runs_ = 0;
};

class CountedCanary final : public SampleCanary {
 public:
  explicit CountedCanary(Nanoseconds time) : time_(time) {}
  int threads() const override { return 1; }
  Nanoseconds take() override { return time_; }
  MachineLook look() override { return {time_, 1us, 2us}; }
  std::optional<Nanoseconds> join() const override { return std::nullopt; }
  std::int64_t preemptions() override { return 0; }

 private:
  Nanoseconds time_;
};

class StreamSamplerTest : public testing::Test {
 protected:
  static constexpr std::int64_t kNever = -1;

  void add_stream(Nanoseconds duration, std::int64_t fails_at = kNever) {
    std::vector<std::unique_ptr<ops::Invocation>> invocations;
    invocations.push_back(std::make_unique<StreamInvocation>(clock_, duration, fails_at));
    rotations_.push_back(std::make_unique<Rotation>(std::move(invocations)));
  }
  Sampler& sampler(SamplerOptions options = {}) {
    team_.emplace(StreamProcessors(rotations_.size(), {0}));
    sampler_ = make_stream_sampler(*team_, rotations_, clock_, options);
    return *sampler_;
  }

  PerThreadClock clock_;
  std::vector<std::unique_ptr<Rotation>> rotations_;
  std::optional<StreamTeam> team_;
  std::unique_ptr<Sampler> sampler_;
};

TEST_F(StreamSamplerTest, EqualStreamsHaveTwiceTheThroughputAndTheSameLatency) {
  add_stream(10ms);
  add_stream(10ms);
  RoundSamples out;
  ASSERT_TRUE(run_round(sampler(), 5, 6, out).ok());
  EXPECT_EQ(out.samples, std::vector<Nanoseconds>(5, 30ms));
  EXPECT_EQ(std::set<Nanoseconds>(out.latencies.begin(), out.latencies.end()),
            std::set{10000000ns});
  EXPECT_GE(out.latencies.size(), 5u * 2 * 3);
  EXPECT_GE(out.timed, 5 * 40ms);
}

TEST_F(StreamSamplerTest, RatesOfUnequalStreamsAreAdded) {
  add_stream(10ms);
  add_stream(20ms);
  add_stream(20ms);
  RoundSamples out;
  ASSERT_TRUE(run_round(sampler(), 3, 9, out).ok());
  // 0.1 + 0.05 + 0.05 iterations per millisecond.
  EXPECT_EQ(out.samples, std::vector<Nanoseconds>(3, 45ms));
}

// A duet gives both sides the same number of iterations, which need not be a multiple.
TEST_F(StreamSamplerTest, ASampleHasTheTimeOfAnyNumberOfIterations) {
  add_stream(10ms);
  add_stream(10ms);
  RoundSamples out;
  ASSERT_TRUE(run_round(sampler(), 1, 7, out).ok());
  EXPECT_EQ(out.samples.front(), 35ms);
}

// With one stream, since clocks of several threads would drift apart over the rounds of a warm-up.
TEST_F(StreamSamplerTest, TheWarmUpChoosesItsIterations) {
  add_stream(10ms);
  const auto slow = warm_up(sampler(), 3, 0ms, clock_);
  ASSERT_TRUE(slow.ok()) << slow.error().message();
  EXPECT_EQ(slow->iterations_per_sample, kMinWindowIterations);
  EXPECT_EQ(slow->sample, 30ms);
  rotations_.clear();
  add_stream(100us);
  const auto fast = warm_up(sampler(), 3, 0ms, clock_);
  ASSERT_TRUE(fast.ok()) << fast.error().message();
  EXPECT_EQ(fast->iterations_per_sample, 55) << "5 ms at 100 us, and a tenth more";
  EXPECT_EQ(fast->sample, 5500us);
}

// Reading the clock takes 1 ms, so an iteration of 10 ms takes 11 ms and ends after 16.5 ms or
// more.
TEST(SlowedStreams, EachIterationIsLengthened) {
  PerThreadClock clock(1ms);
  std::vector<std::unique_ptr<Rotation>> rotations;
  std::vector<std::unique_ptr<ops::Invocation>> invocations;
  invocations.push_back(std::make_unique<StreamInvocation>(clock, 10ms, -1));
  rotations.push_back(std::make_unique<Rotation>(std::move(invocations)));
  StreamTeam team(StreamProcessors(1, {0}));
  SamplerOptions options;
  options.slowdown = 0.5;
  const auto sampler = make_stream_sampler(team, rotations, clock, options);
  RoundSamples out;
  ASSERT_TRUE(run_round(*sampler, 1, 3, out).ok());
  EXPECT_EQ(out.latencies, std::vector<Nanoseconds>(3, 17ms));
  EXPECT_EQ(out.samples.front(), 51ms);
  EXPECT_EQ(out.clock, 1ms);
}

TEST_F(StreamSamplerTest, AFailingStreamIsNamed) {
  add_stream(10ms);
  add_stream(10ms, 2);
  RoundSamples out;
  const Status status = run_round(sampler(), 5, 6, out);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().what, "stream 2 of 2: the kernel failed");
  EXPECT_TRUE(out.samples.empty());
}

TEST_F(StreamSamplerTest, ASampleHasTheSlowestCanaryOfItsStreams) {
  add_stream(10ms);
  add_stream(10ms);
  team_.emplace(StreamProcessors(2, {0}));
  std::atomic<int> made{0};
  const auto canary = make_team_canary(*team_, [&] {
    return std::make_unique<CountedCanary>(made.fetch_add(1) == 0 ? 10us : 13us);
  });
  EXPECT_EQ(canary->threads(), 2);
  EXPECT_EQ(canary->look().lost, 2us);
  SamplerOptions options;
  options.canary = canary.get();
  const auto sampler = make_stream_sampler(*team_, rotations_, clock_, options);
  RoundSamples out;
  ASSERT_TRUE(run_round(*sampler, 2, 6, out).ok());
  EXPECT_EQ(out.canaries, std::vector<Nanoseconds>(2, 13us));
}

TEST(ClockCost, IsThatOfOneReadingRoundedUp) {
  class SlowClock final : public Clock {
   public:
    Nanoseconds now() override { return time_ += 21ns; }

   private:
    Nanoseconds time_{0};
  } clock;
  EXPECT_EQ(clock_cost(clock), 21ns);
}

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
