// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/join.hpp"

#include "profiler/export/chrome_trace.hpp"
#include "profiler/export/trace_validator.hpp"
#include "tests/fakes/gpu_session.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace bench {
namespace {

using namespace std::chrono_literals;
using test::during;
using test::GpuScript;
using test::of_kind;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

std::vector<Activity> kernels_of(const GpuJoin& join) {
  return of_kind(join.activities, ActivityKind::kernel);
}

TEST(GpuJoin, AKernelHasItsOperatorItsLaunchAndItsWait) {
  GpuScript script(42);
  script.add(test::hopper());
  OperatorExecution& owner = script.owner(1, "net:conv1", "conv");
  owner.iteration = 5;
  owner.work = GpuOperatorWork{1000, 50};
  const auto call = script.call("cudaLaunchKernel", during(1000, 1500), 11, 1);
  GpuKernel& kernel = script.kernel("_Z5scaleIfLi4EEvPT_", during(4000, 9000), 7, call);
  kernel.grid = {32, 4, 1};
  kernel.block = {16, 8, 1};
  kernel.registers = 40;
  kernel.static_shared_bytes = 1024;
  kernel.dynamic_shared_bytes = 2048;
  const GpuJoin join = join_gpu_session(script.session);
  ASSERT_EQ(kernels_of(join).size(), 1u);
  const Activity activity = kernels_of(join)[0];
  EXPECT_EQ(activity.name, "scale");
  EXPECT_EQ(activity.start, 4000ns);
  EXPECT_EQ(activity.duration, 5000ns);
  EXPECT_EQ(activity.track, (Track{42, 11, 0, 7}));
  EXPECT_EQ(activity.case_id, "case");
  EXPECT_EQ(activity.scope, "net:conv1");
  EXPECT_EQ(activity.direction, "forward");
  EXPECT_EQ(activity.correlation, call);
  const Attributes& attributes = activity.attributes;
  EXPECT_EQ(attributes.text(Attribute::op), "conv");
  EXPECT_EQ(attributes.integer(Attribute::iteration), 5);
  EXPECT_EQ(attributes.text(Attribute::grid), "32,4,1");
  EXPECT_EQ(attributes.text(Attribute::block), "16,8,1");
  EXPECT_EQ(attributes.integer(Attribute::registers), 40);
  EXPECT_EQ(attributes.integer(Attribute::shared_bytes), 3072);
  // 12 blocks of 4 warps
  EXPECT_DOUBLE_EQ(attributes.real(Attribute::occupancy).value_or(0), 0.75);
  EXPECT_EQ(attributes.text(Attribute::long_name), "void scale<float, 4>(float*)");
  EXPECT_EQ(attributes.integer(Attribute::wait_ns), 3000);
  EXPECT_EQ(attributes.integer(Attribute::flops), 1000);
  EXPECT_EQ(attributes.integer(Attribute::bytes), 50);
  EXPECT_THAT(join.void_reasons, IsEmpty());
  EXPECT_THAT(join.notes, IsEmpty());
  EXPECT_EQ(join.unattributed_kernels, 0);
}

TEST(GpuJoin, AKernelBearsTheFactsOfItsOperator) {
  GpuScript script;
  OperatorExecution& owner = script.owner(1, "net:conv1", "conv");
  owner.inherited_attributes.set(Attribute::parameters, "n1c3");
  owner.inherited_attributes.set(Attribute::dtype, "f16");
  owner.inherited_attributes.set(Attribute::in_shapes, "1x3x8x8");
  script.launch("k", during(10'000, 20'000), 1);
  script.launch("other", during(20'000, 30'000), 0);
  const auto kernels = kernels_of(join_gpu_session(script.session));
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].attributes.text(Attribute::parameters), "n1c3");
  EXPECT_EQ(kernels[0].attributes.text(Attribute::dtype), "f16");
  EXPECT_EQ(kernels[0].attributes.text(Attribute::in_shapes), "1x3x8x8");
  EXPECT_EQ(kernels[1].attributes.text(Attribute::parameters), "");
}

