// SPDX-License-Identifier: Apache-2.0
// Adapts hardware counters of a plugin's device to this program's interface.
#pragma once

#include "ops/backend/device_counters.hpp"
#include "ops/plugin/bench_plugin.h"

#include <optional>
#include <span>
#include <string>

namespace bench::ops {

// Returns a backend's table, or null if it has none.
const bench_counters* counters_of(const bench_backend& backend);

// Returns what is wrong with the table ("has ..."), or nullopt.
std::optional<std::string> fault_of(const bench_counters& counters);

// The table must be valid and must outlive this object.
class PluginCounters final : public DeviceCounters {
 public:
  PluginCounters(const bench_counters& raw, void* state) : raw_(raw), state_(state) {}

  Result<CounterReadings, Refusal> measure(std::span<Invocation* const> rotation) override;

 private:
  const bench_counters& raw_;
  void* state_;
};

}  // namespace bench::ops
