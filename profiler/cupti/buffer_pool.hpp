// SPDX-License-Identifier: Apache-2.0
// Memory that a tracer fills while the program runs. Knows nothing of CUPTI.
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

// Thread-safe. Buffers are of malloc, so that whoever is left with one may free it.
class BufferPool {
 public:
  // Beyond `most_bytes` in use and filled, what is recorded is thrown away and counted.
  BufferPool(std::size_t buffer_bytes, std::size_t most_bytes)
      : buffer_bytes_(buffer_bytes), most_bytes_(most_bytes) {}

  std::size_t buffer_bytes() const { return buffer_bytes_; }
  // Of zeros, aligned for any type. Never null while there is memory: refusing a buffer has made
  // tracers crash.
  std::uint8_t* request();
  void complete(std::uint8_t* buffer, std::size_t valid);
  // What was filled so far, in order of completion.
  std::vector<FilledBuffer> take();
  // How many buffers with records were thrown away since it was asked last.
  std::int64_t take_discarded();

 private:
  const std::size_t buffer_bytes_;
  const std::size_t most_bytes_;
  mutable std::mutex mutex_;
  std::size_t used_bytes_ = 0;       // of buffers that are kept, in use or filled
  std::set<std::uint8_t*> surplus_;  // in use, thrown away afterwards
  std::vector<FilledBuffer> filled_;
  std::int64_t discarded_ = 0;
};

}  // namespace bench