// A copy within the device both reads and writes device memory.
TEST(GpuJoin, CopiesAndMemsetsCountTheBytesTheyMove) {
  GpuScript script;
  script.copy(GpuCopyKind::host_to_device, 1000, during(100, 200), std::nullopt);
  script.copy(GpuCopyKind::device_to_device, 1000, during(200, 300), std::nullopt);
  GpuMemset fill;
  fill.bytes = 300;
  fill.time = during(300, 400);
  script.add(fill);
  std::vector<std::optional<std::int64_t>> bytes;
  for (const Activity& row : join_gpu_session(script.session).activities) {
    if (row.kind != ActivityKind::memcpy && row.kind != ActivityKind::memset) continue;
    bytes.push_back(row.attributes.integer(Attribute::bytes));
  }
  EXPECT_THAT(bytes, ElementsAre(1000, 2000, 300));
}

TEST(GpuJoin, TheWaitBeginsWhereTheTracerSaysThatItWasQueued) {
  GpuScript script;
  script.launch("k", during(10'000, 20'000), 0).queued = 9'600ns;
  EXPECT_EQ(kernels_of(join_gpu_session(script.session))[0].attributes.integer(Attribute::wait_ns),
            400);
}

TEST(GpuJoin, RecordsOnAnotherClockVoidThePass) {
  constexpr Nanoseconds kSince1970 = 56 * 365 * 24h;
  for (const bool realtime : {false, true}) {
    GpuScript script;
    script.session.clock = {1'000'000ns, 1'000'000ns + kSince1970};
    GpuKernel& kernel = script.launch("k", during(10'000, 20'000), 0);
    if (realtime) {
      kernel.time->start += kSince1970;
      kernel.time->end += kSince1970;
    }
    GpuJoinOptions options;
    options.now = script.session.clock.monotonic;
    const GpuJoin join = join_gpu_session(script.session, options);
    const std::vector<Activity> kernels = kernels_of(join);
    ASSERT_EQ(kernels.size(), 1u);
    const Activity& row = kernels[0];
    if (!realtime) {
      EXPECT_THAT(join.void_reasons, IsEmpty());
      EXPECT_EQ(row.start, 10us);
      continue;
    }
    EXPECT_THAT(join.void_reasons,
                ElementsAre(AllOf(HasSubstr("1 kernel, copy or memset is 20440 days away"),
                                  HasSubstr("on CLOCK_REALTIME"), HasSubstr("13.3.3"))));
    EXPECT_EQ(row.start, 9us);  // start of its call
    EXPECT_FALSE(row.duration);
  }
}

TEST(GpuJoin, AKernelThatEndsAfterTheRecordingIsNotedAndMuchLaterVoidsThePass) {
  for (const Nanoseconds late : {2us, 5us, 2000us}) {
    GpuScript script;
    script.launch("k", during(10'000, 20'000), 0);
    GpuJoinOptions options;
    options.now = 20us - late + 10ms;
    options.ownership = GpuOwnership::unknown;
    std::get<GpuKernel>(script.session.records.back()).time->end += 10ms;
    const GpuJoin join = join_gpu_session(script.session, options);
    const auto says_so = Contains(HasSubstr("1 kernel, copy or memset ends after the recording"));
    EXPECT_EQ(testing::Value(join.notes, says_so), late == 5us) << late.count();
    EXPECT_EQ(testing::Value(join.void_reasons, says_so), late == 2000us) << late.count();
  }
}

TEST(GpuJoin, AKernelThatBeginsFarBeforeItsCallVoidsThePass) {
  GpuScript script;
  const auto call = script.call("cudaLaunchKernel", during(5'000'000, 5'001'000), 11, 0);
  script.kernel("k", during(10'000, 20'000), 7, call);
  EXPECT_THAT(
      join_gpu_session(script.session).void_reasons,
      ElementsAre(HasSubstr(
          "1 kernel, copy or memset begins before the call that requested it, by up to 4.99")));
}

// Record buffers are per thread and arrive in any order. The result must not depend on it.
TEST(GpuJoin, TheOrderOfRecordsDoesNotMatter) {
  GpuScript script;
  script.add(test::hopper());
  for (std::uint64_t i = 1; i <= 20; ++i) {
    const auto start = static_cast<std::int64_t>(i) * 10'000;
    script.owner(i, "layer" + std::to_string(i), "gemm").work = GpuOperatorWork{10, 20};
    script.launch("gemm", during(start, start + 5000), i, 7 + i % 3);
    script.memory(GpuAllocationChange::allocation, i << 12, 4096, start);
  }
  const GpuJoin expected = join_gpu_session(script.session);
  std::mt19937 random(7);
  for (int round = 0; round < 5; ++round) {
    std::shuffle(script.session.records.begin(), script.session.records.end(), random);
    const GpuJoin join = join_gpu_session(script.session);
    EXPECT_EQ(join.activities, expected.activities);
    EXPECT_EQ(join.unattributed_kernels, 0);
  }
}

