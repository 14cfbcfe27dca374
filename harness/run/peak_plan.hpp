// SPDX-License-Identifier: Apache-2.0
// The cases that measure the ceilings of a machine: loops of the operator peak, large products of
// the library, and a primitive of one element.
#pragma once

#include "base/result.hpp"
#include "harness/config/plan.hpp"
#include "harness/host/environment.hpp"
#include "harness/result/ceilings.hpp"
#include "harness/result/record.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// A case and the ceiling that it measures.
struct PeakCase {
  std::string id;
  std::string name;   // the ceiling's name: "fma_avx512_f32", "read"
  std::string level;  // for bandwidths
  int threads = 1;
  std::string gpu = {};  // name of the GPU that has the ceiling; empty: the CPU
  friend bool operator==(const PeakCase&, const PeakCase&) = default;
};

// The capacities of the caches as in Ceilings.
std::map<std::string, Bytes, std::less<>> cache_sizes(const CpuFacts& cpu);

// Bytes that no cache holds: six times the last-level cache, between 192 MiB and 1 GiB.
Bytes memory_size(const CpuFacts& cpu);

// All ceilings of `bench peak`, for one thread and for `threads`. Instruction sets that the
// processor lacks are left out.
std::vector<PeakCase> peak_cases(const CpuFacts& cpu, int threads);
// The few that a calibration within a run measures.
std::vector<PeakCase> calibration_cases(const CpuFacts& cpu, int threads);

// The value of the ceiling that a case measured in `time`. nullopt without work where it needs
// some.
std::optional<CeilingValue> ceiling_value(const PeakCase& entry, const ops::Work& work,
                                          Nanoseconds time);

// A run that takes less time than this is not calibrated: a calibration would take more than a
// tenth of it.
inline constexpr Nanoseconds kShortestCalibrated = std::chrono::seconds(10);

// The cases of a calibration as a run measures them: about 50 ms each, without checks.
struct CalibrationCase {
  PeakCase peak;
  Case spec;
};
std::vector<CalibrationCase> calibration(const CpuFacts& cpu, int threads);

}  // namespace bench
