// SPDX-License-Identifier: Apache-2.0
// Adapts a plugin's device to this program's interface: its memory and samples.
#pragma once

#include "base/result.hpp"
#include "ops/backend/device.hpp"
#include "ops/plugin/bench_plugin.h"

#include <cstdint>
#include <optional>
#include <string>

namespace bench::ops {

// Returns what is wrong with a plugin's table ("has ..."), or nullopt.
std::optional<std::string> find_fault(const bench_memory& memory);

// The table must be valid and must outlive the object.
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

// Validates a sample that a plugin took on its device's clock. If several flags are set, the most
// severe applies: void before throttled before unsteady. A missing reason is replaced by a text
// that states this. A sample without a time is discarded. An invalid host time or clock is treated
// as unknown. Error: an impossible time.
Result<DeviceSample> read_sample(const bench_sample& sample, const SampleRequest& request,
                                 const std::string& reason);

}  // namespace bench::ops
