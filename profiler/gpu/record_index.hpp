// SPDX-License-Identifier: Apache-2.0
// First pass over a recorded session: builds the lookup tables for the second pass. Records come in
// per-thread buffers, so the record that explains a kernel may follow it.
#pragma once

#include "profiler/gpu/gpu_record.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace bench {

// Refers to the session, which must outlive the index.
class GpuRecordIndex {
 public:
  explicit GpuRecordIndex(const GpuSession& session);

  struct Ownership {
    std::uint64_t id = 0;                      // id of the operator
    const OperatorExecution* owner = nullptr;  // never null
    std::optional<std::int64_t> iteration;
  };
  // Returns the operator that the work belongs to. For a graph node, that is the operator captured
  // when the node was created, with the iteration of the launch. Otherwise it is the operator, or
  // else the phase, in whose region the call was made. Returns nullopt if no operator is known.
  std::optional<Ownership> find_owner(const GpuCorrelation& correlation,
                                      const std::optional<std::uint64_t>& graph_node = {}) const;
  // The same for an event on a thread at a time, using the runtime call in progress then.
  std::optional<Ownership> owner_at(std::int64_t thread, Nanoseconds time) const;
  // If runtime and driver calls share a correlation, returns the runtime call. Returns nullptr if
  // there is none.
  const GpuApiCall* find_call(const GpuCorrelation& correlation) const;
  const GpuDevice* device(std::int64_t device) const;  // nullptr if the device is unknown
  std::optional<std::int64_t> find_device(std::int64_t context) const;
  // Returns the number of external ids for which the session contains no operator.
  std::int64_t unknown_ids() const { return unknown_ids_; }

 private:
  void add(const GpuApiCall& call);
  void add(const GpuExternalId& id);
  void add(const GpuGraphNode& node);
  void add(const GpuDevice& device) { devices_[device.device] = &device; }
  void add(const GpuContext& context) { contexts_[context.context] = context.device; }
  template <class Other>
  void add(const Other&) {}
  std::optional<std::uint64_t> read_node_id(std::uint64_t node) const;
  std::optional<Ownership> ownership(std::uint64_t id) const;
  std::optional<Ownership> find_call_owner(std::uint64_t correlation) const;

  struct Ids {
    std::optional<std::uint64_t> operation, phase;
  };
  const GpuSession& session_;
  std::unordered_map<std::uint64_t, const GpuApiCall*> calls_;  // key: correlation
  std::unordered_map<std::uint64_t, Ids> ids_;                  // key: correlation
  std::unordered_map<std::uint64_t, const GpuGraphNode*> nodes_;
  std::map<std::int64_t, const GpuDevice*> devices_;
  std::map<std::int64_t, std::int64_t> contexts_;  // context to device
  // key: thread; sorted by start
  std::map<std::int64_t, std::vector<const GpuApiCall*>> runtime_calls_;
  std::int64_t unknown_ids_ = 0;
};

}  // namespace bench
