// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/buffer_pool.hpp"

#include <utility>

namespace bench {

std::uint8_t* BufferPool::request() {
  // calloc of this size maps new pages, which are already zero and need no writing.
  auto* const buffer = static_cast<std::uint8_t*>(std::calloc(buffer_bytes_, 1));
  if (buffer == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  if (used_bytes_ + buffer_bytes_ > most_bytes_) {
    surplus_.insert(buffer);
  } else {
    used_bytes_ += buffer_bytes_;
  }
  return buffer;
}

void BufferPool::complete(std::uint8_t* buffer, std::size_t valid) {
  FilledBuffer filled{std::unique_ptr<std::uint8_t, FreeBuffer>(buffer), valid};
  const std::lock_guard lock(mutex_);
  if (surplus_.erase(buffer) > 0) {
    if (valid > 0) ++discarded_;
  } else if (valid == 0) {
    used_bytes_ -= buffer_bytes_;
  } else {
    filled_.push_back(std::move(filled));
  }
}

std::vector<FilledBuffer> BufferPool::take() {
  const std::lock_guard lock(mutex_);
  used_bytes_ -= filled_.size() * buffer_bytes_;
  return std::exchange(filled_, {});
}

std::int64_t BufferPool::take_discarded() {
  const std::lock_guard lock(mutex_);
  return std::exchange(discarded_, 0);
}

}  // namespace bench
