// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/sampler.hpp"

#include "ops/cuda/runtime/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace bench::ops::cuda {
namespace {

using namespace std::chrono_literals;
using test::RuntimeScript;
using test::ScriptedDevice;
using test::ScriptedInvocation;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// A kernel with one buffer set per entry of `times`.
struct SamplerFixture {
  explicit SamplerFixture(std::vector<Nanoseconds> times, RuntimeScript script = {},
                          const SamplerOptions& options = {}, ConditionReader read = {})
      : device(std::move(script), options, std::move(read)), sampling(device.runtime) {
    for (std::size_t i = 0; i < times.size(); ++i) {
      invocations.push_back(std::make_unique<ScriptedInvocation>(
          *device.runtime, "set" + std::to_string(i), times[i]));
      rotation.push_back(invocations.back().get());
    }
  }
  SampleRequest request(std::int64_t iterations, SampleMethod method, std::int64_t first = 0) {
    return {rotation, first, iterations, method};
  }
  Result<DeviceSample> sample(std::int64_t iterations, SampleMethod method,
                              std::int64_t first = 0) {
    return device.sampler->sample(sampling, request(iterations, method, first));
  }

  ScriptedDevice device;
  KernelSampling sampling;
  std::vector<std::unique_ptr<ScriptedInvocation>> invocations;
  std::vector<Invocation*> rotation;
};

TEST(Sampler, MeasuresTheDeviceAndNotTheLaunches) {
  SamplerFixture fixture({30us});
  const auto sample = fixture.sample(10, SampleMethod::stream);
  ASSERT_TRUE(sample.ok()) << sample.error().message();
  EXPECT_EQ(sample->device, 300us);
  EXPECT_EQ(sample->host, 20us);  // ten calls of 2 us
  EXPECT_EQ(sample->method, SampleMethod::stream);
  EXPECT_EQ(sample->verdict, SampleVerdict::counted);
  EXPECT_EQ(fixture.sampling.method(), "stream");
}

// Kernels shorter than their launches: without the blocking kernel they would wait for the host.
TEST(Sampler, HoldsShortKernelsBackUntilAllAreLaunched) {
  SamplerFixture fixture({1us});
  const auto sample = fixture.sample(100, SampleMethod::stream);
  ASSERT_TRUE(sample.ok()) << sample.error().message();
  EXPECT_EQ(sample->device, 100us);
  EXPECT_EQ(sample->host, 200us);
}

TEST(Sampler, PutsClockAndEventsAroundTheLaunches) {
  SamplerFixture fixture({30us});
  ASSERT_TRUE(fixture.sample(1, SampleMethod::stream).ok());  // includes the first execution
  fixture.device.runtime->calls.clear();
  ASSERT_TRUE(fixture.sample(2, SampleMethod::stream).ok());
  EXPECT_THAT(fixture.device.runtime->calls,
              ElementsAre("launch_blocking", "read_clock", "record", "launch set0", "launch set0",
                          "record", "read_clock", "synchronise", "elapsed"));
}

TEST(Sampler, ExecutesOnceBeforeTheFirstSampleOfAKernel) {
  SamplerFixture fixture({30us, 30us});
  ASSERT_TRUE(fixture.sample(4, SampleMethod::stream, 1).ok());
  EXPECT_EQ(fixture.invocations[1]->executions, 3);  // the first of the request
  EXPECT_EQ(fixture.invocations[0]->executions, 2);
  EXPECT_EQ(fixture.device.runtime->calls[0], "launch set1");
  EXPECT_EQ(fixture.device.runtime->calls[1], "synchronise");
}

TEST(Sampler, TurnsTheRotationFromWhereItStands) {
  SamplerFixture fixture({10us, 20us, 40us});
  ASSERT_TRUE(fixture.sample(1, SampleMethod::stream).ok());
  const auto sample = fixture.sample(4, SampleMethod::stream, 5);
  ASSERT_TRUE(sample.ok());
  EXPECT_EQ(sample->device, 40us + 10us + 20us + 40us);
}

// The queue takes 1024: waiting for the 1025th launch behind a block would be a deadlock.
TEST(Sampler, ReleasesTheBlockBeforeTheQueueIsFull) {
  SamplerFixture fixture({30us});
  const auto sample = fixture.sample(3000, SampleMethod::stream);
  ASSERT_TRUE(sample.ok()) << sample.error().message();
  EXPECT_EQ(sample->device, 3000 * 30us);
  EXPECT_EQ(sample->host, 3000 * 2us);  // without the waits for the full queue
}

TEST(Sampler, QueuesFewerExecutionsOfSeveralLaunches) {
  RuntimeScript script;
  script.queue = 20;
  SamplerOptions options;
  options.queued_launches = 8;
  SamplerFixture fixture({30us}, script, options);
  fixture.invocations[0]->launches_of_one = 4;
  const auto sample = fixture.sample(50, SampleMethod::stream);
  ASSERT_TRUE(sample.ok()) << sample.error().message();
  EXPECT_EQ(sample->device, 50 * 30us);
}

// A limit of 1024 launches was observed, but it is not documented.
TEST(Sampler, AQueueThatIsShorterThanKnownHoldsFewerFromThenOn) {
  RuntimeScript script;
  script.queue = 100;
  SamplerFixture fixture({30us}, script);
  const Nanoseconds begin = fixture.device.runtime->now();
  for (int i = 0; i < 2; ++i) {
    const auto sample = fixture.sample(300, SampleMethod::stream);
    ASSERT_TRUE(sample.ok()) << sample.error().message();
    EXPECT_EQ(sample->device, 300 * 30us);
  }
  const Nanoseconds taken = fixture.device.runtime->now() - begin;
  EXPECT_EQ(std::chrono::floor<std::chrono::seconds>(taken), 2s);  // the block's limit, once
}

TEST(Sampler, AShortQueueCountsLaunchesAndNotExecutions) {
  RuntimeScript script;
  script.queue = 30;
  SamplerFixture fixture({30us}, script);
  fixture.invocations[0]->launches_of_one = 10;
  const auto sample = fixture.sample(300, SampleMethod::stream);
  ASSERT_TRUE(sample.ok()) << sample.error().message();
  EXPECT_EQ(sample->device, 300 * 30us);
  EXPECT_EQ(fixture.sampling.method(), "stream; the queue holds few launches");
}

// A kernel whose launches wait for the device, such as an algorithm that fails while it is tried,
// does not shorten the queue of the kernels after it.
TEST(Sampler, AShortQueueOfOneKernelDoesNotLimitTheNext) {
  RuntimeScript script;
  script.queue = 100;
  SamplerFixture fixture({30us}, script);
  ASSERT_TRUE(fixture.sample(300, SampleMethod::stream).ok());
  EXPECT_THAT(fixture.sampling.method(), HasSubstr("the queue holds few launches"));
  fixture.device.runtime->script.queue = 1024;
  ScriptedInvocation next(*fixture.device.runtime, "next", 1us);
  KernelSampling sampling(fixture.device.runtime);
  Invocation* const rotation[] = {&next};
  const auto sample =
      fixture.device.sampler->sample(sampling, {rotation, 0, 200, SampleMethod::stream});
  ASSERT_TRUE(sample.ok()) << sample.error().message();
  // With few launches in the queue, the device would wait for the host: 2 us for each launch.
  EXPECT_EQ(sample->device, 200us);
  EXPECT_EQ(sampling.method(), "stream");
}

// This can happen if a library launches far more kernels than expected, or if the host stalls.
TEST(Sampler, ABlockThatIsNotReleasedIsAnErrorAndNoHang) {
  RuntimeScript script;
  script.queue = 8;
  SamplerFixture fixture({30us}, script);
  const auto sample = fixture.sample(100, SampleMethod::stream);
  ASSERT_FALSE(sample.ok());
  EXPECT_THAT(sample.error().what, HasSubstr("took longer than the 2.000 s"));
  EXPECT_THAT(sample.error().next, HasSubstr("CUDA_LAUNCH_BLOCKING"));
}

TEST(Sampler, ShortKernelsAreReplayed) {
  SamplerFixture fixture({5us});
  const auto sample = fixture.sample(100, SampleMethod::any);
  ASSERT_TRUE(sample.ok()) << sample.error().message();
  EXPECT_EQ(sample->method, SampleMethod::graph);
  EXPECT_EQ(sample->device, 500us);
  EXPECT_EQ(sample->host, 2us);  // one launch
  EXPECT_EQ(fixture.sampling.method(), "graph: shorter than 100.0 us");
  fixture.device.runtime->calls.clear();
  ASSERT_TRUE(fixture.sample(100, SampleMethod::any).ok());
  EXPECT_EQ(fixture.device.count("begin_capture"), 0);  // the same graph again
  EXPECT_EQ(fixture.device.count("launch graph"), 1);
}

TEST(Sampler, LongKernelsAreLaunched) {
  SamplerFixture fixture({100us});
  const auto sample = fixture.sample(100, SampleMethod::any);
  ASSERT_TRUE(sample.ok());
  EXPECT_EQ(sample->method, SampleMethod::stream);
  EXPECT_EQ(fixture.device.count("begin_capture"), 0);
  EXPECT_EQ(fixture.sampling.method(), "stream");
}

// An empty kernel between others takes 2.5 us with its gap. Launch gaps can therefore be more than
// 1 % of a kernel that is shorter than 250 us.
TEST(Sampler, AKernelWhoseLaunchGapsWeighMoreThanOnePercentIsReplayed) {
  RuntimeScript script;
  script.gap = 1500ns;
  for (const Nanoseconds time : {20us, 247us}) {
    SamplerFixture fixture({time}, script);
    const auto sample = fixture.sample(100, SampleMethod::any);
    ASSERT_TRUE(sample.ok()) << sample.error().message();
    EXPECT_EQ(sample->method, SampleMethod::graph);
    EXPECT_EQ(sample->device, 100 * time);  // without any gap
    EXPECT_EQ(fixture.sampling.method(fixture.device.sampler->launch_floor()),
              "graph: shorter than 250.0 us");
  }
  SamplerFixture fixture({250us}, script);
  const auto sample = fixture.sample(100, SampleMethod::any);
  ASSERT_TRUE(sample.ok());
  EXPECT_EQ(sample->method, SampleMethod::stream);
  EXPECT_EQ(sample->device, 100 * 251500ns);
  EXPECT_EQ(fixture.sampling.method(fixture.device.sampler->launch_floor()),
            "stream; up to 2.500 us between launches, 1.0 % of an execution");
}

// An execution of several launches has a gap after each of them.
TEST(Sampler, GapsOfSeveralLaunchesAddUp) {
  RuntimeScript script;
  script.gap = 1us;
  SamplerFixture fixture({300us}, script);
  fixture.invocations[0]->launches_of_one = 2;
  ASSERT_TRUE(fixture.sample(10, SampleMethod::any).ok());
  EXPECT_EQ(fixture.sampling.method(), "graph: shorter than 400.0 us");
}

TEST(Sampler, AGraphThatCannotWaitBehindTheBlockIsLaunchedWithoutIt) {
  RuntimeScript script;
  script.graphs_queue = false;
  SamplerFixture fixture({5us}, script);
  const Nanoseconds begin = fixture.device.runtime->now();
  for (int i = 0; i < 2; ++i) {
    const auto sample = fixture.sample(1000, SampleMethod::graph);
    ASSERT_TRUE(sample.ok()) << sample.error().message();
    EXPECT_EQ(sample->method, SampleMethod::graph);
    EXPECT_NEAR(static_cast<double>(sample->device.count()), 5e6, 5e4);
  }
  EXPECT_EQ(fixture.sampling.method(),
            "graph; not queued: its launch cannot wait behind the blocking kernel");
  const Nanoseconds taken = fixture.device.runtime->now() - begin;
  EXPECT_EQ(std::chrono::floor<std::chrono::seconds>(taken), 2s);  // the limit, for one sample
  // Launches of a stream keep their queue length.
  fixture.device.runtime->calls.clear();
  ASSERT_TRUE(fixture.sample(300, SampleMethod::stream).ok());
  EXPECT_EQ(fixture.device.count("launch_blocking"), 1);
  EXPECT_EQ(fixture.sampling.method(), "stream");
}

// Retrying with the same number would only wait for the block's limit again.
TEST(Sampler, AFewGraphsThatCannotWaitAreNotTriedAsFewOnceMore) {
  RuntimeScript script;
  script.graphs_queue = false;
  SamplerFixture fixture({5us}, script);
  const Nanoseconds begin = fixture.device.runtime->now();
  ASSERT_TRUE(fixture.sample(1000, SampleMethod::graph).ok());
  const Nanoseconds taken = fixture.device.runtime->now() - begin;
  EXPECT_EQ(std::chrono::floor<std::chrono::seconds>(taken), 2s);  // the block's limit, once
}

// A network: each of its many launches takes longer on the host than on the device.
TEST(Sampler, WhatStarvesForLaunchesIsReplayed) {
  RuntimeScript script;
  script.call_cost = 40us;
  SamplerOptions options;
  options.queued_launches = 8;
  SamplerFixture fixture({30us}, script, options);
  fixture.invocations[0]->launches_of_one = 600;
  const auto sample = fixture.sample(10, SampleMethod::any);
  ASSERT_TRUE(sample.ok()) << sample.error().message();
  EXPECT_EQ(sample->method, SampleMethod::graph);
  EXPECT_EQ(sample->device, 300us);
  EXPECT_THAT(fixture.sampling.method(), HasSubstr("launching takes longer"));
}

TEST(Sampler, WhatCannotBeRecordedIsLaunchedAndSaysWhy) {
  RuntimeScript script;
  script.capturable = false;
  SamplerFixture fixture({5us}, script);
  const auto sample = fixture.sample(100, SampleMethod::any);
  ASSERT_TRUE(sample.ok()) << sample.error().message();
  EXPECT_EQ(sample->method, SampleMethod::stream);
  EXPECT_EQ(sample->device, 500us);
  EXPECT_THAT(fixture.sampling.method(), StartsWith("stream: no graph can be recorded"));
  fixture.device.runtime->calls.clear();
  ASSERT_TRUE(fixture.sample(100, SampleMethod::graph).ok());
  EXPECT_EQ(fixture.device.count("begin_capture"), 0);  // once is sufficient
}

TEST(Sampler, ALaunchThatFailsWhileItIsRecordedEndsTheRecording) {
  RuntimeScript script;
  script.failing = {{"launch set0", 3}};  // the third launch, during the capture
  SamplerFixture fixture({5us}, script);
  const auto sample = fixture.sample(2, SampleMethod::graph);
  ASSERT_TRUE(sample.ok()) << sample.error().message();
  EXPECT_EQ(fixture.device.count("abandon_capture"), 1);
  EXPECT_EQ(sample->method, SampleMethod::stream);
}

TEST(Sampler, LongBatchesAreSeveralGraphsWithoutABreak) {
  SamplerOptions options;
  options.graph_launches = 10;
  SamplerFixture fixture({5us, 7us, 9us}, {}, options);
  const auto sample = fixture.sample(20, SampleMethod::graph, 1);
  ASSERT_TRUE(sample.ok()) << sample.error().message();
  // Two graphs of nine (three turns each) and one of two: 7 + 9.
  EXPECT_EQ(sample->device, 6 * (5us + 7us + 9us) + 16us);
  EXPECT_EQ(fixture.device.count("launch graph"), 3);
  EXPECT_EQ(fixture.device.count("begin_capture"), 2);
  EXPECT_EQ(fixture.device.runtime->live_graphs(), 2u);
}

// The few launches of one short sample are fast enough, but those of a longer sample would not be.
TEST(Sampler, WhatWouldStarveInLongerSamplesIsReplayedToo) {
  RuntimeScript script;
  script.call_cost = 40us;
  SamplerFixture fixture({30us}, script);
  const auto sample = fixture.sample(1, SampleMethod::any);
  ASSERT_TRUE(sample.ok()) << sample.error().message();
  EXPECT_EQ(sample->method, SampleMethod::graph);
  EXPECT_THAT(fixture.sampling.method(), HasSubstr("launching takes longer"));
}

// The graph of complete turns is the oldest graph, but every sample uses it. Regression test: the
// sampler destroyed it to make room for the graph of the remaining executions, then launched it.
TEST(Sampler, AGraphThatIsStillLaunchedIsNotTheOneThatIsDropped) {
  SamplerOptions options;
  options.graph_launches = 40;
  SamplerFixture fixture({5us}, {}, options);
  for (std::int64_t rest = 1; rest <= 20; ++rest) {
    const auto sample = fixture.sample(40 + rest, SampleMethod::graph);
    ASSERT_TRUE(sample.ok()) << rest << ": " << sample.error().message();
    EXPECT_EQ(sample->device, (40 + rest) * 5us);
  }
}

// A kernel that is bound again uses other memory, so the earlier graph must not be replayed.
TEST(Sampler, AnotherInvocationAtTheSameAddressHasAGraphOfItsOwn) {
  SamplerFixture fixture({5us});
  ASSERT_TRUE(fixture.sample(4, SampleMethod::graph).ok());
  alignas(ScriptedInvocation) std::byte place[sizeof(ScriptedInvocation)];
  const auto sample_at = [&](Nanoseconds time) {
    auto* made = new (place) ScriptedInvocation(*fixture.device.runtime, "placed", time);
    fixture.rotation = {made};
    const auto sample = fixture.sample(4, SampleMethod::graph);
    made->~ScriptedInvocation();
    return sample.ok() ? sample->device : Nanoseconds(-1);
  };
  EXPECT_EQ(sample_at(6us), 24us);
  EXPECT_EQ(sample_at(8us), 32us);
}

TEST(Sampler, GraphsEndWithTheirKernel) {
  ScriptedDevice device;
  {
    ScriptedInvocation invocation(*device.runtime, "one", 5us);
    Invocation* const rotation[] = {&invocation};
    KernelSampling sampling(device.runtime);
    ASSERT_TRUE(device.sampler->sample(sampling, {rotation, 0, 4, SampleMethod::graph}).ok());
    EXPECT_EQ(device.runtime->live_graphs(), 1u);
  }
  EXPECT_EQ(device.runtime->live_graphs(), 0u);
}

TEST(Sampler, ReadsTheClockOfTheProcessors) {
  RuntimeScript script;
  script.clock_hz = 1'755'000'000;
  SamplerFixture fixture({100us}, script);
  const auto sample = fixture.sample(10, SampleMethod::stream);
  ASSERT_TRUE(sample.ok());
  ASSERT_TRUE(sample->clock_hz);
  EXPECT_NEAR(static_cast<double>(*sample->clock_hz), 1.755e9, 1e6);
}

TEST(Sampler, SaysNoClockOfAMomentTooShortForIt) {
  SamplerFixture fixture({30us});
  const auto sample = fixture.sample(2, SampleMethod::stream);
  ASSERT_TRUE(sample.ok());
  EXPECT_FALSE(sample->clock_hz);
}

TEST(Sampler, AClockThatFallsIsUnsteady) {
  RuntimeScript script;
  script.clock_hz = 2'000'000'000;
  SamplerFixture fixture({100us}, script);
  for (int i = 0; i < 6; ++i) {
    const auto steady = fixture.sample(10, SampleMethod::stream);
    ASSERT_TRUE(steady.ok());
    EXPECT_EQ(steady->verdict, SampleVerdict::counted);
  }
  fixture.device.runtime->script.clock_hz = 1'700'000'000;
  const auto fallen = fixture.sample(10, SampleMethod::stream);
  ASSERT_TRUE(fallen.ok());
  EXPECT_EQ(fallen->verdict, SampleVerdict::unsteady);
  EXPECT_THAT(fallen->reason, HasSubstr("2000 MHz in the samples before"));
}

TEST(Sampler, WhatTheDriverSaysIsJudged) {
  DeviceConditions now;
  now.power_cap = 0ms;
  SamplerFixture fixture({100us}, {}, {}, [&]() -> std::optional<DeviceConditions> {
    *now.power_cap += 1ms;
    return now;
  });
  const auto sample = fixture.sample(10, SampleMethod::stream);
  ASSERT_TRUE(sample.ok());
  EXPECT_EQ(sample->verdict, SampleVerdict::throttled);
  EXPECT_THAT(sample->reason, HasSubstr("power limit for 1.000 ms"));
}

TEST(Sampler, MeasuresTheFloorOnce) {
  ScriptedDevice device;
  EXPECT_EQ(device.sampler->launch_floor(), 1us);
  device.runtime->calls.clear();
  EXPECT_EQ(device.sampler->launch_floor(), 1us);
  EXPECT_TRUE(device.runtime->calls.empty());
}

TEST(Sampler, ReleasesTheDeviceWhereALaunchFails) {
  RuntimeScript script;
  script.failing = {{"launch set0", 3}};
  SamplerFixture fixture({30us}, script);
  const auto sample = fixture.sample(4, SampleMethod::stream);
  ASSERT_FALSE(sample.ok());
  EXPECT_EQ(sample.error().what, script.failure);
  EXPECT_EQ(fixture.device.runtime->calls.back(), "synchronise");
  const auto next = fixture.sample(4, SampleMethod::stream);
  ASSERT_TRUE(next.ok()) << next.error().message();
  EXPECT_EQ(next->device, 120us);
}

TEST(Sampler, ALostDeviceIsAnError) {
  SamplerFixture fixture({30us});
  fixture.device.runtime->script.lost = true;
  const auto sample = fixture.sample(4, SampleMethod::any);
  ASSERT_FALSE(sample.ok());
  EXPECT_THAT(sample.error().what, StartsWith("the device is lost: "));
}

TEST(Sampler, GivesBackWhatItTook) {
  const auto runtime = std::make_shared<test::ScriptedRuntime>();
  {
    auto sampler = Sampler::create(runtime, ConditionWatch({}, "", [&] { return runtime->now(); }));
    ASSERT_TRUE(sampler.ok());
    EXPECT_EQ(runtime->live_events(), 2u);
    EXPECT_EQ(runtime->live_allocations(), 1u);
  }
  EXPECT_EQ(runtime->live_events(), 0u);
  EXPECT_EQ(runtime->live_allocations(), 0u);
}

TEST(Sampler, IsNotMadeWhereItsKernelsDoNotRun) {
  RuntimeScript script;
  script.failing = {{"launch_blocking", 1}};
  script.failure = "no kernel image is available for execution on the device";
  const auto runtime = std::make_shared<test::ScriptedRuntime>(script);
  const auto sampler =
      Sampler::create(runtime, ConditionWatch({}, "", [&] { return runtime->now(); }));
  ASSERT_FALSE(sampler.ok());
  EXPECT_EQ(sampler.error().what, script.failure);
  EXPECT_EQ(runtime->live_events(), 0u);
}

}  // namespace
}  // namespace bench::ops::cuda
