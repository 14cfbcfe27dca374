// SPDX-License-Identifier: Apache-2.0
// The counters pass over one case: hardware counters of one execution, of a device or of this
// machine's processor, in a worker that neither times nor traces. Counting repeats the execution
// and changes the device's clocks, so nothing else runs at the same time. The kind `counters` of
// the profiler's switches requests it.
#pragma once

#include "base/result.hpp"
#include "harness/wire/messages.hpp"
#include "harness/worker/profile_pass.hpp"
#include "ops/problem.hpp"
#include "profiler/gpu/logical_counter.hpp"

#include <map>
#include <string>

namespace bench {

// The reply has only details (counter_details), no activities. If the backend has no counters, or
// they may not be read here, "counters" is "n/a: REASON"; this is not a failure.
Result<ProfiledReply, ErrorReply> run_counters_pass(const ProfilePassContext& world,
                                                    const ProfileRequest& request);

// Returns "counter.NAME" and "counter.NAME.source" of each reading; "tensor_cores" and
// "tensor_cores.types" if the readings show them. "check.tensor_operations" (for matrix
// multiplications), "check.dram_bytes" and "check.llc_miss_bytes" (on a processor) compare the
// readings with the model of the work.
std::map<std::string, std::string> counter_details(const CounterReadings& readings,
                                                   const ops::Work& work);

}  // namespace bench
