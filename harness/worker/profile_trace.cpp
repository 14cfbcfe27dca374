// SPDX-License-Identifier: Apache-2.0
// The device's part of a profile pass: the activities in its trace, and its memory.
#include "harness/worker/profile_pass_state.hpp"
#include "ops/operator.hpp"
#include "profiler/kernel_names/kernel_names.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

void ProfilePass::finish_trace() {
  if (!is_tracing()) return;
  const bool traces_memory = trace_->is_recording_memory();  // false after finish()
  const auto find_tag = [this](const GpuAllocation& allocation) -> std::optional<GpuAllocationTag> {
    const auto* address = reinterpret_cast<const void*>(allocation.address);
    const auto block = device_memory_.find(address);
    if (!block || block->size.count != allocation.bytes) return std::nullopt;
    return GpuAllocationTag{block->name, block->role};
  };
  const auto join = trace_->finish(find_tag);
  if (!join) {
    reply_.details[kTraceVoidDetail] = join.error().message();
    return;
  }
  // The join contains only requested activities. A counter does not state its group.
  const RecordGroup counters =
      switches_.records(RecordGroup::device) ? RecordGroup::device : RecordGroup::memory;
  for (const Activity& activity : join->activities) {
    if (activity.kind == ActivityKind::counter) {
      recorder_.record(activity, counters);
    } else {
      recorder_.record(activity);
    }
  }
  has_traced_memory_ = traces_memory;
  for (auto& [name, value] : trace_details(*join, *trace_)) reply_.details[name] = value;
  add_engine_verdict();
  reply_.notes.insert(reply_.notes.end(), join->notes.begin(), join->notes.end());
}

// The note of a library's engine is stronger evidence than the names of its kernels. Networks have
// several engines, and operators without a product have notes that mean nothing.
void ProfilePass::add_engine_verdict() {
  const ops::Operator* op = ops::find_operator(key_.op);
  if (op == nullptr || op->product.facts == nullptr) return;
  const auto details = prepared_->kernel().details();
  const auto engine = details.find("engine");
  if (engine == details.end()) return;
  const TensorCoreVerdict verdict = engine_verdict(engine->second, key_.dtype);
  if (verdict.use == TensorCoreUse::unknown) return;
  reply_.details["tensor_cores"] = format_verdict(verdict);
}

// Records the buffers on a device, unless the trace has reported them. Omits the address of a
// workspace, which only a trace knows.
void ProfilePass::record_device_memory() {
  device_memory_.finish();
  for (Activity& activity : device_memory_activities_.take()) {
    if (has_traced_memory_) continue;
    if (activity.attributes.text(Attribute::role) == kWorkspaceRole) {
      activity.attributes.erase(Attribute::address);
    }
    if (activity.kind == ActivityKind::counter) {
      recorder_.record(activity, RecordGroup::memory);
    } else {
      recorder_.record(activity);
    }
  }
}

}  // namespace bench