TEST(GpuJoin, UnattributedKernelsAreShownAndCounted) {
  GpuScript script;
  script.owner(1, "conv1", "conv");
  script.launch("mine", during(10'000, 11'000), 1);
  script.launch("whose", during(20'000, 21'000), 0);
  script.kernel("without a launcher", during(30'000, 31'000), 7, std::nullopt);
  const GpuJoin join = join_gpu_session(script.session);
  ASSERT_EQ(kernels_of(join).size(), 3u);
  EXPECT_EQ(join.kernels, 3);
  EXPECT_EQ(join.unattributed_kernels, 2);
  EXPECT_EQ(kernels_of(join)[1].scope, "");
  EXPECT_EQ(kernels_of(join)[2].attributes.integer(Attribute::wait_ns), std::nullopt);
  EXPECT_THAT(join.notes, Contains("2 kernels belong to no known operator"));
  EXPECT_THAT(join.void_reasons, IsEmpty());
}

TEST(GpuJoin, WorkIsCountedOnce) {
  GpuScript script;
  script.owner(1, "conv1", "conv").work = GpuOperatorWork{1000, 64};
  script.launch("nchwToNhwcKernel", during(10'000, 11'000), 1);
  script.launch("implicit_gemm", during(20'000, 21'000), 1);
  script.owner(2, "conv2", "conv").work = GpuOperatorWork{5000, 64};
  script.launch("part_a", during(30'000, 31'000), 2);
  script.launch("part_b", during(40'000, 41'000), 2);
  script.owner(3, "to_nhwc", "reorder").work = GpuOperatorWork{0, 128};
  script.launch("nchwToNhwcKernel", during(50'000, 51'000), 3);
  const auto kernels = kernels_of(join_gpu_session(script.session));
  EXPECT_EQ(kernels[4].attributes.integer(Attribute::bytes), 128);
  EXPECT_EQ(kernels[4].attributes.text(Attribute::auxiliary), "");  // it is the operator itself
  EXPECT_EQ(kernels[0].attributes.integer(Attribute::flops), 0);
  EXPECT_EQ(kernels[0].attributes.integer(Attribute::bytes), std::nullopt);
  EXPECT_EQ(kernels[0].attributes.text(Attribute::auxiliary), "layout conversion");
  EXPECT_EQ(kernels[1].attributes.integer(Attribute::flops), 1000);
  EXPECT_EQ(kernels[1].attributes.integer(Attribute::bytes), 64);
  for (const Activity& kernel : {kernels[2], kernels[3]}) {
    EXPECT_EQ(kernel.attributes.integer(Attribute::flops), std::nullopt);
    EXPECT_EQ(kernel.attributes.integer(Attribute::bytes), std::nullopt);
  }
}

// All nodes of a launch have its correlation. Each replay counts the work once.
TEST(GpuJoin, ReplayedGraphs) {
  GpuScript script;
  script.owner(1, "net:conv1", "conv").work = GpuOperatorWork{1000, 10};
  script.owner(2, "net:pool1", "pool").work = GpuOperatorWork{50, 5};
  script.add(GpuGraphNode{101, {}, 1});
  script.add(GpuGraphNode{102, {}, 2});
  script.add(GpuGraphNode{201, 101, {}});
  script.add(GpuGraphNode{202, 102, {}});
  for (std::uint64_t replay = 0; replay < 2; ++replay) {
    script.owner(10 + replay, "net", "").iteration = static_cast<std::int64_t>(replay);
    const auto at = static_cast<std::int64_t>(replay) * 100'000;
    const auto launch = script.call("cudaGraphLaunch", during(at, at + 1000), 11, 10 + replay);
    script.kernel("conv", during(at + 5000, at + 6000), 7, launch).graph_node = 201;
    script.kernel("pool", during(at + 6000, at + 7000), 7, launch).graph_node = 202;
  }
  const GpuJoin join = join_gpu_session(script.session);
  const auto kernels = kernels_of(join);
  ASSERT_EQ(kernels.size(), 4u);
  EXPECT_EQ(join.unattributed_kernels, 0);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    EXPECT_EQ(kernels[i].scope, i % 2 == 0 ? "net:conv1" : "net:pool1");
    EXPECT_EQ(kernels[i].attributes.integer(Attribute::iteration), i / 2);
    EXPECT_EQ(kernels[i].attributes.integer(Attribute::flops), i % 2 == 0 ? 1000 : 50);
  }
  EXPECT_EQ(kernels[0].correlation, kernels[1].correlation);
}

