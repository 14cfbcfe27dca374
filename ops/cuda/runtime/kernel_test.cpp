// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/kernel.hpp"

#include "ops/cuda/runtime/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

namespace bench::ops::cuda {
namespace {

using namespace std::chrono_literals;
using test::RuntimeScript;
using test::ScriptedDevice;
using test::ScriptedInvocation;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::Pair;

// Two kernels as two steps.
class TwoSteps final : public CudaInvocation {
 public:
  explicit TwoSteps(test::ScriptedRuntime& device) : CudaInvocation(device), device_(device) {}
  Status enqueue(StepObserver* observer) override {
    for (std::size_t step = 0; step < 2; ++step) {
      if (observer != nullptr) observer->begins(step);
      BENCH_RETURN_IF_ERROR(device_.launch_kernel(step == 0 ? "first" : "second", 10us));
      if (observer != nullptr) observer->enqueued(step);
    }
    return Done{};
  }

 private:
  test::ScriptedRuntime& device_;
};

class Events final : public StepObserver {
 public:
  explicit Events(std::vector<std::string>& log, StepWait wait = StepWait::each_step)
      : log_(log), wait_(wait) {}
  StepWait wait() const noexcept override { return wait_; }
  void begins(std::size_t step) noexcept override { add("begins", step); }
  void enqueued(std::size_t step) noexcept override { add("enqueued", step); }
  void done(std::size_t step) noexcept override { add("done", step); }

 private:
  void add(const char* what, std::size_t step) {
    log_.push_back(std::string(what) + " " + std::to_string(step));
  }
  std::vector<std::string>& log_;
  StepWait wait_;
};

TEST(CudaInvocation, WaitsForItsEnd) {
  ScriptedDevice device;
  TwoSteps invocation(*device.runtime);
  EXPECT_TRUE(invocation.run());
  EXPECT_THAT(device.runtime->calls, ElementsAre("launch first", "launch second", "synchronise"));
}

TEST(CudaInvocation, ObservedEachStepIsWaitedFor) {
  ScriptedDevice device;
  TwoSteps invocation(*device.runtime);
  Events events(device.runtime->calls);
  EXPECT_TRUE(invocation.run_observed(events));
  EXPECT_THAT(
      device.runtime->calls,
      ElementsAre("begins 0", "launch first", "enqueued 0", "synchronise", "done 0", "begins 1",
                  "launch second", "enqueued 1", "synchronise", "done 1", "synchronise"));
}

// The device works on the first step while the host enqueues the second.
TEST(CudaInvocation, ObservedByATraceTheStepsRunOn) {
  ScriptedDevice device;
  TwoSteps invocation(*device.runtime);
  Events events(device.runtime->calls, StepWait::end);
  EXPECT_TRUE(invocation.run_observed(events));
  EXPECT_THAT(device.runtime->calls,
              ElementsAre("begins 0", "launch first", "enqueued 0", "begins 1", "launch second",
                          "enqueued 1", "synchronise"));
  RuntimeScript script;
  script.failing = {{"synchronise", 1}};
  ScriptedDevice failing(script);
  TwoSteps failed(*failing.runtime);
  Events none(failing.runtime->calls, StepWait::end);
  EXPECT_FALSE(failed.run_observed(none));
  EXPECT_EQ(failed.error(), script.failure);
}

TEST(CudaInvocation, AStepThatFailsIsNotDone) {
  RuntimeScript script;
  script.failing = {{"synchronise", 2}};
  ScriptedDevice device(script);
  TwoSteps invocation(*device.runtime);
  Events events(device.runtime->calls);
  EXPECT_FALSE(invocation.run_observed(events));
  EXPECT_EQ(invocation.error(), script.failure);
  EXPECT_THAT(device.runtime->calls, Contains("done 0"));
  EXPECT_THAT(device.runtime->calls, Not(Contains("done 1")));
}

TEST(CudaInvocation, SaysWhyALaunchFailed) {
  RuntimeScript script;
  script.failing = {{"launch second", 1}};
  ScriptedDevice device(script);
  TwoSteps invocation(*device.runtime);
  EXPECT_FALSE(invocation.run());
  EXPECT_EQ(invocation.error(), script.failure);
  EXPECT_TRUE(invocation.run());
}

// cuDNN's and native kernels once reported a step that failed to launch as enqueued, and so as
// done.
TEST(SingleStepInvocation, AFailedLaunchIsNeitherEnqueuedNorDone) {
  RuntimeScript script;
  script.failing = {{"launch one", 1}};
  ScriptedDevice device(script);
  ScriptedInvocation invocation(*device.runtime, "one", 10us);
  Events events(device.runtime->calls);
  EXPECT_FALSE(invocation.run_observed(events));
  EXPECT_EQ(invocation.error(), script.failure);
  EXPECT_THAT(device.runtime->calls, Contains("begins 0"));
  EXPECT_THAT(device.runtime->calls, Not(Contains("enqueued 0")));
  EXPECT_THAT(device.runtime->calls, Not(Contains("done 0")));
}

class OneKernel final : public CudaKernel {
 public:
  using CudaKernel::CudaKernel;
  std::string implementation() const override { return "one"; }
  std::span<const KernelBuffer> buffers() const override { return buffers_; }
  Bytes workspace() const override { return {}; }
  Status pack(std::size_t, const void*, void*) override { return Done{}; }
  Status unpack(std::size_t, const void*, void*) override { return Done{}; }
  Status prepare(std::span<void* const>) override { return Done{}; }
  Result<std::unique_ptr<Invocation>> bind(std::span<void* const>) override {
    return Error{"nothing to bind", "", ""};
  }

