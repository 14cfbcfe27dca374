// SPDX-License-Identifier: Apache-2.0
#include "harness/gate/kit_run.hpp"

#include "harness/run/case_progress.hpp"
#include "harness/run/profile_phase.hpp"
#include "harness/run/worker_session.hpp"
#include "profiler/activity_json.hpp"
#include "profiler/analysis/announcements.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace bench {
namespace {

// Medians of few iterations scatter; a timeline of many iterations is hard to read.
constexpr Nanoseconds kKitTime = std::chrono::milliseconds(300);
constexpr std::int64_t kMinKitIterations = 5;
constexpr std::int64_t kMaxKitIterations = 25;

IterationWindow kit_window(const std::optional<Nanoseconds>& iteration) {
  const Nanoseconds time = std::max(iteration.value_or(kKitTime), Nanoseconds(1));
  IterationWindow window;
  window.last = window.first - 1 +
                std::clamp<std::int64_t>(kKitTime / time, kMinKitIterations, kMaxKitIterations);
  return window;
}

class Activities final : public ActivitySink {
 public:
  Status take(const Activity& activity) override {
    all.push_back(activity);
    return Done{};
  }
  std::vector<Activity> all;
};

// Collects activities. A failing case announces each activity, and writes it again once it ends.
class KitSink final : public RecordSink {
 public:
  Status append(const Record& record) override {
    if (const auto* found = std::get_if<ProfilePassRecord>(&record)) pass = *found;
    return Done{};
  }
  Status append_activity(std::string_view line) override {
    if (parser_.parse(line).kind != LineKind::activity) return Done{};
    return paired_.take(parser_.activity());
  }
  Result<std::vector<Activity>> finish() {
    BENCH_RETURN_IF_ERROR(paired_.finish());
    return std::move(kept_.all);
  }
  std::optional<ProfilePassRecord> pass;

 private:
  ActivityLineParser parser_;
  Activities kept_;
  Announcements paired_{kept_};
};

}  // namespace

Result<KitSide> profile_side(const WorkerFactory& start, const HelloRequest& hello,
                             const std::function<bool()>& interrupted, const KitRequest& request,
                             Env& env) {
  WorkerSession session(start, hello, interrupted, *env.clock);
  BENCH_RETURN_IF_ERROR(session.ensure(request.spec->key.threads));
  RunOptions options;
  options.seed = request.seed;
  options.run_id = "kit";
  options.interrupted = interrupted;
  options.profile.emplace().iterations = kit_window(request.iteration);
  KitSink sink;
  const ProfileReason reason =
      is_failure(request.outcome) ? ProfileReason::failed : ProfileReason::wanted;
  const auto pass =
      profile_case({session, sink, env, options}, {request.spec, request.met, reason});
  session.finish();
  if (!pass) return pass.error();
  BENCH_ASSIGN_OR_RETURN(const std::vector<Activity> activities, sink.finish());
  KitSide side = kit_side(request.label, request.pid, activities);
  if (sink.pass) {
    side.facts = sink.pass->details;
    if (sink.pass->reason) side.end = *sink.pass->reason;
  }
  return side;
}

}  // namespace bench
