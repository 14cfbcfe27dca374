// SPDX-License-Identifier: Apache-2.0
// What a GPU profile must show, from CUPTI's own structures to table rows. Hand-made buffers are
// read by the real library, decoded, joined and summarised.
#include "profiler/cupti/record_decoder.hpp"
#include "profiler/cupti/synthetic_buffer.hpp"
#include "profiler/gpu/device_summary.hpp"
#include "profiler/gpu/gpu_record_lines.hpp"
#include "profiler/gpu/join.hpp"
#include "tests/fakes/gpu_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using test::kernel_record;
using test::of_kind;
using test::SyntheticBuffer;
using testing::IsEmpty;
using testing::SizeIs;

constexpr CUpti_CallbackId kLaunch = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
constexpr CUpti_CallbackId kCopy = CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020;

class TracedRows : public testing::Test {
 protected:
  // Each buffer belongs to one thread, as in CUPTI.
  GpuSession session_of(std::vector<SyntheticBuffer> buffers, std::int64_t pid = 100) {
    GpuSession session;
    session.pid = pid;
    CuptiDecoder decoder(library_.api);
    for (SyntheticBuffer& buffer : buffers) decoder.decode(buffer.data(), buffer.size(), session);
    EXPECT_THAT(session.faults, IsEmpty());
    EXPECT_EQ(decoder.other_kinds(), 0);
    return session;
  }
  // Adds a launch in the region of operator `id`: the id precedes the call, which precedes the
  // kernel.
  static void add_launch(SyntheticBuffer& buffer, std::uint64_t id, std::uint32_t thread,
                         const test::Launch& launch) {
    buffer.add(test::id_record(id, launch.correlation))
        .add(test::call_record(CUPTI_ACTIVITY_KIND_RUNTIME, kLaunch, launch.start - 1000,
                               launch.start - 500, thread, launch.correlation))
        .add(kernel_record(launch));
  }
  static std::vector<Activity> rows(const GpuSession& session, ActivityKind kind) {
    return of_kind(join_gpu_session(session).activities, kind);
  }
  static GpuDeviceSummary summary_of(const GpuSession& session) {
    GpuSummary summary;
    for (const Activity& activity : join_gpu_session(session).activities) {
      EXPECT_TRUE(summary.consume(activity).ok());
    }
    return summary.devices().at(0);
  }

  const CuptiLibrary library_ = test::toolkit_cupti();
};

