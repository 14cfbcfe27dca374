// SPDX-License-Identifier: Apache-2.0
// Measures the canaries (harness/worker/canary.hpp) at three moments of a run, each time in a
// separate worker.
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
  // The arguments must outlive this object.
  CanaryPhase(WorkerSession& session, RecordSink& sink, RunObserver& observer,
              const RunOptions& options);

  // Returns whether to measure the canaries at this moment. Returns false if they were already
  // measured at this moment or a later one, or under a profiler, whose report would contain them.
  // Also returns false after a failure, since workers of earlier releases do not support canaries.
  bool is_due(CanaryMoment moment) const;
  // Makes the session's worker measure the canaries, ends the worker and appends the record.
  // Nothing else may have run in this worker. If the measurement fails, reports the reason to the
  // observer. Returns an error only if the sink fails.
  Status measure(CanaryMoment moment);

 private:
  WorkerSession& session_;
  RecordSink& sink_;
  RunObserver& observer_;
  const RunOptions& options_;
  std::optional<CanaryMoment> last_;
  bool has_failed_ = false;
};

}  // namespace bench
