// SPDX-License-Identifier: Apache-2.0
#include "harness/run/case_buffer.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

namespace bench {
namespace {

// A device whose memory is that of the host, and which counts.
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
  auto buffer = CaseBuffer::create(Bytes{64}, nullptr);
  ASSERT_TRUE(buffer.ok());
  ASSERT_TRUE(buffer->fill(0x5a).ok());
  EXPECT_EQ(static_cast<unsigned char*>(buffer->data())[63], 0x5a);
}

TEST(CaseBufferTest, GivesMemoryOfADeviceBackOnce) {
  CountingMemory memory;
  {
    auto made = CaseBuffer::create(Bytes{8}, &memory);
    ASSERT_TRUE(made.ok());
    CaseBuffer moved = std::move(made).value();
    EXPECT_EQ(memory.live, 1);
    ASSERT_TRUE(moved.fill(0xff).ok());
    EXPECT_EQ(static_cast<unsigned char*>(moved.data())[7], 0xff);
  }
  EXPECT_EQ(memory.live, 0);
}

TEST(CaseBufferTest, SaysWhyThereIsNone) {
  CountingMemory memory;
  EXPECT_EQ(CaseBuffer::create(Bytes{1001}, &memory).error().what, "the device is full");
}

}  // namespace
}  // namespace bench
