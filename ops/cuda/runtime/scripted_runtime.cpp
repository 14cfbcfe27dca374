// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/scripted_runtime.hpp"

#include "ops/cuda/runtime/cuda_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace bench::ops::cuda::test {
namespace {

std::size_t to_size(Bytes size) { return static_cast<std::size_t>(size.count); }

bool is_set(const std::int32_t* flag) { return *static_cast<const volatile std::int32_t*>(flag); }

}  // namespace

ScriptedRuntime::~ScriptedRuntime() = default;

cudaStream_t ScriptedRuntime::stream() const {
  return reinterpret_cast<cudaStream_t>(const_cast<ScriptedRuntime*>(this));
}

// Advances the host's clock by one call, and the device to the same time. The host may have written
// a block's flag since the last call, which takes no host time.
Status ScriptedRuntime::record_call(const std::string& name) {
  update_released_blocks();
  calls.push_back(name);
  host_time_ += script.call_cost;
  finish_until(host_time_);
  const auto failing = script.failing.find(name);
  if (++counts_[name]; failing != script.failing.end() && failing->second == counts_[name]) {
    return Error{script.failure, "", ""};
  }
  if (script.lost)
    return cuda_error({name, 719, "cudaErrorLaunchFailure", "launch failure"}, DeviceHealth::lost);
  return Done{};
}

void ScriptedRuntime::update_released_blocks() {
  for (Item& item : queue_) {
    if (item.block && !item.block->released && is_set(item.block->release)) {
      item.block->released = host_time_;
    }
  }
}

// Returns when the first item of the queue would end.
Nanoseconds ScriptedRuntime::first_end_time() const {
  const Item& item = queue_.front();
  const Nanoseconds begin = std::max(device_time_, item.launched);
  if (!item.block) return begin + item.time;
  const Nanoseconds timeout = begin + item.block->limit;
  if (!item.block->released) return timeout;
  return std::min(std::max(begin, *item.block->released), timeout);
}

void ScriptedRuntime::finish_first() {
  device_time_ = first_end_time();
  const Item item = std::move(queue_.front());
  queue_.pop_front();
  if (item.block && !item.block->released) *item.block->timed_out = 1;
  if (item.work) item.work(device_time_);
}

void ScriptedRuntime::finish_until(Nanoseconds until) {
  while (!queue_.empty() && first_end_time() <= until) finish_first();
}

// If the queue is full, the host waits for the first item to end.
Status ScriptedRuntime::enqueue(Item item) {
  if (capture_) {
    capture_->push_back(std::move(item));
    return Done{};
  }
  if (static_cast<std::int64_t>(queue_.size()) >= script.queue) {
    finish_first();
    host_time_ = std::max(host_time_, device_time_);
  }
  item.launched = host_time_;
  queue_.push_back(std::move(item));
  return Done{};
}

void ScriptedRuntime::drain() {
  while (!queue_.empty()) finish_first();
  host_time_ = std::max(host_time_, device_time_);
}

Status ScriptedRuntime::launch_kernel(const std::string& name, Nanoseconds time,
                                      std::function<void()> work) {
  BENCH_RETURN_IF_ERROR(record_call("launch " + name));
  const Nanoseconds gap = capture_ ? Nanoseconds(0) : script.gap;
  return enqueue({.time = time + gap, .work = [work = std::move(work)](Nanoseconds) {
                    if (work) work();
                  }});
}

Result<void*, BackendError> ScriptedRuntime::allocate(Bytes size) {
  if (const Status status = record_call("allocate"); !status) {
    return BackendError{BackendError::Kind::failed, status.error().message()};
  }
  const Bytes free{script.traits.memory.count - used_bytes_};
  if (size > free) return out_of_memory(size, free, script.traits.memory);
  // Allocates more than requested, so that addresses are aligned as on a device.
  constexpr std::size_t kAlignment = 256;
  auto bytes = std::make_unique<std::uint8_t[]>(to_size(size) + kAlignment);
  void* address = bytes.get();
  std::size_t space = to_size(size) + kAlignment;
  std::align(kAlignment, to_size(size), address, space);
  memory_.emplace(address, std::pair(std::move(bytes), size.count));
  used_bytes_ += size.count;
  return address;
}

