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

// The host may have written a block's flag since the last call. Writing takes no host time.
Status ScriptedRuntime::called(const std::string& name) {
  look_at_blocks();
  calls.push_back(name);
  host_ += script.call_cost;
  progress(host_);
  const auto failing = script.failing.find(name);
  if (++counts_[name]; failing != script.failing.end() && failing->second == counts_[name]) {
    return Error{script.failure, "", ""};
  }
  if (script.lost)
    return cuda_error({name, 719, "cudaErrorLaunchFailure", "launch failure"}, DeviceHealth::lost);
  return Done{};
}

void ScriptedRuntime::look_at_blocks() {
  for (Item& item : queue_) {
    if (item.block && !item.block->released && is_set(item.block->release)) {
      item.block->released = host_;
    }
  }
}

// Returns when the first item of the queue would end.
Nanoseconds ScriptedRuntime::end_of_first() const {
  const Item& item = queue_.front();
  const Nanoseconds begin = std::max(device_, item.launched);
  if (!item.block) return begin + item.time;
  const Nanoseconds given_up = begin + item.block->limit;
  if (!item.block->released) return given_up;
  return std::min(std::max(begin, *item.block->released), given_up);
}

void ScriptedRuntime::finish_first() {
  device_ = end_of_first();
  const Item item = std::move(queue_.front());
  queue_.pop_front();
  if (item.block && !item.block->released) *item.block->timed_out = 1;
  if (item.work) item.work(device_);
}

void ScriptedRuntime::progress(Nanoseconds until) {
  while (!queue_.empty() && end_of_first() <= until) finish_first();
}

// If the queue is full, the host waits for the first item to end.
Status ScriptedRuntime::put(Item item) {
  if (capture_) {
    capture_->push_back(std::move(item));
    return Done{};
  }
  if (static_cast<std::int64_t>(queue_.size()) >= script.queue) {
    finish_first();
    host_ = std::max(host_, device_);
  }
  item.launched = host_;
  queue_.push_back(std::move(item));
  return Done{};
}

void ScriptedRuntime::drain() {
  while (!queue_.empty()) finish_first();
  host_ = std::max(host_, device_);
}

Status ScriptedRuntime::launch_kernel(const std::string& name, Nanoseconds time,
                                      std::function<void()> work) {
  BENCH_RETURN_IF_ERROR(called("launch " + name));
  const Nanoseconds gap = capture_ ? Nanoseconds(0) : script.gap;
  return put({.time = time + gap, .work = [work = std::move(work)](Nanoseconds) {
                if (work) work();
              }});
}

Result<void*, BackendError> ScriptedRuntime::allocate(Bytes size) {
  if (const Status ok = called("allocate"); !ok) {
    return BackendError{BackendError::Kind::failed, ok.error().message()};
  }
  const Bytes free{script.traits.memory.count - used_};
  if (size > free) return out_of_memory(size, free, script.traits.memory);
  // Allocates more than requested, so that addresses are aligned as on a device.
  constexpr std::size_t kAlignment = 256;
  auto bytes = std::make_unique<std::uint8_t[]>(to_size(size) + kAlignment);
  void* address = bytes.get();
  std::size_t space = to_size(size) + kAlignment;
  std::align(kAlignment, to_size(size), address, space);
  memory_.emplace(address, std::pair(std::move(bytes), size.count));
  used_ += size.count;
  return address;
}

void ScriptedRuntime::release(void* address) noexcept {
  const auto found = memory_.find(address);
  if (found == memory_.end()) return;
  used_ -= found->second.second;
  memory_.erase(found);
}

Result<MemoryState> ScriptedRuntime::memory() {
  BENCH_RETURN_IF_ERROR(called("memory"));
  return MemoryState{{script.traits.memory.count - used_}, script.traits.memory};
}

Result<MappedMemory> ScriptedRuntime::allocate_mapped(Bytes size) {
  BENCH_RETURN_IF_ERROR(called("allocate_mapped"));
  auto bytes = std::make_unique<std::uint8_t[]>(to_size(size));
  void* address = bytes.get();
  memory_.emplace(address, std::pair(std::move(bytes), std::int64_t{0}));
  return MappedMemory{address, address};
}

void ScriptedRuntime::release_mapped(const MappedMemory& memory) noexcept { release(memory.host); }

// Whether `size` bytes from `address` on belong to one allocation.
bool ScriptedRuntime::holds(const void* address, Bytes size) const {
  auto after = memory_.upper_bound(const_cast<void*>(address));
  if (after == memory_.begin()) return false;
  const auto& [begin, block] = *--after;
  const auto offset = static_cast<const std::uint8_t*>(address) - static_cast<std::uint8_t*>(begin);
  return offset + size.count <= block.second;
}

