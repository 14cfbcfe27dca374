// SPDX-License-Identifier: Apache-2.0
// The ceilings of a run: stored ones, or those that it measures itself before its first case and
// again before its last processes, and those that it measures again because a case exceeds them.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/result/ceilings.hpp"
#include "harness/run/coordinator.hpp"
#include "harness/run/peak_plan.hpp"
#include "harness/run/worker_session.hpp"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// Returns the time limit of a calibration in a run with this budget: at most a fifth of it.
Nanoseconds calibration_limit(std::optional<Nanoseconds> budget);

class RunCeilings {
 public:
  // Starts a worker with these threads if none is running. Returns false if the run ends.
  using EnsureWorker = std::function<Result<bool>(const WorkerThreads& threads)>;
  // The references must outlive this object.
  RunCeilings(const CoordinatorParts& parts, EnsureWorker ensure_worker, WorkerSession& session,
              Clock& clock)
      : parts_(parts),
        ensure_worker_(std::move(ensure_worker)),
        session_(session),
        clock_(clock),
        cpu_{parts.ceilings, parts.ceilings} {}

  void set_gpu(const Ceilings& ceilings) { gpu_ = {ceilings, ceilings}; }

  // The functions below that measure return an error only if no worker starts. They expect that
  // none runs, and leave none running. They skip cases that the worker refuses or that fail.

  // Measures the ceilings of the CPU if none are stored. Returns the message about it; empty if
  // nothing was measured.
  Result<std::string> calibrate(std::optional<Nanoseconds> budget);
  // Does it again, because one moment may be disturbed and the highest rate counts. `since`: when
  // the first case began. Takes at most a tenth of the time since then.
  enum class Judged { none, some };  // whether cases were already judged by the first values
  Status calibrate_in_another_moment(Nanoseconds since, Judged judged);

  // Returns the cases that measure the ceilings which make the time of the record look impossible.
  // Empty if it does not, or if they were repeated often enough to be believed.
  std::vector<CalibrationCase> find_doubtful(const CaseRecord& record) const;
  // Measures these again; `device` is that of the record.
  Status repeat(std::span<const CalibrationCase> cases, const std::string& device);

  void complete_roofline(CaseRecord& record) const;

 private:
  struct Known {
    Ceilings first;  // before the run measured any of them again
    Ceilings now;
  };
  const Known& of(const std::string& device) const { return device == "cuda" ? gpu_ : cpu_; }
  Status measure(std::span<const CalibrationCase> cases, Nanoseconds limit, Ceilings& ceilings);

  const CoordinatorParts& parts_;
  EnsureWorker ensure_worker_;
  WorkerSession& session_;
  Clock& clock_;
  Known cpu_, gpu_;
  std::map<std::string, int> repetitions_;  // by the id of the case
};

}  // namespace bench
