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
#include <string>
#include <vector>

namespace bench {

// Time limit of a calibration.
inline constexpr Nanoseconds kCalibrationLimit = std::chrono::seconds(2);

// Returns the time limit of a calibration in a run with this budget: at most a fifth of it.
Nanoseconds calibration_limit(std::optional<Nanoseconds> budget);

struct CalibrationTask {
  const std::vector<CalibrationCase>& cases;
  Ceilings machine;  // source, threads, caches, and the rows to which the measured ones are added
  // Starts a worker with these threads if none is running. Returns false if the run ends.
  std::function<Result<bool>(const WorkerThreads& threads)> ensure_worker;
  // The first case always starts; another one only if the longest one so far would end within it.
  Nanoseconds limit = kCalibrationLimit;
};

// Measures the ceilings and adds them behind the rows of the task. Skips cases that the worker
// refuses or that make it fail. Returns an error only if no worker starts. Finishes the session
// unless it returns an error.
Result<Ceilings> calibrate(const CalibrationTask& task, WorkerSession& session, Clock& clock);

// Formats the message about a calibration that took `time`.
std::string format_calibration(const Ceilings& ceilings, Nanoseconds time);

}  // namespace bench
