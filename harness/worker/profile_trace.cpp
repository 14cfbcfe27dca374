// SPDX-License-Identifier: Apache-2.0
// The device's part of a profile pass: the activities in its trace, and its memory.
#include "harness/worker/profile_pass_state.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

void ProfilePass::finish_trace() {
  if (!traces()) return;
  const bool tells_of_memory = trace_->records_memory();
  const auto find_tag = [this](const GpuAllocation& allocation) -> std::optional<GpuAllocationTag> {
    const auto* address = reinterpret_cast<const void*>(allocation.address);
    const auto known = device_memory_.find(address);
    if (!known || known->size.count != allocation.bytes) return std::nullopt;
    return GpuAllocationTag{known->name, known->role};
  };
  const auto join = trace_->finish(find_tag);
  if (!join) {
    reply_.details[kTraceVoidDetail] = join.error().message();
    return;
  }
  // The join has omitted unrequested activities. Counters do not state their group.
  const RecordGroup counters =
      switches_.records(RecordGroup::device) ? RecordGroup::device : RecordGroup::memory;
  for (const Activity& activity : join->activities) {
    if (activity.kind == ActivityKind::counter) {
      recorder_.record(activity, counters);
    } else {
      recorder_.record(activity);
    }
  }
  device_memory_told_ = tells_of_memory;
  for (auto& [name, value] : trace_details(*join, *trace_)) reply_.details[name] = value;
  reply_.notes.insert(reply_.notes.end(), join->notes.begin(), join->notes.end());
}

// Records buffers on a device that no trace has reported. Only a trace knows the address of a
// workspace.
void ProfilePass::record_device_memory() {
  device_memory_.finish();
  for (Activity& activity : device_memory_rows_.give()) {
    if (device_memory_told_) continue;
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
