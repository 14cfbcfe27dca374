// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/allocations.hpp"

#include "tests/fakes/gpu_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using enum GpuAllocationChange;
using testing::ElementsAre;

constexpr std::int64_t kHundredMiB = std::int64_t{100} << 20;

GpuBlocks pair_records(const GpuSession& session) {
  std::vector<const GpuAllocation*> changes;
  for (const GpuRecord& record : session.records)
    changes.push_back(&std::get<GpuAllocation>(record));
  return pair_allocations(changes);
}

TEST(Allocations, PairedInOrderOfTime) {
  test::GpuScript script;
  script.memory(release, 0x1000, kHundredMiB, 30);  // record buffers arrive in any order
  script.memory(allocation, 0x1000, kHundredMiB, 10);
  script.memory(allocation, 0x2000, std::int64_t{3} << 30, 20);
  const GpuBlocks blocks = pair_records(script.session);
  ASSERT_EQ(blocks.blocks.size(), 2u);
  EXPECT_EQ(blocks.blocks[0].released, 30ns);
  EXPECT_EQ(blocks.blocks[0].live_bytes, 104'857'600);
  EXPECT_EQ(blocks.blocks[1].released, std::nullopt);
  EXPECT_THAT(blocks.live.at(0),
              ElementsAre(CounterPoint{10ns, 104'857'600}, CounterPoint{20ns, 3'326'083'072},
                          CounterPoint{30ns, 3'221'225'472}));
  EXPECT_EQ(blocks.unknown_releases, 0);
}

TEST(Allocations, AddressesAreUsedAgain) {
  test::GpuScript script;
  script.memory(allocation, 0x1000, 10, 0);
  script.memory(allocation, 0x1000, 20, 5);  // at the same time as the release
  script.memory(release, 0x1000, 10, 5);
  script.memory(allocation, 0x1000, 40, 8);  // the release is missing
  const GpuBlocks blocks = pair_records(script.session);
  ASSERT_EQ(blocks.blocks.size(), 3u);
  EXPECT_EQ(blocks.blocks[0].released, 5ns);
  EXPECT_EQ(blocks.blocks[1].released, 8ns);
  EXPECT_EQ(blocks.blocks[2].live_bytes, 40);
}

// Releases are sorted before allocations of the same time. Earlier, such a block stayed open.
TEST(Allocations, ABlockMayBeReleasedAtTheTimeOfItsAllocation) {
  test::GpuScript script;
  script.memory(allocation, 0x1000, 10, 5);
  script.memory(release, 0x1000, 10, 5);
  script.memory(allocation, 0x2000, 20, 6);
  const GpuBlocks blocks = pair_records(script.session);
  ASSERT_EQ(blocks.blocks.size(), 2u);
  EXPECT_EQ(blocks.blocks[0].released, 5ns);
  EXPECT_EQ(blocks.blocks[1].live_bytes, 20);
  EXPECT_EQ(blocks.unknown_releases, 0);
}

TEST(Allocations, DevicesAndHostApart) {
  test::GpuScript script;
  script.memory(allocation, 0x1000, 10, 0);
  script.memory(allocation, 0x1000, 20, 1).place.device = 1;
  script.memory(allocation, 0x9000, 40, 2).memory = GpuMemoryKind::pinned;
  script.memory(release, 0x7000, 40, 3);
  const GpuBlocks blocks = pair_records(script.session);
  EXPECT_THAT(blocks.live.at(0), ElementsAre(CounterPoint{0ns, 10}));
  EXPECT_THAT(blocks.live.at(1), ElementsAre(CounterPoint{1ns, 20}));
  EXPECT_EQ(blocks.blocks.size(), 3u);
  EXPECT_EQ(blocks.unknown_releases, 1);
}

}  // namespace
}  // namespace bench
