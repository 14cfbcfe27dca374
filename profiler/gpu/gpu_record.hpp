// SPDX-License-Identifier: Apache-2.0
// What a GPU tracer records, before join.hpp converts the records to activities. This is plain
// data, without types of a tracer or of ops/. All times are CLOCK_MONOTONIC. The driver assigns all
// ids; they are unique only within one process. gpu_record_lines.hpp defines the file format.
#pragma once

#include "base/enumerators.hpp"
#include "base/units.hpp"
#include "profiler/attribute.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace bench {

BENCH_ENUM(GpuCopyKind, unknown, host_to_device, device_to_host, host_to_array, array_to_host,
           array_to_array, array_to_device, device_to_array, device_to_device, host_to_host,
           peer_to_peer);
BENCH_ENUM(GpuMemoryKind, unknown, pageable, pinned, device, array, managed, device_static,
           managed_static);
BENCH_ENUM(GpuApiDomain, runtime, driver);
BENCH_ENUM(GpuAllocationChange, allocation, release);
// Kind of a synchronisation. The calling thread waits, except for stream_wait_event, where the
// stream waits.
BENCH_ENUM(GpuWaitKind, unknown, event, stream_wait_event, stream, context);
BENCH_ENUM(GpuOverheadKind, unknown, driver_compiler, buffer_flush, instrumentation, resource,
           module_loading, lazy_function_loading, command_buffer_full, buffer_request,
           unified_memory);
// How the memory of a process was measured. process: the driver reports a value for the process.
// growth: the driver does not list the process (for example in a container). Then the value is the
// growth of the device's used memory since before the process first used the device. It can include
// memory of other processes.
BENCH_ENUM(GpuMemorySource, process, growth);
// Meaning of an external id: the operator that runs, or the phase of the user's program.
BENCH_ENUM(GpuExternalKind, operation, phase);

struct GpuInterval {
  Nanoseconds start{0}, end{0};
  Nanoseconds length() const { return end - start; }
  friend auto operator<=>(const GpuInterval&, const GpuInterval&) = default;
};

struct GpuSize {  // size of a grid in blocks, or of a block in threads
  std::int64_t x = 1, y = 1, z = 1;
  std::int64_t count() const { return x * y * z; }
  friend bool operator==(const GpuSize&, const GpuSize&) = default;
};

struct GpuPlace {
  std::int64_t device = 0;
  std::int64_t context = 0;
  std::int64_t stream = 0;
  friend bool operator==(const GpuPlace&, const GpuPlace&) = default;
};

// The same value for a call and all work that it put on a device. nullopt if the tracer does not
// know it.
using GpuCorrelation = std::optional<std::uint64_t>;

struct GpuKernel {
  std::string name;                 // the linker's (mangled) name, or a demangled one
  std::optional<GpuInterval> time;  // nullopt if the tracer could not measure it
  GpuPlace place;
  GpuSize grid, block;
  std::int64_t registers = 0;  // per thread
  std::int64_t static_shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;
  GpuCorrelation correlation;
  std::optional<Nanoseconds> queued;        // when the host wrote the command
  std::optional<std::uint64_t> graph_node;  // node of a replayed graph
  friend bool operator==(const GpuKernel&, const GpuKernel&) = default;
};

struct GpuMemcpy {
  GpuCopyKind kind = GpuCopyKind::unknown;
  GpuMemoryKind source = GpuMemoryKind::unknown;
  GpuMemoryKind destination = GpuMemoryKind::unknown;
  std::int64_t bytes = 0;
  std::optional<GpuInterval> time;
  GpuPlace place;
  GpuCorrelation correlation;
  std::optional<std::uint64_t> graph_node;
  std::optional<std::int64_t> source_device, destination_device;  // for copies between devices
  friend bool operator==(const GpuMemcpy&, const GpuMemcpy&) = default;
};

struct GpuMemset {
  GpuMemoryKind memory = GpuMemoryKind::unknown;
  std::int64_t bytes = 0;
  std::optional<GpuInterval> time;
  GpuPlace place;
  GpuCorrelation correlation;
  std::optional<std::uint64_t> graph_node;
  friend bool operator==(const GpuMemset&, const GpuMemset&) = default;
};

struct GpuAllocation {
  GpuAllocationChange change = GpuAllocationChange::allocation;
  GpuMemoryKind memory = GpuMemoryKind::unknown;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  Nanoseconds at{0};
  GpuPlace place;
  GpuCorrelation correlation;
  std::string library;              // path of the library that requested it; empty if unknown
  std::optional<std::string> role;  // purpose, if the requester states it: "workspace"
  friend bool operator==(const GpuAllocation&, const GpuAllocation&) = default;
};

struct GpuApiCall {
  GpuApiDomain domain = GpuApiDomain::runtime;
  std::string name;  // "cudaLaunchKernel"
  GpuInterval time;
  std::int64_t thread = 0;  // gettid
  GpuCorrelation correlation;
  std::int64_t status = 0;  // return value
  friend bool operator==(const GpuApiCall&, const GpuApiCall&) = default;
};

struct GpuExternalId {
  GpuExternalKind kind = GpuExternalKind::operation;
  std::uint64_t id = 0;
  std::uint64_t correlation = 0;  // correlation of a call made inside the region of this id
  friend bool operator==(const GpuExternalId&, const GpuExternalId&) = default;
};

