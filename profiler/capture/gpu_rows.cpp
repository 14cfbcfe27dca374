// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/gpu_rows.hpp"

#include "base/text.hpp"
#include "profiler/gpu/join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bench {
namespace {

class Rows {
 public:
  Rows(const GpuLaunches& launches, const NvtxFacts& names, const std::set<RecordGroup>& groups,
       ActivitySink& sink)
      : launches_(launches), names_(names), groups_(groups), sink_(sink) {}

  Status add(const GpuSpoolFile& file) {
    if (!file.traced()) {
      for (const std::string& fault : file.head.faults) refuse(fault);
      return Done{};
    }
    ++report_.processes;
    BENCH_ASSIGN_OR_RETURN(const LoadedGpuSpool loaded, load_gpu_spool(file, launches_));
    const GpuSession& session = loaded.session;
    GpuJoinOptions options;
    options.groups = groups_;
    options.ownership = session.executions.empty() ? GpuOwnership::unknown : GpuOwnership::expected;
    GpuJoin join = join_gpu_session(session, options);
    for (Activity& activity : join.activities) BENCH_RETURN_IF_ERROR(forward(file, activity));
    note(file, join, loaded.malformed);
    return Done{};
  }

  GpuRowsReport finish() && {
    report_.devices = summary_.devices();
    return std::move(report_);
  }

 private:
  void refuse(const std::string& reason) {
    if (std::ranges::find(report_.untraced_reasons, reason) == report_.untraced_reasons.end()) {
      report_.untraced_reasons.push_back(reason);
    }
  }

  // Allocations and counters are tracked from the beginning, but only shown inside the window.
  bool is_inside(const Activity& activity) const {
    return (activity.kind != ActivityKind::allocation && activity.kind != ActivityKind::counter) ||
           launches_.window_contains(activity.track.pid, activity.start);
  }

  Status forward(const GpuSpoolFile& file, Activity& activity) {
    if (!is_inside(activity)) return Done{};
    if (activity.kind == ActivityKind::kernel) add_facts(file, activity);
    const auto name = names_.thread_names.find({activity.track.pid, activity.track.tid});
    if (!activity.track.device && name != names_.thread_names.end()) {
      activity.attributes.set(Attribute::thread_name, name->second);
    }
    ++report_.activities;
    BENCH_RETURN_IF_ERROR(summary_.consume(activity));
    return sink_.consume(activity);
  }

  void add_facts(const GpuSpoolFile& file, Activity& kernel) const {
    if (!kernel.correlation) return;
    const auto verdict = launches_.verdict(file.session, *kernel.correlation);
    if (!verdict || verdict->holder == GpuLaunches::kUnattributed) return;
    kernel.attributes.merge(launches_.holder(verdict->holder).facts);
  }

  void note(const GpuSpoolFile& file, const GpuJoin& join, std::int64_t malformed) {
    const auto add = [&](std::string_view text) {
      report_.notes.push_back(fmt::format("GPU of process {}: {}", file.head.pid, text));
    };
    for (const std::string& reason : join.void_reasons) add(reason);
    for (const std::string& text : join.notes) add(text);
    if (malformed > 0) {
      add(pluralise(malformed, "line is malformed", "lines are malformed"));
    }
    if (!file.ended) {
      add("it was killed or called _exit: its last records may be missing");
    }
  }

  const GpuLaunches& launches_;
  const NvtxFacts& names_;
  const std::set<RecordGroup>& groups_;
  ActivitySink& sink_;
  GpuSummary summary_;
  GpuRowsReport report_;
};

}  // namespace

Result<GpuRowsReport> add_gpu_rows(const std::vector<GpuSpoolFile>& files,
                                   const GpuLaunches& launches, const NvtxFacts& names,
                                   const std::set<RecordGroup>& groups, ActivitySink& sink) {
  Rows rows(launches, names, groups, sink);
  for (const GpuSpoolFile& file : files) BENCH_RETURN_IF_ERROR(rows.add(file));
  return std::move(rows).finish();
}

}  // namespace bench
