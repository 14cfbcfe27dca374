// SPDX-License-Identifier: Apache-2.0
// Estimates the duration of a run from its plan and, during the run, from its pace. Pure functions.
#pragma once

#include "harness/config/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

// The parts of a run's time.
struct RunEstimate {
  Nanoseconds timed{0};        // if each process uses all of its part of max_time
  Nanoseconds warmup{0};       // until the times are steady
  Nanoseconds preparation{0};  // creation, data and checks
  Nanoseconds workers{0};      // starting and ending worker processes, canaries included

  Nanoseconds total() const { return timed + warmup + preparation + workers; }
  friend bool operator==(const RunEstimate&, const RunEstimate&) = default;
};

// Estimates one process of a case, without its check and without starting the worker.
RunEstimate estimate_process(const Case& spec);

// Estimates the check of a case against the reference, which only the first process performs.
Nanoseconds estimate_check(const Case& spec);

// Estimates a run of the plan with the requested number of processes, as if this machine could run
// every case. Excludes the processes that replace disturbed ones, which at most double the number.
RunEstimate estimate_run(const Plan& plan);

// Estimates the remaining time of a run. Starts with the estimate from the plan. The pace of the
// run gradually gets more weight.
class RunPace {
 public:
  explicit RunPace(const Plan& plan);

  // Sets the number of processes that the run will measure of a case; without a call it is 0.
  // `index`: index of the case in the plan.
  void expect(std::size_t index, std::int64_t processes);
  // Reports that one process of the case ended. `remaining`: number of its remaining processes.
  void finish(std::size_t index, std::int64_t remaining);
  // Returns the estimated remaining time. `elapsed`: time since the first process of the run began.
  Nanoseconds remaining(Nanoseconds elapsed) const;

 private:
  struct Entry {
    Nanoseconds process{0};      // time per process, with its part of starting the workers
    Nanoseconds check{0};        // additional time of the first process
    std::int64_t remaining = 0;  // number of processes
    bool is_checked = false;
  };
  static Nanoseconds remaining_time(const Entry& entry);

  std::vector<Entry> entries_;
  // Estimated times of the run: total at the beginning, of the remaining and of the ended
  // processes.
  Nanoseconds total_{0};
  Nanoseconds remaining_{0};
  Nanoseconds done_{0};
};

}  // namespace bench
