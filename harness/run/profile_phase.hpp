// SPDX-License-Identifier: Apache-2.0
// Runs the profiling pass of a case in a separate worker, and forwards the worker's activities
// unchanged to the result file. Another worker reads hardware counters afterwards.
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

// Why a case is profiled: because the user requested its profile, or to show what happened before
// it failed.
enum class ProfileReason { wanted, failed };

// A case to be profiled.
struct ProfileJob {
  const Case* spec;
  ops::InputLayouts input_layouts;  // layouts of a layer's inputs; empty for other cases
  ProfileReason reason = ProfileReason::wanted;
  std::string choices = {};  // what a worker chose for the case by measuring
  // Whether the pass checks the result, and so takes the same engine as the measured processes: if
  // these rejected one for its result, the pass must reject it too.
  CheckKind check = CheckKind::none;
};

// What the profiling passes of a run share.
struct ProfileContext {
  WorkerSession& session;
  RecordSink& sink;
  Env& env;
  const RunOptions& options;
};

// A profiling pass whose record has not been appended yet.
struct UnrecordedPass {
  const Case* spec;
  ProfileRequest request;
  ProfilePassRecord record;
};

// Returns whether the pass of a case needs a worker that records activities. Returns false if the
// user requested only hardware counters.
bool records_activities(const ProfileContext& context, ProfileReason reason);
// Runs the case in the session's worker and appends its activities. If the worker fails, also
// appends the activities that it wrote before. After an interruption, appends nothing and returns
// nullopt. Returns an error if the sink fails, or if a temporary folder or the trace cannot be
// written.
Result<std::optional<UnrecordedPass>> record_case(const ProfileContext& context,
                                                  const ProfileJob& job);

// Returns whether the pass continues with hardware counters: the user requested them, the case did
// not fail, and the pass has not failed so far.
bool needs_counters(const ProfileContext& context, const UnrecordedPass& pass);
// Reads the hardware counters of a case in the session's worker, and starts the worker if
// necessary. The worker must not have measured or traced before, but it may read the counters of
// several cases. If counters are unavailable, the record states the reason. If the worker fails,
// the outcome of the record becomes that failure, and the next case gets another worker.
void read_case_counters(const ProfileContext& context, UnrecordedPass& pass);

// Runs record_case() and appends the record, for passes without hardware counters.
Result<std::optional<ProfilePassRecord>> profile_case(const ProfileContext& context,
                                                      const ProfileJob& job);

// Returns the path of a failed case's trace, such as "FOLDER/conv-forward-....json".
std::string failure_trace_path(const std::string& folder, const std::string& id);

}  // namespace bench
