// SPDX-License-Identifier: Apache-2.0
// A device with memory and a clock of its own, as a backend shows it: what the timing pass takes
// samples with, what the profile pass traces.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/kernel_facts.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bench::ops {

class Invocation;

// Memory of a device that the CPU cannot address. Not thread-safe.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual Result<void*> allocate(Bytes size) = 0;
  virtual void release(void* address) noexcept = 0;
  virtual Status copy_in(void* device, const void* host, Bytes size) = 0;
  virtual Status copy_out(void* host, const void* device, Bytes size) = 0;
  virtual Status fill(void* device, std::uint8_t value, Bytes size) = 0;  // every byte
  // Of the device's last level of caches, and free memory at this moment; absent where unknown.
  virtual std::optional<Bytes> cache() { return std::nullopt; }
  virtual std::optional<Bytes> available() { return std::nullopt; }
};

// Iteration i, counted from 0, runs rotation[(first + i) % rotation.size()].
struct SampleRequest {
  std::span<Invocation* const> rotation;  // of one kernel
  std::int64_t first = 0;
  std::int64_t iterations = 1;
  SampleMethod method = SampleMethod::any;
};

// What the device did meanwhile. throttled: it lowered its clock to stay within its limits, which
// is its normal way of working under load; unsteady: its clock has changed; voided: the sample says
// nothing about the kernel.
enum class SampleVerdict { counted, unsteady, throttled, voided };

struct DeviceSample {
  Nanoseconds device{0};                 // all iterations together, on the device's clock
  std::optional<Nanoseconds> host;       // what the host spent on launching them
  std::optional<std::int64_t> clock_hz;  // of the device's processors, on average
  SampleMethod method = SampleMethod::stream;
  SampleVerdict verdict = SampleVerdict::counted;
  std::string reason;  // of the verdict; empty: counted
};

// What kinds of records a trace is to hold (profiler/switches.hpp, as bits).
enum TraceGroup : std::uint32_t { kTraceApi = 1, kTraceMemory = 2, kTraceDevice = 4 };  // NOLINT

// Records what a device does; for workers that profile and time nothing. One trace a process.
class DeviceTracer {
 public:
  virtual ~DeviceTracer() = default;
  // Before anything makes a context on the device. Error: another profiler is in the way, libraries
  // are missing: the pass goes on without.
  virtual Status begin(std::uint32_t groups) = 0;
  // Forgets what was recorded so far (setup, warm-up), but for what is still there: devices, nodes
  // of graphs, memory. Waits for the device.
  virtual Status open_window() = 0;
  // What this thread asks of the device until region_ends() belongs to operator `id`, which is not
  // 0. They nest; the innermost counts.
  virtual void region_begins(std::uint64_t id) noexcept = 0;
  virtual void region_ends() noexcept = 0;
  // Waits for the device and returns all since open_window() as lines of
  // profiler/gpu/gpu_record_lines.hpp, without owners. The last call.
  virtual Result<std::string> finish() = 0;
};

}  // namespace bench::ops
