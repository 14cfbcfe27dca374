// SPDX-License-Identifier: Apache-2.0
// The profiling pass as the coordinator sees it: one case in a worker of its own, whose activities
// are handed on to the result file as they stand; then a device's counters, in another worker.
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

// Why a case is profiled: to see where its time goes, or what happened before it failed.
enum class ProfileReason { wanted, failed };

struct ProfileJob {
  const Case* spec;
  ops::MetLayouts met;
  ProfileReason reason = ProfileReason::wanted;
};

struct ProfileWorld {
  WorkerSession& session;
  RecordSink& sink;
  Env& env;
  const RunOptions& options;
};

// The profiling pass of a case whose record is not yet appended.
struct OpenPass {
  const Case* spec;
  ProfileRequest request;
  ProfilePassRecord record;
};

// Whether the pass of a case needs a worker that records activities. It does not if a device's
// counters alone are asked for.
bool records_activities(const ProfileWorld& world, ProfileReason reason);
// Runs the case in the session's worker and appends its activities. A worker that fails leaves what
// it wrote until then. Returns nullopt after an interruption, when nothing was appended. Error: the
// sink's, or no folder for temporary files.
Result<std::optional<OpenPass>> trace_case(const ProfileWorld& world, const ProfileJob& job);

// Whether the pass goes on with a device's hardware counters: they are asked for, and it has not
// failed so far.
bool counts_next(const ProfileWorld& world, const OpenPass& pass);
// Counts in the session's worker, which is started if there is none and which has neither timed nor
// traced. Where a device's counters are open, nothing else is done, but several cases may be
// counted one after the other. The record says why counters are unavailable, and fails if the
// worker does: the next case then gets another worker.
void count_case(const ProfileWorld& world, OpenPass& pass);

// trace_case() with the record appended, for what counts nothing.
Result<std::optional<ProfilePassRecord>> profile_case(const ProfileWorld& world,
                                                      const ProfileJob& job);

// The trace of a failed case: "conv-forward-....json" in the folder, which is made.
std::string failure_trace_path(const std::string& folder, const std::string& id);

}  // namespace bench