void ScriptedRuntime::release(void* address) noexcept {
  const auto allocation = memory_.find(address);
  if (allocation == memory_.end()) return;
  used_bytes_ -= allocation->second.second;
  memory_.erase(allocation);
}

Result<MemoryState> ScriptedRuntime::memory() {
  BENCH_RETURN_IF_ERROR(record_call("memory"));
  return MemoryState{{script.traits.memory.count - used_bytes_}, script.traits.memory};
}

Result<MappedMemory> ScriptedRuntime::allocate_mapped(Bytes size) {
  BENCH_RETURN_IF_ERROR(record_call("allocate_mapped"));
  auto bytes = std::make_unique<std::uint8_t[]>(to_size(size));
  void* address = bytes.get();
  memory_.emplace(address, std::pair(std::move(bytes), std::int64_t{0}));
  return MappedMemory{address, address};
}

void ScriptedRuntime::release_mapped(const MappedMemory& memory) noexcept { release(memory.host); }

// Whether `size` bytes from `address` on belong to one allocation.
bool ScriptedRuntime::has_memory(const void* address, Bytes size) const {
  auto after = memory_.upper_bound(const_cast<void*>(address));
  if (after == memory_.begin()) return false;
  const auto& [begin, block] = *--after;
  const auto offset = static_cast<const std::uint8_t*>(address) - static_cast<std::uint8_t*>(begin);
  return offset + size.count <= block.second;
}

Status ScriptedRuntime::copy(const std::string& name, void* target, const void* source, Bytes size,
                             const void* device) {
  BENCH_RETURN_IF_ERROR(record_call(name));
  drain();
  if (!has_memory(device, size))
    return Error{"cudaErrorInvalidValue: no such device memory", "", ""};
  std::memcpy(target, source, to_size(size));
  return Done{};
}

Status ScriptedRuntime::copy_in(void* device, const void* host, Bytes size) {
  return copy("copy_in", device, host, size, device);
}

Status ScriptedRuntime::copy_out(void* host, const void* device, Bytes size) {
  return copy("copy_out", host, device, size, device);
}

Status ScriptedRuntime::copy_within(void* target, const void* source, Bytes size) {
  BENCH_RETURN_IF_ERROR(record_call("copy_within"));
  if (!has_memory(target, size) || !has_memory(source, size)) {
    return Error{"cudaErrorInvalidValue: no such device memory", "", ""};
  }
  return enqueue({.time = script.empty_kernel,
                  .work = [=](Nanoseconds) { std::memcpy(target, source, to_size(size)); }});
}

Status ScriptedRuntime::fill(void* device, std::uint8_t value, Bytes size) {
  BENCH_RETURN_IF_ERROR(record_call("fill"));
  if (!has_memory(device, size))
    return Error{"cudaErrorInvalidValue: no such device memory", "", ""};
  return enqueue({.time = script.empty_kernel,
                  .work = [=](Nanoseconds) { std::memset(device, value, to_size(size)); }});
}

Result<cudaEvent_t> ScriptedRuntime::create_event() {
  BENCH_RETURN_IF_ERROR(record_call("create_event"));
  auto event = std::make_unique<Event>();
  auto* handle = reinterpret_cast<cudaEvent_t>(event.get());
  events_.emplace(handle, std::move(event));
  return handle;
}

void ScriptedRuntime::destroy_event(cudaEvent_t event) noexcept { events_.erase(event); }

Status ScriptedRuntime::record(cudaEvent_t event) {
  BENCH_RETURN_IF_ERROR(record_call("record"));
  Event& recorded = *events_.at(event);
  recorded.at.reset();
  return enqueue({.work = [&recorded](Nanoseconds end) { recorded.at = end; }});
}

