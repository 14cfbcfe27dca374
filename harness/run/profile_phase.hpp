// SPDX-License-Identifier: Apache-2.0
// The coordinator's part of the profiling pass: one case in a separate worker, whose activities are
// forwarded to the result file unchanged. Hardware counters follow in another worker.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/config/plan.hpp"
#include "harness/run/run.hpp"
#include "harness/run/worker_session.hpp"
#include "harness/wire/messages.hpp"

#include <optional>
#include <string>

namespace bench {

// Why a case is profiled: to see how its time is spent, or what happened before it failed.
enum class ProfileReason { wanted, failed };

struct ProfileJob {
  const Case* spec;
  ops::InputLayouts input_layouts;
  ProfileReason reason = ProfileReason::wanted;
};

struct ProfileWorld {
  WorkerSession& session;
  RecordSink& sink;
  Env& env;
  const RunOptions& options;
};

// The profiling pass of a case whose record has not been appended yet.
struct OpenPass {
  const Case* spec;
  ProfileRequest request;
  ProfilePassRecord record;
};

// Returns whether the pass of a case needs a worker that records activities. It does not if only
// hardware counters were requested.
bool records_activities(const ProfileWorld& world, ProfileReason reason);
// Runs the case in the session's worker and appends its activities. If the worker fails, the
// activities that it wrote until then are kept. After an interruption it appends nothing and
// returns nullopt. Returns an error of the sink, or if there is no folder for temporary files.
Result<std::optional<OpenPass>> trace_case(const ProfileWorld& world, const ProfileJob& job);

// Returns whether the pass continues with hardware counters: they were requested, and
// the pass has not failed so far.
bool counts_next(const ProfileWorld& world, const OpenPass& pass);
// Counts in the session's worker, which is started if necessary and has neither timed nor traced.
// While a device's counters are open, no other work is done, but several cases may be counted one
// after the other. If counters are unavailable, the record states the reason. If the worker fails,
// the record fails as well, and the next case gets another worker.
void count_case(const ProfileWorld& world, OpenPass& pass);

// trace_case() that also appends the record, for passes that count nothing.
Result<std::optional<ProfilePassRecord>> profile_case(const ProfileWorld& world,
                                                      const ProfileJob& job);

// Path of a failed case's trace, "conv-forward-....json" in the folder. Creates the folder.
std::string failure_trace_path(const std::string& folder, const std::string& id);

}  // namespace bench
