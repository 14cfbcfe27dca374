// SPDX-License-Identifier: Apache-2.0
// The device of this process: its memory, one stream, events, graphs, and the plugin's own kernels,
// behind one interface, so that machines without a device test with a scripted one. All work is put
// on the one stream; nothing here waits unless it says so. Errors name the call and CUDA's words.
// Used by one thread at a time.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace bench::ops::cuda {

struct DeviceTraits {
  int index = 0;
  std::string name;    // "NVIDIA H100 80GB HBM3"
  std::string bus_id;  // for NVML
  int major = 0, minor = 0;
  int multiprocessors = 0;
  Bytes memory, cache;                             // cache: L2
  std::optional<std::int64_t> default_clock_hz{};  // of the multiprocessors, at most
};

struct MemoryState {
  Bytes free, total;
};

// Memory of the host that the device sees as well: `host` and `device` name the same bytes.
struct MappedMemory {
  void* host = nullptr;
  void* device = nullptr;
};

// The clock of the first multiprocessor and the device's time at one moment, as its own kernel
// reads them.
struct ClockReading;

class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual const DeviceTraits& traits() const = 0;
  virtual cudaStream_t stream() const = 0;

  virtual Result<void*> allocate(Bytes size) = 0;  // aligned to 256 bytes
  virtual void release(void* address) noexcept = 0;
  virtual Result<MemoryState> memory() = 0;
  virtual Result<MappedMemory> allocate_mapped(Bytes size) = 0;
  virtual void release_mapped(const MappedMemory& memory) noexcept = 0;
  // Both wait for the stream, and for the copy.
  virtual Status copy_in(void* device, const void* host, Bytes size) = 0;
  virtual Status copy_out(void* host, const void* device, Bytes size) = 0;
  virtual Status copy_within(void* target, const void* source, Bytes size) = 0;  // on the device
  virtual Status fill(void* device, std::uint8_t value, Bytes size) = 0;

  virtual Result<cudaEvent_t> create_event() = 0;
  virtual void destroy_event(cudaEvent_t event) noexcept = 0;
  virtual Status record(cudaEvent_t event) = 0;
  // Of two events that have happened.
  virtual Result<Nanoseconds> elapsed(cudaEvent_t begin, cudaEvent_t end) = 0;
  // Waits until the stream is idle; what failed before is its error.
  virtual Status synchronise() = 0;

  // Everything put on the stream in between becomes a graph and is not executed.
  virtual Status begin_capture() = 0;
  virtual Result<cudaGraphExec_t> end_capture() = 0;
  virtual void abandon_capture() noexcept = 0;
  virtual Status launch(cudaGraphExec_t graph) = 0;
  virtual void destroy_graph(cudaGraphExec_t graph) noexcept = 0;

  // kernels.hpp
  virtual Status launch_blocking(const std::int32_t* release, std::int32_t* timed_out,
                                 Nanoseconds limit) = 0;
  virtual Status read_clock(ClockReading* reading) = 0;
  virtual Status flush(void* scratch, Bytes size) = 0;

  // Of the host, CLOCK_MONOTONIC.
  virtual Nanoseconds now() const = 0;
};

// Memory of the device, owned.
class DeviceBuffer {
 public:
  static Result<DeviceBuffer> create(Runtime& runtime, Bytes size);
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
