// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/memory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

namespace bench {
namespace {

// A device whose memory is host memory, and which counts allocations.
class CountingMemory final : public ops::DeviceMemory {
 public:
  Result<void*> allocate(Bytes size) override {
    if (size > Bytes{1000}) return Error{"the device is full", "", ""};
    ++live;
    return static_cast<void*>(new char[static_cast<std::size_t>(size.count)]);
  }
  void release(void* address) noexcept override {
    --live;
    delete[] static_cast<char*>(address);
  }
  Status copy_in(void* device, const void* host, Bytes size) override {
    std::memcpy(device, host, static_cast<std::size_t>(size.count));
    return Done{};
  }
  Status copy_out(void* host, const void* device, Bytes size) override {
    return copy_in(host, device, size);
  }
  Status fill(void* device, std::uint8_t value, Bytes size) override {
    std::memset(device, value, static_cast<std::size_t>(size.count));
    return Done{};
  }
  int live = 0;
};

TEST(CaseBufferTest, TakesMemoryOfTheHostWithoutADevice) {
  const Bytes size{64};
  auto buffers = CaseBuffer::create({&size, 1}, nullptr);
  ASSERT_TRUE(buffers.ok());
  CaseBuffer& buffer = buffers->front();
  ASSERT_TRUE(buffer.fill(0x5a).ok());
  EXPECT_EQ(static_cast<unsigned char*>(buffer.data())[63], 0x5a);
}

// The place of a buffer within a large page determines its cache conflicts.
TEST(CaseBufferTest, BuffersOfTheHostLieAtTheSamePlacesOfALargePageEveryTime) {
  constexpr std::uintptr_t kLargePage = 2 << 20;
  const std::vector<Bytes> sizes = {{4096}, {0}, {100}, {8192}};
  const auto places = [&] {
    std::vector<std::uintptr_t> result;
    auto buffers = CaseBuffer::create(sizes, nullptr);
    if (!buffers) return result;
    for (CaseBuffer& buffer : *buffers) {
      result.push_back(reinterpret_cast<std::uintptr_t>(buffer.data()) % kLargePage);
    }
    return result;
  };
  const std::vector<std::uintptr_t> first = places();
  EXPECT_EQ(first, (std::vector<std::uintptr_t>{0, 4672, 5248, 5952}));
  EXPECT_EQ(places(), first);
}

TEST(CaseBufferTest, GivesMemoryOfADeviceBackOnce) {
  CountingMemory memory;
  {
    const Bytes size{8};
    auto made = CaseBuffer::create({&size, 1}, &memory);
    ASSERT_TRUE(made.ok());
    CaseBuffer moved = std::move(made->front());
    EXPECT_EQ(memory.live, 1);
    ASSERT_TRUE(moved.fill(0xff).ok());
    EXPECT_EQ(static_cast<unsigned char*>(moved.data())[7], 0xff);
  }
  EXPECT_EQ(memory.live, 0);
}

TEST(CaseBufferTest, SaysWhyThereIsNone) {
  CountingMemory memory;
  const std::vector<Bytes> sizes = {{8}, {1001}};
  EXPECT_EQ(CaseBuffer::create(sizes, &memory).error().what, "the device is full");
  EXPECT_EQ(memory.live, 0);
}

}  // namespace
}  // namespace bench
