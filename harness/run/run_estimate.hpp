// SPDX-License-Identifier: Apache-2.0
// Estimates the duration of a run from its plan and, during the run, from its pace. Pure functions.
#pragma once

#include "harness/config/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bench {

// The parts of a run's usual time.
struct RunEstimate {
  Nanoseconds timed{0};        // until the precision is reached or max_time is used up
  Nanoseconds warmup{0};       // until the times are steady
  Nanoseconds preparation{0};  // creation, data, checks and the canaries between samples
  Nanoseconds workers{0};      // starting and ending worker processes
  Nanoseconds ceilings{0};     // calibration of the ceilings before the first case

  Nanoseconds total() const { return timed + warmup + preparation + workers + ceilings; }
  friend bool operator==(const RunEstimate&, const RunEstimate&) = default;
};

// Estimates one process of a case, without its check and without starting the worker. `iteration`:
// the time of one iteration; nullopt: it follows from the work.
RunEstimate estimate_process(const Case& spec, std::optional<Nanoseconds> iteration = {});

// Estimates the check of a case against the reference, which only the first process performs.
Nanoseconds estimate_check(const Case& spec);

// Estimates a run of the plan, as if this machine could run every case. Excludes the calibration of
// the ceilings, which depends on the store.
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
  void add_to_sums(const Entry& entry, int sign);
  Nanoseconds expected_time() const;

  std::vector<Entry> entries_;
  // Estimated times of the run: total at the beginning, and of the ended processes.
  Nanoseconds total_{0};
  Nanoseconds done_{0};
  Nanoseconds remaining_{0};  // time of the remaining processes
  Nanoseconds checks_{0};     // time of the checks to come
};

}  // namespace bench