Result<Nanoseconds> ScriptedRuntime::elapsed(cudaEvent_t begin, cudaEvent_t end) {
  BENCH_RETURN_IF_ERROR(record_call("elapsed"));
  const Event& first = *events_.at(begin);
  const Event& last = *events_.at(end);
  if (!first.at || !last.at) return Error{"cudaErrorNotReady", "", ""};
  return *last.at - *first.at;
}

Status ScriptedRuntime::synchronise() {
  BENCH_RETURN_IF_ERROR(record_call("synchronise"));
  drain();
  return Done{};
}

Status ScriptedRuntime::synchronise_device() {
  BENCH_RETURN_IF_ERROR(record_call("synchronise_device"));
  drain();
  return Done{};
}

Status ScriptedRuntime::begin_capture() {
  BENCH_RETURN_IF_ERROR(record_call("begin_capture"));
  capture_.emplace();
  return Done{};
}

Result<cudaGraphExec_t> ScriptedRuntime::end_capture() {
  auto items = std::exchange(capture_, std::nullopt);
  BENCH_RETURN_IF_ERROR(record_call("end_capture"));
  if (!script.capturable) {
    return Error{
        "cudaStreamEndCapture: operation not permitted when stream is capturing "
        "(cudaErrorStreamCaptureInvalidated, 901)",
        "", ""};
  }
  auto graph = std::make_unique<Graph>(Graph{std::move(*items)});
  auto* handle = reinterpret_cast<cudaGraphExec_t>(graph.get());
  graphs_.emplace(handle, std::move(graph));
  return handle;
}

void ScriptedRuntime::abandon_capture() noexcept {
  calls.emplace_back("abandon_capture");
  capture_.reset();
}

// Counts as one launch. The nodes of the graph run one after the other.
Status ScriptedRuntime::launch(cudaGraphExec_t graph) {
  BENCH_RETURN_IF_ERROR(record_call("launch graph"));
  if (!script.graphs_queue) drain();
  const std::vector<Item>& items = graphs_.at(graph)->items;
  Nanoseconds total{0};
  for (const Item& item : items) total += item.time;
  return enqueue({.time = total, .work = [items, total](Nanoseconds end) {
                    Nanoseconds at = end - total;
                    for (const Item& item : items) {
                      at += item.time;
                      if (item.work) item.work(at);
                    }
                  }});
}

void ScriptedRuntime::destroy_graph(cudaGraphExec_t graph) noexcept { graphs_.erase(graph); }

Status ScriptedRuntime::launch_empty() {
  BENCH_RETURN_IF_ERROR(record_call("launch_empty"));
  return enqueue({.time = script.empty_kernel + script.gap});
}

Status ScriptedRuntime::launch_blocking(const std::int32_t* release, std::int32_t* timed_out,
                                        Nanoseconds limit) {
  BENCH_RETURN_IF_ERROR(record_call("launch_blocking"));
  const Block block{release, timed_out, limit, std::nullopt};
  return enqueue({.block = block});
}

Status ScriptedRuntime::read_clock(ClockReading* reading) {
  BENCH_RETURN_IF_ERROR(record_call("read_clock"));
  return enqueue({.time = script.empty_kernel, .work = [this, reading](Nanoseconds end) {
                    constexpr double kSecond = 1e9;
                    cycles_ += static_cast<std::int64_t>(
                        static_cast<double>((end - last_clock_reading_).count()) *
                        static_cast<double>(script.clock_hz) / kSecond);
                    last_clock_reading_ = end;
                    *reading = {end.count(), cycles_};
                  }});
}

Status ScriptedRuntime::flush(void* scratch, Bytes size) {
  BENCH_RETURN_IF_ERROR(record_call("flush"));
  if (!has_memory(scratch, size))
    return Error{"cudaErrorInvalidValue: no such device memory", "", ""};
  return enqueue({.time = script.empty_kernel});
}

}  // namespace bench::ops::cuda::test
