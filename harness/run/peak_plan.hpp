// SPDX-License-Identifier: Apache-2.0
// Plans the cases that measure the ceilings of a machine: loops of the operator `peak`, large
// matrix products of the library, and a primitive with one element.
#pragma once

#include "base/result.hpp"
#include "harness/config/plan.hpp"
#include "harness/host/environment.hpp"
#include "harness/result/ceilings.hpp"
#include "harness/result/record.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// A case and the ceiling that it measures.
struct PeakCase {
  std::string id;
  std::string name;   // the ceiling's name: "fma_avx512_f32", "read"
  std::string level;  // level of the memory hierarchy for bandwidths, else empty
  int threads = 1;
  std::string gpu = {};  // name of the GPU that has the ceiling; empty for the CPU
  friend bool operator==(const PeakCase&, const PeakCase&) = default;
};

// Returns the capacities of the caches as in Ceilings.
std::map<std::string, Bytes, std::less<>> cache_sizes(const CpuFacts& cpu);

// Returns the size of the data that measure the memory. No cache can hold them: six times the
// last-level cache, at least 192 MiB and at most 1 GiB.
Bytes memory_working_set(const CpuFacts& cpu);

// Which ceilings `bench peak` measures: all, or with `--quick` only those of the loops that are
// the fastest ones on most machines.
enum class PeakExtent { complete, first_look };

// Returns the cases for the ceilings of `bench peak`, for one thread and for `threads` threads.
// Omits instruction sets that the processor does not have.
std::vector<PeakCase> peak_cases(const CpuFacts& cpu, int threads, PeakExtent extent);

// Which ceilings a calibration within a run measures.
struct CalibrationExtent {
  std::vector<int> threads;          // numbers of threads, the most valuable first
  std::set<std::string_view> types;  // data types of the loops of arithmetic
};
// Returns what bounds the cases of the plan on the CPU; no threads if there are no such cases.
CalibrationExtent calibration_extent(const Plan& plan, int all_threads);
// Returns the few cases that a calibration within a run measures.
std::vector<PeakCase> calibration_peaks(const CpuFacts& cpu, int all_threads,
                                        const CalibrationExtent& extent);
// Returns those for all numbers of threads and all data types.
std::vector<PeakCase> calibration_peaks(const CpuFacts& cpu, int all_threads);

// Returns the id of a case that moves arrays of about `total` bytes, repeatedly until an iteration
// has moved about `moved` bytes. `place`: backend and device, such as "native/cpu".
std::string movement_case_id(std::string_view function, Bytes total, Bytes moved,
                             std::string_view place);

// Returns the ceiling that a case measured. `time`: shortest time of an iteration. Returns nullopt
// if the ceiling is a rate and the case has no such work.
std::optional<CeilingValue> ceiling_value(const PeakCase& entry, const ops::Work& work,
                                          Nanoseconds time);

// A case of a calibration as a run measures it: for about 50 ms, without a check.
struct CalibrationCase {
  PeakCase peak;
  Case spec;
};
// Usual time of such a case with its preparation: 20 of them took 1.8 s on a busy machine,
// which is assumed to be slower than an idle one.
inline constexpr Nanoseconds kCalibrationCaseTime = std::chrono::milliseconds(75);
// Returns these cases with the settings of a calibration. `timeout`: of each case.
std::vector<CalibrationCase> make_calibration_cases(std::vector<PeakCase> peaks,
                                                    Nanoseconds timeout = std::chrono::seconds(5));

}  // namespace bench
