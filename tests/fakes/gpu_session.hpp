// SPDX-License-Identifier: Apache-2.0
// Recorded sessions of an invented GPU, built call by call.
#pragma once

#include "profiler/activity.hpp"
#include "profiler/gpu/gpu_record.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::test {

// An H200 (compute capability 9.0), as it describes itself.
inline GpuDevice hopper(std::int64_t number = 0) {
  GpuDevice device;
  device.device = number;
  device.name = "NVIDIA H200";
  device.limits = {9, 0, 32, 64, 32, 1024, 65536, 65536, 233472};
  device.multiprocessors = 132;
  device.memory_bytes = std::int64_t{141} << 30;
  return device;
}

constexpr GpuInterval during(std::int64_t start, std::int64_t end) {
  return {Nanoseconds(start), Nanoseconds(end)};
}

struct GpuScript {
  explicit GpuScript(std::int64_t pid = 100) { session.pid = pid; }

  // Adds a call of the runtime on `thread` in the region of operator `id`, or in none if it is 0.
  std::uint64_t call(std::string name, GpuInterval time, std::int64_t thread, std::uint64_t id) {
    const std::uint64_t correlation = ++correlations;
    GpuApiCall call;
    call.name = std::move(name);
    call.time = time;
    call.thread = thread;
    call.correlation = correlation;
    if (id != 0) add(GpuExternalId{GpuExternalKind::operation, id, correlation});
    add(std::move(call));
    return correlation;
  }
  GpuKernel& kernel(std::string name, GpuInterval time, std::int64_t stream,
                    GpuCorrelation correlation) {
    GpuKernel kernel;
    kernel.name = std::move(name);
    kernel.time = time;
    kernel.place = {0, 1, stream};
    kernel.grid = {8, 1, 1};
    kernel.block = {128, 1, 1};
    kernel.registers = 32;
    kernel.correlation = correlation;
    return std::get<GpuKernel>(add(std::move(kernel)));
  }
  // Adds a kernel and its launch: a call of 500 ns that begins 1 us before the kernel.
  GpuKernel& launch(std::string name, GpuInterval time, std::uint64_t id, std::int64_t stream = 7,
                    std::int64_t thread = 11) {
    const Nanoseconds call_time = time.start - std::chrono::microseconds(1);
    const auto correlation =
        call("cudaLaunchKernel", {call_time, call_time + Nanoseconds(500)}, thread, id);
    return kernel(std::move(name), time, stream, correlation);
  }
  GpuMemcpy& copy(GpuCopyKind kind, std::int64_t bytes, GpuInterval time,
                  GpuCorrelation correlation) {
    GpuMemcpy copy;
    copy.kind = kind;
    copy.source = GpuMemoryKind::pinned;
    copy.destination = GpuMemoryKind::device;
    copy.bytes = bytes;
    copy.time = time;
    copy.place = {0, 1, 7};
    copy.correlation = correlation;
    return std::get<GpuMemcpy>(add(copy));
  }
  GpuAllocation& memory(GpuAllocationChange change, std::uint64_t address, std::int64_t bytes,
                        std::int64_t at) {
    GpuAllocation allocation;
    allocation.change = change;
    allocation.memory = GpuMemoryKind::device;
    allocation.address = address;
    allocation.bytes = bytes;
    allocation.at = Nanoseconds(at);
    allocation.place = {0, 1, 0};
    return std::get<GpuAllocation>(add(std::move(allocation)));
  }
  OperatorExecution& owner(std::uint64_t id, std::string scope, std::string op) {
    OperatorExecution& owner = session.executions[id];
    owner.case_id = "case";
    owner.scope = std::move(scope);
    owner.direction = "forward";
    owner.op = std::move(op);
    return owner;
  }
  GpuRecord& add(GpuRecord record) { return session.records.emplace_back(std::move(record)); }

  GpuSession session;
  std::uint64_t correlations = 0;
};

inline std::vector<Activity> of_kind(const std::vector<Activity>& activities, ActivityKind kind) {
  std::vector<Activity> found;
  for (const Activity& activity : activities) {
    if (activity.kind == kind) found.push_back(activity);
  }
  return found;
}

// Returns the points of a counter as (ns, value).
inline std::vector<std::pair<std::int64_t, double>> counter(const std::vector<Activity>& activities,
                                                            std::string_view name) {
  std::vector<std::pair<std::int64_t, double>> points;
  for (const Activity& activity : activities) {
    if (activity.kind != ActivityKind::counter || activity.name != name) continue;
    points.emplace_back(activity.start.count(),
                        activity.attributes.real(Attribute::value).value_or(-1));
  }
  return points;
}

}  // namespace bench::test
