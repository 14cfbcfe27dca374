// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/sampler.hpp"

#include "harness/worker/warmup.hpp"
#include "tests/fakes/fake_backend.hpp"
#include "tests/fakes/scripted_invocation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using ops::DeviceSample;
using ops::SampleMethod;
using ops::SampleRequest;
using ops::SampleVerdict;
using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kClock = 1'780'000'000;

DeviceSample sample(Nanoseconds device, std::optional<std::int64_t> clock_hz = kClock) {
  DeviceSample result;
  result.device = device;
  result.host = 3us;
  result.clock_hz = clock_hz;
  return result;
}
DeviceSample judged(SampleVerdict verdict, std::string reason) {
  DeviceSample result = sample(100us);
  result.verdict = verdict;
  result.reason = std::move(reason);
  return result;
}

// A kernel whose samples are scripted, over a rotation of three.
class DeviceSamplerTest : public testing::Test {
 protected:
  using Script = std::function<Result<DeviceSample>(std::int64_t n)>;

  void script(Script script) {
    test::FakeScript fake;
    fake.sample = [this, script = std::move(script)](
                      std::int64_t n, const SampleRequest& request) -> Result<DeviceSample> {
      requests_.push_back(request);
      runs_.clock().advance(200us);
      return script(n);
    };
    kernel_ = std::make_unique<test::FakeKernel>(
        std::vector<ops::Tensor>{}, test::FakeCompute(), std::move(fake), [](Nanoseconds) {},
        std::make_shared<test::FakeLibrary>());
    make({});
  }
  void make(std::optional<double> slowdown) {
    sampler_ = make_sampler(*kernel_, runs_.rotation(), runs_.clock(),
                            {slowdown, [this](Nanoseconds time) { pauses_.push_back(time); }});
  }
  RoundSamples round(std::int64_t samples, std::int64_t iterations = 1) {
    RoundSamples taken;
    const Status status = run_round(*sampler_, samples, iterations, taken);
    EXPECT_TRUE(status.ok()) << status.error().message();
    return taken;
  }

  test::ScriptedRuns runs_{[](std::int64_t) { return 1ns; }, 3};
  std::unique_ptr<test::FakeKernel> kernel_;
  std::unique_ptr<Sampler> sampler_;
  std::vector<SampleRequest> requests_;
  std::vector<Nanoseconds> pauses_;
};

TEST_F(DeviceSamplerTest, TakesTheDevicesTimeAndNeverRunsAroundIt) {
  script([](std::int64_t n) { return sample(100us + n * 1us, kClock + n); });
  const RoundSamples taken = round(3, 2);
  EXPECT_THAT(taken.samples, ElementsAre(100us, 101us, 102us));
  EXPECT_EQ(taken.timed, 303us);
  EXPECT_THAT(taken.device.host_launch, ElementsAre(3us, 3us, 3us));
  EXPECT_THAT(taken.device.clock_hz, ElementsAre(kClock, kClock + 1, kClock + 2));
  EXPECT_EQ(taken.device.sample_method, "stream");
  EXPECT_EQ(taken.device.voided, SampleRemarks{});
  EXPECT_THAT(runs_.order(), IsEmpty());
  ASSERT_THAT(requests_, SizeIs(3));
  for (const SampleRequest& request : requests_) {
    EXPECT_THAT(request.rotation, SizeIs(3));
    EXPECT_EQ(request.iterations, 2);
  }
  // Each request begins two iterations further, over three sets.
  EXPECT_EQ(requests_[0].first, 0);
  EXPECT_EQ(requests_[1].first, 2);
  EXPECT_EQ(requests_[2].first, 1);
}

TEST_F(DeviceSamplerTest, RoundsTakeSamplesAsTheLastOfTheWarmUp) {
  script([](std::int64_t n) {
    DeviceSample taken = sample(n == 0 ? 60us : 110us);
    taken.method = n == 0 ? SampleMethod::stream : SampleMethod::graph;
    return taken;
  });
  ASSERT_TRUE(warm_up(*sampler_, 3, 0ns, runs_.clock()).ok());
  for (const SampleRequest& request : requests_) EXPECT_EQ(request.method, SampleMethod::any);
  const RoundSamples taken = round(2);
  EXPECT_EQ(requests_.back().method, SampleMethod::graph);
  EXPECT_EQ(taken.device.sample_method, "graph");
}

TEST_F(DeviceSamplerTest, TheWarmUpChoosesTheBatchByTheDevicesTime) {
  script([this](std::int64_t) { return sample(requests_.back().iterations * 10us); });
  const auto warm = warm_up(*sampler_, 3, 0ns, runs_.clock());
  ASSERT_TRUE(warm.ok());
  EXPECT_EQ(warm->iterations_per_sample, 110);
  EXPECT_EQ(warm->sample, 1100us);
  EXPECT_TRUE(warm->steady);
}

