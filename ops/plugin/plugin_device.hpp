// SPDX-License-Identifier: Apache-2.0
// Adapts a plugin's device to this program's interface: its memory, tracer, counters and samples.
#pragma once

#include "base/result.hpp"
#include "ops/backend/device.hpp"
#include "ops/backend/device_counters.hpp"
#include "ops/plugin/bench_plugin.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace bench::ops {

// Returns what is wrong with a plugin's table ("has ..."), or nullopt.
std::optional<std::string> find_fault(const bench_memory& memory);
std::optional<std::string> find_fault(const bench_tracer& tracer);
std::optional<std::string> find_fault(const bench_counters& counters);

// Returns a backend's table of counters, or null if it has none.
const bench_counters* find_counters(const bench_backend& backend);

// The tables must be valid and must outlive these objects.
class PluginMemory final : public DeviceMemory {
 public:
  PluginMemory(const bench_memory& raw, void* state) : raw_(raw), state_(state) {}

  Result<void*> allocate(Bytes size) override;
  void release(void* address) noexcept override { raw_.release(state_, address); }
  Status copy_in(void* device, const void* host, Bytes size) override;
  Status copy_out(void* host, const void* device, Bytes size) override;
  Status fill(void* device, std::uint8_t value, Bytes size) override;
  std::optional<Bytes> cache() override;
  std::optional<Bytes> available() override;

 private:
  const bench_memory& raw_;
  void* state_;
};

class PluginTracer final : public DeviceTracer {
 public:
  PluginTracer(const bench_tracer& raw, void* state) : raw_(raw), state_(state) {}

  Status begin(std::uint32_t groups) override;
  Status open_window() override;
  void region_begins(std::uint64_t id) noexcept override { raw_.region_begin(state_, id); }
  void region_ends() noexcept override { raw_.region_end(state_); }
  Result<std::string> finish() override;

 private:
  const bench_tracer& raw_;
  void* state_;
};

class PluginCounters final : public DeviceCounters {
 public:
  PluginCounters(const bench_counters& raw, void* state) : raw_(raw), state_(state) {}

  Result<CounterReadings, BackendError> measure(std::span<Invocation* const> rotation) override;

 private:
  const bench_counters& raw_;
  void* state_;
};

// Validates a sample that a plugin took on its device's clock. If several flags are set, the most
// severe applies: void before throttled before unsteady. A missing reason is replaced by a text
// that states this. A sample without a time is discarded. An invalid host time or clock is treated
// as unknown. Error: an impossible time.
Result<DeviceSample> read_sample(const bench_sample& sample, const SampleRequest& request,
                                 const std::string& reason);

}  // namespace bench::ops
