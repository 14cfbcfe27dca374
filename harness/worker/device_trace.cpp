// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/device_trace.hpp"

#include "harness/wire/messages.hpp"
#include "profiler/gpu/device_summary.hpp"
#include "profiler/gpu/gpu_record_lines.hpp"
#include "profiler/kernel_names/kernel_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace bench {
namespace {

struct GroupBit {
  RecordGroup group;
  std::uint32_t bit;
};
constexpr std::array<GroupBit, 3> kGroups = {{{RecordGroup::api, ops::kTraceApi},
                                              {RecordGroup::memory, ops::kTraceMemory},
                                              {RecordGroup::device, ops::kTraceDevice}}};

std::uint32_t to_trace_groups(const ProfileSwitches& switches) {
  std::uint32_t groups = 0;
  for (const GroupBit& row : kGroups) {
    if (switches.records(row.group)) groups |= row.bit;
  }
  return groups;
}

// Returns a note that lists the iterations whose time includes loading or compiling code; empty if
// there are none.
std::string format_cold_iterations(const GpuJoin& join, const OperatorExecutions& executions) {
  std::set<std::int64_t> iterations;
  for (const std::uint64_t id : join.cold) {
    const auto owner = executions.find(id);
    if (owner != executions.end() && owner->second.iteration) {
      iterations.insert(*owner->second.iteration);
    }
  }
  if (iterations.empty()) return "";
  return fmt::format("code was loaded or compiled in iteration {}: cold, not its steady state",
                     fmt::join(iterations, ", "));
}

void add_summary(const GpuDeviceSummary& summary, const std::string& prefix,
                 std::map<std::string, std::string>& details) {
  const auto set = [&](const char* name, std::int64_t value) {
    details[prefix + name] = std::to_string(value);
  };
  set("kernels", summary.kernels);
  set("kernel_sum_ns", summary.kernel_sum.count());
  set("kernel_union_ns", summary.kernel_union.count());
  set("window_ns", summary.window.count());
  set("gaps", summary.gaps);
  set("gap_total_ns", summary.gap_total.count());
  if (summary.gap_max) set("gap_max_ns", summary.gap_max->count());
  if (summary.busy_share) {
    details[prefix + "busy_share"] = fmt::format("{:.4f}", *summary.busy_share);
  }
  const auto set_transfers = [&](const std::string& name, const GpuTransfers& transfers) {
    if (transfers.count == 0) return;
    const auto set_field = [&](const char* field, std::int64_t value) {
      details[prefix + name + field] = std::to_string(value);
    };
    set_field("_count", transfers.count);
    set_field("_bytes", transfers.bytes);
    set_field("_total_ns", transfers.total.count());
    if (transfers.mean) set_field("_mean_ns", transfers.mean->count());
    if (transfers.queue_time) set_field("_wait_ns", transfers.queue_time->count());
  };
  set_transfers("copy", summary.copies);
  set_transfers("fill", summary.memsets);
}

constexpr std::string_view describe_source(GpuMemorySource source) {
  switch (source) {
    case GpuMemorySource::process:
      return "the driver's count of this process";
    case GpuMemorySource::growth:
      return "growth of the device's used memory, by any process: the driver does not list this "
             "process";
  }
  return "";
}

void add_memory(const GpuMemoryUse& use, const std::optional<GpuMemorySource>& source,
                const std::string& prefix, std::map<std::string, std::string>& details) {
  const auto set = [&](const std::string& name, Bytes size) {
    details[prefix + "memory." + name] = std::to_string(size.count);
  };
  if (use.peak.count > 0) set("peak_bytes", use.peak);
  for (const auto& [role, size] : use.by_role) {
    std::string name = role;
    std::ranges::replace(name, ' ', '_');
    set(fmt::format("peak.{}_bytes", name), size);
  }
  if (!use.max_unexplained || !source) return;
  set("other_bytes", *use.max_unexplained);
  details[prefix + "memory.other_source"] = describe_source(*source);
}

// Adds the details of all devices: "gpu." for the first one, "gpu1." for the second.
void add_devices(const GpuJoin& join, std::map<std::string, std::string>& details) {
  GpuSummary summary;
  GpuMemorySummary memory;
  for (const Activity& activity : join.activities) {
    static_cast<void>(summary.consume(activity));
    static_cast<void>(memory.consume(activity));
  }
  const auto devices = summary.devices();
  const auto uses = memory.devices();
  std::map<std::int64_t, std::string> prefixes;
  for (const auto& device : devices) prefixes[device.device];  // only adds the key
  for (const auto& use : uses) prefixes[use.device];
  std::size_t number = 0;
  for (auto& [device, prefix] : prefixes) {
    prefix = number == 0 ? "gpu." : fmt::format("gpu{}.", number);
    ++number;
  }
  for (const auto& device : devices) add_summary(device, prefixes[device.device], details);
  for (const auto& use : uses) {
    const auto source = join.memory_sources.find(use.device);
    add_memory(use,
               source == join.memory_sources.end() ? std::nullopt : std::optional(source->second),
               prefixes[use.device], details);
  }
}

}  // namespace

