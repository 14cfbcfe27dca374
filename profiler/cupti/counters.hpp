// SPDX-License-Identifier: Apache-2.0
// Hardware counters of one execution, by CUPTI's range profiler: the execution is one range and is
// repeated until every counter had its pass (user replay). Nothing is timed or traced meanwhile.
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
  std::size_t index = 0;        // as CUDA counts them
  CUcontext context = nullptr;  // on it; current on the thread that measures
};

// One a process at a time. Used by one thread.
class CounterSession {
 public:
  // Finds out what the device is, whether its counters may be read, and which metrics answer the
  // questions. `library` outlives the session.
  static Result<std::unique_ptr<CounterSession>, CounterRefusal> start(
      const CounterLibrary& library, const CounterDevice& device,
      std::span<const CounterQuestion> questions);
  ~CounterSession();
  CounterSession(const CounterSession&) = delete;
  CounterSession& operator=(const CounterSession&) = delete;

  const std::string& chip() const { return chip_; }
  const CounterPlan& plan() const { return plan_; }
  // How often `execute` is called for one measurement.
  std::size_t passes() const { return config_ ? config_->passes() : 0; }

  // `execute` puts the same work on the device at each call and waits for its end. Every question
  // has a reading. Error: of `execute` as it is, or why there are no counters.
  Result<CounterReadings, CounterRefusal> measure(const std::function<Status()>& execute);

 private:
  CounterSession(const CounterLibrary& library, const CounterDevice& device);
  using Step = Result<Done, CounterRefusal>;
  Step initialise();
  Step check_device();
  Step name_chip();
  Result<CounterAvailability, CounterRefusal> availability();
  Step choose(std::span<const CounterQuestion> questions);

  const CounterLibrary& library_;
  const CounterDevice device_;
  bool initialised_ = false;
  std::string chip_;
  CounterPlan plan_;
  std::unique_ptr<CounterConfig> config_;  // null: no question can be answered
};

}  // namespace bench
