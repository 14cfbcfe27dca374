// SPDX-License-Identifier: Apache-2.0
// The profiling pass as the coordinator sees it: one case in a worker of its own, whose activities
// are handed on to the result file as they stand.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/config/plan.hpp"
#include "harness/run/protocol.hpp"
#include "harness/run/run.hpp"
#include "harness/run/worker_session.hpp"

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

// Appends the activities and then the record of the pass. A worker that fails leaves what it wrote
// until then. Absent: interrupted, nothing was appended. Error: the sink's, or no folder for
// temporary files.
Result<std::optional<ProfilePassRecord>> profile_case(const ProfileWorld& world,
                                                      const ProfileJob& job);

// The trace of a failed case: "conv-forward-....json" in the folder, which is made.
std::string failure_trace_path(const std::string& folder, const std::string& id);

}  // namespace bench
