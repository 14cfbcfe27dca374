// SPDX-License-Identifier: Apache-2.0
// The behaviour of the fake GPU: the JSON file $FAKE_GPU_SCRIPT. Every key is optional; an unknown
// key is an error. Without the variable all defaults apply.
//
//   {
//     "device": {                          null: there is none, and `verdict` states why
//       "name": "Fake GPU", "compute": [9, 0], "multiprocessors": 4,
//       "memory_bytes": 1073741824,        allocations beyond it fail
//       "cache_bytes": 1048576, "clock_hz": 1500000000,
//       "memory_clock_khz": 1000000, "memory_bus_bits": 64 },   unknown if omitted
//     "verdict": { "availability": "no_driver", "reason": "...", "remedy": "..." },
//     "absent": { "cuBLASLt": "libcublasLt.so.13 was not found" },  also cuDNN, cuBLAS, NVML,
//                                          CUPTI; a backend without its library refuses
//     "open": { "status": "skipped", "reason": "..." },  every backend refuses; also unsupported,
//                                          failed
//     "cases": [ {                         the first row that matches
//       "match": "gemm/m4*",               glob over OPERATOR/TOKENS; for a network's node also
//                                          over the node's name; "*": all
//       "ns": 10000,                       time of one execution on the device
//       "launch_ns": 2000,                 time of the host per launch
//       "implementation": "fake_engine", "workspace": 0,
//       "refused": { "status": "unsupported", "reason": "..." },
//       "wrong_element": 0,                index in the first output: 0.5 too large
//       "unwritten_element": 0,            index in the first output: left unchanged
//       "details": { "engine": "7" },
//       "kernels": [ { "name": "...", "ns": 5000, "grid": [8,1,1], "block": [128,1,1],
//                      "registers": 32, "shared_bytes": 0 } ],  launched by an execution in this
//                                          order, instead of one kernel of `ns`; `ns` is their sum
//       "spread": 0.02,                    samples vary by up to that fraction of their time
//       "samples": [ { "from": 3, "to": 5, samples of one kernel object, from 0; `to` is inclusive,
//                      "verdict": "void",  and all later ones if omitted. Also throttled,
//                      "reason": "...",    unsteady, counted
//                      "clock_hz": 1200000000, "factor": 1.25 } ] } ],   the first row that covers
//     "faults": [ {
//       "at": "execution",                 also load, open, create, sample, and
//                                          traced: executions while a trace records
//       "match": "*", "after": 3,          earlier moments of this kind in this process
//       "kind": "sticky",                  fail: once. sticky: all later uses of the device fail.
//       "error": "..." } ],                lost: the same with another error text. abort, hang: the
//                                          process
//     "tracer": { "conflict": "Nsight Systems",  begin fails and names it
//                 "realtime": true,      times of the device are on CLOCK_REALTIME, as always in
//                                        a context that is older than the tracer
//                 "dropped": 3, "faults": ["..."], "notes": ["..."],
//                 "readings": [ {        the driver's values, by time since the window's begin;
//                   "after_ns": 1000, "sm_clock_hz": 1755000000, "power_milliwatt": 450000,
//                   "memory_bytes": 65536, "memory_source": "process" } ] },  or growth
//     "counters": { "refused": { "status": "unsupported", "reason": "..." },
//                   "passes": 4,           executions that one measurement takes
//                   "values": { "dram_read_bytes": 4096 },
//                   "absent": { "l2_hit_share": "this chip has none" } }
//   }
//
// Time on the device is virtual: samples report the times of the script. An execution outside
// samples really takes this time, because profilers read the host's clock.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/backend/device.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/availability.hpp"
#include "profiler/gpu/gpu_record.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::fake_gpu {

struct DeviceScript {
  std::string name = "Fake GPU";
  int major = 9, minor = 0;
  int multiprocessors = 4;
  Bytes memory{std::int64_t{1} << 30};
  Bytes cache{1 << 20};
  std::int64_t clock_hz = 1'500'000'000;
  std::optional<std::int64_t> memory_clock_khz, memory_bus_bits;
};

struct KernelScript {
  std::string name;
  Nanoseconds time{10000};
  GpuSize grid{8, 1, 1}, block{128, 1, 1};
  std::int64_t registers = 32;
  std::int64_t shared_bytes = 0;
};

struct SampleScript {
  std::int64_t first = 0;
  std::optional<std::int64_t> last;
  ops::SampleVerdict verdict = ops::SampleVerdict::counted;
  std::string reason;
  std::optional<std::int64_t> clock_hz;
  double factor = 1;
};

struct CaseScript {
  std::string match = "*";
  Nanoseconds launch{2000};
  std::string implementation = "fake_engine";
  Bytes workspace{0};
  std::optional<ops::BackendError> refused;
  std::optional<std::int64_t> wrong_element, unwritten_element;
  std::map<std::string, std::string> details;
  // at least one; without a name, a kernel is named after the operator
  std::vector<KernelScript> kernels;
  double spread = 0;
  std::vector<SampleScript> samples;

  Nanoseconds time() const;  // duration of an execution
};

enum class Moment { load, open, create, execution, sample, traced };
enum class FaultKind { fail, sticky, lost, abort, hang };

struct FaultScript {
  Moment at = Moment::execution;
  std::string match = "*";
  std::int64_t after = 0;
  FaultKind kind = FaultKind::fail;
  std::string error;  // never empty
};

struct ReadingScript {
  Nanoseconds after{0};  // time since the beginning of the window
  std::optional<std::int64_t> sm_clock_hz, power_milliwatt, memory_bytes;
  GpuMemorySource memory_source = GpuMemorySource::process;
};

struct TracerScript {
  std::string conflict;  // empty: none
  bool realtime = false;
  std::int64_t dropped = 0;
  std::vector<std::string> faults;
  std::vector<std::string> notes;
  std::vector<ReadingScript> readings;
};

struct CountersScript {
  std::optional<ops::BackendError> refused;
  std::int64_t passes = 1;
  std::map<std::string, double> values;
  std::map<std::string, std::string> absent;  // key: name, value: reason
};

struct Script {
  std::optional<DeviceScript> device = DeviceScript();
  ops::cuda::Verdict verdict;                 // why there is no device
  std::map<std::string, std::string> absent;  // key: library, value: reason
  std::optional<ops::BackendError> open;
  std::vector<CaseScript> cases;
  std::vector<FaultScript> faults;
  TracerScript tracer;
  CountersScript counters;

  // Returns the first case that matches an operator's problem, "gemm/m4n4k4", as `node` of a
  // network; a default one if none matches.
  CaseScript find_case(std::string_view problem, std::string_view node = {}) const;
};

// Returns an error that states what is wrong in the script, and where.
Result<Script> parse_script(const std::string& text);

}  // namespace bench::fake_gpu