TEST_F(TracedRows, SevenLaunchesAreSevenRowsWithGridAndBlock) {
  SyntheticBuffer buffer;
  for (std::uint32_t i = 0; i < 7; ++i) {
    const std::uint64_t start = 10'000 + i * 10'000;
    add_launch(buffer, 1, 11, {"_Z4gemmv", start, start + 2000 + i, 7, i + 1, 66, 128});
  }
  const auto kernels = rows(session_of({buffer}), ActivityKind::kernel);
  ASSERT_THAT(kernels, SizeIs(7));
  Nanoseconds sum{0};
  for (const Activity& kernel : kernels) {
    EXPECT_EQ(kernel.name, "gemm");
    EXPECT_EQ(kernel.attributes.text(Attribute::grid), "66,1,1");
    EXPECT_EQ(kernel.attributes.text(Attribute::block), "128,1,1");
    EXPECT_EQ(kernel.track, (Track{100, 11, 0, 7}));
    sum += *kernel.duration;
  }
  EXPECT_EQ(sum, 14'021ns);
}

TEST_F(TracedRows, TwoThreadsOnTwoStreamsEachKernelUnderItsOperator) {
  SyntheticBuffer first, second;
  for (std::uint32_t i = 0; i < 50; ++i) {  // launched alternately
    const std::uint64_t start = 10'000 + i * 10'000;
    add_launch(first, 1, 11, {"_Z4gemmv", start, start + 9000, 7, 2 * i + 1});
    add_launch(second, 2, 12, {"_Z4gemmv", start + 5000, start + 14'000, 8, 2 * i + 2});
  }
  GpuSession session = session_of({second, first});
  session.executions[1].scope = "left";
  session.executions[2].scope = "right";
  const GpuJoin join = join_gpu_session(session);
  const auto kernels = of_kind(join.activities, ActivityKind::kernel);
  ASSERT_THAT(kernels, SizeIs(100));
  EXPECT_EQ(join.unattributed_kernels, 0);
  for (const Activity& kernel : kernels) {
    const bool left = kernel.track.stream == 7;
    EXPECT_EQ(kernel.scope, left ? "left" : "right");
    EXPECT_EQ(kernel.track.tid, left ? 11 : 12);
  }
}

TEST_F(TracedRows, TwoInstancesOfATemplateStayDistinct) {
  SyntheticBuffer buffer;
  add_launch(buffer, 1, 11, {"_Z5scaleIfLi4EEvPT_", 10'000, 11'000, 7, 1});
  add_launch(buffer, 1, 11, {"_Z5scaleIfLi8EEvPT_", 20'000, 21'000, 7, 2});
  const auto kernels = rows(session_of({buffer}), ActivityKind::kernel);
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(kernels[0].name, "scale");
  EXPECT_EQ(kernels[1].name, "scale");
  EXPECT_EQ(kernels[0].attributes.text(Attribute::long_name), "void scale<float, 4>(float*)");
  EXPECT_EQ(kernels[1].attributes.text(Attribute::long_name), "void scale<float, 8>(float*)");
}

TEST_F(TracedRows, CopiesHaveExactBytesKindsTotalMeanAndWait) {
  SyntheticBuffer buffer;
  buffer.add(test::call_record(CUPTI_ACTIVITY_KIND_RUNTIME, kCopy, 1000, 2000, 11, 1))
      .add(test::copy_record(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 12'582'912, 4000, 24'000, 1))
      .add(test::call_record(CUPTI_ACTIVITY_KIND_RUNTIME, kCopy, 30'000, 31'000, 11, 2))
      .add(test::copy_record(CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, 4097, 31'000, 41'000, 2));
  const GpuSession session = session_of({buffer});
  const auto copies = rows(session, ActivityKind::memcpy);
  ASSERT_THAT(copies, SizeIs(2));
  EXPECT_EQ(copies[0].name, "memcpy host_to_device (pinned -> device)");
  EXPECT_EQ(copies[0].attributes.integer(Attribute::size_bytes), 12'582'912);
  EXPECT_EQ(copies[1].name, "memcpy device_to_host (device -> pinned)");
  EXPECT_EQ(copies[1].attributes.integer(Attribute::size_bytes), 4097);
  const GpuTransfers transfers = summary_of(session).copies;
  EXPECT_EQ(transfers.count, 2);
  EXPECT_EQ(transfers.bytes, 12'587'009);
  EXPECT_EQ(transfers.total, 30'000ns);
  EXPECT_EQ(transfers.mean, 15'000ns);
  EXPECT_EQ(transfers.queue_time, 4000ns);  // 3000 and 1000, not part of the total
}

TEST_F(TracedRows, AFillHasALengthThatIsNotZero) {
  SyntheticBuffer buffer;
  CUpti_ActivityMemset4 fill{};
  fill.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  fill.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  fill.bytes = 4096;
  fill.start = 100;
  fill.end = 1600;
  buffer.add(fill);
  const auto fills = rows(session_of({buffer}), ActivityKind::memset);
  ASSERT_THAT(fills, SizeIs(1));
  EXPECT_EQ(fills[0].duration, 1500ns);
  EXPECT_EQ(fills[0].attributes.integer(Attribute::size_bytes), 4096);
}

TEST_F(TracedRows, DeviceSwitchedOffHasNoRowsOfADevice) {
  SyntheticBuffer buffer;
  add_launch(buffer, 1, 11, {"_Z4gemmv", 10'000, 11'000, 7, 1});
  buffer.add(test::copy_record(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 1, 2, 3, 4));
  GpuJoinOptions options;
  options.groups.erase(RecordGroup::device);
  const auto activities = join_gpu_session(session_of({buffer}), options).activities;
  ASSERT_THAT(activities, SizeIs(3));
  EXPECT_EQ(activities[0].kind, ActivityKind::api);
  for (const Activity& activity : activities) EXPECT_EQ(activity.track.device, std::nullopt);
  EXPECT_EQ(activities[1].name, "concurrency");
}

TEST_F(TracedRows, TwoKernelsOneMillisecondApartAreBusyTwoThirds) {
  SyntheticBuffer buffer;
  add_launch(buffer, 1, 11, {"_Z4spinv", 10'000'000, 11'000'000, 7, 1});
  add_launch(buffer, 1, 11, {"_Z4spinv", 12'000'000, 13'000'000, 7, 2});
  const GpuDeviceSummary summary = summary_of(session_of({buffer}));
  EXPECT_NEAR(100 * summary.busy_share.value_or(0), 66.7, 2);
  EXPECT_EQ(summary.gaps, 1);
  EXPECT_EQ(summary.gap_total, 1ms);
  EXPECT_EQ(summary.kernel_sum, 2ms);
}

// Correlations begin at 1 in every process, so they identify a launch only together with the
// process. Each session is joined separately, and a summary of both keeps the processes apart.
TEST_F(TracedRows, EqualCorrelationsOfTwoProcessesKeepTheirOperators) {
  SyntheticBuffer left, right;
  add_launch(left, 1, 11, {"_Z4leftv", 1'000'000, 2'000'000, 7, 1});
  add_launch(right, 1, 21, {"_Z5rightv", 1'500'000, 2'500'000, 7, 1});
  GpuSession first = session_of({left}, 100);
  GpuSession second = session_of({right}, 200);
  first.executions[1].scope = "first";
  second.executions[1].scope = "second";
  GpuSummary summary;
  std::vector<Activity> kernels;
  for (const GpuSession& session : {first, second}) {
    for (const Activity& kernel : rows(session, ActivityKind::kernel)) {
      kernels.push_back(kernel);
      EXPECT_TRUE(summary.consume(kernel).ok());
    }
  }
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(kernels[0].correlation, kernels[1].correlation);
  EXPECT_EQ(kernels[1].start - kernels[0].start, 500us);
  EXPECT_EQ(kernels[0].scope, "first");
  EXPECT_EQ(kernels[1].scope, "second");
  EXPECT_EQ(kernels[0].attributes.integer(Attribute::wait_ns), 1000);
  EXPECT_EQ(kernels[1].attributes.integer(Attribute::wait_ns), 1000);
  const std::vector<GpuDeviceSummary> devices = summary.devices();
  ASSERT_THAT(devices, SizeIs(2));
  EXPECT_EQ(devices[0].pid, 100);
  EXPECT_EQ(devices[0].kernel_sum, 1ms);
  EXPECT_EQ(devices[1].pid, 200);
  EXPECT_EQ(devices[1].kernel_sum, 1ms);
}

// What was recorded on a machine with a GPU can be decoded on any machine.
TEST_F(TracedRows, ADecodedSessionIsUnchangedAfterWritingAndReading) {
  SyntheticBuffer buffer;
  add_launch(buffer, 1, 11, {"_Z5scaleIfLi4EEvPT_", 10'000, 11'000, 7, 1});
  buffer.add(test::copy_record(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 12'345, 2000, 3000, 4));
  GpuSession session = session_of({buffer});
  session.executions[1] = {"case", "net:conv1", "forward", "conv", 5, GpuOperatorWork{10, 20}};
  const auto read = read_gpu_session(format_gpu_session(session), "session.jsonl");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(join_gpu_session(*read).activities, join_gpu_session(session).activities);
}

}  // namespace
}  // namespace bench
