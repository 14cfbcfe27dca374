// SPDX-License-Identifier: Apache-2.0
// First pass over a recorded session: what the second one looks up. Records come by buffers of
// threads, so whatever explains a kernel may follow it.
#pragma once

#include "profiler/gpu/gpu_record.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace bench {

// Refers to the session, which outlives it.
class GpuRecordIndex {
 public:
  explicit GpuRecordIndex(const GpuSession& session);

  struct Ownership {
    std::uint64_t id = 0;             // of the operator
    const GpuOwner* owner = nullptr;  // never null
    std::optional<std::int64_t> iteration;
  };
  // Whose work it is: of a node of a graph by what was captured when it was made, its iteration
  // by the launch; else by the operator in whose region the call was made, else the phase.
  // Absent: nobody's who is known.
  std::optional<Ownership> owner_of(const GpuCorrelation& correlation,
                                    const std::optional<std::uint64_t>& graph_node = {}) const;
  // The same for what happened on a thread at a time: of the runtime's call that was under way.
  std::optional<Ownership> owner_at(std::int64_t thread, Nanoseconds time) const;
  // Of the runtime where its call and one of the driver have one correlation; nullptr: none.
  const GpuApiCall* call_of(const GpuCorrelation& correlation) const;
  const GpuDevice* device(std::int64_t device) const;  // nullptr: nothing is known of it
  std::optional<std::int64_t> device_of(std::int64_t context) const;
  std::int64_t unknown_ids() const { return unknown_ids_; }  // external ids without an owner

 private:
  void add(const GpuApiCall& call);
  void add(const GpuExternalId& id);
  void add(const GpuGraphNode& node);
  void add(const GpuDevice& device) { devices_[device.device] = &device; }
  void add(const GpuContext& context) { contexts_[context.context] = context.device; }
  template <class Other>
  void add(const Other&) {}
  std::optional<std::uint64_t> id_of_node(std::uint64_t node) const;
  std::optional<Ownership> ownership(std::uint64_t id) const;
  std::optional<Ownership> owner_of_call(std::uint64_t correlation) const;

  struct Ids {
    std::optional<std::uint64_t> operation, phase;
  };
  const GpuSession& session_;
  std::unordered_map<std::uint64_t, const GpuApiCall*> calls_;  // by correlation
  std::unordered_map<std::uint64_t, Ids> ids_;                  // by correlation
  std::unordered_map<std::uint64_t, const GpuGraphNode*> nodes_;
  std::map<std::int64_t, const GpuDevice*> devices_;
  std::map<std::int64_t, std::int64_t> contexts_;                         // to their devices
  std::map<std::int64_t, std::vector<const GpuApiCall*>> runtime_calls_;  // by thread and start
  std::int64_t unknown_ids_ = 0;
};

}  // namespace bench
