// SPDX-License-Identifier: Apache-2.0
// The counters pass over one case: it reads hardware counters of one execution, from a device or
// from this machine's processor, in a worker that neither times nor traces. Counting repeats the
// execution and changes the device's clocks, so nothing else runs at the same time. The kind
// `counters` in the profiler's switches requests the pass.
#pragma once

#include "base/result.hpp"
#include "harness/wire/messages.hpp"
#include "harness/worker/profile_pass.hpp"
#include "ops/problem.hpp"
#include "profiler/gpu/logical_counter.hpp"

#include <map>
#include <string>

namespace bench {

// Runs the pass with the kernel that the measuring processes executed: with the choices in the
// request, and if it requests a check, without the engines whose result is wrong. The reply has
// only details (counter_details), no activities. If the backend has no counters, or reading them is
// not permitted, the detail "counters" is "n/a: REASON". This is not a failure.
Result<ProfiledReply, ErrorReply> run_counters_pass(const ProfilePassContext& context,
                                                    const ProfileRequest& request);

// Returns the details "counter.NAME" and "counter.NAME.source" of each reading. Also returns
// "tensor_cores" and "tensor_cores.types" if the readings show them. "check.tensor_operations" (for
// matrix multiplications), "check.dram_bytes" and "check.llc_miss_bytes" (on a processor) compare
// the readings with the model of the work.
std::map<std::string, std::string> counter_details(const CounterReadings& readings,
                                                   const ops::Work& work);

}  // namespace bench
