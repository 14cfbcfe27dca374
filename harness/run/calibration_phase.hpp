// SPDX-License-Identifier: Apache-2.0
// Measures ceilings of the machine within a run: before the first case if none are stored, and
// again if they may have been measured while the machine was disturbed.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/result/ceilings.hpp"
#include "harness/run/peak_plan.hpp"
#include "harness/run/worker_session.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace bench {

// Time after which a calibration starts no further case.
inline constexpr Nanoseconds kCalibrationLimit = std::chrono::seconds(2);

struct CalibrationTask {
  const std::vector<CalibrationCase>& cases;
  Ceilings machine;  // source, threads, caches, and the rows to which the measured ones are added
  // Starts a worker with this number of threads if none is running. Returns false if the run ends.
  std::function<Result<bool>(std::optional<int> threads)> ensure_worker;
  Nanoseconds limit = kCalibrationLimit;  // time after which no further case starts
};

// Measures the ceilings and adds them behind the rows of the task. Skips cases that the worker
// refuses or that make it fail. Returns an error only if no worker starts. Finishes the session
// unless it returns an error.
Result<Ceilings> calibrate(const CalibrationTask& task, WorkerSession& session, Clock& clock);

}  // namespace bench
