// SPDX-License-Identifier: Apache-2.0
// execute_plan without the machine: workers and facts come in, so that tests run it on a fake
// clock within one process.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/config/plan.hpp"
#include "harness/host/environment.hpp"
#include "harness/host/placement.hpp"
#include "harness/result/quiet.hpp"
#include "harness/run/run.hpp"
#include "harness/run/worker_link.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace bench {

struct CoordinatorParts {
  WorkerFactory start_worker;
  Cores cores;  // that may be used
  std::optional<Bytes> last_level_cache;
  EnvironmentRecord environment;  // without the libraries, which a worker tells
  QuietLevels levels = {};        // that are known beforehand
  // Why such a case finds no device, or nothing.
  std::function<std::optional<std::string>(const CaseKey& key)> device_missing;
  // What is known of devices once all cases were looked at so; for the run record. May be empty.
  std::function<std::map<std::string, std::string>()> device_details = {};
};

Result<RunSummary> execute_plan_with(const Plan& plan, const RunOptions& options,
                                     const CoordinatorParts& parts, RecordSink& sink,
                                     RunObserver& observer, Env& env);

}  // namespace bench
