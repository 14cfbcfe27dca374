// SPDX-License-Identifier: Apache-2.0
// For tests: a simulated device. Its memory is host memory. The stream executes host functions on a
// virtual clock, in the order of launch. Every call is recorded and can be made to fail.
#pragma once

#include "ops/cuda/runtime/runtime.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops::cuda::test {

// The properties of the simulated device and its host.
struct RuntimeScript {
  DeviceTraits traits{.index = 0,
                      .name = "Scripted GPU",
                      .bus_id = "0000:1B:00.0",
                      .major = 9,
                      .minor = 0,
                      .multiprocessors = 132,
                      .memory = {std::int64_t{1} << 30},
                      .cache = {std::int64_t{50} << 20},
                      .default_clock_hz = 1'980'000'000};
  Nanoseconds call_cost = std::chrono::microseconds(2);  // host time of each call
  Nanoseconds empty_kernel = std::chrono::microseconds(1);
  std::int64_t clock_hz =
      1'000'000'000;          // clock of the multiprocessors; may be changed at any time
  std::int64_t queue = 1024;  // launches in the queue before the next one makes the host wait
  // Names of calls ("record", "launch_blocking", ...) and which of them fails, counted from 1.
  std::map<std::string, std::int64_t> failing;
  std::string failure = "cudaErrorUnknown (999): unknown error";
  bool capturable = true;
  Nanoseconds gap{0};        // idle time after a kernel that is launched individually
  bool graphs_queue = true;  // if false, the launch of a graph waits until the device is idle
  bool lost = false;
};

// The device's clock follows the host's. Work on the stream begins when the previous work has
// ended, and not before it was launched.
class ScriptedRuntime final : public Runtime {
 public:
  explicit ScriptedRuntime(RuntimeScript initial_script = {}) : script(std::move(initial_script)) {}
  ~ScriptedRuntime() override;

  // Enqueues a kernel that takes `time` on the device and then calls `work`, which may be empty.
  Status launch_kernel(const std::string& name, Nanoseconds time, std::function<void()> work = {});
  void advance(Nanoseconds time) { host_time_ += time; }  // advances the host's clock
  // Restarts the counts of calls, also for script.failing.
  void forget_calls() {
    calls.clear();
    counts_.clear();
  }

  RuntimeScript script;
  std::vector<std::string> calls;  // "launch gemm", "record", ...: in the order of calls
  std::size_t live_allocations() const { return memory_.size(); }
  std::size_t live_events() const { return events_.size(); }
  std::size_t live_graphs() const { return graphs_.size(); }

  const DeviceTraits& traits() const override { return script.traits; }
  cudaStream_t stream() const override;
  bool lost() const override { return script.lost; }
  Result<void*, BackendError> allocate(Bytes size) override;
  void release(void* address) noexcept override;
  Result<MemoryState> memory() override;
  Result<MappedMemory> allocate_mapped(Bytes size) override;
  void release_mapped(const MappedMemory& memory) noexcept override;
  Status copy_in(void* device, const void* host, Bytes size) override;
  Status copy_out(void* host, const void* device, Bytes size) override;
  Status copy_within(void* target, const void* source, Bytes size) override;
  Status fill(void* device, std::uint8_t value, Bytes size) override;
  Result<cudaEvent_t> create_event() override;
  void destroy_event(cudaEvent_t event) noexcept override;
  Status record(cudaEvent_t event) override;
  Result<Nanoseconds> elapsed(cudaEvent_t begin, cudaEvent_t end) override;
  Status synchronise() override;
  Status synchronise_device() override;
  Status begin_capture() override;
  Result<cudaGraphExec_t> end_capture() override;
  void abandon_capture() noexcept override;
  Status launch(cudaGraphExec_t graph) override;
  void destroy_graph(cudaGraphExec_t graph) noexcept override;
  Status launch_empty() override;
  Status launch_blocking(const std::int32_t* release, std::int32_t* timed_out,
                         Nanoseconds limit) override;
  Status read_clock(ClockReading* reading) override;
  Status flush(void* scratch, Bytes size) override;
  Nanoseconds now() const override { return host_time_; }

 private:
  struct Block {
    const std::int32_t* release;
    std::int32_t* timed_out;
    Nanoseconds limit;
    std::optional<Nanoseconds> released;  // on the host's clock
  };
  // Either a block or a piece of work, whose `work` is called with its end time.
  struct Item {
    Nanoseconds launched{0};
    Nanoseconds time{0};
    std::function<void(Nanoseconds end)> work{};
    std::optional<Block> block{};
  };
  struct Event {
    std::optional<Nanoseconds> at;
  };
  struct Graph {
    std::vector<Item> items;
  };
  Status record_call(const std::string& name);
  Status enqueue(Item item);
  void update_released_blocks();
  Nanoseconds first_end_time() const;
  void finish_first();
  void finish_until(Nanoseconds until);
  void drain();
  bool has_memory(const void* address, Bytes size) const;
  Status copy(const std::string& name, void* target, const void* source, Bytes size,
              const void* device);

  Nanoseconds host_time_{std::chrono::seconds(1)};
  Nanoseconds device_time_{0};  // when the last finished item ended
  std::deque<Item> queue_;
  std::optional<std::vector<Item>> capture_;
  // Allocations with their sizes, by address. The size of mapped memory is 0.
  std::map<void*, std::pair<std::unique_ptr<std::uint8_t[]>, std::int64_t>> memory_;
  std::map<cudaEvent_t, std::unique_ptr<Event>> events_;
  std::map<cudaGraphExec_t, std::unique_ptr<Graph>> graphs_;
  std::map<std::string, std::int64_t> counts_;
  std::int64_t used_bytes_ = 0;
  std::int64_t cycles_ = 1;
  Nanoseconds last_clock_reading_{0};
};

}  // namespace bench::ops::cuda::test
