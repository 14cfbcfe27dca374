// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/rotation.hpp"

#include "harness/worker/memory.hpp"
#include "harness/worker/sampler.hpp"
#include "tests/fakes/scripted_invocation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace bench {
namespace {

using namespace std::chrono_literals;
using test::ScriptedRuns;
using testing::ElementsAre;

// Takes a round on the host's clock and adds its samples to `samples`.
Status run_round(Rotation& rotation, std::int64_t samples, std::int64_t iterations, Clock& clock,
                 std::vector<Nanoseconds>& out, std::optional<double> slowdown = std::nullopt) {
  RoundSamples taken;
  const Status status =
      run_round(*make_host_sampler(rotation, clock, {slowdown}), samples, iterations, taken);
  EXPECT_EQ(taken.device, DeviceSamples{});
  out.insert(out.end(), taken.samples.begin(), taken.samples.end());
  return status;
}

TEST(RunRound, KeepsEverySampleOfSeveralIterations) {
  ScriptedRuns runs([](std::int64_t n) { return Nanoseconds(n); });
  std::vector<Nanoseconds> samples;
  ASSERT_TRUE(run_round(runs.rotation(), 3, 2, runs.clock(), samples).ok());
  EXPECT_THAT(samples, ElementsAre(0ns + 1ns, 2ns + 3ns, 4ns + 5ns));
}

TEST(RunRound, RotatesOnFromRoundToRound) {
  ScriptedRuns runs([](std::int64_t) { return 10ns; }, 3);
  std::vector<Nanoseconds> samples;
  ASSERT_TRUE(run_round(runs.rotation(), 2, 2, runs.clock(), samples).ok());
  ASSERT_TRUE(run_round(runs.rotation(), 1, 1, runs.clock(), samples).ok());
  EXPECT_THAT(runs.order(), ElementsAre(0, 1, 2, 0, 1));
  EXPECT_THAT(samples, ElementsAre(20ns, 20ns, 10ns));
}

TEST(RunRound, OnlyCountsAfterAFailure) {
  ScriptedRuns runs([](std::int64_t) { return 10ns; });
  runs.fail_at(5);
  std::vector<Nanoseconds> samples;
  const Status status = run_round(runs.rotation(), 10, 2, runs.clock(), samples);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message(), "scripted failure");
  EXPECT_THAT(samples, ElementsAre(20ns, 20ns));
  EXPECT_EQ(runs.order().size(), 6u);
  // Google Benchmark must remain usable and have no registered benchmarks.
  ScriptedRuns other([](std::int64_t) { return 7ns; });
  std::vector<Nanoseconds> more;
  ASSERT_TRUE(run_round(other.rotation(), 2, 1, other.clock(), more).ok());
  EXPECT_THAT(more, ElementsAre(7ns, 7ns));
}

class ScriptedCanary final : public SampleCanary {
 public:
  explicit ScriptedCanary(std::vector<Nanoseconds> times) : times_(std::move(times)) {}
  int threads() const override { return 1; }
  Nanoseconds take() override { return times_.at(taken_++); }
  MachineLook look() override { return {}; }
  std::optional<Nanoseconds> join() const override { return 3ns; }
  std::int64_t preemptions() override { return preemptions_; }
  void let_threads_sleep() override { ++sleeps_; }
  std::size_t taken() const { return taken_; }
  std::size_t sleeps() const { return sleeps_; }
  void preempt() { ++preemptions_; }

 private:
  std::vector<Nanoseconds> times_;
  std::size_t taken_ = 0, sleeps_ = 0;
  std::int64_t preemptions_ = 0;
};

