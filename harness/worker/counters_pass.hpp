// SPDX-License-Identifier: Apache-2.0
// The counters pass over one case: a device's hardware counters of one execution, in a worker that
// neither times nor traces. Counting repeats the execution and changes the device's clocks, so that
// nothing else is done meanwhile. Asked for by the kind `counters` of the profiler's switches.
#pragma once

#include "base/result.hpp"
#include "harness/wire/messages.hpp"
#include "harness/worker/profile_pass.hpp"
#include "ops/problem.hpp"
#include "profiler/gpu/counter_question.hpp"

#include <map>
#include <string>

namespace bench {

// Its reply has details alone (counter_details), no activities. Where the backend has no counters,
// or they may not be read here, "counters" is "n/a: REASON": nothing failed.
Result<ProfiledReply, RefusedReply> run_counters_pass(const ProfilePassWorld& world,
                                                      const ProfileRequest& request);

// "counter.NAME" and "counter.NAME.source" of each reading; "tensor_cores" and
// "tensor_cores.types", where they tell; "check.tensor_operations" of what multiplies matrices and
// "check.dram_bytes": the readings against the model of the work.
std::map<std::string, std::string> counter_details(const CounterReadings& readings,
                                                   const ops::Work& work);

}  // namespace bench
