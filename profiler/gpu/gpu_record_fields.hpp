// SPDX-License-Identifier: Apache-2.0
// Names and order of the fields of every record, declared once for writing and reading
// (base/json_writer.hpp). Include it only in source files.
#pragma once

#include "base/json_fields.hpp"
#include "base/json_reader.hpp"
#include "profiler/gpu/gpu_record.hpp"
#include "profiler/gpu/gpu_record_lines.hpp"

#include <cstdint>
#include <tuple>

namespace bench {

auto elements(JsonOf<GpuSize> auto& size) { return std::tie(size.x, size.y, size.z); }

BENCH_FIELDS(GpuPlace, device, context, stream);
BENCH_FIELDS(GpuInterval, start, end);
BENCH_FIELDS(GpuKernel, name, (time, inlined_if("start_ns")), (place, kInlined), grid, block,
             registers, static_shared_bytes, dynamic_shared_bytes, correlation, queued, graph_node);
BENCH_FIELDS(GpuMemcpy, kind, source, destination, bytes, (time, inlined_if("start_ns")),
             (place, kInlined), correlation, graph_node, source_device, destination_device);
BENCH_FIELDS(GpuMemset, memory, bytes, (time, inlined_if("start_ns")), (place, kInlined),
             correlation, graph_node);
BENCH_FIELDS(GpuAllocation, change, memory, address, bytes, at, (place, kInlined), correlation,
             library, role);
BENCH_FIELDS(GpuApiCall, domain, name, (time, kInlined), thread, correlation, status);
BENCH_FIELDS(GpuExternalId, kind, id, correlation);
BENCH_FIELDS(GpuOverhead, kind, (time, kInlined), thread, correlation);
BENCH_FIELDS(GpuSynchronisation, kind, (time, kInlined), context, stream, correlation);
BENCH_FIELDS(GpuGraphNode, node, (copied_from, "original"), external_id);
BENCH_FIELDS(GpuLimits, compute_major, compute_minor, warp_size, warps_per_multiprocessor,
             blocks_per_multiprocessor, threads_per_block, registers_per_multiprocessor,
             registers_per_block, shared_bytes_per_multiprocessor);
BENCH_FIELDS(GpuDevice, device, name, (limits, kInlined), multiprocessors, memory_bytes);
BENCH_FIELDS(GpuContext, context, device);
BENCH_FIELDS(GpuProcessMemory, (bytes, "memory_bytes"), (source, "memory_source"));
BENCH_FIELDS(GpuReading, device, at, sm_clock_hz, power_milliwatt,
             (memory, inlined_if("memory_bytes")));
BENCH_FIELDS(GpuNote, text);
BENCH_FIELDS(GpuOperatorWork, flops, bytes);

struct OwnerLine {
  std::uint64_t id = 0;
  OperatorExecution owner;
};

void fields(auto& archive, JsonOf<OwnerLine> auto& r) {
  BENCH_MEMBERS(archive, r, id);
  BENCH_MEMBERS(archive, r.owner, (case_id, "case"), scope, direction, op, iteration,
                (work, inlined_if("flops")));
}

// The first line: the session without its owners and records.
void fields(auto& archive, JsonOf<GpuSession> auto& r) {
  archive.constant("schema", kGpuRecordsSchema);
  BENCH_MEMBERS(archive, r, pid, tracer);
  BENCH_MEMBERS(archive, r.clock, monotonic, realtime);
  BENCH_MEMBERS(archive, r, dropped, faults);
}

BENCH_FIELDS(GpuSessionEnd, dropped, faults);

}  // namespace bench