DeviceTrace::DeviceTrace(ops::Backend& backend, const ProfileSwitches& switches)
    : switches_(switches) {
  ops::DeviceTracer* tracer = backend.tracer();
  const std::uint32_t groups = to_trace_groups(switches);
  if (tracer == nullptr || groups == 0) return;
  if (const Status begun = tracer->begin(groups); !begun) {
    obstacle_ = "the device is not traced: " + begun.error().message();
  } else {
    tracer_ = tracer;
  }
}

// Ends a trace whose pass failed: its records are lost, but recording stops.
DeviceTrace::~DeviceTrace() {
  if (tracer_ == nullptr) return;
  end_region();
  static_cast<void>(tracer_->finish());
}

Status DeviceTrace::open_window() {
  return tracer_ == nullptr ? Status(Done{}) : tracer_->open_window();
}

std::uint64_t DeviceTrace::begin_region() noexcept {
  if (tracer_ == nullptr) return 0;
  end_region();
  tracer_->region_begins(++regions_);
  is_region_open_ = true;
  return regions_;
}

void DeviceTrace::end_region() noexcept {
  if (tracer_ == nullptr || !is_region_open_) return;
  tracer_->region_ends();
  is_region_open_ = false;
}

Result<GpuJoin> DeviceTrace::finish(const TagFinder& find_tag) {
  end_region();
  auto text = std::exchange(tracer_, nullptr)->finish();
  if (!text) return std::move(text).error();
  BENCH_ASSIGN_OR_RETURN(GpuSession session, read_gpu_session(*text, "the trace of the device"));
  tracer_name_ = session.tracer;
  session.executions = executions_;
  GpuJoinOptions options;
  options.groups = switches_.groups;
  options.find_tag = find_tag;
  // The tracer reads both clocks when it ends.
  if (session.clock.monotonic.count() > 0) options.now = session.clock.monotonic;
  return join_gpu_session(session, options);
}

std::map<std::string, std::string> trace_details(const GpuJoin& join, const DeviceTrace& trace) {
  std::map<std::string, std::string> details;
  details["gpu.tracer"] = trace.tracer_name();
  add_devices(join, details);
  if (const auto use = tensor_cores_by_name(join.activities)) details["tensor_cores"] = *use;
  std::vector<std::string> notes = join.notes;
  if (std::string cold = format_cold_iterations(join, trace.executions()); !cold.empty()) {
    notes.push_back(std::move(cold));
  }
  if (!notes.empty()) details[kTraceNoteDetail] = fmt::format("{}", fmt::join(notes, "; "));
  if (!join.void_reasons.empty()) {
    details[kTraceVoidDetail] = fmt::format("{}", fmt::join(join.void_reasons, "; "));
  }
  return details;
}

}  // namespace bench
