// SPDX-License-Identifier: Apache-2.0
// Memory over time: what was allocated when and where, how much was live, and the peak.
#pragma once

#include "base/units.hpp"
#include "profiler/activity.hpp"
#include "profiler/recorder.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

// Records, in the group `memory`:
//   kind allocation, from allocation to release, with size_bytes, address, role and live_bytes
//     (after the allocation); what finish() still finds alive ends there;
//   counter `live_bytes` at every allocation and release;
//   counter `live_bytes_sampled` after every n-th operator, n being the sample rate: m operators
//     give floor(m / n) samples; n = 0 none.
// Live bytes and peak are kept whatever is recorded. Thread-safe; `recorder` outlives it.
class MemoryCollector {
 public:
  MemoryCollector(Recorder& recorder, std::int64_t sample_rate)
      : recorder_(recorder), sample_rate_(sample_rate) {}
  MemoryCollector(const MemoryCollector&) = delete;
  MemoryCollector& operator=(const MemoryCollector&) = delete;

  // Of 0 bytes: ignored. `role` as in the attribute: "input", "weights", "scratchpad", "cold copy".
  void allocated(const void* address, Bytes size, std::string_view name, std::string_view role);
  void released(const void* address);  // ignored where nothing is known to be
  // An operator was executed; `like` lends its scope to the sample.
  void operator_done(Nanoseconds at, const Activity& like);
  void finish();

  // What is known of a block that is live; absent: nothing.
  struct Known {
    std::string name, role;
    Bytes size;
  };
  std::optional<Known> find(const void* address) const;

  Bytes live() const;
  Bytes peak() const;

 private:
  struct Block {
    std::string name, role;
    Nanoseconds start{0};
    Bytes size;
    Bytes live;  // after its allocation
  };
  void record_counter(std::string_view name, Nanoseconds at, const Activity& like);
  void record_block(const void* address, const Block& block, Nanoseconds end);

  Recorder& recorder_;
  const std::int64_t sample_rate_;
  mutable std::mutex mutex_;
  std::map<const void*, Block> blocks_;
  Bytes live_{0};
  Bytes peak_{0};
  std::int64_t operators_ = 0;
};

// A block that someone else owns, told to a collector (or to none) for as long as this lives. Must
// end before the memory is given back.
class TrackedAllocation {
 public:
  TrackedAllocation() = default;
  TrackedAllocation(MemoryCollector* collector, const void* address, Bytes size,
                    std::string_view name, std::string_view role);
  TrackedAllocation(TrackedAllocation&& other) noexcept;
  TrackedAllocation& operator=(TrackedAllocation&& other) noexcept;
  ~TrackedAllocation();

 private:
  MemoryCollector* collector_ = nullptr;
  const void* address_ = nullptr;
};

}  // namespace bench
