// SPDX-License-Identifier: Apache-2.0
// Names and order of the fields of every record, declared once for writing and reading
// (base/json_writer.hpp). Include it only in source files.
#pragma once

#include "base/json_reader.hpp"
#include "base/json_writer.hpp"
#include "profiler/gpu/gpu_record.hpp"
#include "profiler/gpu/gpu_record_lines.hpp"

#include <cstdint>
#include <tuple>

namespace bench {

auto elements(JsonOf<GpuSize> auto& size) { return std::tie(size.x, size.y, size.z); }

void fields(auto& archive, JsonOf<GpuPlace> auto& r) {
  archive.required("device", r.device);
  archive.required("context", r.context);
  archive.required("stream", r.stream);
}

void fields(auto& archive, JsonOf<GpuInterval> auto& r) {
  archive.required("start_ns", r.start);
  archive.required("end_ns", r.end);
}

void fields(auto& archive, JsonOf<GpuKernel> auto& r) {
  archive.required("name", r.name);
  archive.optional_inline("start_ns", r.time);
  fields(archive, r.place);
  archive.required("grid", r.grid);
  archive.required("block", r.block);
  archive.required("registers", r.registers);
  archive.required("static_shared_bytes", r.static_shared_bytes);
  archive.required("dynamic_shared_bytes", r.dynamic_shared_bytes);
  archive.optional("correlation", r.correlation);
  archive.optional("queued_ns", r.queued);
  archive.optional("graph_node", r.graph_node);
}

void fields(auto& archive, JsonOf<GpuMemcpy> auto& r) {
  archive.required("kind", r.kind);
  archive.required("source", r.source);
  archive.required("destination", r.destination);
  archive.required("bytes", r.bytes);
  archive.optional_inline("start_ns", r.time);
  fields(archive, r.place);
  archive.optional("correlation", r.correlation);
  archive.optional("graph_node", r.graph_node);
  archive.optional("source_device", r.source_device);
  archive.optional("destination_device", r.destination_device);
}

void fields(auto& archive, JsonOf<GpuMemset> auto& r) {
  archive.required("memory", r.memory);
  archive.required("bytes", r.bytes);
  archive.optional_inline("start_ns", r.time);
  fields(archive, r.place);
  archive.optional("correlation", r.correlation);
  archive.optional("graph_node", r.graph_node);
}

void fields(auto& archive, JsonOf<GpuAllocation> auto& r) {
  archive.required("change", r.change);
  archive.required("memory", r.memory);
  archive.required("address", r.address);
  archive.required("bytes", r.bytes);
  archive.required("at_ns", r.at);
  fields(archive, r.place);
  archive.optional("correlation", r.correlation);
  archive.required("library", r.library);
  archive.optional("role", r.role);
}

void fields(auto& archive, JsonOf<GpuApiCall> auto& r) {
  archive.required("domain", r.domain);
  archive.required("name", r.name);
  fields(archive, r.time);
  archive.required("thread", r.thread);
  archive.optional("correlation", r.correlation);
  archive.required("status", r.status);
}

void fields(auto& archive, JsonOf<GpuExternalId> auto& r) {
  archive.required("kind", r.kind);
  archive.required("id", r.id);
  archive.required("correlation", r.correlation);
}

void fields(auto& archive, JsonOf<GpuOverhead> auto& r) {
  archive.required("kind", r.kind);
  fields(archive, r.time);
  archive.optional("thread", r.thread);
  archive.optional("correlation", r.correlation);
}

void fields(auto& archive, JsonOf<GpuSynchronisation> auto& r) {
  archive.required("kind", r.kind);
  fields(archive, r.time);
  archive.required("context", r.context);
  archive.optional("stream", r.stream);
  archive.optional("correlation", r.correlation);
}

void fields(auto& archive, JsonOf<GpuGraphNode> auto& r) {
  archive.required("node", r.node);
  archive.optional("original", r.copied_from);
  archive.optional("external_id", r.external_id);
}

void fields(auto& archive, JsonOf<GpuLimits> auto& r) {
  archive.required("compute_major", r.compute_major);
  archive.required("compute_minor", r.compute_minor);
  archive.required("warp_size", r.warp_size);
  archive.required("warps_per_multiprocessor", r.warps_per_multiprocessor);
  archive.required("blocks_per_multiprocessor", r.blocks_per_multiprocessor);
  archive.required("threads_per_block", r.threads_per_block);
  archive.required("registers_per_multiprocessor", r.registers_per_multiprocessor);
  archive.required("registers_per_block", r.registers_per_block);
  archive.required("shared_bytes_per_multiprocessor", r.shared_bytes_per_multiprocessor);
}

void fields(auto& archive, JsonOf<GpuDevice> auto& r) {
  archive.required("device", r.device);
  archive.required("name", r.name);
  fields(archive, r.limits);
  archive.required("multiprocessors", r.multiprocessors);
  archive.required("memory_bytes", r.memory_bytes);
}

void fields(auto& archive, JsonOf<GpuContext> auto& r) {
  archive.required("context", r.context);
  archive.required("device", r.device);
}

void fields(auto& archive, JsonOf<GpuProcessMemory> auto& r) {
  archive.required("memory_bytes", r.bytes);
  archive.required("memory_source", r.source);
}

void fields(auto& archive, JsonOf<GpuReading> auto& r) {
  archive.required("device", r.device);
  archive.required("at_ns", r.at);
  archive.optional("sm_clock_hz", r.sm_clock_hz);
  archive.optional("power_milliwatt", r.power_milliwatt);
  archive.optional_inline("memory_bytes", r.memory);
}

void fields(auto& archive, JsonOf<GpuNote> auto& r) { archive.required("text", r.text); }

void fields(auto& archive, JsonOf<GpuOperatorWork> auto& r) {
  archive.required("flops", r.flops);
  archive.optional("bytes", r.bytes);
}

struct OwnerLine {
  std::uint64_t id = 0;
  OperatorExecution owner;
};

void fields(auto& archive, JsonOf<OwnerLine> auto& r) {
  archive.required("id", r.id);
  archive.required("case", r.owner.case_id);
  archive.required("scope", r.owner.scope);
  archive.required("direction", r.owner.direction);
  archive.required("op", r.owner.op);
  archive.optional("iteration", r.owner.iteration);
  archive.optional_inline("flops", r.owner.work);
}

// The first line: the session without its owners and records.
void fields(auto& archive, JsonOf<GpuSession> auto& r) {
  archive.constant("schema", kGpuRecordsSchema);
  archive.required("pid", r.pid);
  archive.required("tracer", r.tracer);
  archive.required("monotonic_ns", r.clock.monotonic);
  archive.required("realtime_ns", r.clock.realtime);
  archive.required("dropped", r.dropped);
  archive.required("faults", r.faults);
}

void fields(auto& archive, JsonOf<GpuSessionEnd> auto& r) {
  archive.required("dropped", r.dropped);
  archive.required("faults", r.faults);
}

}  // namespace bench
