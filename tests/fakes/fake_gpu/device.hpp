// SPDX-License-Identifier: Apache-2.0
// The one device of a process with the fake GPU: memory that the CPU cannot access, faults, and a
// timeline of the requested work.
#pragma once

#include "base/result.hpp"
#include "ops/backend/device.hpp"
#include "ops/backend/device_counters.hpp"
#include "profiler/gpu/gpu_record.hpp"
#include "tests/fakes/fake_gpu/script.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::fake_gpu {

class FakeGpu;

// Blocks have an address at which any access by the CPU ends with SIGSEGV; their content is
// elsewhere.
class Memory final : public ops::DeviceMemory {
 public:
  explicit Memory(FakeGpu& gpu) : gpu_(gpu) {}
  ~Memory() override;

  Result<void*> allocate(Bytes size) override { return allocate_for(size, std::nullopt); }
  // Allocates and records the role of the memory. Kernels pass the role of their own memory;
  // allocate() has none.
  Result<void*> allocate_for(Bytes size, std::optional<std::string> role);
  void release(void* address) noexcept override;
  Status copy_in(void* device, const void* host, Bytes size) override;
  Status copy_out(void* host, const void* device, Bytes size) override;
  Status fill(void* device, std::uint8_t value, Bytes size) override;
  std::optional<Bytes> cache() override;
  std::optional<Bytes> available() override;

  // Returns the address of the content. Returns an error for an illegal address, as a device does.
  Result<std::byte*> content(const void* device, Bytes size);

 private:
  struct Block {
    std::size_t mapped = 0;
    std::vector<std::byte> content;
  };
  FakeGpu& gpu_;
  std::map<const std::byte*, Block> blocks_;
  Bytes used_{0};
};

// Records what CUPTI would record.
class Tracer final : public ops::DeviceTracer {
 public:
  explicit Tracer(FakeGpu& gpu) : gpu_(gpu) {}

  Status begin(std::uint32_t groups) override;
  Status open_window() override;
  void region_begins(std::uint64_t id) noexcept override { regions_.push_back(id); }
  void region_ends() noexcept override { regions_.pop_back(); }
  Result<std::string> finish() override;
  bool recording() const { return recording_; }

  // Records a call of the runtime and returns its correlation.
  std::uint64_t record_call(std::string name, GpuInterval time);
  void add(GpuKernel kernel);
  void add(GpuMemcpy copy);
  void add(GpuMemset fill);
  void add(GpuSynchronisation wait);
  void add(GpuAllocation allocation);

 private:
  bool records(std::uint32_t group) const { return recording_ && (groups_ & group) != 0; }
  // Stores the record if device records are traced. Sets its place (device, context, stream) and
  // converts its times to the tracer's clock.
  template <class Record>
  void record_device_work(Record record);

  FakeGpu& gpu_;
  bool recording_ = false;
  bool realtime_ = false;  // times of the device are on CLOCK_REALTIME
  std::uint32_t groups_ = 0;
  Nanoseconds window_begin_{0};  // when the recorded window began
  std::vector<std::uint64_t> regions_;
  std::uint64_t correlations_ = 0;
  std::vector<GpuRecord> records_;
};

// Returns what CUPTI's range profiler would read.
class Counters final : public ops::DeviceCounters {
 public:
  explicit Counters(const Script& script) : script_(script) {}
  Result<CounterReadings, ops::BackendError> measure(
      std::span<ops::Invocation* const> rotation) override;

 private:
  const Script& script_;
};

class FakeGpu {
 public:
  explicit FakeGpu(Script script)
      : script_(std::move(script)), memory_(*this), tracer_(*this), counters_(script_) {}

  const Script& script() const { return script_; }
  Memory& memory() { return memory_; }
  Tracer& tracer() { return tracer_; }
  Counters& counters() { return counters_; }
  const DeviceScript& device() const { return *script_.device; }

  // Counts `count` moments of this kind and triggers a fault that the script has for one of them.
  // A fault of kind `abort` or `hang` does not return. Returns the error of the fault, or that of
  // an earlier one that made the device unusable.
  Status trigger_faults(Moment moment, std::string_view subject, std::int64_t count = 1);
  // Creates the context. Everything that needs a context calls this first, as in a real driver.
  void make_context() { has_context_ = true; }
  bool has_context() const { return has_context_; }
  // Returns an error if the device is no longer usable.
  Status check_usable() const;

  // Queues kernels after all earlier work. Returns when they are launched.
  void launch(const CaseScript& row);
  void wait();  // until all work is complete
  void transfer(GpuMemcpy copy);
  void transfer(GpuMemset fill);

 private:
  void call(std::string name, Nanoseconds length, std::uint64_t& correlation);
  GpuInterval next_slot(Nanoseconds length);

  const Script script_;
  std::map<const FaultScript*, std::int64_t> moments_counted_;
  std::optional<std::string> broken_;
  bool has_context_ = false;
  Memory memory_;
  Tracer tracer_;
  Counters counters_;
  Nanoseconds idle_from_{0};  // when the device becomes idle
};

// Read CLOCK_MONOTONIC, and wait actively until it reaches `time`.
Nanoseconds monotonic_now();
void spin_until(Nanoseconds time);

}  // namespace bench::fake_gpu
