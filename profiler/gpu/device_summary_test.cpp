// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/device_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

Activity on_device(ActivityKind kind, Nanoseconds start, Nanoseconds duration,
                   std::int64_t stream = 7, std::int64_t device = 0) {
  Activity activity;
  activity.kind = kind;
  activity.start = start;
  activity.duration = duration;
  activity.track = {1, 2, device, stream};
  return activity;
}

Activity copy(Nanoseconds start, Nanoseconds duration, std::int64_t bytes,
              std::optional<Nanoseconds> wait) {
  Activity activity = on_device(ActivityKind::memcpy, start, duration);
  activity.attributes.set(Attribute::size_bytes, bytes);
  if (wait) activity.attributes.set(Attribute::wait_ns, wait->count());
  return activity;
}

std::vector<GpuDeviceSummary> summarised(const std::vector<Activity>& activities) {
  GpuSummary summary;
  for (const Activity& activity : activities) EXPECT_TRUE(summary.consume(activity).ok());
  return summary.devices();
}

TEST(GpuSummary, TwoKernelsOfOneMillisecondOneMillisecondApart) {
  const auto devices = summarised(
      {on_device(ActivityKind::kernel, 5ms, 1ms), on_device(ActivityKind::kernel, 7ms, 1ms)});
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].kernels, 2);
  EXPECT_EQ(devices[0].kernel_sum, 2ms);
  EXPECT_EQ(devices[0].kernel_union, 2ms);
  EXPECT_EQ(devices[0].window, 3ms);
  EXPECT_NEAR(devices[0].busy_share.value_or(0), 0.667, 0.001);
  EXPECT_EQ(devices[0].gaps, 1);
  EXPECT_EQ(devices[0].gap_total, 1ms);
  EXPECT_EQ(devices[0].gap_max, 1ms);
}

// Kernels on different streams overlap, and so do kernels of a replayed graph.
TEST(GpuSummary, SumAndUnionDifferWhereKernelsOverlap) {
  const auto devices = summarised({on_device(ActivityKind::kernel, 0us, 10us, 7),
                                   on_device(ActivityKind::kernel, 5us, 10us, 8),
                                   on_device(ActivityKind::kernel, 20us, 1us, 7),
                                   on_device(ActivityKind::kernel, 31us, 1us, 7)});
  EXPECT_EQ(devices[0].kernel_sum, 22us);
  EXPECT_EQ(devices[0].kernel_union, 17us);
  EXPECT_EQ(devices[0].gaps, 2);
  EXPECT_EQ(devices[0].gap_total, 15us);
  EXPECT_EQ(devices[0].gap_max, 10us);
}

TEST(GpuSummary, CopiesTotalMeanAndWaitApart) {
  const auto devices = summarised({copy(0us, 10us, 4096, 3us), copy(20us, 30us, 8192, 5us),
                                   on_device(ActivityKind::memset, 60us, 2us)});
  const GpuTransfers& copies = devices[0].copies;
  EXPECT_EQ(copies.count, 2);
  EXPECT_EQ(copies.bytes, 12288);
  EXPECT_EQ(copies.total, 40us);
  EXPECT_EQ(copies.mean, 20us);
  EXPECT_EQ(copies.queue_time, 8us);
  EXPECT_EQ(devices[0].memsets.count, 1);
  EXPECT_EQ(devices[0].memsets.total, 2us);
  EXPECT_EQ(devices[0].memsets.queue_time, std::nullopt);
  // Without kernels, the busy fraction of the device is unknown.
  EXPECT_EQ(devices[0].kernels, 0);
  EXPECT_EQ(devices[0].busy_share, std::nullopt);
  EXPECT_EQ(devices[0].gap_max, std::nullopt);
}

