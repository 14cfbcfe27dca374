// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/memory_chart.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace bench {
namespace {

MemoryBlock block(std::uint64_t address, std::int64_t size) {
  MemoryBlock b;
  b.address = address;
  b.size = size;
  return b;
}

TEST(LiveBytes, ReleasesFirstWhereTimesAreEqual) {
  const LiveBytes live = live_bytes({{20, 100}, {10, 100}, {20, -100}, {30, -100}});
  EXPECT_EQ(live.peak, 100);
  EXPECT_EQ(live.peak_time, 10);
  const std::vector<std::pair<std::int64_t, std::int64_t>> steps = {{10, 100}, {20, 100}, {30, 0}};
  EXPECT_EQ(live.steps, steps);
}

TEST(AddressScale, LeavesOutEmptySpaceAndKeepsProportions) {
  const AddressScale scale({block(0x1000, 300), block(0x1000 + 300, 100), block(1u << 30, 400)},
                           108);
  ASSERT_EQ(scale.regions().size(), 2u);
  EXPECT_DOUBLE_EQ(scale.at(0x1000), 0);
  EXPECT_DOUBLE_EQ(scale.length(400), 50);  // 800 bytes in a height of 108 minus a break of 8
  EXPECT_DOUBLE_EQ(scale.at(0x1000 + 300), 37.5);  // 300 / 800 of 100
  EXPECT_DOUBLE_EQ(scale.at(1u << 30), 58);
  EXPECT_DOUBLE_EQ(scale.at((1u << 30) + 400), 108);
}

TEST(AddressScale, HasRoomForManyRegionsAndTheLastAddress) {
  std::vector<MemoryBlock> blocks;
  for (std::uint64_t i = 0; i < 1000; ++i) blocks.push_back(block(i << 32, 64));
  const AddressScale scale(blocks, 100);
  EXPECT_EQ(scale.regions().size(), 1000u);
  EXPECT_NEAR(scale.at((999ull << 32) + 64), 100, 1e-6);
  const AddressScale end({block(std::numeric_limits<std::uint64_t>::max() - 1, 1000)}, 100);
  EXPECT_LE(end.at(std::numeric_limits<std::uint64_t>::max()), 100);
  EXPECT_TRUE(AddressScale({}, 100).regions().empty());
}

}  // namespace
}  // namespace bench
