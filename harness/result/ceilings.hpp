// SPDX-License-Identifier: Apache-2.0
// Ceilings: the highest rates that a machine reached in loops that do nothing else (`bench peak`).
// Plain data and look-ups.
#pragma once

#include "base/units.hpp"
#include "harness/result/record.hpp"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bench {

// The levels of the memory hierarchy, fastest first. A GPU has l2 and dram, its own memory.
inline constexpr std::array<std::string_view, 4> kMemoryLevels = {"l1", "l2", "l3", "dram"};
// Names of ceilings that are not loops of the operator `peak`. kDispatchCeiling: the time of a
// primitive that computes one element; on a GPU the time of an empty kernel or of the shortest
// copy, whichever is shorter. kLibraryCeiling: the prefix of the library's large matrix products
// ("gemm_f32").
inline constexpr std::string_view kDispatchCeiling = "dispatch";
inline constexpr std::string_view kLibraryCeiling = "gemm_";
// Prefix of ceilings for multiply-adds on a GPU's CUDA cores ("fma_cuda_f32").
inline constexpr std::string_view kCudaCoreCeiling = "fma_cuda_";

// A rate of arithmetic, a bandwidth, or the time of a call.
using CeilingValue = std::variant<FlopsPerSecond, BytesPerSecond, Nanoseconds>;

struct Ceiling {
  // "fma_avx512_f32" (the loop and the type that it computes), "read", "dispatch", "gemm_f32"
  std::string name;
  std::string level;  // one of kMemoryLevels for bandwidths, else empty
  int threads = 1;
  CeilingValue value;
  // Share by which the rate of the median sample is below that of the best one, which is the
  // ceiling. Only calibrated ceilings have it.
  std::optional<double> precision = std::nullopt;
  friend bool operator==(const Ceiling&, const Ceiling&) = default;
};

// Returns why the ceiling cannot be one: its name is unknown, or the level, the unit or the value
// do not belong to the name. Empty if it can. Call this for ceilings of untrusted files.
std::string find_ceiling_violation(const Ceiling& ceiling);

struct Ceilings {
  CeilingSource source = CeilingSource::stored;
  int threads = 1;  // number of all threads of this machine
  std::vector<Ceiling> rows;
  // Capacity by level. "l1" and "l2" are per core, "l3" is the complete last-level cache.
  std::map<std::string, Bytes, std::less<>> caches;
  // The name of the GPU that has these ceilings ("NVIDIA H200") and its compute capability
  // ("9.0"). Both are empty for ceilings of the CPU. For a GPU, `threads` is 1.
  std::string gpu = {};
  std::string capability = {};
};

// Returns the data types of the loops of arithmetic that bound a case of this data type.
std::vector<std::string_view> loop_types(std::string_view dtype);

// Returns the largest precision of all calibrated rates, each from the moment in which it was
// highest; nullopt if there are none.
std::optional<double> calibration_precision(const Ceilings& ceilings);
// Formats a precision: "4 %", "0.3 %".
std::string format_precision(double precision);
// Returns ", to about 4 %"; empty if the precision is unknown.
std::string precision_suffix(const std::optional<double>& precision);

// The following functions return nullopt if the ceiling was not measured. Rates and bandwidths for
// a number of threads between 1 and all are interpolated linearly. All threads together are never
// slower than one of them, since the others may be idle: if the measurement says otherwise, it was
// disturbed, and the rate of one thread counts.

// Returns the highest rate of arithmetic for a data type. A library can convert a narrow type to
// f32, so its ceiling is at least that of f32, and at least the rate of the library's large
// products of the type.
std::optional<FlopsPerSecond> find_peak(const Ceilings& ceilings, std::string_view dtype,
                                        int threads);
// Returns the highest rate that a loop of the CPU or a large product of the library reached in the
// data type itself. nullopt if neither was measured.
std::optional<FlopsPerSecond> find_measured_rate(const Ceilings& ceilings, std::string_view dtype,
                                                 int threads);
// Returns the highest rate of a GPU's CUDA cores for a data type.
std::optional<FlopsPerSecond> cuda_core_peak(const Ceilings& ceilings, std::string_view dtype);
// Returns the highest rate of the library's products on tensor cores for an operand type: "f16",
// "tf32".
std::optional<FlopsPerSecond> tensor_core_peak(const Ceilings& ceilings, std::string_view operand);
// Returns the highest bandwidth of a level over all loops that read. If the level was not measured,
// returns the bandwidth of the nearest faster level, which is an upper bound.
std::optional<BytesPerSecond> find_bandwidth(const Ceilings& ceilings, std::string_view level,
                                             int threads);
// Returns the shortest time of a library call, on a GPU of a launch.
std::optional<Nanoseconds> find_dispatch_time(const Ceilings& ceilings, int threads);

// Returns the smallest cache that holds the working set of `threads` threads, or "dram".
std::string_view level_that_holds(const Ceilings& ceilings, Bytes working_set, int threads);

}  // namespace bench
