// SPDX-License-Identifier: Apache-2.0
// table: the tables of nsys's SQLite export, their columns that this program reads, and the values
// of its enumerations
#pragma once

#include "profiler/gpu/gpu_record.hpp"
#include "profiler/readers/gpu_timeline.hpp"
#include "profiler/readers/sqlite_file.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bench::nsys {

using enum SqliteColumn::Need;

// Values of NVTX_EVENTS.eventType.
enum NsysEvent : std::int64_t {
  nsys_category = 33,
  nsys_mark = 34,
  nsys_push_pop = 59,
  nsys_start_end = 60,
  nsys_domain = 75,
  nsys_domain_end = 76,
};

inline constexpr std::string_view kRangeTable = "NVTX_EVENTS";
namespace ranges {
enum : std::size_t { start, end, type, thread, category, text, text_id, domain, count };
inline constexpr std::array<SqliteColumn, count> kColumns = {{{"start", required},
                                                              {"end", optional},
                                                              {"eventType", required},
                                                              {"globalTid", required},
                                                              {"category", optional},
                                                              {"text", optional},
                                                              {"textId", optional},
                                                              {"domainId", optional}}};
}  // namespace ranges

namespace calls {
enum : std::size_t { start, end, thread, correlation, name, status, event_class, count };
inline constexpr std::array<SqliteColumn, count> kColumns = {{{"start", required},
                                                              {"end", required},
                                                              {"globalTid", required},
                                                              {"correlationId", optional},
                                                              {"nameId", required},
                                                              {"returnValue", optional},
                                                              {"eventClass", optional}}};
inline constexpr std::int64_t kDriverClass = 1;
}  // namespace calls

// The first columns of all tables of device work.
namespace works {
enum : std::size_t { start, end, process, device, context, stream, correlation, node, count };
}
#define BENCH_NSYS_WORK_COLUMNS                                                            \
  {"start", required}, {"end", required}, {"globalPid", optional}, {"deviceId", required}, \
      {"contextId", optional}, {"streamId", required}, {                                   \
    "correlationId", optional                                                              \
  }

namespace kernels {
enum : std::size_t {
  node = works::node,
  mangled,
  demangled,
  shortened,
  grid,
  registers = grid + 6,
  count = registers + 3
};
inline constexpr std::array<SqliteColumn, count> kColumns = {{BENCH_NSYS_WORK_COLUMNS,
                                                              {"graphNodeId", optional},
                                                              {"mangledName", optional},
                                                              {"demangledName", optional},
                                                              {"shortName", optional},
                                                              {"gridX", optional},
                                                              {"gridY", optional},
                                                              {"gridZ", optional},
                                                              {"blockX", optional},
                                                              {"blockY", optional},
                                                              {"blockZ", optional},
                                                              {"registersPerThread", optional},
                                                              {"staticSharedMemory", optional},
                                                              {"dynamicSharedMemory", optional}}};
}  // namespace kernels

namespace copies {
enum : std::size_t { node = works::node, bytes, kind, source, destination, count };
inline constexpr std::array<SqliteColumn, count> kColumns = {{BENCH_NSYS_WORK_COLUMNS,
                                                              {"graphNodeId", optional},
                                                              {"bytes", required},
                                                              {"copyKind", optional},
                                                              {"srcKind", optional},
                                                              {"dstKind", optional}}};
}  // namespace copies

namespace memsets {
enum : std::size_t { node = works::node, bytes, memory, count };
inline constexpr std::array<SqliteColumn, count> kColumns = {{BENCH_NSYS_WORK_COLUMNS,
                                                              {"graphNodeId", optional},
                                                              {"bytes", required},
                                                              {"memKind", optional}}};
}  // namespace memsets

namespace waits {
enum : std::size_t { kind = works::node, count };
inline constexpr std::array<SqliteColumn, count> kColumns = {
    {BENCH_NSYS_WORK_COLUMNS, {"syncType", optional}}};
// What CUPTI writes for a wait without a stream.
inline constexpr std::int64_t kNoStream = 0xffffffff;
}  // namespace waits

namespace graphs {
enum : std::size_t { graph = works::node, count };
inline constexpr std::array<SqliteColumn, count> kColumns = {
    {BENCH_NSYS_WORK_COLUMNS, {"graphId", optional}}};
}  // namespace graphs
#undef BENCH_NSYS_WORK_COLUMNS

