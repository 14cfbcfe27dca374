// SPDX-License-Identifier: Apache-2.0
// The coordinator's part of the canaries: three moments of a run, each with its own worker.
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

  // Returns whether to take the canaries now; each moment is taken once. They are not taken under a
  // vendor's tool, because they would appear in its report. They are also not taken after they
  // failed: a worker of an earlier release does not know them.
  bool wanted(CanaryMoment moment) const;
  // Asks the session's worker, in which nothing else may have run, ends it and appends the record.
  // If the canaries fail, only they are lost, and the observer gets the reason. Returns an error
  // only from the sink.
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