TEST(GpuJoin, WaitsOfTheHostAreSlicesOfItsThread) {
  GpuScript script(42);
  script.owner(1, "net", "");
  script.add(GpuContext{1, 0});
  const auto sync = script.call("cudaStreamSynchronize", during(1000, 9000), 11, 1);
  script.add(GpuSynchronisation{GpuWaitKind::stream, during(1100, 8900), 1, 7, sync});
  const auto all = script.call("cudaDeviceSynchronize", during(10'000, 12'000), 11, 0);
  script.add(GpuSynchronisation{GpuWaitKind::context, during(10'000, 11'000), 1, {}, all});
  const auto queue = script.call("cudaStreamWaitEvent", during(20'000, 20'100), 12, 0);
  script.add(
      GpuSynchronisation{GpuWaitKind::stream_wait_event, during(20'000, 20'050), 1, 8, queue});
  const auto synchronisations =
      of_kind(join_gpu_session(script.session).activities, ActivityKind::synchronisation);
  ASSERT_EQ(synchronisations.size(), 3u);
  EXPECT_EQ(synchronisations[0].name, "wait for stream 7");
  EXPECT_EQ(synchronisations[0].track, (Track{42, 11, {}, {}}));
  EXPECT_EQ(synchronisations[0].duration, 7800ns);
  EXPECT_EQ(synchronisations[0].attributes.integer(Attribute::wait_ns), 7800);
  EXPECT_EQ(synchronisations[0].scope, "net");
  EXPECT_EQ(synchronisations[1].name, "wait for device 0");
  EXPECT_EQ(synchronisations[2].name, "stream waits for event");  // no thread is blocked
  EXPECT_EQ(synchronisations[2].attributes.integer(Attribute::wait_ns), std::nullopt);
}

TEST(GpuJoin, CallsCopiesAndMemsets) {
  GpuScript script(42);
  const auto call = script.call("cudaMemcpyAsync", during(1000, 2000), 11, 0);
  script.copy(GpuCopyKind::host_to_device, 12'345, during(2500, 7500), call);
  const auto fill = script.call("cudaMemsetAsync", during(3000, 3500), 11, 0);
  script.add(GpuMemset{GpuMemoryKind::device, 64, during(8000, 8100), {0, 1, 7}, fill, {}});
  script.add(GpuApiCall{GpuApiDomain::driver, "cuInit", during(0, 10), 11, 77, 100});
  const GpuJoin join = join_gpu_session(script.session);
  const auto copies = of_kind(join.activities, ActivityKind::memcpy);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].name, "memcpy host_to_device (pinned -> device)");
  EXPECT_EQ(copies[0].attributes.integer(Attribute::size_bytes), 12'345);
  EXPECT_EQ(copies[0].attributes.integer(Attribute::wait_ns), 1500);
  const auto memsets = of_kind(join.activities, ActivityKind::memset);
  ASSERT_EQ(memsets.size(), 1u);
  EXPECT_EQ(memsets[0].name, "memset (device)");
  EXPECT_EQ(memsets[0].duration, 100ns);
  const auto calls = of_kind(join.activities, ActivityKind::api);
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].attributes.text(Attribute::reason), "returned 100");
  EXPECT_EQ(calls[1].name, "cudaMemcpyAsync");
  EXPECT_EQ(calls[1].track, (Track{42, 11, {}, {}}));
}

TEST(GpuJoin, OverheadsAndWhatTheyMakeCold) {
  GpuScript script(42);
  script.owner(1, "first", "conv");
  script.owner(2, "second", "conv");
  const auto call = script.call("cudaLaunchKernel", during(1000, 5000), 11, 1);
  script.call("cudaLaunchKernel", during(6000, 9000), 11, 2);
  script.add(GpuOverhead{GpuOverheadKind::lazy_function_loading, during(1500, 4500), 11, call});
  script.add(GpuOverhead{GpuOverheadKind::buffer_flush, during(6500, 7000), 11, {}});
  GpuJoin join = join_gpu_session(script.session);
  EXPECT_THAT(join.cold, ElementsAre(1));  // the tracer's own overhead does not count as cold
  const auto overheads = of_kind(join.activities, ActivityKind::overhead);
  ASSERT_EQ(overheads.size(), 2u);
  EXPECT_EQ(overheads[0].name, "lazy_function_loading");
  EXPECT_EQ(overheads[0].scope, "first");
  EXPECT_EQ(overheads[0].track, (Track{42, 11, {}, {}}));
  EXPECT_EQ(overheads[1].scope, "second");  // found by thread and time
  script.add(GpuOverhead{GpuOverheadKind::module_loading, during(7000, 8000), 11, {}});
  join = join_gpu_session(script.session);
  EXPECT_THAT(join.cold, ElementsAre(1, 2));
}