namespace changes {
enum : std::size_t {
  start,
  process,
  device,
  context,
  correlation,
  address,
  bytes,
  memory,
  operation,
  count
};
inline constexpr std::array<SqliteColumn, count> kColumns = {{{"start", required},
                                                              {"globalPid", optional},
                                                              {"deviceId", required},
                                                              {"contextId", optional},
                                                              {"correlationId", optional},
                                                              {"address", required},
                                                              {"bytes", required},
                                                              {"memKind", optional},
                                                              {"memoryOperationType", required}}};
}  // namespace changes

namespace gpus {
enum : std::size_t {
  id,
  cuda,
  name,
  major,
  minor,
  multiprocessors,
  memory,
  warp,
  warps,
  blocks,
  threads,
  registers,
  block_registers,
  shared,
  count
};
inline constexpr std::array<SqliteColumn, count> kColumns = {{{"id", optional},
                                                              {"cuDevice", optional},
                                                              {"name", optional},
                                                              {"computeMajor", optional},
                                                              {"computeMinor", optional},
                                                              {"smCount", optional},
                                                              {"totalMemory", optional},
                                                              {"threadsPerWarp", optional},
                                                              {"maxWarpsPerSm", optional},
                                                              {"maxBlocksPerSm", optional},
                                                              {"maxThreadsPerBlock", optional},
                                                              {"maxRegistersPerSm", optional},
                                                              {"maxRegistersPerBlock", optional},
                                                              {"maxShmemPerSm", optional}}};
}  // namespace gpus

// A value of one of nsys's enumerations: the end of its name, in the order of its numbers. A file
// may have a table that gives other numbers.
template <class Enum>
struct NsysValue {
  std::string_view ending;
  Enum value;
};
inline constexpr std::array<NsysValue<GpuCopyKind>, 14> kCopyValues = {
    {{"KIND_UNKNOWN", GpuCopyKind::unknown},
     {"KIND_HTOD", GpuCopyKind::host_to_device},
     {"KIND_DTOH", GpuCopyKind::device_to_host},
     {"KIND_HTOA", GpuCopyKind::host_to_array},
     {"KIND_ATOH", GpuCopyKind::array_to_host},
     {"KIND_ATOA", GpuCopyKind::array_to_array},
     {"KIND_ATOD", GpuCopyKind::array_to_device},
     {"KIND_DTOA", GpuCopyKind::device_to_array},
     {"KIND_DTOD", GpuCopyKind::device_to_device},
     {"KIND_HTOH", GpuCopyKind::host_to_host},
     {"KIND_PTOP", GpuCopyKind::peer_to_peer},
     {"KIND_UVM_HTOD", GpuCopyKind::host_to_device},
     {"KIND_UVM_DTOH", GpuCopyKind::device_to_host},
     {"KIND_UVM_DTOD", GpuCopyKind::device_to_device}}};
inline constexpr std::array<NsysValue<GpuMemoryKind>, 8> kMemoryValues = {
    {{"KIND_PAGEABLE", GpuMemoryKind::pageable},
     {"KIND_PINNED", GpuMemoryKind::pinned},
     {"KIND_DEVICE", GpuMemoryKind::device},
     {"KIND_ARRAY", GpuMemoryKind::array},
     {"KIND_MANAGED", GpuMemoryKind::managed},
     {"KIND_DEVICE_STATIC", GpuMemoryKind::device_static},
     {"KIND_MANAGED_STATIC", GpuMemoryKind::managed_static},
     {"KIND_UNKNOWN", GpuMemoryKind::unknown}}};
inline constexpr std::array<NsysValue<GpuWaitKind>, 5> kWaitValues = {
    {{"TYPE_UNKNOWN", GpuWaitKind::unknown},
     {"TYPE_EVENT_SYNCHRONIZE", GpuWaitKind::event},
     {"TYPE_STREAM_WAIT_EVENT", GpuWaitKind::stream_wait_event},
     {"TYPE_STREAM_SYNCHRONIZE", GpuWaitKind::stream},
     {"TYPE_CONTEXT_SYNCHRONIZE", GpuWaitKind::context}}};
inline constexpr std::array<NsysValue<TimelineWork::Kind>, 2> kChangeValues = {
    {{"_ALLOCATION", TimelineWork::Kind::allocation},
     {"_DEALLOCATION", TimelineWork::Kind::release}}};

}  // namespace bench::nsys
