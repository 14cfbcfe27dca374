// SPDX-License-Identifier: Apache-2.0
// Names and order of the fields of every record, defined once for both writing and reading.
// `describe` calls f(key, member) for each field. It calls f.whole(first key, group) for a group of
// fields that are all present or all absent. F::kWrites states whether members are only read.
#pragma once

#include "profiler/gpu/gpu_record.hpp"
#include "profiler/gpu/gpu_record_lines.hpp"

#include <cstdint>
#include <type_traits>

namespace bench::gpu_record_fields {

template <class Fields, class Record>
using Ref = std::conditional_t<Fields::kWrites, const Record&, Record&>;

template <class Fields>
void describe(Fields& f, Ref<Fields, GpuPlace> r) {
  f("device", r.device);
  f("context", r.context);
  f("stream", r.stream);
}

template <class Fields>
void describe(Fields& f, Ref<Fields, GpuInterval> r) {
  f("start_ns", r.start);
  f("end_ns", r.end);
}

template <class Fields>
void describe(Fields& f, Ref<Fields, GpuKernel> r) {
  f("name", r.name);
  f.whole("start_ns", r.time);
  describe<Fields>(f, r.place);
  f("grid", r.grid);
  f("block", r.block);
  f("registers", r.registers);
  f("static_shared_bytes", r.static_shared_bytes);
  f("dynamic_shared_bytes", r.dynamic_shared_bytes);
  f("correlation", r.correlation);
  f("queued_ns", r.queued);
  f("graph_node", r.graph_node);
}

template <class Fields>
void describe(Fields& f, Ref<Fields, GpuMemcpy> r) {
  f("kind", r.kind);
  f("source", r.source);
  f("destination", r.destination);
  f("bytes", r.bytes);
  f.whole("start_ns", r.time);
  describe<Fields>(f, r.place);
  f("correlation", r.correlation);
  f("graph_node", r.graph_node);
  f("source_device", r.source_device);
  f("destination_device", r.destination_device);
}

template <class Fields>
void describe(Fields& f, Ref<Fields, GpuMemset> r) {
  f("memory", r.memory);
  f("bytes", r.bytes);
  f.whole("start_ns", r.time);
  describe<Fields>(f, r.place);
  f("correlation", r.correlation);
  f("graph_node", r.graph_node);
}

template <class Fields>
void describe(Fields& f, Ref<Fields, GpuAllocation> r) {
  f("change", r.change);
  f("memory", r.memory);
  f("address", r.address);
  f("bytes", r.bytes);
  f("at_ns", r.at);
  describe<Fields>(f, r.place);
  f("correlation", r.correlation);
  f("library", r.library);
  f("role", r.role);
}

template <class Fields>
void describe(Fields& f, Ref<Fields, GpuApiCall> r) {
  f("domain", r.domain);
  f("name", r.name);
  describe<Fields>(f, r.time);
  f("thread", r.thread);
  f("correlation", r.correlation);
  f("status", r.status);
}

template <class Fields>
void describe(Fields& f, Ref<Fields, GpuExternalId> r) {
  f("kind", r.kind);
  f("id", r.id);
  f("correlation", r.correlation);
}

template <class Fields>
void describe(Fields& f, Ref<Fields, GpuOverhead> r) {
  f("kind", r.kind);
  describe<Fields>(f, r.time);
  f("thread", r.thread);
  f("correlation", r.correlation);
}

template <class Fields>
void describe(Fields& f, Ref<Fields, GpuSynchronisation> r) {
  f("kind", r.kind);
  describe<Fields>(f, r.time);
  f("context", r.context);
  f("stream", r.stream);
  f("correlation", r.correlation);
}

template <class Fields>
void describe(Fields& f, Ref<Fields, GpuGraphNode> r) {
  f("node", r.node);
  f("original", r.original);
  f("external_id", r.external_id);
}

template <class Fields>
void describe(Fields& f, Ref<Fields, GpuLimits> r) {
  f("compute_major", r.compute_major);
  f("compute_minor", r.compute_minor);
  f("warp_size", r.warp_size);
  f("warps_per_multiprocessor", r.warps_per_multiprocessor);
  f("blocks_per_multiprocessor", r.blocks_per_multiprocessor);
  f("threads_per_block", r.threads_per_block);
  f("registers_per_multiprocessor", r.registers_per_multiprocessor);
  f("registers_per_block", r.registers_per_block);
  f("shared_bytes_per_multiprocessor", r.shared_bytes_per_multiprocessor);
}

template <class Fields>
void describe(Fields& f, Ref<Fields, GpuDevice> r) {
  f("device", r.device);
  f("name", r.name);
  describe<Fields>(f, r.limits);
  f("multiprocessors", r.multiprocessors);
  f("memory_bytes", r.memory_bytes);
}

template <class Fields>
void describe(Fields& f, Ref<Fields, GpuContext> r) {
  f("context", r.context);
  f("device", r.device);
}

template <class Fields>
void describe(Fields& f, Ref<Fields, GpuProcessMemory> r) {
  f("memory_bytes", r.bytes);
  f("memory_source", r.source);
}

template <class Fields>
void describe(Fields& f, Ref<Fields, GpuReading> r) {
  f("device", r.device);
  f("at_ns", r.at);
  f("sm_clock_hz", r.sm_clock_hz);
  f("power_milliwatt", r.power_milliwatt);
  f.whole("memory_bytes", r.memory);
}

template <class Fields>
void describe(Fields& f, Ref<Fields, GpuNote> r) {
  f("text", r.text);
}

template <class Fields>
void describe(Fields& f, Ref<Fields, GpuOperatorWork> r) {
  f("flops", r.flops);
  f("bytes", r.bytes);
}

struct OwnerLine {
  std::uint64_t id = 0;
  OperatorExecution owner;
};

template <class Fields>
void describe(Fields& f, Ref<Fields, OwnerLine> r) {
  f("id", r.id);
  f("case", r.owner.case_id);
  f("scope", r.owner.scope);
  f("direction", r.owner.direction);
  f("op", r.owner.op);
  f("iteration", r.owner.iteration);
  f.whole("flops", r.owner.work);
}

// The first line: the session without its owners and records.
template <class Fields>
void describe(Fields& f, Ref<Fields, GpuSession> r) {
  f("schema", kGpuRecordsSchema);
  f("pid", r.pid);
  f("tracer", r.tracer);
  f("monotonic_ns", r.clock.monotonic);
  f("realtime_ns", r.clock.realtime);
  f("dropped", r.dropped);
  f("faults", r.faults);
}

template <class Fields>
void describe(Fields& f, Ref<Fields, GpuSessionEnd> r) {
  f("dropped", r.dropped);
  f("faults", r.faults);
}

}  // namespace bench::gpu_record_fields
