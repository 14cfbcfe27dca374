// SPDX-License-Identifier: Apache-2.0
// Hardware counters of a plugin's device as those of this program.
#pragma once

#include "ops/backend/device_counters.hpp"
#include "ops/plugin/bench_plugin.h"

#include <optional>
#include <span>
#include <string>

namespace bench::ops {

// A backend's table; null: it has none.
const bench_counters* counters_of(const bench_backend& backend);

// What is wrong with it, "has ..."; absent: nothing.
std::optional<std::string> fault_of(const bench_counters& counters);

// The table has no fault, and outlives this.
class PluginCounters final : public DeviceCounters {
 public:
  PluginCounters(const bench_counters& raw, void* state) : raw_(raw), state_(state) {}

  Result<CounterReadings, Refusal> measure(std::span<Invocation* const> rotation) override;

 private:
  const bench_counters& raw_;
  void* state_;
};

}  // namespace bench::ops
