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

}  // namespace
}  // namespace bench