// A disturbance of a sample either began before it or continues after it.
TEST(RunRound, TheSlowerOfTheCanariesBeforeAndAfterStandsBesideEachSample) {
  ScriptedRuns runs([](std::int64_t) { return 10ns; });
  ScriptedCanary canary({5ns, 6ns, 5ns, 9ns, 7ns, 8ns});
  const auto sampler = make_host_sampler(runs.rotation(), runs.clock(), {.canary = &canary});
  RoundSamples taken;
  ASSERT_TRUE(run_round(*sampler, 3, 1, taken).ok());
  EXPECT_THAT(taken.canaries, ElementsAre(6ns, 6ns, 9ns));
  EXPECT_THAT(taken.joins, ElementsAre(3ns, 3ns, 3ns));
  // The canary after the end of the last round does not describe the time until this round.
  ASSERT_TRUE(run_round(*sampler, 1, 1, taken).ok());
  EXPECT_THAT(taken.canaries, ElementsAre(6ns, 6ns, 9ns, 8ns));
  EXPECT_THAT(taken.samples, ElementsAre(10ns, 10ns, 10ns, 10ns));
}

// OpenBLAS's second thread waited for its processor, on which a thread of OpenMP still spun for 0.4
// ms after the canary: a product of 0.18 ms took 0.66 ms.
TEST(RunRound, ThreadsOfTheCanarySleepBeforeASampleOnOtherThreads) {
  ScriptedRuns runs([](std::int64_t) { return 10ns; });
  for (const auto& [threads, sleeps] :
       {std::pair(ops::KernelThreads::openmp, 0u), std::pair(ops::KernelThreads::own, 3u)}) {
    ScriptedCanary canary({5ns, 6ns, 5ns, 9ns});
    const auto sampler =
        make_host_sampler(runs.rotation(), runs.clock(), {.canary = &canary, .threads = threads});
    RoundSamples taken;
    ASSERT_TRUE(run_round(*sampler, 3, 1, taken).ok());
    EXPECT_EQ(canary.sleeps(), sleeps);
    EXPECT_EQ(canary.taken(), 4u);
  }
}

// A long sample between two quiet canaries may still have been disturbed.
TEST(RunRound, ASampleThatTheKernelInterruptedIsNotQuiet) {
  ScriptedCanary canary({5ns, 5ns, 5ns, 5ns, 5ns});
  ScriptedRuns runs([&](std::int64_t n) {
    if (n == 1 || n == 2) canary.preempt();
    return n == 2 ? kTimeOfOnePreemption : 10ns;
  });
  const auto sampler = make_host_sampler(runs.rotation(), runs.clock(), {.canary = &canary});
  RoundSamples taken;
  ASSERT_TRUE(run_round(*sampler, 4, 1, taken).ok());
  EXPECT_THAT(taken.canaries, ElementsAre(5ns, 0ns, 5ns, 5ns));
}

TEST(RunRound, BelowAToolNothingButTheCaseRuns) {
  ScriptedRuns runs([](std::int64_t) { return 10ns; });
  ScriptedCanary canary({});
  const auto sampler = make_host_sampler(runs.rotation(), runs.clock(), {.canary = &canary});
  sampler->leave_out_canaries();
  RoundSamples taken;
  ASSERT_TRUE(run_round(*sampler, 3, 1, taken).ok());
  EXPECT_EQ(canary.taken(), 0u);
  EXPECT_TRUE(taken.canaries.empty());
}

// Each reading of it advances it by a nanosecond, so that spinning ends.
class TickingClock final : public Clock {
 public:
  explicit TickingClock(test::FakeClock& clock) : clock_(clock) {}
  Nanoseconds now() override {
    clock_.advance(1ns);
    return clock_.now();
  }

 private:
  test::FakeClock& clock_;
};

