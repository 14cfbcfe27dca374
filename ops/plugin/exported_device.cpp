// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/exported_kernel.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench::ops {
namespace {

std::optional<std::int64_t> byte_count(std::optional<Bytes> size) {
  return size ? std::optional(size->count) : std::nullopt;
}

class ExportedMemory final : public plugin::Memory {
 public:
  explicit ExportedMemory(DeviceMemory& memory) : memory_(memory) {}

  void* allocate(std::int64_t bytes) override { return value_or_throw(memory_.allocate({bytes})); }
  void release(void* address) noexcept override { memory_.release(address); }
  void copy_in(void* device, const void* host, std::int64_t bytes) override {
    throw_if_error(memory_.copy_in(device, host, {bytes}));
  }
  void copy_out(void* host, const void* device, std::int64_t bytes) override {
    throw_if_error(memory_.copy_out(host, device, {bytes}));
  }
  void fill(void* device, std::uint8_t value, std::int64_t bytes) override {
    throw_if_error(memory_.fill(device, value, {bytes}));
  }
  std::optional<std::int64_t> cache() override { return byte_count(memory_.cache()); }
  std::optional<std::int64_t> available() override { return byte_count(memory_.available()); }

 private:
  DeviceMemory& memory_;
};

class ExportedTracer final : public plugin::Tracer {
 public:
  explicit ExportedTracer(DeviceTracer& tracer) : tracer_(tracer) {}

  void begin(std::uint32_t groups) override { throw_if_error(tracer_.begin(groups)); }
  void open_window() override { throw_if_error(tracer_.open_window()); }
  void region_begin(std::uint64_t id) noexcept override { tracer_.region_begins(id); }
  void region_end() noexcept override { tracer_.region_ends(); }
  std::string finish() override { return value_or_throw(tracer_.finish()); }

 private:
  DeviceTracer& tracer_;
};

class ExportedCounters final : public plugin::Counters {
 public:
  explicit ExportedCounters(DeviceCounters& counters) : counters_(counters) {}

  std::vector<plugin::CounterReading> measure(
      const std::vector<plugin::Invocation*>& rotation) override {
    std::vector<Invocation*> invocations;
    for (plugin::Invocation* invocation : rotation) {
      invocations.push_back(&exported_invocation(*invocation));
    }
    std::vector<plugin::CounterReading> readings;
    for (const auto& [name, reading] : value_or_throw(counters_.measure(invocations))) {
      readings.push_back({name, reading.value, reading.source});
    }
    return readings;
  }

 private:
  DeviceCounters& counters_;
};

template <class Exported, class Part>
std::unique_ptr<Exported> export_part(Part* part) {
  return part == nullptr ? nullptr : std::make_unique<Exported>(*part);
}

}  // namespace

std::unique_ptr<plugin::Memory> export_memory(DeviceMemory* memory) {
  return export_part<ExportedMemory>(memory);
}

std::unique_ptr<plugin::Tracer> export_tracer(DeviceTracer* tracer) {
  return export_part<ExportedTracer>(tracer);
}

std::unique_ptr<plugin::Counters> export_counters(DeviceCounters* counters) {
  return export_part<ExportedCounters>(counters);
}

}  // namespace bench::ops
