// SPDX-License-Identifier: Apache-2.0
// table: one name per enumerator
#include "profiler/gpu/gpu_record.hpp"

#include <array>

namespace bench {

std::span<const std::string_view> enumerator_names(GpuCopyKind) {
  static constexpr std::array<std::string_view, 11> kNames = {
      "unknown",          "host_to_device", "device_to_host",  "host_to_array",
      "array_to_host",    "array_to_array", "array_to_device", "device_to_array",
      "device_to_device", "host_to_host",   "peer_to_peer"};
  return kNames;
}

std::span<const std::string_view> enumerator_names(GpuMemoryKind) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "unknown", "pageable", "pinned",        "device",
      "array",   "managed",  "device_static", "managed_static"};
  return kNames;
}

std::span<const std::string_view> enumerator_names(GpuApiDomain) {
  static constexpr std::array<std::string_view, 2> kNames = {"runtime", "driver"};
  return kNames;
}

std::span<const std::string_view> enumerator_names(GpuAllocationChange) {
  static constexpr std::array<std::string_view, 2> kNames = {"allocation", "release"};
  return kNames;
}

std::span<const std::string_view> enumerator_names(GpuWaitKind) {
  static constexpr std::array<std::string_view, 5> kNames = {
      "unknown", "event", "stream_wait_event", "stream", "context"};
  return kNames;
}

std::span<const std::string_view> enumerator_names(GpuOverheadKind) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "unknown",        "driver_compiler", "buffer_flush",          "instrumentation",
      "resource",       "module_loading",  "lazy_function_loading", "command_buffer_full",
      "buffer_request", "unified_memory"};
  return kNames;
}

std::span<const std::string_view> enumerator_names(GpuExternalKind) {
  static constexpr std::array<std::string_view, 2> kNames = {"operation", "phase"};
  return kNames;
}

std::span<const std::string_view> enumerator_names(GpuMemorySource) {
  static constexpr std::array<std::string_view, 2> kNames = {"process", "growth"};
  return kNames;
}

}  // namespace bench
