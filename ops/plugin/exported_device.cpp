// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/exported_device.hpp"

#include "ops/plugin/c_call.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace bench::ops {
namespace {

constexpr std::int64_t kUnknownSize = -1;

DeviceMemory& memory_of(void* state) { return *static_cast<OpenedDevice*>(state)->memory; }
DeviceTracer& tracer_of(void* state) { return *static_cast<OpenedDevice*>(state)->tracer; }

bench_status allocate(void* state, std::int64_t bytes, void** address, bench_message* message) {
  return guarded_call(message, [&]() -> Status {
    BENCH_ASSIGN_OR_RETURN(*address, memory_of(state).allocate({bytes}));
    return Done{};
  });
}

void release(void* state, void* address) { memory_of(state).release(address); }

bench_status copy_in(void* state, void* device, const void* host, std::int64_t bytes,
                     bench_message* message) {
  return guarded_call(message, [&] { return memory_of(state).copy_in(device, host, {bytes}); });
}

bench_status copy_out(void* state, void* host, const void* device, std::int64_t bytes,
                      bench_message* message) {
  return guarded_call(message, [&] { return memory_of(state).copy_out(host, device, {bytes}); });
}

bench_status fill(void* state, void* device, std::int32_t value, std::int64_t bytes,
                  bench_message* message) {
  return guarded_call(message, [&] {
    return memory_of(state).fill(device, static_cast<std::uint8_t>(value), {bytes});
  });
}

// Returns kUnknownSize if the function throws.
template <class Function>
std::int64_t size_of(Function function) {
  std::int64_t size = kUnknownSize;
  guarded_call(nullptr, [&]() -> Status {
    const std::optional<Bytes> known = function();
    if (known) size = known->count;
    return Done{};
  });
  return size;
}

std::int64_t cache(void* state) {
  return size_of([&] { return memory_of(state).cache(); });
}

std::int64_t available(void* state) {
  return size_of([&] { return memory_of(state).available(); });
}

bench_status begin(void* state, std::uint32_t groups, bench_message* message) {
  return guarded_call(message, [&] { return tracer_of(state).begin(groups); });
}

bench_status open_window(void* state, bench_message* message) {
  return guarded_call(message, [&] { return tracer_of(state).open_window(); });
}

void region_begin(void* state, std::uint64_t id) { tracer_of(state).region_begins(id); }

void region_end(void* state) { tracer_of(state).region_ends(); }

bench_status finish(void* state, void (*write)(void* self, const char* text, std::size_t size),
                    void* self, bench_message* message) {
  return guarded_call(message, [&]() -> Status {
    BENCH_ASSIGN_OR_RETURN(const std::string text, tracer_of(state).finish());
    write(self, text.data(), text.size());
    return Done{};
  });
}

}  // namespace

const bench_memory kExportedMemory = {.size = sizeof(bench_memory),
                                      .allocate = allocate,
                                      .release = release,
                                      .copy_in = copy_in,
                                      .copy_out = copy_out,
                                      .fill = fill,
                                      .cache = cache,
                                      .available = available};

const bench_tracer kExportedTracer = {.size = sizeof(bench_tracer),
                                      .begin = begin,
                                      .open_window = open_window,
                                      .region_begin = region_begin,
                                      .region_end = region_end,
                                      .finish = finish};

}  // namespace bench::ops
