// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/record_index.hpp"

#include <algorithm>
#include <iterator>

namespace bench {

GpuRecordIndex::GpuRecordIndex(const GpuSession& session) : session_(session) {
  for (const GpuRecord& record : session.records) {
    std::visit([this](const auto& each) { add(each); }, record);
  }
  for (auto& [thread, calls] : runtime_calls_) {
    std::sort(calls.begin(), calls.end(),
              [](const GpuApiCall* a, const GpuApiCall* b) { return a->time < b->time; });
  }
}

void GpuRecordIndex::add(const GpuApiCall& call) {
  if (!call.correlation) return;
  if (call.domain == GpuApiDomain::runtime) runtime_calls_[call.thread].push_back(&call);
  const GpuApiCall*& stored = calls_[*call.correlation];
  if (stored == nullptr || call.domain == GpuApiDomain::runtime) stored = &call;
}

void GpuRecordIndex::add(const GpuExternalId& id) {
  Ids& ids = ids_[id.correlation];
  (id.kind == GpuExternalKind::operation ? ids.operation : ids.phase) = id.id;
  if (!session_.executions.contains(id.id)) ++unknown_ids_;
}

// CUPTI reports a copied node twice: as created (with the id of the region that instantiates the
// graph) and as a copy (with its original). Keeps the record that names the original, whichever
// comes first.
void GpuRecordIndex::add(const GpuGraphNode& node) {
  const GpuGraphNode*& stored = nodes_[node.node];
  const bool is_better = stored != nullptr && !stored->copied_from &&
                         (node.copied_from || (!stored->external_id && node.external_id));
  if (stored == nullptr || is_better) stored = &node;
}

std::optional<std::uint64_t> GpuRecordIndex::read_node_id(std::uint64_t node) const {
  // A malformed session may contain a cycle of copies. No chain is longer than the number of nodes.
  for (std::size_t steps = 0; steps <= nodes_.size(); ++steps) {
    const auto found = nodes_.find(node);
    if (found == nodes_.end()) return std::nullopt;
    if (found->second->external_id) return found->second->external_id;
    if (!found->second->copied_from) return std::nullopt;
    node = *found->second->copied_from;
  }
  return std::nullopt;
}

std::optional<GpuRecordIndex::Ownership> GpuRecordIndex::ownership(std::uint64_t id) const {
  const auto owner = session_.executions.find(id);
  if (owner == session_.executions.end()) return std::nullopt;
  return Ownership{id, &owner->second, owner->second.iteration};
}

std::optional<GpuRecordIndex::Ownership> GpuRecordIndex::find_call_owner(
    std::uint64_t correlation) const {
  const auto ids = ids_.find(correlation);
  if (ids == ids_.end()) return std::nullopt;
  if (ids->second.operation) {
    if (const auto owner = ownership(*ids->second.operation)) return owner;
  }
  return ids->second.phase ? ownership(*ids->second.phase) : std::nullopt;
}

std::optional<GpuRecordIndex::Ownership> GpuRecordIndex::find_owner(
    const GpuCorrelation& correlation, const std::optional<std::uint64_t>& graph_node) const {
  const auto launch = correlation ? find_call_owner(*correlation) : std::nullopt;
  if (!graph_node) return launch;
  const auto id = read_node_id(*graph_node);
  auto captured = id ? ownership(*id) : std::nullopt;
  if (!captured) return launch;
  captured->iteration = launch ? launch->iteration : std::nullopt;
  return captured;
}

std::optional<GpuRecordIndex::Ownership> GpuRecordIndex::owner_at(std::int64_t thread,
                                                                  Nanoseconds time) const {
  const auto found = runtime_calls_.find(thread);
  if (found == runtime_calls_.end()) return std::nullopt;
  const auto& calls = found->second;
  auto next = std::upper_bound(
      calls.begin(), calls.end(), time,
      [](Nanoseconds at, const GpuApiCall* call) { return at < call->time.start; });
  if (next == calls.begin()) return std::nullopt;
  const GpuApiCall& call = **std::prev(next);
  return time <= call.time.end ? find_owner(call.correlation) : std::nullopt;
}

const GpuApiCall* GpuRecordIndex::find_call(const GpuCorrelation& correlation) const {
  if (!correlation) return nullptr;
  const auto call = calls_.find(*correlation);
  return call == calls_.end() ? nullptr : call->second;
}

const GpuDevice* GpuRecordIndex::device(std::int64_t device) const {
  const auto found = devices_.find(device);
  return found == devices_.end() ? nullptr : found->second;
}

std::optional<std::int64_t> GpuRecordIndex::find_device(std::int64_t context) const {
  const auto found = contexts_.find(context);
  return found == contexts_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace bench