 private:
  std::array<KernelBuffer, 2> buffers_ = {
      {{BufferRole::input, {4}, "nchw"}, {BufferRole::output, {4}, "nhwc"}}};
};

// The time of packing counts as a conversion only if the layout changes.
TEST(CudaKernel, ConvertsOnlyWhatIsNotPlain) {
  ScriptedDevice device;
  const OneKernel kernel(device.runtime, device.sampler);
  EXPECT_FALSE(kernel.converts_layout(0));
  EXPECT_TRUE(kernel.converts_layout(1));
}

TEST(CudaKernel, TellsWhatWasSpentBeforeItOnce) {
  ScriptedDevice device;
  device.runtime->note_setup("context", 5ms);
  device.runtime->note_setup("library", 2ms);
  device.runtime->note_setup("library", 1ms);
  const OneKernel first(device.runtime, device.sampler);
  const OneKernel second(device.runtime, device.sampler);
  EXPECT_THAT(first.details(), Contains(Pair("setup.context_ns", "5000000")));
  EXPECT_THAT(first.details(), Contains(Pair("setup.library_ns", "3000000")));
  EXPECT_THAT(second.details(), IsEmpty());
}

TEST(CudaKernel, TakesSamplesAndTellsHow) {
  ScriptedDevice device;
  OneKernel kernel(device.runtime, device.sampler);
  ScriptedInvocation invocation(*device.runtime, "one", 50us);
  Invocation* const rotation[] = {&invocation};
  EXPECT_TRUE(kernel.has_device_clock());
  const auto sample = kernel.sample({rotation, 0, 3, SampleMethod::any});
  ASSERT_TRUE(sample.ok());
  EXPECT_EQ(sample->device, 150us);
  EXPECT_THAT(kernel.details(), Contains(Pair("sample_method", "graph: shorter than 100.0 us")));
  EXPECT_THAT(kernel.details(), Contains(Pair("launch_floor_ns", "1000")));
}

// A process that traces takes no samples. Directly after the tracer's start, a blocking kernel
// might wait there until its limit.
TEST(CudaKernel, WithoutSamplesNothingIsMeasuredForItsDetails) {
  ScriptedDevice device;
  const OneKernel kernel(device.runtime, device.sampler);
  device.runtime->forget_calls();
  EXPECT_THAT(kernel.details(), Not(Contains(Key("launch_floor_ns"))));
  EXPECT_EQ(device.count("launch_blocking"), 0);
  EXPECT_EQ(device.count("launch_empty"), 0);
}

TEST(DeviceBuffer, GivesItsMemoryBack) {
  ScriptedDevice device;
  const std::size_t before = device.runtime->live_allocations();
  {
    auto buffer = DeviceBuffer::create(*device.runtime, {4096});
    ASSERT_TRUE(buffer.ok());
    DeviceBuffer moved = *std::move(buffer);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(moved.data()) % 256, 0u);
    const auto nothing = DeviceBuffer::create(*device.runtime, {0});
    ASSERT_TRUE(nothing.ok());
    EXPECT_EQ(nothing->data(), nullptr);
    EXPECT_EQ(device.runtime->live_allocations(), before + 1);
  }
  EXPECT_EQ(device.runtime->live_allocations(), before);
}

TEST(DeviceBuffer, TooLargeIsSkippedWithTheSizes) {
  ScriptedDevice device;
  const auto buffer = DeviceBuffer::create(*device.runtime, {std::int64_t{2} << 30});
  ASSERT_FALSE(buffer.ok());
  EXPECT_EQ(buffer.error().kind, BackendError::Kind::skipped);
  EXPECT_EQ(buffer.error().reason,
            "not enough memory: 2.000 GiB requested, the device has 1.000 GiB of 1.000 GiB free");
}

}  // namespace
}  // namespace bench::ops::cuda
