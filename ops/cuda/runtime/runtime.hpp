// SPDX-License-Identifier: Apache-2.0
// The device of this process behind one interface: its memory, one stream, events, graphs and
// helper kernels. Tests on machines without a device use a scripted runtime. All work goes to the
// one stream. No function waits unless its comment says so. Errors contain the call and CUDA's
// text. A device that cannot be used until the process ends is lost. Used by one thread at a time.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/backend/choice_store.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/runtime/clock_reading.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace bench::ops::cuda {

class AllocationLog;  // allocation_log.hpp

struct DeviceTraits {
  int index = 0;
  std::string name;    // "NVIDIA H100 80GB HBM3"
  std::string bus_id;  // for NVML
  int major = 0, minor = 0;
  int multiprocessors = 0;
  Bytes memory, cache;                             // cache: L2
  std::optional<std::int64_t> default_clock_hz{};  // maximum clock of the multiprocessors
};

struct MemoryState {
  Bytes free, total;
};

// Host memory that the device can also address: `host` and `device` point to the same bytes.
struct MappedMemory {
  void* host = nullptr;
  void* device = nullptr;
};

class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual const DeviceTraits& traits() const = 0;
  virtual cudaStream_t stream() const = 0;
  // Returns true after a call failed in a way that no later call recovers from.
  virtual bool lost() const = 0;

  // Aligned to 256 bytes. BackendError: skipped if the device does not have enough memory, with the
  // sizes; else failed.
  virtual Result<void*, BackendError> allocate(Bytes size) = 0;
  virtual void release(void* address) noexcept = 0;
  virtual Result<MemoryState> memory() = 0;
  virtual Result<MappedMemory> allocate_mapped(Bytes size) = 0;  // zeroed
  virtual void release_mapped(const MappedMemory& memory) noexcept = 0;
  // Both wait for the stream and for the copy.
  virtual Status copy_in(void* device, const void* host, Bytes size) = 0;
  virtual Status copy_out(void* host, const void* device, Bytes size) = 0;
  // Both are enqueued on the stream after earlier work, so they can be captured.
  virtual Status copy_within(void* target, const void* source, Bytes size) = 0;
  virtual Status fill(void* device, std::uint8_t value, Bytes size) = 0;

  virtual Result<cudaEvent_t> create_event() = 0;
  virtual void destroy_event(cudaEvent_t event) noexcept = 0;
  virtual Status record(cudaEvent_t event) = 0;
  // Requires that both events have occurred.
  virtual Result<Nanoseconds> elapsed(cudaEvent_t begin, cudaEvent_t end) = 0;
  // Waits until the stream is idle. Returns the error of earlier work, if any.
  virtual Status synchronise() = 0;
  // The same for all streams, including those of libraries.
  virtual Status synchronise_device() = 0;

  // Work enqueued between begin_capture() and end_capture() becomes a graph and is not executed.
  // The graph is ready to launch: its first launch costs the same as every later launch.
  virtual Status begin_capture() = 0;
  virtual Result<cudaGraphExec_t> end_capture() = 0;
  virtual void abandon_capture() noexcept = 0;
  virtual Status launch(cudaGraphExec_t graph) = 0;
  virtual void destroy_graph(cudaGraphExec_t graph) noexcept = 0;

  // See kernels.hpp.
  virtual Status launch_empty() = 0;
  virtual Status launch_blocking(const std::int32_t* release, std::int32_t* timed_out,
                                 Nanoseconds limit) = 0;
  virtual Status read_clock(ClockReading* reading) = 0;
  virtual Status flush(void* scratch, Bytes size) = 0;

  // The host's CLOCK_MONOTONIC.
  virtual Nanoseconds now() const = 0;

  // Calls allocate() and records the allocation in the log, if one is set. `role` is its purpose;
  // empty if it is recorded elsewhere.
  Result<void*, BackendError> take(Bytes size, std::string_view role);
  void log_allocations(std::shared_ptr<AllocationLog> log) { log_ = std::move(log); }
  // Returns a different number at each call.
  std::uint64_t next_number() { return ++last_number_; }
  // Records the time of a setup step that happens once per process ("context", "library"). The next
  // kernel that is created reports it as "setup.NAME_ns".
  void note_setup(const std::string& name, Nanoseconds time) { setup_[name] += time; }
  std::map<std::string, Nanoseconds> take_setup() { return std::exchange(setup_, {}); }
  // Choices that all tuners of this device share.
  ChoiceStore& choices() { return choices_; }
  // The caches that all tuners of this device measure with.
  const TunedCaches& tuned_caches() const { return tuned_caches_; }
  void set_tuned_caches(const TunedCaches& caches) { tuned_caches_ = caches; }

 private:
  ChoiceStore choices_;
  TunedCaches tuned_caches_;
  std::uint64_t last_number_ = 0;
  std::map<std::string, Nanoseconds> setup_;
  std::shared_ptr<AllocationLog> log_;  // may be null
};

// In profiles, the role of memory that a kernel allocates for itself.
inline constexpr std::string_view kWorkspaceRole = "workspace";

// Owned device memory. The runtime must outlive it.
class DeviceBuffer {
 public:
  // BackendError: as from Runtime::allocate. 0 bytes: allocates nothing, data() is null.
  static Result<DeviceBuffer, BackendError> create(Runtime& runtime, Bytes size,
                                                   std::string_view role = kWorkspaceRole);
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer();
  void* data() const { return address_; }
  Bytes size() const { return size_; }

 private:
  DeviceBuffer(Runtime& runtime, void* address, Bytes size)
      : runtime_(&runtime), address_(address), size_(size) {}
  Runtime* runtime_;
  void* address_;
  Bytes size_;
};

}  // namespace bench::ops::cuda
