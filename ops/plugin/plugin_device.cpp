// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/plugin_device.hpp"

#include "ops/plugin/c_interface.hpp"
#include "ops/plugin/plugin_kernel.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

Status to_status(bench_status status, const CMessage& message, std::string_view what) {
  if (status == BENCH_OK) return Done{};
  return message.error(what);
}

// Calls a function that returns a size, or a negative value if unknown.
template <class Function>
std::optional<Bytes> size_of(Function function, void* state) {
  if (function == nullptr) return std::nullopt;
  const std::int64_t size = function(state);
  return size < 0 ? std::nullopt : std::optional(Bytes{size});
}

constexpr std::string_view kCopyFailed = "a copy to or from device memory failed";

// `self` is the CounterReadings to add to. A counter without a name is ignored.
void add_counter(void* self, const bench_counter* counter) {
  const auto fault = struct_fault(counter);
  const bool is_named = counter != nullptr && BENCH_HAS(bench_counter, counter, name);  // NOLINT
  if (!is_named || counter->name == nullptr) return;
  CounterReading reading;
  if (fault) {
    reading.source = "the plugin's reading " + *fault;
    static_cast<CounterReadings*>(self)->insert_or_assign(string_or_empty(counter->name),
                                                          std::move(reading));
    return;
  }
  if (counter->present != 0 && std::isfinite(counter->value)) reading.value = counter->value;
  reading.source = string_or_empty(counter->source);
  if (!reading.value && reading.source.empty()) reading.source = "the plugin gives no reason";
  static_cast<CounterReadings*>(self)->insert_or_assign(string_or_empty(counter->name),
                                                        std::move(reading));
}

constexpr std::int64_t kTimeNotReported = -1;

struct FlagRow {
  std::uint32_t flag;
  SampleVerdict verdict;
  std::string_view default_reason;  // used if the plugin gives none
};
// The most severe first.
constexpr std::array<FlagRow, 3> kPluginFlags = {{
    {BENCH_SAMPLE_VOID, SampleVerdict::voided, "discarded, and the plugin gives no reason"},
    {BENCH_SAMPLE_THROTTLED, SampleVerdict::throttled, "the device has lowered its clock"},
    {BENCH_SAMPLE_UNSTEADY, SampleVerdict::unsteady, "the device's clock has changed"},
}};

SampleMethod to_sample_method(std::int32_t how, SampleMethod requested) {
  if (how == BENCH_SAMPLE_GRAPH) return SampleMethod::graph;
  if (how == BENCH_SAMPLE_STREAM) return SampleMethod::stream;
  return requested == SampleMethod::any ? SampleMethod::stream : requested;
}

}  // namespace

std::optional<std::string> find_fault(const bench_memory& memory) {
  if (const auto fault = struct_fault(&memory))
    return fmt::format("has incomplete memory functions: their struct {}", *fault);
  const bool is_complete = memory.allocate != nullptr && memory.release != nullptr &&
                           memory.copy_in != nullptr && memory.copy_out != nullptr &&
                           memory.fill != nullptr;
  return is_complete ? std::nullopt : std::optional<std::string>("has incomplete memory functions");
}

std::optional<std::string> find_fault(const bench_tracer& tracer) {
  if (const auto fault = struct_fault(&tracer))
    return fmt::format("has an incomplete tracer: its struct {}", *fault);
  const bool is_complete = tracer.begin != nullptr && tracer.open_window != nullptr &&
                           tracer.region_begin != nullptr && tracer.region_end != nullptr &&
                           tracer.finish != nullptr;
  return is_complete ? std::nullopt : std::optional<std::string>("has an incomplete tracer");
}

std::optional<std::string> find_fault(const bench_counters& counters) {
  if (const auto fault = struct_fault(&counters))
    return fmt::format("has an incomplete table of counters: it {}", *fault);
  const bool is_complete = counters.measure != nullptr;
  return is_complete ? std::nullopt
                     : std::optional<std::string>("has an incomplete table of counters");
}

