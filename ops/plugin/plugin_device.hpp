// SPDX-License-Identifier: Apache-2.0
// Adapts memory and tracer of a plugin's device to this program's interface.
#pragma once

#include "base/result.hpp"
#include "ops/backend/device.hpp"
#include "ops/plugin/bench_plugin.h"

#include <cstdint>
#include <optional>
#include <string>

namespace bench::ops {

// Returns what is wrong with a plugin's table ("has ..."), or nullopt.
std::optional<std::string> fault_of(const bench_memory& memory);
std::optional<std::string> fault_of(const bench_tracer& tracer);

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

}  // namespace bench::ops
