// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/memory.hpp"
#include "tests/fakes/fake_device_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace bench {
namespace {

constexpr std::int64_t kMi = std::int64_t{1} << 20;

TEST(LayOut, WholeLinesAndAnOddStride) {
  const std::array<Bytes, 2> buffers = {Bytes{100}, Bytes{64}};
  const auto layout = lay_out(buffers, {1920}, {1920});
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->offsets[0].count, 0);
  EXPECT_EQ(layout->offsets[1].count, 128);
  EXPECT_EQ(layout->stride.count, 192);
  EXPECT_EQ(layout->sets, 10);
}

TEST(LayOut, NoTwoNeighboursOfPageSizeBeginAtTheSamePlaceOfAPage) {
  const std::array<Bytes, 1> buffers = {Bytes{4096}};
  const auto layout = lay_out(buffers, {kMi}, {kMi});
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->stride.count, 4096 + 64);
  EXPECT_EQ(layout->sets, kMi / (4096 + 64));
}

// With the host's unit of 64 bytes, the odd stride would put most sets between multiples of 256.
TEST(LayOut, OnADeviceEveryBufferOfEverySetBeginsAtAMultipleOf256) {
  const std::array<Bytes, 3> buffers = {Bytes{4096}, Bytes{100}, Bytes{300}};
  const auto layout = lay_out(buffers, {kMi}, {kMi}, kDeviceAlignment);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->offsets[1].count, 4096);
  EXPECT_EQ(layout->offsets[2].count, 4096 + 256);
  EXPECT_EQ(layout->stride.count, 19 * 256);  // 4096 + 256 + 512, which is odd
  for (std::int64_t set = 0; set < layout->sets; ++set) {
    for (const Bytes offset : layout->offsets) {
      EXPECT_EQ((set * layout->stride.count + offset.count) % 256, 0);
    }
  }
  const std::array<Bytes, 1> page = {Bytes{4096}};
  EXPECT_EQ(lay_out(page, {kMi}, {kMi}, kDeviceAlignment)->stride.count, 4096 + 256);
}

TEST(LayOut, DistanceLimitsTheSets) {
  const std::array<Bytes, 1> buffers = {Bytes{64}};
  EXPECT_EQ(lay_out(buffers, {kMi}, {640})->sets, 10);
  EXPECT_EQ(lay_out(buffers, {kMi}, {1})->sets, 1);
  EXPECT_EQ(lay_out(buffers, {kMi}, {kMi})->sets, kMaxSets);
  EXPECT_FALSE(lay_out(buffers, {63}, {63}));
}

TEST(ArenaSize, TwiceTheCachesOrWhatIsAsked) {
  EXPECT_EQ(arena_size(Bytes{48 * kMi}, {0}, {}).count, 96 * kMi);
  EXPECT_EQ(arena_size(Bytes{48 * kMi}, {100 * kMi}, {}).count, 100 * kMi);
  EXPECT_EQ(arena_size({}, {0}, {}).count, 128 * kMi);
}

TEST(ArenaSize, AtMostOneGibibyteAndHalfTheMemory) {
  EXPECT_EQ(arena_size(Bytes{48 * kMi}, {5000 * kMi}, {}).count, 1024 * kMi);
  EXPECT_EQ(arena_size(Bytes{48 * kMi}, {0}, Bytes{100 * kMi}).count, 50 * kMi);
}

TEST(Arena, IsFilledToItsEnd) {
  auto arena = Arena::create({(9 << 20) + 64}, 1);
  ASSERT_TRUE(arena.ok());
  const auto* units = reinterpret_cast<const std::uint16_t*>(arena->read_region());
  EXPECT_EQ(std::count(units, units + ((9 << 20) + 64) / 2, std::uint16_t{0}), 0);
}

TEST(Arena, ReadRegionIsFilledAndWriteRegionIsAnother) {
  auto arena = Arena::create({1 << 16}, 1);
  ASSERT_TRUE(arena.ok());
  std::byte* read = arena->read_region();
  const auto* units = reinterpret_cast<const std::uint16_t*>(read);
  EXPECT_EQ(std::count(units, units + (1 << 15), std::uint16_t{0}), 0);
  const auto write = arena->write_region();
  ASSERT_TRUE(write.ok());
  EXPECT_NE(*write, read);
  EXPECT_EQ(*arena->write_region(), *write);
}

TEST(AlignedBuffer, IsAlignedZeroAndNeverNull) {
  auto buffer = AlignedBuffer::create({0});
  ASSERT_TRUE(buffer);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % 64, 0u);
  auto other = AlignedBuffer::create({100});
  EXPECT_EQ(static_cast<int>(other->data()[99]), 0);
  other->fill(0xff);
  EXPECT_EQ(static_cast<int>(other->data()[99]), 0xff);
  *buffer = std::move(*other);
  EXPECT_EQ(buffer->size().count, 100);
}

TEST(ArenaSize, OfADeviceFollowsItsCacheAndItsFreeMemory) {
  test::FakeDeviceMemory memory;
  EXPECT_EQ(device_arena_size(memory, {0}).count, 128 * kMi);
  memory.cache_size = Bytes{50 * kMi};
  EXPECT_EQ(device_arena_size(memory, {0}).count, 100 * kMi);
  EXPECT_EQ(device_arena_size(memory, {300 * kMi}).count, 300 * kMi);
  memory.free = Bytes{120 * kMi};
  EXPECT_EQ(device_arena_size(memory, {0}).count, 60 * kMi);
}

TEST(Arena, LiesInMemoryOfADeviceAndHoldsTheSameNumbers) {
  test::FakeDeviceMemory memory;
  const Bytes size{9 * kMi};  // more than the 4 MiB that are generated, and not a multiple of them
  auto host = Arena::create(size, kArenaSeed);
  ASSERT_TRUE(host.ok());
  {
    auto device = Arena::create(size, kArenaSeed, nullptr, &memory);
    ASSERT_TRUE(device.ok());
    EXPECT_EQ(memory.used, size);
    EXPECT_EQ(memory.copied_in, size);
    EXPECT_EQ(std::memcmp(host->read_region(), device->read_region(),
                          static_cast<std::size_t>(size.count)),
              0);
    const auto region = device->write_region();
    ASSERT_TRUE(region.ok());
    EXPECT_TRUE(memory.holds(*region));
    EXPECT_EQ(memory.filled, size);
    EXPECT_EQ(memory.used.count, 2 * size.count);
    Arena moved = std::move(*device);
    EXPECT_EQ(*moved.write_region(), *region);
  }
  EXPECT_EQ(memory.used.count, 0);
  memory.refuses = true;
  EXPECT_EQ(Arena::create(size, kArenaSeed, nullptr, &memory).error().message(),
            "the device is lost");
}

}  // namespace
}  // namespace bench