TEST(GpuJoin, MemoryByTagAndLibrary) {
  GpuScript script(42);
  script.memory(GpuAllocationChange::allocation, 0x1000, 104'857'600, 10);
  script.memory(GpuAllocationChange::allocation, 0x2000, 512, 20).library = "/x/libcudnn.so.9";
  script.memory(GpuAllocationChange::release, 0x1000, 104'857'600, 30);
  script.memory(GpuAllocationChange::allocation, 0x9000, 64, 40).memory = GpuMemoryKind::pinned;
  GpuJoinOptions options;
  options.find_tag = [](const GpuAllocation& allocation) -> std::optional<GpuAllocationTag> {
    if (allocation.address != 0x1000) return std::nullopt;
    return GpuAllocationTag{"source", "cold copy"};
  };
  const GpuJoin join = join_gpu_session(script.session, options);
  const auto blocks = of_kind(join.activities, ActivityKind::allocation);
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[0].name, "source");
  EXPECT_EQ(blocks[0].attributes.text(Attribute::role), "cold copy");
  EXPECT_EQ(blocks[0].duration, 20ns);
  EXPECT_EQ(blocks[0].track.device, 0);
  EXPECT_EQ(blocks[0].attributes.integer(Attribute::address), 0x1000);
  EXPECT_EQ(blocks[1].name, "libcudnn.so.9");
  EXPECT_EQ(blocks[1].attributes.text(Attribute::role), "device");
  EXPECT_EQ(blocks[1].duration, std::nullopt);
  EXPECT_EQ(blocks[2].name, "library");
  EXPECT_EQ(blocks[2].track.device, std::nullopt);  // host memory
  EXPECT_THAT(test::counter(join.activities, "device_live_bytes"),
              ElementsAre(Pair(10, 104'857'600), Pair(20, 104'858'112), Pair(30, 512)));
}

TEST(GpuJoin, AllocationsHaveTheRoleOfTheirRequesterUnlessTagged) {
  GpuScript script;
  script.memory(GpuAllocationChange::allocation, 0x1000, 64, 10).role = "workspace";
  script.memory(GpuAllocationChange::allocation, 0x2000, 64, 20).role = "workspace";
  GpuJoinOptions options;
  options.find_tag = [](const GpuAllocation& allocation) -> std::optional<GpuAllocationTag> {
    if (allocation.address != 0x2000) return std::nullopt;
    return GpuAllocationTag{"source", "input"};
  };
  const auto blocks =
      of_kind(join_gpu_session(script.session, options).activities, ActivityKind::allocation);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].name, "workspace");
  EXPECT_EQ(blocks[0].attributes.text(Attribute::role), "workspace");
  EXPECT_EQ(blocks[1].attributes.text(Attribute::role), "input");
}

TEST(GpuJoin, AGroupThatIsOffHasNoRows) {
  GpuScript script;
  script.launch("k", during(10'000, 20'000), 0);
  script.copy(GpuCopyKind::host_to_device, 1, during(1, 2), 1);
  script.add(GpuSynchronisation{GpuWaitKind::stream, during(1, 2), 1, 7, 1});
  script.add(GpuOverhead{GpuOverheadKind::resource, during(1, 2), 11, {}});
  script.memory(GpuAllocationChange::allocation, 1, 2, 3);
  script.add(GpuReading{0, 5ns, 1, 1, GpuProcessMemory{9, GpuMemorySource::process}});
  const auto groups_of = [&](std::set<RecordGroup> groups) {
    GpuJoinOptions options;
    options.groups = std::move(groups);
    std::set<std::string> kinds;
    for (const Activity& activity : join_gpu_session(script.session, options).activities) {
      kinds.insert(activity.kind == ActivityKind::counter ? activity.name
                                                          : std::string(to_string(activity.kind)));
    }
    return kinds;
  };
  EXPECT_THAT(groups_of({RecordGroup::api, RecordGroup::memory}),
              UnorderedElementsAre("api", "concurrency", "allocation", "device_live_bytes",
                                   "device_other_bytes"));
  EXPECT_THAT(groups_of({RecordGroup::device}),
              UnorderedElementsAre("kernel", "memcpy", "synchronisation", "overhead", "gpu_busy",
                                   "unfinished_kernels", "sm_clock", "power"));
  EXPECT_THAT(groups_of({RecordGroup::operators}), IsEmpty());
}

