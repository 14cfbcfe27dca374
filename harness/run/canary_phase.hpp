// SPDX-License-Identifier: Apache-2.0
// The canaries as the coordinator sees them: three moments of a run, each with a worker of its own.
#pragma once

#include "base/result.hpp"
#include "harness/result/record.hpp"
#include "harness/run/run.hpp"
#include "harness/run/worker_session.hpp"

#include <optional>
#include <string>

namespace bench {

class CanaryPhase {
 public:
  // References must outlive it.
  CanaryPhase(WorkerSession& session, RecordSink& sink, RunObserver& observer,
              const RunOptions& options);

  // Each moment once. None below a vendor's tool, whose report they would join, and none after they
  // failed: a worker of an earlier release does not know them.
  bool wanted(CanaryMoment moment) const;
  // Asks the session's worker, in which nothing else may have run, ends it and appends the record.
  // A failure costs the canaries alone: the observer is told why. Error: the sink's.
  Status take(CanaryMoment moment);

 private:
  WorkerSession& session_;
  RecordSink& sink_;
  RunObserver& observer_;
  const RunOptions& options_;
  std::optional<CanaryMoment> last_;
  bool failed_ = false;
};

}  // namespace bench
