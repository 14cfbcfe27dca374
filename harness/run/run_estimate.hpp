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
  Nanoseconds timed{0};        // each process uses its whole share of max_time
  Nanoseconds warmup{0};       // until the times are steady
  Nanoseconds preparation{0};  // creation, data and checks
  Nanoseconds workers{0};      // starting and ending worker processes, canaries included

  Nanoseconds total() const { return timed + warmup + preparation + workers; }
  friend bool operator==(const RunEstimate&, const RunEstimate&) = default;
};

// One process of a case, without its check and without starting the worker.
RunEstimate estimate_process(const Case& spec);

// The check of a case against the reference, which only its first process makes.
Nanoseconds estimate_check(const Case& spec);

// The whole plan with as many processes as it requests, as if this machine ran every case. It
// excludes the processes that replace disturbed ones, which at most double the number.
RunEstimate estimate_run(const Plan& plan);

// The remaining time of a run. It starts with the estimate; the run's own pace gradually gets more
// weight.
class RunPace {
 public:
  explicit RunPace(const Plan& plan);

  // The run starts with this number of processes for the case with this index in the plan. Without
  // a call, a case has none.
  void expect(std::size_t index, std::int64_t processes);
  // One process of the case was finished or given up; `left` processes remain.
  void finish(std::size_t index, std::int64_t left);
  // `elapsed`: since the first process of the run began.
  Nanoseconds remaining(Nanoseconds elapsed) const;

 private:
  struct Entry {
    Nanoseconds process{0};  // per process, with its part of the workers
    Nanoseconds check{0};    // only in the first process
    std::int64_t left = 0;
    bool is_checked = false;
  };
  static Nanoseconds remaining_time(const Entry& entry);

  std::vector<Entry> entries_;
  Nanoseconds whole_{0};  // as estimated at the beginning
  Nanoseconds left_{0};
  Nanoseconds done_{0};
};

}  // namespace bench
