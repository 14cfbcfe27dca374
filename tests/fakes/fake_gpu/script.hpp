// SPDX-License-Identifier: Apache-2.0
// What the fake GPU does: the JSON file $FAKE_GPU_SCRIPT. Everything in it may be left out; an
// unknown key is an error. Without the variable all defaults hold.
//
//   {
//     "device": {                          null: there is none, and `verdict` says why
//       "name": "Fake GPU", "compute": [9, 0], "multiprocessors": 4,
//       "memory_bytes": 1073741824,        allocations beyond it fail
//       "cache_bytes": 1048576, "clock_hz": 1500000000 },
//     "verdict": { "availability": "no_driver", "reason": "...", "remedy": "..." },
//     "absent": { "cuBLASLt": "libcublasLt.so.13 was not found" },  of cuDNN, cuBLASLt, cuBLAS,
//                                          NVML and CUPTI; a backend without its library refuses
//     "open": { "status": "skipped", "reason": "..." },  every backend refuses; also unsupported,
//                                          failed
//     "cases": [ {                         the first row that matches
//       "match": "gemm/m4*",               glob over OPERATOR/TOKENS, of a network's node also over
//                                          the node's name; "*": all
//       "ns": 10000,                       of one execution, on the device
//       "launch_ns": 2000,                 of the host, a launch
//       "implementation": "fake_engine", "workspace": 0,
//       "refused": { "status": "unsupported", "reason": "..." },
//       "wrong_element": 0,                of the first output: 0.5 too large
//       "unwritten_element": 0,            of the first output: left as it was
//       "details": { "engine": "7" },
//       "kernels": [ { "name": "...", "ns": 5000, "grid": [8,1,1], "block": [128,1,1],
//                      "registers": 32, "shared_bytes": 0 } ],  that an execution launches, one
//                                          after the other, in place of one of `ns`; `ns` is their
//                                          sum
//       "spread": 0.02,                    samples lie up to that share around their time
//       "samples": [ { "from": 3, "to": 5, of the samples taken of one kernel object, from 0; `to`
//                      "verdict": "void",  inclusive, left out: all later ones. Also throttled,
//                      "reason": "...",    unsteady, counted
//                      "clock_hz": 1200000000, "factor": 1.25 } ] } ],   the first row that covers
//     "faults": [ {
//       "at": "execution",                 also load, open, create, sample, and
//                                          traced: executions while a trace records
//       "match": "*", "after": 3,          moments of this kind that pass before, in this process
//       "kind": "sticky",                  fail: once. sticky: from then on all that touches the
//       "error": "..." } ],                device. lost: the same in other words. abort, hang: the
//                                          process
//     "tracer": { "conflict": "Nsight Systems",  begin fails and names it
//                 "realtime": true,      times of the device are on CLOCK_REALTIME, as those of
//                                        a context that is older than the tracer always are
//                 "dropped": 3, "faults": ["..."], "notes": ["..."],
//                 "readings": [ {        what the driver says so long after the window's begin;
//                   "after_ns": 1000, "sm_clock_hz": 1755000000, "power_milliwatt": 450000,
//                   "memory_bytes": 65536, "memory_source": "process" } ] },  or growth
//     "counters": { "refused": { "status": "unsupported", "reason": "..." },
//                   "passes": 4,           executions that one measurement takes
//                   "values": { "dram_read_bytes": 4096 },
//                   "absent": { "l2_hit_share": "this chip has none" } }
//   }
//
// Time on the device is virtual: samples report what the script says. An execution outside of
// samples lasts as long, since profilers read the host's clock.
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
  std::optional<ops::Refusal> refused;
  std::optional<std::int64_t> wrong_element, unwritten_element;
  std::map<std::string, std::string> details;
  std::vector<KernelScript> kernels;  // at least one; of one without a name the operator gives it
  double spread = 0;
  std::vector<SampleScript> samples;

  Nanoseconds time() const;  // of an execution
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
  Nanoseconds after{0};  // the window's begin
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
  std::optional<ops::Refusal> refused;
  std::int64_t passes = 1;
  std::map<std::string, double> values;
  std::map<std::string, std::string> absent;  // with the reason
};

struct Script {
  std::optional<DeviceScript> device = DeviceScript();
  ops::cuda::Verdict verdict;                 // why there is none
  std::map<std::string, std::string> absent;  // libraries, with the reason
  std::optional<ops::Refusal> open;
  std::vector<CaseScript> cases;
  std::vector<FaultScript> faults;
  TracerScript tracer;
  CountersScript counters;

  // Of an operator's problem, "gemm/m4n4k4", as `node` of a network.
  CaseScript case_of(std::string_view problem, std::string_view node = {}) const;
};

// Error: what is wrong with it, and where.
Result<Script> parse_script(const std::string& text);

}  // namespace bench::fake_gpu
