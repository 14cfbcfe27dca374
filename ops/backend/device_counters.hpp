// SPDX-License-Identifier: Apache-2.0
// Hardware counters of a device, as a backend shows them: what the counters pass asks.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "profiler/gpu/counter_question.hpp"

#include <span>

namespace bench::ops {

// For workers that neither time nor trace: counting serialises, repeats and changes clocks.
class DeviceCounters {
 public:
  virtual ~DeviceCounters() = default;
  // Of one execution. `rotation` are invocations of one kernel of the backend, which has run; they
  // are executed in turn as often as the device needs, and once before that. Every question that
  // the device knows has a reading; one without a value says why. Refusal: unsupported where
  // counters may not or cannot be read here, with what helps; failed: an execution failed.
  virtual Result<CounterReadings, Refusal> measure(std::span<Invocation* const> rotation) = 0;
};

}  // namespace bench::ops
