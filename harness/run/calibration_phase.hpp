// SPDX-License-Identifier: Apache-2.0
// Measures the ceilings of a run for which none are stored, before its first case.
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

// A calibration starts no further case after this time.
inline constexpr Nanoseconds kCalibrationLimit = std::chrono::seconds(2);

struct CalibrationTask {
  const std::vector<CalibrationCase>& cases;
  Ceilings machine;  // source, threads and caches; its rows are filled in
  // Starts or keeps a worker for a number of threads. Returns false if the run ends.
  std::function<Result<bool>(std::optional<int> threads)> ensure_worker;
};

// Cases that the worker refuses are left out; after a case that fails, the rest of its number of
// threads is. Returns an error only if no worker starts. The session is finished afterwards.
Result<Ceilings> calibrate(const CalibrationTask& task, WorkerSession& session, Clock& clock);

}  // namespace bench