TEST(GpuSummary, DevicesAndProcessesApartAndTheHostLeftOut) {
  Activity host = on_device(ActivityKind::kernel, 0us, 1us);
  host.track.device.reset();
  Activity untimed = on_device(ActivityKind::kernel, 0us, 1us);
  untimed.duration.reset();
  Activity other = on_device(ActivityKind::kernel, 0us, 4us);
  other.track.pid = 9;
  const auto devices = summarised({host, untimed, on_device(ActivityKind::kernel, 0us, 1us, 7, 1),
                                   on_device(ActivityKind::kernel, 0us, 2us, 7, 0), other});
  ASSERT_EQ(devices.size(), 3u);
  EXPECT_EQ(devices[0].kernel_sum, 2us);
  EXPECT_EQ(devices[1].device, 1);
  EXPECT_EQ(devices[2].pid, 9);
  EXPECT_THAT(summarised({host}), IsEmpty());
}

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

Activity block(std::int64_t device, std::int64_t bytes, std::int64_t start,
               std::optional<std::int64_t> end, std::string_view role) {
  Activity activity;
  activity.kind = ActivityKind::allocation;
  activity.start = Nanoseconds(start);
  if (end) activity.duration = Nanoseconds(*end - start);
  activity.track = {7, 1, device, {}};
  activity.attributes.set(Attribute::size_bytes, bytes);
  activity.attributes.set(Attribute::role, role);
  return activity;
}

Activity unexplained_bytes(std::int64_t device, double bytes) {
  Activity activity;
  activity.kind = ActivityKind::counter;
  activity.name = "device_other_bytes";
  activity.track = {7, 0, device, {}};
  activity.attributes.set(Attribute::value, bytes);
  return activity;
}

std::vector<GpuMemoryUse> summary(const std::vector<Activity>& activities) {
  GpuMemorySummary summary;
  for (const Activity& activity : activities) EXPECT_TRUE(summary.consume(activity).ok());
  return summary.devices();
}

TEST(GpuMemorySummary, ThePeakAndItsPartsByRole) {
  const auto uses = summary({block(0, 1000, 10, 20, "weights"), block(0, 400, 15, {}, "workspace"),
                             block(0, 600, 20, 30, "weights"), block(0, 5, 16, 17, "device"),
                             block(0, 7, 16, 18, "managed")});
  ASSERT_EQ(uses.size(), 1U);
  EXPECT_EQ(uses[0].pid, 7);
  EXPECT_EQ(uses[0].device, 0);
  EXPECT_EQ(uses[0].peak, Bytes{1412});
  EXPECT_THAT(uses[0].by_role, ElementsAre(Pair("library", Bytes{12}), Pair("weights", Bytes{1000}),
                                           Pair("workspace", Bytes{400})));
  EXPECT_FALSE(uses[0].max_unexplained.has_value());
}

// A release counts before an allocation at the same time.
TEST(GpuMemorySummary, OneAfterTheOtherIsNoSum) {
  const auto uses = summary({block(0, 10, 5, 6, "input"), block(0, 10, 6, 7, "output")});
  EXPECT_EQ(uses.at(0).peak, Bytes{10});
  EXPECT_THAT(uses.at(0).by_role, ElementsAre(Pair("input", Bytes{10})));
}

TEST(GpuMemorySummary, DevicesApartWithTheMostThatNothingExplains) {
  const auto uses = summary({block(1, 10, 5, 6, "input"), unexplained_bytes(0, 50),
                             unexplained_bytes(0, 70), unexplained_bytes(0, 60)});
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].max_unexplained, Bytes{70});
  EXPECT_EQ(uses[0].peak, Bytes{0});
  EXPECT_EQ(uses[1].device, 1);
  EXPECT_FALSE(uses[1].max_unexplained.has_value());
}

TEST(GpuMemorySummary, TheHostsMemoryIsNotOfADevice) {
  Activity host = block(0, 10, 5, 6, "input");
  host.track.device.reset();
  EXPECT_THAT(summary({host}), IsEmpty());
}

}  // namespace
}  // namespace bench
