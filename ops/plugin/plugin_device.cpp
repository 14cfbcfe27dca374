// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/plugin_device.hpp"

#include "ops/plugin/c_struct.hpp"
#include "ops/plugin/c_text.hpp"

#include <string_view>

namespace bench::ops {
namespace {

Status status_of(bench_status status, const CMessage& message, std::string_view what) {
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

}  // namespace

std::optional<std::string> fault_of(const bench_memory& memory) {
  if (const auto fault = struct_fault(&memory))
    return fmt::format("has incomplete memory functions: their struct {}", *fault);
  const bool complete = memory.allocate != nullptr && memory.release != nullptr &&
                        memory.copy_in != nullptr && memory.copy_out != nullptr &&
                        memory.fill != nullptr;
  return complete ? std::nullopt : std::optional<std::string>("has incomplete memory functions");
}

std::optional<std::string> fault_of(const bench_tracer& tracer) {
  if (const auto fault = struct_fault(&tracer))
    return fmt::format("has an incomplete tracer: its struct {}", *fault);
  const bool complete = tracer.begin != nullptr && tracer.open_window != nullptr &&
                        tracer.region_begin != nullptr && tracer.region_end != nullptr &&
                        tracer.finish != nullptr;
  return complete ? std::nullopt : std::optional<std::string>("has an incomplete tracer");
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
  return status_of(raw_.copy_in(state_, device, host, size.count, message.get()), message,
                   kCopyFailed);
}

Status PluginMemory::copy_out(void* host, const void* device, Bytes size) {
  CMessage message;
  return status_of(raw_.copy_out(state_, host, device, size.count, message.get()), message,
                   kCopyFailed);
}

Status PluginMemory::fill(void* device, std::uint8_t value, Bytes size) {
  CMessage message;
  return status_of(raw_.fill(state_, device, value, size.count, message.get()), message,
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
  return status_of(raw_.begin(state_, groups, message.get()), message, "the tracer cannot start");
}

Status PluginTracer::open_window() {
  CMessage message;
  return status_of(raw_.open_window(state_, message.get()), message,
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

}  // namespace bench::ops
