// SPDX-License-Identifier: Apache-2.0
#include "harness/run/canary_phase.hpp"

#include "harness/run/protocol.hpp"

#include <chrono>
#include <variant>

namespace bench {
namespace {

// A hundred times what they take: a machine that swaps is still answered for.
constexpr Nanoseconds kCanaryLimit = std::chrono::seconds(10);

}  // namespace

CanaryPhase::CanaryPhase(WorkerSession& session, RecordSink& sink, RunObserver& observer,
                         const RunOptions& options)
    : session_(session), sink_(sink), observer_(observer), options_(options) {}

bool CanaryPhase::wanted(CanaryMoment moment) const {
  return !options_.under && !failed_ && (!last_ || *last_ < moment);
}

Status CanaryPhase::take(CanaryMoment moment) {
  last_ = moment;
  const auto reply = session_.call(CanaryRequest{}, kCanaryLimit);
  session_.finish();
  if (!reply && reply.error().kind == WorkerFailure::Kind::interrupted) return Done{};
  if (reply) {
    if (const auto* canaries = std::get_if<CanariesReply>(&*reply)) {
      return sink_.append(CanaryRecord{options_.run_id, moment, canaries->time});
    }
  }
  failed_ = true;
  const auto* refused = reply ? std::get_if<RefusedReply>(&*reply) : nullptr;
  observer_.message("no canaries: " + (!reply               ? reply.error().reason
                                       : refused != nullptr ? refused->reason
                                                            : "the worker sent another answer"));
  return Done{};
}

}  // namespace bench
