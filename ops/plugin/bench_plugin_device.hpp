// SPDX-License-Identifier: Apache-2.0
// Devices of the plugin interface for C++17: their memory, tracer and counters. bench_plugin.hpp
// contains the rest.
#pragma once

#include "ops/plugin/bench_plugin_kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench::plugin {

// Device memory that the CPU never accesses. Functions throw on failure.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual void* allocate(int64_t bytes) = 0;  // aligned to 64 bytes
  virtual void release(void* address) noexcept = 0;
  virtual void copy_in(void* device, const void* host, int64_t bytes) = 0;
  virtual void copy_out(void* host, const void* device, int64_t bytes) = 0;
  virtual void fill(void* device, uint8_t value, int64_t bytes) = 0;  // sets every byte
  // cache(): bytes of the device's last-level cache. available(): bytes of memory that are free
  // now. Both return nullopt if unknown.
  virtual std::optional<int64_t> cache() { return std::nullopt; }
  virtual std::optional<int64_t> available() { return std::nullopt; }
};

// Records what a device does, in workers that profile and do not time. One trace per process.
class Tracer {
 public:
  virtual ~Tracer() = default;
  // Called before the first kernel is created. `groups`: what to record, BENCH_TRACE_API, ... If it
  // throws, the pass continues without a trace and notes the reason.
  virtual void begin(uint32_t groups) = 0;
  // Waits for the device, then discards the records so far (setup, warm-up). Keeps what describes
  // live objects: devices, graph nodes, memory.
  virtual void open_window() = 0;
  // Work that this thread submits to the device until region_end() belongs to operator `id`, which
  // is not 0. Regions nest; the innermost counts.
  virtual void region_begin(uint64_t id) noexcept = 0;
  virtual void region_end() noexcept = 0;
  // Waits for the device and returns all records since open_window(), as lines of a recorded
  // session (docs/profiler.md). This is the last call.
  virtual std::string finish() = 0;
};

// The value of a hardware counter for one execution.
struct CounterReading {
  std::string name;  // the requested counter: "dram_read_bytes" (docs/profiler.md)
  std::optional<double> value;
  std::string source;  // the metrics that it was read from, or why there is no value
};

// Reads hardware counters, in workers that neither time nor trace.
class Counters {
 public:
  virtual ~Counters() = default;
  // Measures one execution. The invocations, all of one kernel and returned by its bind(), are
  // executed in turn as often as the device needs. Throw Error(BENCH_UNSUPPORTED, reason) if
  // counters cannot be read here, or access is denied.
  virtual std::vector<CounterReading> measure(const std::vector<Invocation*>& rotation) = 0;
};

// What a backend's device offers. Valid from Backend::opened() to Backend::closed(). A function
// returns nullptr if the device does not have this part.
class DeviceParts {
 public:
  virtual ~DeviceParts() = default;
  virtual Memory* memory() { return nullptr; }  // nullptr: kernels read and write host memory
  virtual Tracer* tracer() { return nullptr; }
  virtual Counters* counters() { return nullptr; }
};

namespace detail {

// The C tables. `state` is the address of a DeviceParts whose part is not null.
inline DeviceParts& parts_of(void* state) { return *static_cast<DeviceParts*>(state); }

template <class Function>
int64_t size_or_unknown(Function function) {
  std::optional<int64_t> size;
  guarded(nullptr, [&] { size = function(); });
  return size.value_or(kUnknown);
}

inline const bench_memory* memory_table() {
  static const bench_memory kTable = {
      sizeof(bench_memory),
      [](void* state, int64_t bytes, void** address, bench_message* message) {
        return guarded(message, [&] { *address = parts_of(state).memory()->allocate(bytes); });
      },
      [](void* state, void* address) { parts_of(state).memory()->release(address); },
      [](void* state, void* device, const void* host, int64_t bytes, bench_message* message) {
        return guarded(message, [&] { parts_of(state).memory()->copy_in(device, host, bytes); });
      },
      [](void* state, void* host, const void* device, int64_t bytes, bench_message* message) {
        return guarded(message, [&] { parts_of(state).memory()->copy_out(host, device, bytes); });
      },
      [](void* state, void* device, int32_t value, int64_t bytes, bench_message* message) {
        const auto byte = static_cast<uint8_t>(value);
        return guarded(message, [&] { parts_of(state).memory()->fill(device, byte, bytes); });
      },
      [](void* state) {
        return size_or_unknown([&] { return parts_of(state).memory()->cache(); });
      },
      [](void* state) {
        return size_or_unknown([&] { return parts_of(state).memory()->available(); });
      }};
  return &kTable;
}

inline const bench_tracer* tracer_table() {
  static const bench_tracer kTable = {
      sizeof(bench_tracer),
      [](void* state, uint32_t groups, bench_message* message) {
        return guarded(message, [&] { parts_of(state).tracer()->begin(groups); });
      },
      [](void* state, bench_message* message) {
        return guarded(message, [&] { parts_of(state).tracer()->open_window(); });
      },
      [](void* state, uint64_t id) { parts_of(state).tracer()->region_begin(id); },
      [](void* state) { parts_of(state).tracer()->region_end(); },
      [](void* state, void (*write)(void* self, const char* text, size_t size), void* self,
         bench_message* message) {
        return guarded(message, [&] {
          const std::string text = parts_of(state).tracer()->finish();
          write(self, text.data(), text.size());
        });
      }};
  return &kTable;
}

inline const bench_counters* counters_table() {
  static const bench_counters kTable = {
      sizeof(bench_counters),
      [](void* state, const bench_invocation* const* rotation, size_t rotation_count,
         void (*write)(void* self, const bench_counter* counter), void* self,
         bench_message* message) {
        return guarded(message, [&] {
          std::vector<Invocation*> invocations;
          for (std::size_t i = 0; i < rotation_count; ++i) {
            invocations.push_back(InvocationHolder::of(rotation[i]->self).invocation.get());
          }
          for (const CounterReading& each : parts_of(state).counters()->measure(invocations)) {
            const bench_counter row = {sizeof(bench_counter), each.name.c_str(), each.value ? 1 : 0,
                                       each.value.value_or(0), each.source.c_str()};
            write(self, &row);
          }
        });
      }};
  return &kTable;
}

}  // namespace detail

}  // namespace bench::plugin
