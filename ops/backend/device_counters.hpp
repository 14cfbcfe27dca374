// SPDX-License-Identifier: Apache-2.0
// Hardware counters of a device, as a backend exposes them. The counters pass reads them.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "profiler/gpu/logical_counter.hpp"

#include <span>

namespace bench::ops {

// Used by workers that neither time nor trace: counting serialises and repeats kernels and changes
// clocks.
class DeviceCounters {
 public:
  virtual ~DeviceCounters() = default;
  // Measures one execution. `rotation` are invocations of one kernel of the backend. The kernel
  // must have run before. The invocations are executed in turn once, then as often as the device
  // needs. Each counter that the device supports gets a reading; a reading without a value states
  // the reason. BackendError: unsupported if counters cannot be read here or access is denied; the
  // reason includes a remedy. failed if an execution failed.
  virtual Result<CounterReadings, BackendError> measure(std::span<Invocation* const> rotation) = 0;
};

}  // namespace bench::ops
