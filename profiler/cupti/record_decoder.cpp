// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/record_decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace bench {
namespace {

// The structures that the toolkit's own version fills in. load_cupti() refuses every other version.
#if CUPTI_API_VERSION >= 130200
using KernelRecord = CUpti_ActivityKernel11;
using ContextRecord = CUpti_ActivityContext4;
using DeviceRecord = CUpti_ActivityDevice6;
#else
using KernelRecord = CUpti_ActivityKernel10;
using ContextRecord = CUpti_ActivityContext3;
using DeviceRecord = CUpti_ActivityDevice5;
#endif

// Kinds that have the same numbers as this tool's enumerators. Later kinds are unknown.
template <class Enum>
Enum same_number(std::uint64_t number) {
  return number < enumerator_names(Enum{}).size() ? static_cast<Enum>(number) : Enum{};
}
static_assert(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP == static_cast<int>(GpuCopyKind::peer_to_peer));
static_assert(CUPTI_ACTIVITY_MEMCPY_KIND_DTOD == static_cast<int>(GpuCopyKind::device_to_device));
static_assert(CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC ==
              static_cast<int>(GpuMemoryKind::managed_static));
static_assert(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE ==
              static_cast<int>(GpuWaitKind::context));

GpuOverheadKind overhead_kind(CUpti_ActivityOverheadKind kind) {
  if (kind == CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER) return GpuOverheadKind::driver_compiler;
  const auto number = static_cast<std::uint32_t>(kind);
  if (number % (1u << 16) != 0 || number == 0) return GpuOverheadKind::unknown;
  // 1 << 16 is the kind after the compiler
  return same_number<GpuOverheadKind>((number >> 16) + 1);
}
static_assert(CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT >> 16 ==
              static_cast<int>(GpuOverheadKind::unified_memory) - 1);

GpuInterval interval(std::uint64_t start, std::uint64_t end) {
  return {Nanoseconds(static_cast<std::int64_t>(start)),
          Nanoseconds(static_cast<std::int64_t>(end))};
}
// If both are 0, the device could not measure the time.
std::optional<GpuInterval> measured(std::uint64_t start, std::uint64_t end) {
  if (start == 0 && end == 0) return std::nullopt;
  return interval(start, end);
}

template <class Number>
std::optional<std::uint64_t> unless_zero(Number number) {
  return number == 0 ? std::nullopt : std::optional<std::uint64_t>(number);
}

std::int64_t as_signed(std::uint64_t number) { return static_cast<std::int64_t>(number); }

std::string text_or(const char* text, std::string_view otherwise) {
  return text != nullptr ? std::string(text) : std::string(otherwise);
}

template <class Record>
GpuPlace read_place(const Record& record) {
  return {record.deviceId, record.contextId, record.streamId};
}

GpuRecord kernel(const KernelRecord& record) {
  GpuKernel kernel;
  kernel.name = text_or(record.name, "(no name)");
  kernel.time = measured(record.start, record.end);
  kernel.place = read_place(record);
  kernel.grid = {record.gridX, record.gridY, record.gridZ};
  kernel.block = {record.blockX, record.blockY, record.blockZ};
  kernel.registers = record.registersPerThread;
  kernel.static_shared_bytes = record.staticSharedMemory;
  kernel.dynamic_shared_bytes = record.dynamicSharedMemory;
  kernel.correlation = unless_zero(record.correlationId);
  if (record.queued != CUPTI_TIMESTAMP_UNKNOWN) {
    kernel.queued = Nanoseconds(as_signed(record.queued));
  }
  kernel.graph_node = unless_zero(record.graphNodeId);
  return kernel;
}

template <class Record>
GpuMemcpy copy_fields(const Record& record) {
  GpuMemcpy copy;
  copy.kind = same_number<GpuCopyKind>(record.copyKind);
  copy.source = same_number<GpuMemoryKind>(record.srcKind);
  copy.destination = same_number<GpuMemoryKind>(record.dstKind);
  copy.bytes = as_signed(record.bytes);
  copy.time = measured(record.start, record.end);
  copy.place = read_place(record);
  copy.correlation = unless_zero(record.correlationId);
  copy.graph_node = unless_zero(record.graphNodeId);
  return copy;
}

GpuRecord decode_memcpy(const CUpti_ActivityMemcpy6& record) { return copy_fields(record); }

GpuRecord peer_copy(const CUpti_ActivityMemcpyPtoP4& record) {
  GpuMemcpy copy = copy_fields(record);
  copy.source_device = record.srcDeviceId;
  copy.destination_device = record.dstDeviceId;
  return copy;
}

GpuRecord decode_memset(const CUpti_ActivityMemset4& record) {
  GpuMemset fill;
  fill.memory = same_number<GpuMemoryKind>(record.memoryKind);
  fill.bytes = as_signed(record.bytes);
  fill.time = measured(record.start, record.end);
  fill.place = read_place(record);
  fill.correlation = unless_zero(record.correlationId);
  fill.graph_node = unless_zero(record.graphNodeId);
  return fill;
}

GpuRecord allocation(const CUpti_ActivityMemory4& record) {
  GpuAllocation change;
  change.change = record.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE
                      ? GpuAllocationChange::release
                      : GpuAllocationChange::allocation;
  change.memory = same_number<GpuMemoryKind>(static_cast<std::uint64_t>(record.memoryKind));
  change.address = record.address;
  change.bytes = as_signed(record.bytes);
  change.at = Nanoseconds(as_signed(record.timestamp));
  change.place = read_place(record);
  change.correlation = unless_zero(record.correlationId);
  change.library = text_or(record.source, "");
  return change;
}

GpuRecord external_id(const CUpti_ActivityExternalCorrelation& record) {
  const bool phase = record.externalKind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1;
  return GpuExternalId{phase ? GpuExternalKind::phase : GpuExternalKind::operation,
                       record.externalId, record.correlationId};
}

GpuRecord overhead(const CUpti_ActivityOverhead3& record) {
  GpuOverhead overhead;
  overhead.kind = overhead_kind(record.overheadKind);
  overhead.time = interval(record.start, record.end);
  if (record.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD) {
    overhead.thread = record.objectId.pt.threadId;
  }
  overhead.correlation = unless_zero(record.correlationId);
  return overhead;
}

GpuRecord synchronisation(const CUpti_ActivitySynchronization2& record) {
  GpuSynchronisation wait;
  wait.kind = same_number<GpuWaitKind>(static_cast<std::uint64_t>(record.type));
  wait.time = interval(record.start, record.end);
  wait.context = record.contextId;
  // An event or a whole device has no stream, which CUPTI writes as all ones.
  if (record.streamId != CUPTI_SYNCHRONIZATION_INVALID_VALUE) {
    wait.stream = record.streamId;
  }
  wait.correlation = unless_zero(record.correlationId);
  return wait;
}

GpuRecord device(const DeviceRecord& record) {
  GpuDevice device;
  device.device = record.id;
  device.name = text_or(record.name, "");
  GpuLimits& limits = device.limits;
  limits.compute_major = record.computeCapabilityMajor;
  limits.compute_minor = record.computeCapabilityMinor;
  limits.warp_size = record.numThreadsPerWarp;
  limits.warps_per_multiprocessor = record.maxWarpsPerMultiprocessor;
  limits.blocks_per_multiprocessor = record.maxBlocksPerMultiprocessor;
  limits.threads_per_block = record.maxThreadsPerBlock;
  limits.registers_per_multiprocessor = record.maxRegistersPerMultiprocessor;
  limits.registers_per_block = record.maxRegistersPerBlock;
  limits.shared_bytes_per_multiprocessor = record.maxSharedMemoryPerMultiprocessor;
  device.multiprocessors = record.numMultiprocessors;
  device.memory_bytes = as_signed(record.globalMemorySize);
  return device;
}

GpuRecord context(const ContextRecord& record) {
  return GpuContext{record.contextId, record.deviceId};
}

// "cudaLaunchKernel_v7000": the runtime's suffix is the CUDA version that introduced the call.
std::string without_version(std::string name) {
  const std::size_t suffix = name.rfind("_v");
  const bool digits = suffix != std::string::npos && name.size() >= suffix + 6 &&
                      name.find_first_not_of("0123456789", suffix + 2) == std::string::npos;
  if (digits) name.resize(suffix);
  return name;
}

template <class Record, GpuRecord (*Convert)(const Record&)>
GpuRecord decoded(const CUpti_Activity& activity) {
  return Convert(reinterpret_cast<const Record&>(activity));
}

// CUPTI writes 0 for both times if it could not measure them.
template <class Record>
bool timeless(const CUpti_Activity& activity) {
  const auto& record = reinterpret_cast<const Record&>(activity);
  return record.start == 0 && record.end == 0;
}

struct KindRow {
  CUpti_ActivityKind kind;
  GpuRecord (*decode)(const CUpti_Activity&);
  // Returns whether the record is useless because it has no time; nullptr if that is never the
  // case.
  bool (*passed_over)(const CUpti_Activity&) = nullptr;
};
constexpr std::array<KindRow, 11> kDecoders = {{
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, decoded<KernelRecord, kernel>},
    {CUPTI_ACTIVITY_KIND_KERNEL, decoded<KernelRecord, kernel>},
    {CUPTI_ACTIVITY_KIND_MEMCPY, decoded<CUpti_ActivityMemcpy6, decode_memcpy>},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, decoded<CUpti_ActivityMemcpyPtoP4, peer_copy>},
    {CUPTI_ACTIVITY_KIND_MEMSET, decoded<CUpti_ActivityMemset4, decode_memset>},
    {CUPTI_ACTIVITY_KIND_MEMORY2, decoded<CUpti_ActivityMemory4, allocation>},
    {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
     decoded<CUpti_ActivityExternalCorrelation, external_id>},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, decoded<CUpti_ActivityOverhead3, overhead>,
     timeless<CUpti_ActivityOverhead3>},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, decoded<CUpti_ActivitySynchronization2, synchronisation>,
     timeless<CUpti_ActivitySynchronization2>},
    {CUPTI_ACTIVITY_KIND_DEVICE, decoded<DeviceRecord, device>},
    {CUPTI_ACTIVITY_KIND_CONTEXT, decoded<ContextRecord, context>},
}};

