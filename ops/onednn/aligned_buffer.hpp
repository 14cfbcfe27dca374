// SPDX-License-Identifier: Apache-2.0
// Memory that a kernel owns: page-aligned, so that its place within a page never changes a
// measurement.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace bench::ops {

class AlignedBuffer {
 public:
  static constexpr std::size_t kAlignment = 4096;

  AlignedBuffer() = default;
  // Throws std::bad_alloc. No memory for 0 bytes.
  explicit AlignedBuffer(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    memory_.reset(std::aligned_alloc(kAlignment, rounded));
    if (!memory_) throw std::bad_alloc();
  }

  void* data() const { return memory_.get(); }
  std::size_t size() const { return bytes_; }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> memory_;
  std::size_t bytes_ = 0;
};

}  // namespace bench::ops
