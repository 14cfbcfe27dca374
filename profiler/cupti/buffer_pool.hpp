// SPDX-License-Identifier: Apache-2.0
// Memory that a tracer fills while the program runs. Independent of CUPTI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace bench {

struct FreeBuffer {
  void operator()(std::uint8_t* buffer) const { std::free(buffer); }
};

struct FilledBuffer {
  std::unique_ptr<std::uint8_t, FreeBuffer> bytes;
  std::size_t valid = 0;
};

// Thread-safe. Buffers come from malloc, so any owner may free them.
class BufferPool {
 public:
  // If buffers in use and filled exceed `most_bytes`, further records are discarded and counted.
  BufferPool(std::size_t buffer_bytes, std::size_t most_bytes)
      : buffer_bytes_(buffer_bytes), most_bytes_(most_bytes) {}

  std::size_t buffer_bytes() const { return buffer_bytes_; }
  // Returns a zeroed buffer, aligned for any type. Returns null only if memory is exhausted:
  // refusing a buffer has made tracers crash.
  std::uint8_t* request();
  void complete(std::uint8_t* buffer, std::size_t valid);
  // Returns the buffers filled so far, in order of completion.
  std::vector<FilledBuffer> take();
  // Returns the number of buffers with records that were discarded since the last call.
  std::int64_t take_discarded();

 private:
  const std::size_t buffer_bytes_;
  const std::size_t most_bytes_;
  mutable std::mutex mutex_;
  std::size_t used_bytes_ = 0;       // kept buffers, in use or filled
  std::set<std::uint8_t*> surplus_;  // in use; discarded when complete
  std::vector<FilledBuffer> filled_;
  std::int64_t discarded_ = 0;
};

}  // namespace bench
