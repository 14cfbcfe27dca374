// SPDX-License-Identifier: Apache-2.0
// Device memory that counts the bytes in use, copied in and filled. It is memory of the host.
#pragma once

#include "ops/backend/device.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

namespace bench::test {

class FakeDeviceMemory final : public ops::DeviceMemory {
 public:
  Result<void*> allocate(Bytes size) override {
    if (refuses) return Error{"the device is lost", "", ""};
    auto memory = std::make_unique<std::byte[]>(static_cast<std::size_t>(size.count) + 1);
    void* address = memory.get();
    used = used + size;
    blocks_[address] = {std::move(memory), size};
    return address;
  }
  void release(void* address) noexcept override {
    const auto found = blocks_.find(address);
    if (found == blocks_.end()) return;
    used.count -= found->second.size.count;
    blocks_.erase(found);
  }
  Status copy_in(void* device, const void* host, Bytes size) override {
    copied_in = copied_in + size;
    std::memcpy(device, host, static_cast<std::size_t>(size.count));
    return Done{};
  }
  Status copy_out(void* host, const void* device, Bytes size) override {
    std::memcpy(host, device, static_cast<std::size_t>(size.count));
    return Done{};
  }
  Status fill(void* device, std::uint8_t value, Bytes size) override {
    if (fills_left && (*fills_left)-- == 0) return Error{"no fill", "", ""};
    filled = filled + size;
    std::memset(device, value, static_cast<std::size_t>(size.count));
    return Done{};
  }
  std::optional<Bytes> cache() override { return cache_size; }
  std::optional<Bytes> available() override { return free; }

  // Returns whether an address is in memory that was allocated here.
  bool holds(const void* address) const {
    const auto* place = static_cast<const std::byte*>(address);
    for (const auto& [begin, block] : blocks_) {
      const auto* first = static_cast<const std::byte*>(begin);
      if (place >= first && place < first + block.size.count) return true;
    }
    return false;
  }

  bool refuses = false;
  std::optional<int> fills_left;  // number of successful fills before one fails
  std::optional<Bytes> cache_size, free;
  Bytes used{0}, copied_in{0}, filled{0};

 private:
  struct Block {
    std::unique_ptr<std::byte[]> memory;
    Bytes size{0};
  };
  std::map<void*, Block> blocks_;
};

}  // namespace bench::test
