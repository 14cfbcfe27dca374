// SPDX-License-Identifier: Apache-2.0
// execute_plan independent of the machine: workers and facts are parameters, so that tests run it
// on a fake clock within one process.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/config/plan.hpp"
#include "harness/host/environment.hpp"
#include "harness/host/placement.hpp"
#include "harness/result/ceilings.hpp"
#include "harness/result/quiet.hpp"
#include "harness/run/peak_plan.hpp"
#include "harness/run/run.hpp"
#include "harness/run/worker_link.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

struct CoordinatorParts {
  WorkerFactory start_worker;
  Cores cores;  // that the run may use
  std::optional<Bytes> last_level_cache;
  EnvironmentRecord environment;  // without the libraries, which a worker reports
  QuietLevels levels = {};        // known before the run
  // Returns why there is no device for such a case, or nullopt if there is one.
  std::function<std::optional<std::string>(const CaseKey& key)> device_missing;
  // Returns what is known about devices after all cases were checked, for the run record. May be
  // empty.
  std::function<std::map<std::string, std::string>()> device_details = {};
  // The stored ceilings of the machine. Without rows, `calibration` measures them before the first
  // case; if that is empty too, records have no roofline.
  Ceilings ceilings = {};
  std::vector<CalibrationCase> calibration = {};
  // Returns the stored ceilings of the GPU that `device_details` describes. May be empty: then
  // cases on a GPU have no roofline.
  std::function<Ceilings(const std::map<std::string, std::string>& details)> gpu_ceilings = {};
};

Result<RunSummary> execute_plan_with(const Plan& plan, const RunOptions& options,
                                     const CoordinatorParts& parts, RecordSink& sink,
                                     RunObserver& observer, Env& env);

}  // namespace bench