// Runtime and driver calls, whose numbers must be translated into names.
std::optional<CUpti_CallbackDomain> call_domain(CUpti_ActivityKind kind) {
  if (kind == CUPTI_ACTIVITY_KIND_RUNTIME) return CUPTI_CB_DOMAIN_RUNTIME_API;
  if (kind == CUPTI_ACTIVITY_KIND_DRIVER) return CUPTI_CB_DOMAIN_DRIVER_API;
  return std::nullopt;
}

GpuApiCall api_call(const CUpti_ActivityAPI& record, const std::string& name) {
  const bool runtime = record.kind == CUPTI_ACTIVITY_KIND_RUNTIME;
  GpuApiCall call;
  call.domain = runtime ? GpuApiDomain::runtime : GpuApiDomain::driver;
  call.name = name;
  call.time = interval(record.start, record.end);
  call.thread = record.threadId;
  call.correlation = unless_zero(record.correlationId);
  call.status = record.returnValue;
  return call;
}

}  // namespace

void CuptiDecoder::decode(std::uint8_t* buffer, std::size_t valid, GpuSession& session) {
  CUpti_Activity* activity = nullptr;
  std::int64_t read = 0;
  CUptiResult result = CUPTI_SUCCESS;
  while ((result = api_.next_record(buffer, valid, &activity)) == CUPTI_SUCCESS) {
    ++read;
    if (!decode_record(*activity, session)) ++other_kinds_;
  }
  if (result == CUPTI_ERROR_MAX_LIMIT_REACHED) return;
  session.faults.push_back(fmt::format("a buffer of {} bytes cannot be read after {} records: {}",
                                       valid, read, format_cupti_result(api_, result)));
}

bool CuptiDecoder::decode_record(const CUpti_Activity& activity, GpuSession& session) {
  if (const auto domain = call_domain(activity.kind)) {
    if (timeless<CUpti_ActivityAPI>(activity)) return true;
    const auto& record = reinterpret_cast<const CUpti_ActivityAPI&>(activity);
    session.records.emplace_back(api_call(record, call_name(*domain, record.cbid)));
    return true;
  }
  const auto row = std::find_if(kDecoders.begin(), kDecoders.end(),
                                [&](const KindRow& each) { return each.kind == activity.kind; });
  if (row == kDecoders.end()) return false;
  if (row->passed_over != nullptr && row->passed_over(activity)) return true;
  session.records.push_back(row->decode(activity));
  return true;
}

const std::string& CuptiDecoder::call_name(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  const auto [name, fresh] = call_names_.try_emplace({domain, id});
  if (fresh) {
    const char* text = nullptr;
    const bool known = api_.callback_name(domain, id, &text) == CUPTI_SUCCESS && text != nullptr;
    name->second = known ? without_version(text) : fmt::format("call {}", id);
  }
  return name->second;
}

}  // namespace bench
