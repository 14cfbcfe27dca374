// SPDX-License-Identifier: Apache-2.0
// Hardware counters of a device, as a backend exposes them. The counters pass reads them.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "profiler/gpu/logical_counter.hpp"

#include <span>

namespace bench::ops {

// Used only by workers that neither time nor trace, because counting serialises and repeats kernels
// and changes clocks.
class DeviceCounters {
 public:
  virtual ~DeviceCounters() = default;
  // Measures one execution. `rotation` contains invocations of one kernel of the backend, which
  // must have run before. Executes each invocation once, then as often as the device needs. Returns
  // a reading for each counter that the device supports; a reading without a value states the
  // reason. The error is `unsupported` if counters cannot be read here or access is denied; its
  // reason includes a remedy. The error is `failed` if an execution failed.
  virtual Result<CounterReadings, BackendError> measure(std::span<Invocation* const> rotation) = 0;
};

}  // namespace bench::ops