const bench_counters* find_counters(const bench_backend& backend) {
  const bool has_counters =
      BENCH_HAS(bench_backend, &backend, counters);  // NOLINT: the pointer's size
  return has_counters ? backend.counters : nullptr;
}

Result<void*> PluginMemory::allocate(Bytes size) {
  void* address = nullptr;
  CMessage message;
  const bench_status status = raw_.allocate(state_, size.count, &address, message.get());
  if (status == BENCH_OK && address != nullptr) return address;
  return message.error("no device memory");
}

Status PluginMemory::copy_in(void* device, const void* host, Bytes size) {
  CMessage message;
  return to_status(raw_.copy_in(state_, device, host, size.count, message.get()), message,
                   kCopyFailed);
}

Status PluginMemory::copy_out(void* host, const void* device, Bytes size) {
  CMessage message;
  return to_status(raw_.copy_out(state_, host, device, size.count, message.get()), message,
                   kCopyFailed);
}

Status PluginMemory::fill(void* device, std::uint8_t value, Bytes size) {
  CMessage message;
  return to_status(raw_.fill(state_, device, value, size.count, message.get()), message,
                   "filling device memory failed");
}

std::optional<Bytes> PluginMemory::cache() {
  return BENCH_HAS(bench_memory, &raw_, cache) ? size_of(raw_.cache, state_) : std::nullopt;
}

std::optional<Bytes> PluginMemory::available() {
  return BENCH_HAS(bench_memory, &raw_, available) ? size_of(raw_.available, state_) : std::nullopt;
}

Status PluginTracer::begin(std::uint32_t groups) {
  CMessage message;
  return to_status(raw_.begin(state_, groups, message.get()), message, "the tracer cannot start");
}

Status PluginTracer::open_window() {
  CMessage message;
  return to_status(raw_.open_window(state_, message.get()), message,
                   "the tracer cannot discard earlier records");
}

Result<std::string> PluginTracer::finish() {
  std::string text;
  CMessage message;
  const auto append = [](void* self, const char* piece, std::size_t size) {
    static_cast<std::string*>(self)->append(piece, size);
  };
  const bench_status status = raw_.finish(state_, append, &text, message.get());
  if (status == BENCH_OK) return text;
  return message.error("the tracer did not return its records");
}

Result<CounterReadings, BackendError> PluginCounters::measure(
    std::span<Invocation* const> rotation) {
  std::vector<const bench_invocation*> invocations;
  for (const Invocation* invocation : rotation) {
    invocations.push_back(&plugin_invocation(*invocation));
  }
  CounterReadings readings;
  CMessage message;
  const bench_status status = raw_.measure(state_, invocations.data(), invocations.size(),
                                           add_counter, &readings, message.get());
  if (status == BENCH_OK) return readings;
  return backend_error(status, message.error("the device's counters cannot be read"));
}

Result<DeviceSample> read_sample(const bench_sample& sample, const SampleRequest& request,
                                 const std::string& reason) {
  DeviceSample result;
  result.method = to_sample_method(sample.how, request.method);
  if (sample.host_ns >= 0) result.host = Nanoseconds(sample.host_ns);
  if (sample.clock_hz > 0) result.clock_hz = sample.clock_hz;
  for (const FlagRow& row : kPluginFlags) {
    if ((sample.flags & row.flag) == 0) continue;
    result.verdict = row.verdict;
    result.reason = reason.empty() ? row.default_reason : reason;
    break;
  }
  const bool is_discarded = result.verdict == SampleVerdict::voided;
  if (sample.device_ns > 0) {
    result.device = Nanoseconds(sample.device_ns);
  } else if (sample.device_ns == kTimeNotReported && !is_discarded) {
    result.verdict = SampleVerdict::voided;
    result.reason = "the plugin does not report the device's time";
  } else if (!is_discarded) {
    return Error{fmt::format("the plugin reports an impossible time of {1} ns for {0} iterations",
                             request.iterations, sample.device_ns),
                 "", "this is a bug in the plugin"};
  }
  return result;
}

}  // namespace bench::ops
