// SPDX-License-Identifier: Apache-2.0
// The trace of a device during a profile pass: from before the first kernel is created until after
// the last recorded iteration. Each step has a region, which attributes the step's GPU work to it.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "profiler/gpu/gpu_record.hpp"
#include "profiler/gpu/join.hpp"
#include "profiler/switches.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

class DeviceTrace {
 public:
  // Begins at once if the backend's device can be traced and the switches request any of its data.
  DeviceTrace(ops::Backend& backend, const ProfileSwitches& switches);
  ~DeviceTrace();
  DeviceTrace(const DeviceTrace&) = delete;
  DeviceTrace& operator=(const DeviceTrace&) = delete;

  bool records() const { return tracer_ != nullptr; }
  bool records_memory() const { return records() && switches_.records(RecordGroup::memory); }
  // Why there is no trace although it was requested; empty if it was not requested or is running.
  const std::string& obstacle() const { return obstacle_; }

  Status open_window();  // discards earlier activities
  // Until region_ends(), the work that this thread launches belongs to the id. Returns 0 if nothing
  // is recorded.
  std::uint64_t region_begins() noexcept;
  void region_ends() noexcept;
  void own(std::uint64_t id, OperatorExecution owner) { executions_[id] = std::move(owner); }

  using TagOf = std::function<std::optional<GpuAllocationTag>(const GpuAllocation&)>;
  // Ends the trace. Returns an error if nothing is known of what it recorded.
  Result<GpuJoin> finish(const TagOf& find_tag);
  const OperatorExecutions& executions() const { return executions_; }
  const std::string& tracer() const { return name_; }  // after finish(): "CUPTI 13.0.1"

 private:
  const ProfileSwitches& switches_;
  ops::DeviceTracer* tracer_ = nullptr;  // while it records
  std::string obstacle_;
  std::uint64_t regions_ = 0;  // so far
  bool open_ = false;          // whether the last region is open
  OperatorExecutions executions_;
  std::string name_;
};

// What a reader of the pass should know about the trace, as details of its record: "gpu.kernels",
// "gpu.kernel_sum_ns", "gpu.kernel_union_ns", "gpu.busy_share", "gpu.gaps", ...,
// "gpu.memory.peak_bytes" with its parts by role, "gpu.memory.other_bytes", for each device
// ("gpu1." for the second); "gpu.note"; "gpu.void" with the reasons.
std::map<std::string, std::string> trace_details(const GpuJoin& join, const DeviceTrace& trace);

}  // namespace bench
