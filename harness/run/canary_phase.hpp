// SPDX-License-Identifier: Apache-2.0
// Measures the canaries (harness/worker/canary.hpp) at three moments of a run, each time in a
// worker of its own.
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

  // Returns whether the canaries are to be measured at this moment: once per moment, not under a
  // vendor's tool (they would appear in its report), and not after a failure (a worker of an
  // earlier release does not support them).
  bool is_due(CanaryMoment moment) const;
  // Makes the session's worker measure the canaries, ends the worker and appends the record.
  // Nothing else may have run in this worker. If the canaries fail, reports the reason to the
  // observer and returns no error. Returns an error only if the sink does.
  Status measure(CanaryMoment moment);

 private:
  WorkerSession& session_;
  RecordSink& sink_;
  RunObserver& observer_;
  const RunOptions& options_;
  std::optional<CanaryMoment> last_;
  bool failed_ = false;
};

}  // namespace bench
