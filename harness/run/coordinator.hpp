// SPDX-License-Identifier: Apache-2.0
// execute_plan() with workers and facts of the machine as parameters, so that tests can run it on a
// fake clock within one process.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/config/plan.hpp"
#include "harness/host/environment.hpp"
#include "harness/host/placement.hpp"
#include "harness/result/ceilings.hpp"
#include "harness/result/speed.hpp"
#include "harness/run/peak_plan.hpp"
#include "harness/run/run.hpp"
#include "harness/run/worker_link.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// The workers and facts of the machine on which a plan runs.
struct CoordinatorParts {
  WorkerFactory start_worker;
  Cores cores;                            // processors that the run may use
  std::optional<Bytes> last_level_cache;  // its size
  std::optional<Bytes> memory = {};       // available to a worker; nullopt if unknown
  EnvironmentRecord environment;          // without the libraries, which a worker reports
  SpeedLevels levels = {};                // stored levels of speed, at which times are stated
  // Returns why the device of a case is missing, or nullopt if it is available.
  std::function<std::optional<std::string>(const CaseKey& key)> device_missing;
  // Returns details about devices for the run record. Called after device_missing() was called for
  // all cases. May be an empty function.
  std::function<std::map<std::string, std::string>()> device_details = {};
  // The stored ceilings of the machine. If they have no rows, the run measures the cases in
  // `calibration` first. If both are empty, records have no roofline.
  Ceilings ceilings = {};
  std::vector<CalibrationCase> calibration = {};
  // Returns the stored ceilings of the GPU that `device_details` describes. May be an empty
  // function; cases on a GPU then have no roofline.
  std::function<Ceilings(const std::map<std::string, std::string>& details)> gpu_ceilings = {};
  // Returns the cases that measure ceilings of a device ("cpu", "cuda") again if a time makes them
  // doubtful. May be an empty function; no ceiling is then measured again.
  std::function<std::vector<CalibrationCase>(const std::string& device)> ceiling_cases = {};
};

// Returns why a run skips the case: it needs more threads than there are processors, or more memory
// than is available. Returns nullopt otherwise. `memory`: nullopt if unknown. The worker checks the
// memory once more, because other programs may use it in the meantime.
std::optional<std::string> machine_skip_reason(const Case& spec, const Cores& cores,
                                               std::optional<Bytes> memory);

// Returns why the run skips the case without asking a worker: its device is missing, or the machine
// has too few processors or too little memory. Returns nullopt otherwise.
std::optional<std::string> skip_reason(const Case& spec, const CoordinatorParts& parts);

// Executes the plan like execute_plan().
Result<RunSummary> execute_plan_with(const Plan& plan, const RunOptions& options,
                                     const CoordinatorParts& parts, RecordSink& sink,
                                     RunObserver& observer, Env& env);

}  // namespace bench