TEST_F(DeviceSamplerTest, VoidSamplesAreRepeatedAndCounted) {
  script([](std::int64_t n) {
    return n % 3 == 1 ? judged(SampleVerdict::voided, "hardware thermal slowdown") : sample(100us);
  });
  const RoundSamples taken = round(4);
  EXPECT_THAT(taken.samples, SizeIs(4));
  EXPECT_EQ(taken.device.voided, (SampleRemarks{2, {{"hardware thermal slowdown", 2}}}));
  EXPECT_THAT(taken.device.host_launch, SizeIs(4));
  EXPECT_THAT(pauses_, IsEmpty());
}

TEST_F(DeviceSamplerTest, ThrottledAndUnsteadyOnesCountAndAreRemarked) {
  script([](std::int64_t n) {
    if (n == 0) return judged(SampleVerdict::throttled, "power cap");
    return n == 1 ? judged(SampleVerdict::unsteady, "the clock changed") : sample(100us);
  });
  const RoundSamples taken = round(3);
  EXPECT_THAT(taken.samples, SizeIs(3));
  EXPECT_EQ(taken.device.throttled, (SampleRemarks{1, {{"power cap", 1}}}));
  EXPECT_EQ(taken.device.unsteady_clock, (SampleRemarks{1, {{"the clock changed", 1}}}));
}

