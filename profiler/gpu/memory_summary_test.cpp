// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/memory_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

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