Status ScriptedRuntime::copy(const std::string& name, void* target, const void* source, Bytes size,
                             const void* device) {
  BENCH_RETURN_IF_ERROR(called(name));
  drain();
  if (!holds(device, size)) return Error{"cudaErrorInvalidValue: no such device memory", "", ""};
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
  BENCH_RETURN_IF_ERROR(called("copy_within"));
  if (!holds(target, size) || !holds(source, size)) {
    return Error{"cudaErrorInvalidValue: no such device memory", "", ""};
  }
  return put({.time = script.empty_kernel,
              .work = [=](Nanoseconds) { std::memcpy(target, source, to_size(size)); }});
}

Status ScriptedRuntime::fill(void* device, std::uint8_t value, Bytes size) {
  BENCH_RETURN_IF_ERROR(called("fill"));
  if (!holds(device, size)) return Error{"cudaErrorInvalidValue: no such device memory", "", ""};
  return put({.time = script.empty_kernel,
              .work = [=](Nanoseconds) { std::memset(device, value, to_size(size)); }});
}

Result<cudaEvent_t> ScriptedRuntime::create_event() {
  BENCH_RETURN_IF_ERROR(called("create_event"));
  auto event = std::make_unique<Event>();
  auto* handle = reinterpret_cast<cudaEvent_t>(event.get());
  events_.emplace(handle, std::move(event));
  return handle;
}

void ScriptedRuntime::destroy_event(cudaEvent_t event) noexcept { events_.erase(event); }

Status ScriptedRuntime::record(cudaEvent_t event) {
  BENCH_RETURN_IF_ERROR(called("record"));
  Event& recorded = *events_.at(event);
  recorded.at.reset();
  return put({.work = [&recorded](Nanoseconds end) { recorded.at = end; }});
}

Result<Nanoseconds> ScriptedRuntime::elapsed(cudaEvent_t begin, cudaEvent_t end) {
  BENCH_RETURN_IF_ERROR(called("elapsed"));
  const Event& first = *events_.at(begin);
  const Event& last = *events_.at(end);
  if (!first.at || !last.at) return Error{"cudaErrorNotReady", "", ""};
  return *last.at - *first.at;
}

Status ScriptedRuntime::synchronise() {
  BENCH_RETURN_IF_ERROR(called("synchronise"));
  drain();
  return Done{};
}

Status ScriptedRuntime::synchronise_device() {
  BENCH_RETURN_IF_ERROR(called("synchronise_device"));
  drain();
  return Done{};
}

Status ScriptedRuntime::begin_capture() {
  BENCH_RETURN_IF_ERROR(called("begin_capture"));
  capture_.emplace();
  return Done{};
}

Result<cudaGraphExec_t> ScriptedRuntime::end_capture() {
  auto items = std::exchange(capture_, std::nullopt);
  BENCH_RETURN_IF_ERROR(called("end_capture"));
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
  BENCH_RETURN_IF_ERROR(called("launch graph"));
  if (!script.graphs_queue) drain();
  const std::vector<Item>& items = graphs_.at(graph)->items;
  Nanoseconds total{0};
  for (const Item& item : items) total += item.time;
  return put({.time = total, .work = [items, total](Nanoseconds end) {
                Nanoseconds at = end - total;
                for (const Item& item : items) {
                  at += item.time;
                  if (item.work) item.work(at);
                }
              }});
}

void ScriptedRuntime::destroy_graph(cudaGraphExec_t graph) noexcept { graphs_.erase(graph); }

Status ScriptedRuntime::launch_empty() {
  BENCH_RETURN_IF_ERROR(called("launch_empty"));
  return put({.time = script.empty_kernel + script.gap});
}

Status ScriptedRuntime::launch_blocking(const std::int32_t* release, std::int32_t* timed_out,
                                        Nanoseconds limit) {
  BENCH_RETURN_IF_ERROR(called("launch_blocking"));
  const Block block{release, timed_out, limit, std::nullopt};
  return put({.block = block});
}

Status ScriptedRuntime::read_clock(ClockReading* reading) {
  BENCH_RETURN_IF_ERROR(called("read_clock"));
  return put({.time = script.empty_kernel, .work = [this, reading](Nanoseconds end) {
                constexpr double kSecond = 1e9;
                cycles_ +=
                    static_cast<std::int64_t>(static_cast<double>((end - read_).count()) *
                                              static_cast<double>(script.clock_hz) / kSecond);
                read_ = end;
                *reading = {end.count(), cycles_};
              }});
}

Status ScriptedRuntime::flush(void* scratch, Bytes size) {
  BENCH_RETURN_IF_ERROR(called("flush"));
  if (!holds(scratch, size)) return Error{"cudaErrorInvalidValue: no such device memory", "", ""};
  return put({.time = script.empty_kernel});
}

}  // namespace bench::ops::cuda::test
