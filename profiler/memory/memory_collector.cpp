// SPDX-License-Identifier: Apache-2.0
#include "profiler/memory/memory_collector.hpp"

#include <algorithm>
#include <utility>

namespace bench {

void MemoryCollector::allocated(const void* address, Bytes size, std::string_view name,
                                std::string_view role) {
  if (size.count <= 0) return;
  const std::lock_guard lock(mutex_);
  const Nanoseconds now = recorder_.now();
  // The allocator reused the address before the first block's release was reported.
  if (const auto earlier = blocks_.find(address); earlier != blocks_.end()) {
    live_.count -= earlier->second.size.count;
    record_block(address, earlier->second, now);
  }
  live_ = live_ + size;
  peak_ = std::max(peak_, live_);
  blocks_[address] = {std::string(name), std::string(role), now, size, live_};
  record_counter("live_bytes", now, Activity{});
}

void MemoryCollector::released(const void* address) {
  const std::lock_guard lock(mutex_);
  const auto block = blocks_.find(address);
  if (block == blocks_.end()) return;
  const Nanoseconds now = recorder_.now();
  live_.count -= block->second.size.count;
  record_block(address, block->second, now);
  record_counter("live_bytes", now, Activity{});
  blocks_.erase(block);
}

void MemoryCollector::on_operator_done(Nanoseconds at, const Activity& context) {
  const std::lock_guard lock(mutex_);
  ++operators_;
  if (sample_rate_ > 0 && operators_ % sample_rate_ == 0) {
    record_counter("live_bytes_sampled", at, context);
  }
}

void MemoryCollector::finish() {
  const std::lock_guard lock(mutex_);
  const Nanoseconds now = recorder_.now();
  for (const auto& [address, block] : blocks_) record_block(address, block, now);
  blocks_.clear();
}

std::optional<MemoryCollector::LiveBlock> MemoryCollector::find(const void* address) const {
  const std::lock_guard lock(mutex_);
  const auto block = blocks_.find(address);
  if (block == blocks_.end()) return std::nullopt;
  return LiveBlock{block->second.name, block->second.role, block->second.size};
}

Bytes MemoryCollector::live() const {
  const std::lock_guard lock(mutex_);
  return live_;
}

Bytes MemoryCollector::peak() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

void MemoryCollector::record_counter(std::string_view name, Nanoseconds at,
                                     const Activity& context) {
  if (!recorder_.is_recording(RecordGroup::memory)) return;
  Activity counter = make_counter(name, at, static_cast<double>(live_.count), "bytes");
  counter.track = context.track;
  counter.case_id = context.case_id;
  counter.scope = context.scope;
  counter.direction = context.direction;
  recorder_.record(std::move(counter), RecordGroup::memory);
}

void MemoryCollector::record_block(const void* address, const Block& block, Nanoseconds end) {
  Activity allocation;
  allocation.kind = ActivityKind::allocation;
  allocation.name = block.name;
  allocation.start = block.start;
  allocation.duration = end - block.start;
  allocation.attributes.set(Attribute::size_bytes, block.size.count);
  allocation.attributes.set(Attribute::address,
                            static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address)));
  allocation.attributes.set(Attribute::role, block.role);
  allocation.attributes.set(Attribute::live_bytes, block.live.count);
  recorder_.record(std::move(allocation));
}

TrackedAllocation::TrackedAllocation(MemoryCollector* collector, const void* address, Bytes size,
                                     std::string_view name, std::string_view role)
    : collector_(collector), address_(address) {
  if (collector_ != nullptr) collector_->allocated(address, size, name, role);
}

TrackedAllocation::TrackedAllocation(TrackedAllocation&& other) noexcept
    : collector_(std::exchange(other.collector_, nullptr)), address_(other.address_) {}

TrackedAllocation& TrackedAllocation::operator=(TrackedAllocation&& other) noexcept {
  std::swap(collector_, other.collector_);
  std::swap(address_, other.address_);
  return *this;
}

TrackedAllocation::~TrackedAllocation() {
  if (collector_ != nullptr) collector_->released(address_);
}

}  // namespace bench
