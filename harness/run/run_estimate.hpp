// SPDX-License-Identifier: Apache-2.0
// How long a run takes: by its plan, and while it goes on by its own pace. Pure functions.
#pragma once

#include "harness/config/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

// What a run spends its time on.
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

// The whole plan with as many processes as it asks for, as if this machine ran every case. Not in
// it: processes that replace disturbed ones, which are as many again at most.
RunEstimate estimate_run(const Plan& plan);

// The time left of a run. It begins with the estimate; the pace of the run itself counts more and
// more.
class RunPace {
 public:
  explicit RunPace(const Plan& plan);

  // The run begins with so many processes of the case with this index in the plan. Without a call
  // a case has none.
  void expect(std::size_t index, std::int64_t processes);
  // One process of the case is done or was given up; so many are left.
  void finish(std::size_t index, std::int64_t left);
  // `elapsed`: since the first process of the run began.
  Nanoseconds remaining(Nanoseconds elapsed) const;

 private:
  struct Entry {
    Nanoseconds process{0};  // of each process, with its part of the workers
    Nanoseconds check{0};    // of the first process
    std::int64_t left = 0;
    bool is_checked = false;
  };
  static Nanoseconds left_of(const Entry& entry);

  std::vector<Entry> entries_;
  Nanoseconds whole_{0};  // as expected at the beginning
  Nanoseconds left_{0};
  Nanoseconds done_{0};
};

}  // namespace bench