TEST_F(DeviceSamplerTest, ALowClockIsMarkedAndCounts) {
  // A clock of 90 % is not marked.
  const std::vector<std::int64_t> clocks = {kClock,        kClock,          kClock,
                                            1'210'000'000, kClock * 9 / 10, kClock};
  script([&](std::int64_t n) { return sample(100us, clocks.at(static_cast<std::size_t>(n))); });
  const RoundSamples taken = round(6);
  EXPECT_THAT(taken.device.clock_hz, ElementsAreArray(clocks));
  EXPECT_EQ(taken.device.unsteady_clock,
            (SampleRemarks{1, {{"SM clock 1.21 GHz, 68 % of the recent median 1.78 GHz", 1}}}));
  EXPECT_EQ(taken.device.voided, SampleRemarks{});
}

// A device at 0.75 of its boost clock under load, which recovers in a pause: the third sample after
// it is slow again.
class CappedDeviceTest : public DeviceSamplerTest {
 protected:
  void script_cap(SampleVerdict when_slow) {
    script([this, when_slow](std::int64_t) {
      if (pauses_.size() != seen_pauses_) since_pause_ = 0;
      seen_pauses_ = pauses_.size();
      if (++since_pause_ <= 2) return sample(kFast, kClock);
      DeviceSample slow = sample(kSettled, kClock * 3 / 4);
      slow.verdict = when_slow;
      slow.reason = when_slow == SampleVerdict::counted ? "" : "power cap";
      return slow;
    });
  }
  static constexpr Nanoseconds kFast = 90us, kSettled = 120us;
  std::size_t seen_pauses_ = 0;
  std::int64_t since_pause_ = 0;
};

TEST_F(CappedDeviceTest, APowerCapVoidsNothingAndTheSettledTimeCounts) {
  script_cap(SampleVerdict::throttled);
  const RoundSamples first = round(5);
  EXPECT_THAT(first.samples, ElementsAre(kFast, kFast, kSettled, kSettled, kSettled));
  const RoundSamples later = round(40);
  EXPECT_THAT(later.samples, Each(kSettled));
  EXPECT_THAT(later.device.clock_hz, Each(kClock * 3 / 4));
  EXPECT_EQ(later.device.throttled, (SampleRemarks{40, {{"power cap", 40}}}));
  EXPECT_EQ(later.device.voided, SampleRemarks{});
  EXPECT_THAT(pauses_, IsEmpty());
}

// Without NVML no reason is known: the clock of most recent samples becomes the normal one.
TEST_F(CappedDeviceTest, AClockThatSettlesWithoutAReasonBecomesTheNormalOne) {
  script([this](std::int64_t n) {
    return n < 10 ? sample(kFast, kClock) : sample(kSettled, kClock * 3 / 4);
  });
  const RoundSamples taken = round(40);
  EXPECT_THAT(taken.samples, SizeIs(40));
  EXPECT_EQ(taken.samples.back(), kSettled);
  EXPECT_EQ(taken.device.voided.count, 0);
  // then eight of the recent 15 samples have the lower clock
  EXPECT_EQ(taken.device.unsteady_clock.count, 8);
  EXPECT_EQ(round(40).device.unsteady_clock.count, 0);
}

// A device at its power cap alternates between clocks. Its fast samples must not be preferred.
TEST_F(CappedDeviceTest, AnAlternatingClockVoidsNothing) {
  script([this](std::int64_t n) {
    return n % 2 == 0 ? sample(kFast, kClock) : sample(kSettled, kClock * 3 / 4);
  });
  const RoundSamples taken = round(40);
  EXPECT_EQ(taken.device.voided, SampleRemarks{});
  EXPECT_EQ(std::ranges::count(taken.samples, kFast), 20);
  EXPECT_EQ(std::ranges::count(taken.samples, kSettled), 20);
}

TEST_F(DeviceSamplerTest, TheWarmUpLastsUntilTheClockHasSettled) {
  // The clock falls from 1.0 to 0.75 of the boost clock in 25 steps; the times do not show it.
  script([](std::int64_t n) {
    return sample(2ms, kClock * (100 - std::min<std::int64_t>(n, 25)) / 100);
  });
  const auto warm = warm_up(*sampler_, 1, 2ms, runs_.clock());
  ASSERT_TRUE(warm.ok());
  EXPECT_TRUE(warm->steady);
  EXPECT_GT(warm->iterations, 25);
}

TEST_F(DeviceSamplerTest, AWarmUpWhoseClockNeverSettlesIsUnsteady) {
  script([](std::int64_t n) { return sample(2ms, kClock - n * 30'000'000); });
  const auto warm = warm_up(*sampler_, 1, 1ms, runs_.clock());
  ASSERT_TRUE(warm.ok());
  EXPECT_FALSE(warm->steady);
  EXPECT_EQ(warm->iterations, 50);  // ten times the requested time, in steps of 200 us
}

TEST_F(DeviceSamplerTest, AfterThreeVoidsInARowItWaitsLongerEachTime) {
  script([](std::int64_t n) {
    return n >= 1 && n < 8 ? judged(SampleVerdict::voided, "hot") : sample(100us);
  });
  const RoundSamples taken = round(2);
  EXPECT_THAT(taken.samples, SizeIs(2));
  EXPECT_EQ(taken.device.voided.count, 7);
  EXPECT_THAT(pauses_, ElementsAre(50ms, 100ms));
}

TEST_F(DeviceSamplerTest, ARoundThatStaysVoidEnds) {
  script([](std::int64_t n) {
    return n == 0 ? sample(100us) : judged(SampleVerdict::voided, "another compute process");
  });
  const RoundSamples taken = round(20);
  EXPECT_THAT(taken.samples, ElementsAre(100us));
  EXPECT_EQ(taken.device.voided.count, 3 * (kMaxPauses + 1));
  EXPECT_THAT(pauses_, ElementsAre(50ms, 100ms, 200ms, 400ms, 800ms));
  // The next round waits again.
  EXPECT_THAT(round(1).samples, IsEmpty());
  EXPECT_THAT(pauses_, SizeIs(2 * kMaxPauses));
}

TEST_F(DeviceSamplerTest, PausesOfARoundAreBoundedEvenWhereASampleComesNowAndThen) {
  script([](std::int64_t n) {
    return n % 4 == 3 ? sample(100us) : judged(SampleVerdict::voided, "hot");
  });
  const RoundSamples taken = round(1000);
  EXPECT_THAT(pauses_, SizeIs(kMaxPauses));
  EXPECT_THAT(taken.samples, SizeIs(kMaxPauses));
}

TEST_F(DeviceSamplerTest, NoTimeIsNoSample) {
  script([](std::int64_t n) { return sample(n == 0 ? 0ns : 100us); });
  const RoundSamples taken = round(1);
  EXPECT_THAT(taken.samples, ElementsAre(100us));
  EXPECT_EQ(taken.device.voided.count, 1);
}

TEST_F(DeviceSamplerTest, AFailureEndsTheRoundWithItsReason) {
  script([](std::int64_t n) -> Result<DeviceSample> {
    if (n == 2) return Error{"the device is lost", "", ""};
    return sample(100us);
  });
  RoundSamples taken;
  const Status status = run_round(*sampler_, 5, 1, taken);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message(), "the device is lost");
  EXPECT_THAT(taken.samples, SizeIs(2));
}

TEST_F(DeviceSamplerTest, ASlowdownIsReckoned) {
  script([](std::int64_t) { return sample(100us); });
  make(0.03);
  const RoundSamples taken = round(2);
  EXPECT_THAT(taken.samples, Each(103us));
  EXPECT_EQ(taken.timed, 200us);
  EXPECT_EQ(sampler_->warm(1), 100us);
}

}  // namespace
}  // namespace bench
