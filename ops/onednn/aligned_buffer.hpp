// SPDX-License-Identifier: Apache-2.0
// Memory that a kernel owns. It is page-aligned, so its position within a page never affects a
// measurement.
#pragma once

#include "base/units.hpp"
#include "profiler/memory/memory_collector.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>

namespace bench::ops {

class AlignedBuffer {
 public:
  static constexpr std::size_t kAlignment = 4096;

  AlignedBuffer() = default;
  // Throws std::bad_alloc. Allocates nothing for 0 bytes.
  explicit AlignedBuffer(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    const std::size_t rounded_bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    memory_.reset(std::aligned_alloc(kAlignment, rounded_bytes));
    if (!memory_) throw std::bad_alloc();
  }

  // The same, and reports the memory to `collector` (if not null) for its lifetime.
  AlignedBuffer(std::size_t bytes, MemoryCollector* collector, std::string_view role)
      : AlignedBuffer(bytes) {
    tracked_ = TrackedAllocation(collector, data(), {static_cast<std::int64_t>(bytes)}, role, role);
  }

  void* data() const { return memory_.get(); }
  std::size_t size() const { return bytes_; }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> memory_;
  std::size_t bytes_ = 0;
  TrackedAllocation tracked_;  // declared after the memory, which must outlive it
};

}  // namespace bench::ops
