// SPDX-License-Identifier: Apache-2.0
// The one device of a process with the fake GPU: memory that the CPU cannot touch, faults, and a
// timeline of what was asked of it.
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

// Blocks have an address that any access by the CPU ends with SIGSEGV, and their content elsewhere.
class Memory final : public ops::DeviceMemory {
 public:
  explicit Memory(FakeGpu& gpu) : gpu_(gpu) {}
  ~Memory() override;

  Result<void*> allocate(Bytes size) override { return take(size, std::nullopt); }
  // With what it is for, as a kernel knows of its own.
  Result<void*> take(Bytes size, std::optional<std::string> role);
  void release(void* address) noexcept override;
  Status copy_in(void* device, const void* host, Bytes size) override;
  Status copy_out(void* host, const void* device, Bytes size) override;
  Status fill(void* device, std::uint8_t value, Bytes size) override;
  std::optional<Bytes> cache() override;
  std::optional<Bytes> available() override;

  // Where the content lies. Error: no such memory, as a device says of an illegal address.
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

// What CUPTI would have recorded.
class Tracer final : public ops::DeviceTracer {
 public:
  explicit Tracer(FakeGpu& gpu) : gpu_(gpu) {}

  Status begin(std::uint32_t groups) override;
  Status open_window() override;
  void region_begins(std::uint64_t id) noexcept override { regions_.push_back(id); }
  void region_ends() noexcept override { regions_.pop_back(); }
  Result<std::string> finish() override;
  bool recording() const { return recording_; }

  // A call of the runtime; its correlation.
  std::uint64_t called(std::string name, GpuInterval time);
  void add(GpuKernel kernel);
  void add(GpuMemcpy copy);
  void add(GpuMemset fill);
  void add(GpuSynchronisation wait);
  void add(GpuAllocation allocation);

 private:
  bool records(std::uint32_t group) const { return recording_ && (groups_ & group) != 0; }
  template <class Record>
  void keep(Record record);  // of the device

  FakeGpu& gpu_;
  bool recording_ = false;
  bool realtime_ = false;  // times of the device are on CLOCK_REALTIME
  std::uint32_t groups_ = 0;
  Nanoseconds window_{0};  // its begin
  std::vector<std::uint64_t> regions_;
  std::uint64_t correlations_ = 0;
  std::vector<GpuRecord> records_;
};

// What CUPTI's range profiler would have read.
class Counters final : public ops::DeviceCounters {
 public:
  explicit Counters(const Script& script) : script_(script) {}
  Result<CounterReadings, ops::Refusal> measure(
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

  // Passes `count` moments that a fault may be scripted at: the process may end here. Error: a
  // fault, or what an earlier one has left behind.
  Status pass(Moment moment, std::string_view subject, std::int64_t count = 1);
  // What needs a context makes it, as a driver's calls do.
  void make_context() { has_context_ = true; }
  bool has_context() const { return has_context_; }
  // Error: the device is of no use any more.
  Status usable() const;

  // Puts kernels behind all that was asked for before. Returns when they are launched.
  void launch(const CaseScript& row);
  void wait();  // until all is done
  void transfer(GpuMemcpy copy);
  void transfer(GpuMemset fill);

 private:
  void call(std::string name, Nanoseconds length, std::uint64_t& correlation);
  GpuInterval next_slot(Nanoseconds length);

  const Script script_;
  std::map<const FaultScript*, std::int64_t> passed_;
  std::optional<std::string> broken_;
  bool has_context_ = false;
  Memory memory_;
  Tracer tracer_;
  Counters counters_;
  Nanoseconds idle_from_{0};  // of the device
};

// CLOCK_MONOTONIC, and a wait for it.
Nanoseconds monotonic_now();
void spin_until(Nanoseconds time);

}  // namespace bench::fake_gpu
