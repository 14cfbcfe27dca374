// SPDX-License-Identifier: Apache-2.0
#include "harness/run/canary_phase.hpp"

#include "harness/wire/messages.hpp"

#include <chrono>

namespace bench {
namespace {

// Time limit: a hundred times the usual duration, so that a machine that swaps still succeeds.
constexpr Nanoseconds kCanaryLimit = std::chrono::seconds(10);

}  // namespace

CanaryPhase::CanaryPhase(WorkerSession& session, RecordSink& sink, RunObserver& observer,
                         const RunOptions& options)
    : session_(session), sink_(sink), observer_(observer), options_(options) {}

bool CanaryPhase::is_due(CanaryMoment moment) const {
  return !options_.under && !has_failed_ && (!last_ || *last_ < moment);
}

Status CanaryPhase::measure(CanaryMoment moment) {
  last_ = moment;
  const auto reply = session_.ask<CanariesReply>(CanaryRequest{}, kCanaryLimit);
  session_.finish();
  if (reply) return sink_.append(CanaryRecord{options_.run_id, moment, reply->time});
  if (reply.error().cause == RequestFailure::Cause::interruption) return Done{};
  has_failed_ = true;
  observer_.message("no canaries: " + reply.error().reason);
  return Done{};
}

}  // namespace bench
