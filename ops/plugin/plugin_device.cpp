// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/plugin_device.hpp"

#include "ops/plugin/c_interface.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string_view>

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

std::optional<Bytes> PluginMemory::cache() { return size_of(raw_.cache, state_); }

std::optional<Bytes> PluginMemory::available() { return size_of(raw_.available, state_); }

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