TEST(GpuJoin, WhatVoidsAPass) {
  GpuScript script;
  script.launch("k", during(10'000, 20'000), 0);
  script.session.dropped = 17;
  script.session.faults = {"a buffer cannot be read"};
  const auto untimed = script.call("cudaLaunchKernel", during(30'000, 30'500), 11, 0);
  script.kernel("k", during(0, 0), 7, untimed).time.reset();
  script.launch("backwards", during(50'000, 40'000), 0);
  const GpuJoin join = join_gpu_session(script.session);
  EXPECT_THAT(join.void_reasons,
              ElementsAre("17 records were dropped: the tracer had no room for them",
                          "a buffer cannot be read",
                          HasSubstr("2 kernels, copies or memsets have no time")));
  const auto kernels = kernels_of(join);
  ASSERT_EQ(kernels.size(), 3u);  // included nevertheless
  EXPECT_EQ(kernels[1].start, 30'000ns);
  EXPECT_EQ(kernels[1].duration, std::nullopt);
}

TEST(GpuJoin, ClocksThatDisagreeAreTold) {
  GpuScript script;
  const auto call = script.call("cudaLaunchKernel", during(10'000, 11'000), 11, 0);
  script.kernel("within the error", during(8'000, 9'000), 7, call);
  script.kernel("beyond", during(7'999, 9'000), 7, call);
  const GpuJoin join = join_gpu_session(script.session);
  EXPECT_THAT(join.notes, Contains(AllOf(HasSubstr("1 kernel,"), HasSubstr("begins before"))));
  EXPECT_EQ(kernels_of(join)[0].attributes.integer(Attribute::wait_ns), 0);
}

TEST(GpuJoin, ItsTraceIsValidAndHasAnArrowFromEachLaunch) {
  GpuScript script(42);
  script.owner(1, "net:conv1", "conv");
  for (int i = 0; i < 7; ++i) {
    script.launch("k", during(10'000 + i * 10'000, 15'000 + i * 10'000), 1, 7 + i % 2);
  }
  script.launch("overlaps", during(12'000, 24'000), 1, 7);
  const auto sync = script.call("cudaDeviceSynchronize", during(70'000, 90'000), 11, 0);
  script.add(GpuSynchronisation{GpuWaitKind::context, during(70'100, 89'000), 1, {}, sync});
  script.memory(GpuAllocationChange::allocation, 0x1000, 64, 10);
  const test::TemporaryFolder folder;
  std::string text;
  const auto trace = ChromeTrace::to(text_bytes(text), folder.path());
  for (const Activity& activity : join_gpu_session(script.session).activities) {
    ASSERT_TRUE(trace->consume(activity).ok());
  }
  ASSERT_TRUE(trace->finish().ok());
  EXPECT_THAT(check_trace(text).problems, IsEmpty());
  EXPECT_EQ(trace->summary().flows, 8);
}

TEST(GpuJoin, TwoProcessesOnOneClock) {
  // Both sessions count correlations from 1. The second machine booted 5 s later.
  GpuScript first(100), second(200);
  first.session.clock = {50s, 1'000'050s};
  second.session.clock = {45s, 1'000'050s};
  first.launch("k", during(1'000'000, 2'000'000), 0);
  second.launch("k", during(1'500'000, 2'500'000), 0);
  GpuJoinOptions options;
  options.shift = clock_shift(second.session.clock, first.session.clock);
  EXPECT_EQ(options.shift, 5s);
  EXPECT_EQ(clock_shift(first.session.clock, first.session.clock), 0s);
  std::vector<Activity> merged = join_gpu_session(first.session).activities;
  const auto others = join_gpu_session(second.session, options).activities;
  merged.insert(merged.end(), others.begin(), others.end());
  const auto kernels = of_kind(merged, ActivityKind::kernel);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[1].start - kernels[0].start, 5s + 500us);
  EXPECT_EQ(kernels[0].track.pid, 100);
  EXPECT_EQ(kernels[1].track.pid, 200);
  EXPECT_EQ(kernels[0].correlation, kernels[1].correlation);
}

}  // namespace
}  // namespace bench
