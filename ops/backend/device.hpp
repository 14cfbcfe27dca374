// SPDX-License-Identifier: Apache-2.0
// A device with its own memory and clock, as a backend exposes it. The timing pass takes samples
// with it; the profile pass traces it.
#pragma once

#include "base/enumerators.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/kernel_facts.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace bench::ops {

class Invocation;

// Device memory that the CPU cannot address. Not thread-safe.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual Result<void*> allocate(Bytes size) = 0;
  virtual void release(void* address) noexcept = 0;
  virtual Status copy_in(void* device, const void* host, Bytes size) = 0;
  virtual Status copy_out(void* host, const void* device, Bytes size) = 0;
  virtual Status fill(void* device, std::uint8_t value, Bytes size) = 0;  // sets every byte
  // cache(): size of the device's last-level cache. available(): free memory at this moment. Both
  // return nullopt if unknown.
  virtual std::optional<Bytes> cache() { return std::nullopt; }
  virtual std::optional<Bytes> available() { return std::nullopt; }
};

// What the executions of a case find in the caches. cold: none of the buffers. cold_weights: none
// of the weights, as in a network, whose layers read what the layer before has just written.
BENCH_ENUM(CacheState, hot, cold, (cold_weights, "cold weights"));
// The caches that candidates are measured with. `rotation`: bytes over which the executions rotate
// so that buffers are cold.
struct TunedCaches {
  CacheState state = CacheState::hot;
  Bytes rotation{0};
  friend bool operator==(const TunedCaches&, const TunedCaches&) = default;
};

// Iteration i, counted from 0, runs rotation[(first + i) % rotation.size()].
struct SampleRequest {
  std::span<Invocation* const> rotation;  // invocations of one kernel
  std::int64_t first = 0;
  std::int64_t iterations = 1;
  SampleMethod method = SampleMethod::any;
};

// What the device did during the sample.
// throttled: the device lowered its clock to stay within its limits. This is normal under load.
// unsteady: the clock changed.
// voided: the sample is discarded because it does not describe the kernel.
enum class SampleVerdict { counted, unsteady, throttled, voided };

struct DeviceSample {
  Nanoseconds device{0};                 // total of all iterations, on the device's clock
  std::optional<Nanoseconds> host;       // time that the host spent on launching them
  std::optional<std::int64_t> clock_hz;  // average clock of the device's processors
  SampleMethod method = SampleMethod::stream;
  SampleVerdict verdict = SampleVerdict::counted;
  std::string reason;  // reason for the verdict; empty if counted
};

// Kinds of records that a trace contains (profiler/switches.hpp, as bits).
enum TraceGroup : std::uint32_t { kTraceApi = 1, kTraceMemory = 2, kTraceDevice = 4 };  // NOLINT

// Records what a device does. Used by workers that profile and do not time. A process can hold one
// trace.
class DeviceTracer {
 public:
  virtual ~DeviceTracer() = default;
  // Call this before anything creates a context on the device. Error: another profiler is active,
  // or libraries are missing. The pass then continues without a trace.
  virtual Status begin(std::uint32_t groups) = 0;
  // Waits for the device, then discards the records so far (setup, warm-up). Keeps what describes
  // live objects: devices, graph nodes, memory.
  virtual Status open_window() = 0;
  // Requests that this thread makes of the device until region_ends() belong to operator `id`,
  // which must not be 0. Regions nest; the innermost counts.
  virtual void region_begins(std::uint64_t id) noexcept = 0;
  virtual void region_ends() noexcept = 0;
  // Waits for the device and returns all records since open_window(), as lines of
  // profiler/gpu/gpu_record_lines.hpp without operators. This must be the last call.
  virtual Result<std::string> finish() = 0;
};

}  // namespace bench::ops
