// SPDX-License-Identifier: Apache-2.0
// A recorded session as text, so that recorded GPU work can be decoded, joined and assessed on
// machines without a GPU. JSON lines, schema bench.gpu_records/1, one record per line.
//
//   {"record":"session","schema":"bench.gpu_records/1","pid":7,"tracer":"CUPTI 13.0.1",
//    "monotonic_ns":5,"realtime_ns":9,"dropped":0,"faults":[]}            (one line, the first)
//   {"record":"owner","id":1,"case":"...","scope":"net:conv1","direction":"forward","op":"conv",
//    "iteration":5,"flops":100,"bytes":10}             what external id 1 stands for
//   {"record":"kernel","name":"_Z4gemmv","start_ns":10,"end_ns":20,"device":0,"context":1,
//    "stream":7,"grid":[2,1,1],"block":[128,1,1],"registers":32,"static_shared_bytes":0,
//    "dynamic_shared_bytes":0,"correlation":3,"queued_ns":8,"graph_node":2}
//   {"record":"memcpy","kind":"host_to_device","source":"pinned","destination":"device",
//    "bytes":4096,"start_ns":..,"end_ns":..,"device":..,"context":..,"stream":..,
//    "correlation":..,"graph_node":..,"source_device":..,"destination_device":..}
//   {"record":"memset","memory":"device","bytes":4096,..as memcpy..}
//   {"record":"allocation","change":"release","memory":"device","address":1,"bytes":2,"at_ns":3,
//    "device":..,"context":..,"stream":..,"correlation":..,"library":"","role":"workspace"}
//   {"record":"api","domain":"runtime","name":"cudaLaunchKernel","start_ns":..,"end_ns":..,
//    "thread":7,"correlation":3,"status":0}
//   {"record":"external_id","kind":"operation","id":1,"correlation":3}
//   {"record":"overhead","kind":"buffer_flush","start_ns":..,"end_ns":..,"thread":..,
//    "correlation":..}
//   {"record":"synchronisation","kind":"stream","start_ns":..,"end_ns":..,"context":..,
//    "stream":..,"correlation":..}
//   {"record":"graph_node","node":2,"original":1,"external_id":1}
//   {"record":"device","device":0,"name":"...","compute_major":9,...,"memory_bytes":..}
//   {"record":"context","context":1,"device":0}
//   {"record":"reading","device":0,"at_ns":..,"sm_clock_hz":1755000000,"power_milliwatt":450000,
//    "memory_bytes":..,"memory_source":"process"}      what the driver reported at that moment
//   {"record":"note","text":"no clock and power: ..."}
//
// Unknown values are omitted. The reader is strict. It returns an error with the line number if a
// key is missing, unknown or has the wrong type. The same applies if a record or enumerator is
// unknown, or if the last line has no newline.
#pragma once

#include "base/result.hpp"
#include "profiler/gpu/gpu_record.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

inline constexpr std::string_view kGpuRecordsSchema = "bench.gpu_records/1";

std::string format_gpu_session(const GpuSession& session);
// `name` identifies the text in messages: "session.jsonl:3: ...".
Result<GpuSession> read_gpu_session(std::string_view text, const std::string& name);

// The same line by line, for sessions that are written while they run and may be incomplete.
struct GpuSessionEnd {
  std::int64_t dropped = 0;
  std::vector<std::string> faults;
};
std::string gpu_session_line(const GpuSession& session);  // the first line, without owners
std::string format_gpu_records(std::span<const GpuRecord> records);
std::string gpu_session_end_line(const GpuSessionEnd& end);
// Parses one line without its newline and adds it to `session`. `number` is the line number, from
// 1. An error states the problem but not the line; `session` is then unchanged.
enum class GpuLine { session, owner, record, session_end };
Result<GpuLine> parse_gpu_line(std::string_view text, std::size_t number, GpuSession& session);

}  // namespace bench
