// SPDX-License-Identifier: Apache-2.0
// Hardware counters of one execution, using CUPTI's range profiler. The execution is one range and
// is repeated until every counter had its pass (user replay). Nothing may be timed or traced at the
// same time.
#pragma once

#include "base/result.hpp"
#include "profiler/cupti/counter_api.hpp"
#include "profiler/cupti/counter_host.hpp"
#include "profiler/cupti/counter_metrics.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace bench {

struct CounterDevice {
  std::size_t index = 0;        // CUDA device index
  CUcontext context = nullptr;  // a context on the device, current on the measuring thread
};

// Only one per process at a time. Used by one thread.
class CounterSession {
 public:
  // Identifies the device, checks whether its counters may be read, and selects the metrics for the
  // logical counters. `library` must outlive the session.
  static Result<std::unique_ptr<CounterSession>, CounterError> start(
      const CounterLibrary& library, const CounterDevice& device,
      std::span<const LogicalCounter> counters);
  ~CounterSession();
  CounterSession(const CounterSession&) = delete;
  CounterSession& operator=(const CounterSession&) = delete;

  const std::string& chip() const { return chip_; }
  const CounterPlan& plan() const { return plan_; }
  // Number of calls of `execute` per measurement.
  std::size_t passes() const { return config_ ? config_->passes() : 0; }

  // Each call of `execute` must put the same work on the device and wait for its end. Every logical
  // counter gets a reading. Returns the error of `execute` unchanged, or why counters are
  // unavailable.
  Result<CounterReadings, CounterError> measure(const std::function<Status()>& execute);

 private:
  CounterSession(const CounterLibrary& library, const CounterDevice& device);
  using Step = Result<Done, CounterError>;
  Step initialise();
  Step check_device();
  Step name_chip();
  Result<CounterAvailability, CounterError> availability();
  Step choose(std::span<const LogicalCounter> counters);

  const CounterLibrary& library_;
  const CounterDevice device_;
  bool initialised_ = false;
  std::string chip_;
  CounterPlan plan_;
  std::unique_ptr<CounterConfig> config_;  // null if no logical counter is available
};

}  // namespace bench