TEST(RunRound, ASlowdownMakesEverySampleLongerByItsShare) {
  // A sample's own time is its iterations and one reading of the clock.
  ScriptedRuns runs([](std::int64_t n) { return n < 2 ? 49'999ns + n * 1ns : 100'000ns; });
  TickingClock clock(runs.clock());
  std::vector<Nanoseconds> samples;
  ASSERT_TRUE(run_round(runs.rotation(), 2, 2, clock, samples, 0.03).ok());
  EXPECT_THAT(samples, ElementsAre(103'000ns, 206'001ns));
  EXPECT_EQ(runs.order().size(), 4u);  // the same amount of work as without it
  samples.clear();
  ASSERT_TRUE(run_round(runs.rotation(), 1, 2, clock, samples).ok());
  EXPECT_THAT(samples, ElementsAre(200'001ns));
}

TEST(RunRound, AFailureIsOneWithASlowdownToo) {
  ScriptedRuns runs([](std::int64_t) { return 10ns; });
  runs.fail_at(1);
  TickingClock clock(runs.clock());
  std::vector<Nanoseconds> samples;
  EXPECT_FALSE(run_round(runs.rotation(), 3, 1, clock, samples, 1).ok());
  EXPECT_THAT(samples, ElementsAre(22ns));
}

TEST(RunRound, PrintsNothing) {
  ScriptedRuns runs([](std::int64_t) { return 10ns; });
  std::vector<Nanoseconds> samples;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  ASSERT_TRUE(run_round(runs.rotation(), 2, 1, runs.clock(), samples).ok());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(RunRound, WorksOnTheRealClock) {
  ScriptedRuns runs([](std::int64_t) { return 10ns; });
  MonotonicClock clock;
  std::vector<Nanoseconds> samples;
  ASSERT_TRUE(run_round(runs.rotation(), 5, 3, clock, samples).ok());
  EXPECT_EQ(samples.size(), 5u);
  EXPECT_EQ(runs.order().size(), 15u);
}

// Notes the addresses that it is bound to.
class NotingKernel final : public ops::Kernel {
 public:
  explicit NotingKernel(std::vector<ops::KernelBuffer> buffers) : buffers_(std::move(buffers)) {}
  std::string implementation() const override { return "noting"; }
  std::span<const ops::KernelBuffer> buffers() const override { return buffers_; }
  Bytes workspace() const override { return {0}; }
  Status pack(std::size_t, const void*, void*) override { return Done{}; }
  Status unpack(std::size_t, const void*, void*) override { return Done{}; }
  Status prepare(std::span<void* const>) override { return Done{}; }
  Result<std::unique_ptr<ops::Invocation>> bind(std::span<void* const> buffers) override {
    bound.emplace_back(buffers.begin(), buffers.end());
    return std::unique_ptr<ops::Invocation>(std::make_unique<Nothing>());
  }

  std::vector<std::vector<void*>> bound;

 private:
  struct Nothing final : ops::Invocation {
    bool run() noexcept override { return true; }
    std::string error() const override { return {}; }
  };
  std::vector<ops::KernelBuffer> buffers_;
};

// The arena holds numbers, which would be positions outside of the tensors.
TEST(BindRotation, IndicesKeepTheirValuesWithEveryCacheMode) {
  constexpr Bytes kSize{64};
  auto arena = Arena::create({1 << 16}, kArenaSeed);
  ASSERT_TRUE(arena.ok());
  std::vector<std::byte> memory(4 * 64);
  const std::vector<void*> own = {memory.data(), memory.data() + 64, memory.data() + 128,
                                  memory.data() + 192};
  for (const CacheMode cache : {CacheMode::hot, CacheMode::cold, CacheMode::cold_weights}) {
    NotingKernel kernel({{ops::BufferRole::weights, kSize, "plain"},
                         {ops::BufferRole::index, kSize, "plain"},
                         {ops::BufferRole::input, kSize, "plain"},
                         {ops::BufferRole::output, kSize, "plain"}});
    std::map<std::string, std::string> details;
    ASSERT_TRUE(bind_rotation(kernel, own, cache, std::nullopt, &*arena, details).ok());
    EXPECT_EQ(kernel.bound.size() > 1, cache != CacheMode::hot);
    for (const std::vector<void*>& bound : kernel.bound) {
      EXPECT_EQ(bound[1], own[1]);
      EXPECT_EQ(bound[0] == own[0], cache == CacheMode::hot);
      EXPECT_EQ(bound[2] == own[2], cache != CacheMode::cold);
    }
  }
}

}  // namespace
}  // namespace bench