// Time that the tracer, the driver's compiler or its loader took from the program.
struct GpuOverhead {
  GpuOverheadKind kind = GpuOverheadKind::unknown;
  GpuInterval time;
  std::optional<std::int64_t> thread;
  GpuCorrelation correlation;
  friend bool operator==(const GpuOverhead&, const GpuOverhead&) = default;
};

struct GpuSynchronisation {
  GpuWaitKind kind = GpuWaitKind::unknown;
  GpuInterval time;
  std::int64_t context = 0;
  std::optional<std::int64_t> stream;
  GpuCorrelation correlation;
  friend bool operator==(const GpuSynchronisation&, const GpuSynchronisation&) = default;
};

// A node of a CUDA graph. It was either created for an operator while its calls were captured, or
// copied from another node when the graph was instantiated.
struct GpuGraphNode {
  std::uint64_t node = 0;
  std::optional<std::uint64_t> copied_from;  // another node
  std::optional<std::uint64_t> external_id;
  friend bool operator==(const GpuGraphNode&, const GpuGraphNode&) = default;
};

// Limits on the number of blocks that a multiprocessor can hold (occupancy.hpp).
struct GpuLimits {
  std::int64_t compute_major = 0, compute_minor = 0;
  std::int64_t warp_size = 0;  // threads
  std::int64_t warps_per_multiprocessor = 0;
  std::int64_t blocks_per_multiprocessor = 0;
  std::int64_t threads_per_block = 0;
  std::int64_t registers_per_multiprocessor = 0;
  std::int64_t registers_per_block = 0;
  std::int64_t shared_bytes_per_multiprocessor = 0;
  friend bool operator==(const GpuLimits&, const GpuLimits&) = default;
};

struct GpuDevice {
  std::int64_t device = 0;
  std::string name;
  GpuLimits limits;
  std::int64_t multiprocessors = 0;
  std::int64_t memory_bytes = 0;
  friend bool operator==(const GpuDevice&, const GpuDevice&) = default;
};

struct GpuContext {
  std::int64_t context = 0;
  std::int64_t device = 0;
  friend bool operator==(const GpuContext&, const GpuContext&) = default;
};

// All device memory that the driver counts for one process: its context, code and allocations.
struct GpuProcessMemory {
  std::int64_t bytes = 0;
  GpuMemorySource source = GpuMemorySource::process;
  friend bool operator==(const GpuProcessMemory&, const GpuProcessMemory&) = default;
};

// Values that the driver reported at one moment. A value is nullopt if the driver does not report
// it.
struct GpuReading {
  std::int64_t device = 0;
  Nanoseconds at{0};
  std::optional<std::int64_t> sm_clock_hz;
  std::optional<std::int64_t> power_milliwatt;
  std::optional<GpuProcessMemory> memory;  // of this process
  friend bool operator==(const GpuReading&, const GpuReading&) = default;
};

// A note of the tracer for human readers. The session stays valid, in contrast to one with faults.
struct GpuNote {
  std::string text;
  friend bool operator==(const GpuNote&, const GpuNote&) = default;
};

using GpuRecord = std::variant<GpuKernel, GpuMemcpy, GpuMemset, GpuAllocation, GpuApiCall,
                               GpuExternalId, GpuOverhead, GpuSynchronisation, GpuGraphNode,
                               GpuDevice, GpuContext, GpuReading, GpuNote>;

// Work of one execution of an operator, following the convention in docs/work_model.md.
struct GpuOperatorWork {
  std::int64_t flops = 0;
  std::optional<std::int64_t> bytes = 0;  // compulsory bytes; nullopt if the data type is unknown
  // whole_operator: this is the work of the whole operator. each_gradient: a framework's backward
  // operator computes one or two gradients, and each gradient has this work. Only the readers of
  // `bench profile`'s intermediate files (spools) set each_gradient; profiles do not store it.
  enum class Extent { whole_operator, each_gradient } extent = Extent::whole_operator;
  friend bool operator==(const GpuOperatorWork&, const GpuOperatorWork&) = default;
};

// What an external id refers to: one execution of one operator.
struct OperatorExecution {
  std::string case_id, scope, direction, op;
  std::optional<std::int64_t> iteration;
  std::optional<GpuOperatorWork> work;
  Attributes inherited_attributes{};  // its kernels get these too; not stored in files
  friend bool operator==(const OperatorExecution&, const OperatorExecution&) = default;
};
using OperatorExecutions = std::map<std::uint64_t, OperatorExecution>;

// The same instant on two clocks. It makes sessions from several machines comparable.
struct GpuClockPair {
  Nanoseconds monotonic{0};
  Nanoseconds realtime{0};
  friend bool operator==(const GpuClockPair&, const GpuClockPair&) = default;
};

// Everything that one process recorded.
struct GpuSession {
  std::int64_t pid = 0;
  std::string tracer;  // "CUPTI 13.0.1"
  GpuClockPair clock;  // at an instant of the session, not necessarily its end
  OperatorExecutions executions;
  std::vector<GpuRecord> records;  // in any order
  std::int64_t dropped = 0;        // records lost because the tracer had no room
  // Other reasons for missing records: "a buffer ends in a record that is cut".
  std::vector<std::string> faults;
  friend bool operator==(const GpuSession&, const GpuSession&) = default;
};

}  // namespace bench
