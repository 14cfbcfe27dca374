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

  bool is_recording() const { return tracer_ != nullptr; }
  bool is_recording_memory() const {
    return is_recording() && switches_.records(RecordGroup::memory);
  }
  // Returns why a requested trace could not begin. Empty if it began or was not requested.
  const std::string& obstacle() const { return obstacle_; }

  Status open_window();  // discards earlier activities
  // Begins a region and returns its id. The GPU work that this thread launches until end_region()
  // belongs to the region. Returns 0 if there is no trace.
  std::uint64_t begin_region() noexcept;
  void end_region() noexcept;
  // Attributes the region `id` to an operator execution.
  void attribute(std::uint64_t id, OperatorExecution owner) { executions_[id] = std::move(owner); }

  // Returns the tag of an allocation; nullopt if its owner is unknown.
  using TagFinder = std::function<std::optional<GpuAllocationTag>(const GpuAllocation&)>;
  // Ends the trace; requires is_recording(). Returns an error if the tracer fails or its records
  // cannot be read.
  Result<GpuJoin> finish(const TagFinder& find_tag);
  const OperatorExecutions& executions() const { return executions_; }
  // Valid after finish(): "CUPTI 13.0.1".
  const std::string& tracer_name() const { return tracer_name_; }

 private:
  const ProfileSwitches& switches_;
  ops::DeviceTracer* tracer_ = nullptr;  // null if it does not record
  std::string obstacle_;
  std::uint64_t regions_ = 0;  // number of regions so far; also the id of the last one
  bool is_region_open_ = false;
  OperatorExecutions executions_;
  std::string tracer_name_;
};

// Returns the details of the pass's record that describe the trace. For each device ("gpu." for the
// first, "gpu1." for the second): "gpu.kernels", "gpu.kernel_sum_ns", "gpu.kernel_union_ns",
// "gpu.busy_share", "gpu.gaps", ..., "gpu.memory.peak_bytes" with its parts by role,
// "gpu.memory.other_bytes". For the trace: "gpu.note", and "gpu.void" with the reasons.
std::map<std::string, std::string> trace_details(const GpuJoin& join, const DeviceTrace& trace);

}  // namespace bench
