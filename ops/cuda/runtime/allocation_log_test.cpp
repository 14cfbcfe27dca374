// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/allocation_log.hpp"

#include "ops/cuda/runtime/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

using namespace std::chrono_literals;
using testing::Optional;

GpuAllocation traced(const void* address, std::int64_t bytes, Nanoseconds at) {
  GpuAllocation allocation;
  allocation.memory = GpuMemoryKind::device;
  allocation.address = reinterpret_cast<std::uintptr_t>(address);
  allocation.bytes = bytes;
  allocation.at = at;
  return allocation;
}

std::optional<std::string> reported(const AllocationLog& log, GpuAllocation allocation) {
  std::vector<GpuRecord> records = {std::move(allocation)};
  log.set_roles(records);
  return std::get<GpuAllocation>(records.front()).role;
}

const int kPlace = 0, kOther = 0;

TEST(AllocationLog, GivesATracedAllocationItsRole) {
  AllocationLog log;
  log.begin();
  log.record_allocation(&kPlace, {64}, "workspace", 2s);
  EXPECT_THAT(reported(log, traced(&kPlace, 64, 2s - 30us)), Optional(std::string("workspace")));
  EXPECT_EQ(reported(log, traced(&kOther, 64, 2s)), std::nullopt);
  EXPECT_EQ(reported(log, traced(&kPlace, 65, 2s)), std::nullopt);
  EXPECT_EQ(reported(log, traced(&kPlace, 64, 4s)), std::nullopt);  // no call takes this long
}

// The same address and size are used first by a kernel, and then by the harness, which names the
// memory itself.
TEST(AllocationLog, AnAddressThatIsUsedAgainHasTheRoleOfItsTime) {
  AllocationLog log;
  log.begin();
  log.record_allocation(&kPlace, {64}, "workspace", 2s);
  log.record_allocation(&kPlace, {64}, "", 2s + 1ms);
  EXPECT_THAT(reported(log, traced(&kPlace, 64, 2s)), Optional(std::string("workspace")));
  EXPECT_EQ(reported(log, traced(&kPlace, 64, 2s + 900us)), std::nullopt);
}

TEST(AllocationLog, ReleasesHaveNone) {
  AllocationLog log;
  log.begin();
  log.record_allocation(&kPlace, {64}, "workspace", 2s);
  GpuAllocation release = traced(&kPlace, 64, 2s);
  release.change = GpuAllocationChange::release;
  EXPECT_EQ(reported(log, release), std::nullopt);
}

TEST(AllocationLog, IsFilledByWhoAllocatesOnTheDeviceOnceItHasBegun) {
  const auto log = std::make_shared<AllocationLog>();
  test::ScriptedDevice device;
  device.runtime->log_allocations(log);
  const auto before = DeviceBuffer::create(*device.runtime, {32});
  log->begin();
  const auto workspace = DeviceBuffer::create(*device.runtime, {48});
  const auto trial = DeviceBuffer::create(*device.runtime, {56}, "tuning");
  const auto plain = device.runtime->take({64}, "");
  ASSERT_TRUE(before && workspace && trial && plain);
  const Nanoseconds now = device.runtime->now();
  EXPECT_EQ(reported(*log, traced(before->data(), 32, now)), std::nullopt);
  EXPECT_THAT(reported(*log, traced(workspace->data(), 48, now)),
              Optional(std::string("workspace")));
  EXPECT_THAT(reported(*log, traced(trial->data(), 56, now)), Optional(std::string("tuning")));
  EXPECT_EQ(reported(*log, traced(*plain, 64, now)), std::nullopt);
  device.runtime->release(*plain);
}

}  // namespace
}  // namespace bench::ops::cuda
