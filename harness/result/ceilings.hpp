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
// Names of ceilings that are not loops of the operator `peak`: the time of a primitive that
// computes one element (on a GPU that of an empty kernel), and the prefix of large products of the
// library ("gemm_f32").
inline constexpr std::string_view kDispatchCeiling = "dispatch";
inline constexpr std::string_view kLibraryCeiling = "gemm_";
// Prefix of the multiply-adds of a GPU's CUDA cores ("fma_cuda_f32").
inline constexpr std::string_view kCudaCoreCeiling = "fma_cuda_";

// A rate of arithmetic, a bandwidth, or the time of a call.
using CeilingValue = std::variant<FlopsPerSecond, BytesPerSecond, Nanoseconds>;

struct Ceiling {
  // "fma_avx512_f32" (the loop and the type that it computes), "read", "dispatch", "gemm_f32"
  std::string name;
  std::string level;  // one of kMemoryLevels for bandwidths, else empty
  int threads = 1;
  CeilingValue value;
  friend bool operator==(const Ceiling&, const Ceiling&) = default;
};

struct Ceilings {
  CeilingSource source = CeilingSource::stored;
  int threads = 1;  // "all threads" of this machine
  std::vector<Ceiling> rows;
  // Capacity by level. "l1" and "l2" are those of one core, "l3" is the whole last-level cache.
  std::map<std::string, Bytes, std::less<>> caches;
  // The name of the GPU that has these ceilings ("NVIDIA H200") and its compute capability
  // ("9.0"). Empty: they are the CPU's. A GPU has `threads` 1.
  std::string gpu = {};
  std::string capability = {};
};

// Each of these is for a number of threads. For a number between 1 and all, it is interpolated
// linearly. nullopt: not measured.

// The highest rate of arithmetic for a data type. A type for which the machine has no loop faster
// than f32 has the ceiling of f32, since a library can convert.
std::optional<FlopsPerSecond> find_peak(const Ceilings& ceilings, std::string_view dtype,
                                        int threads);
// The highest rate of a GPU's CUDA cores for a data type. nullopt for types whose
// rate was not measured.
std::optional<FlopsPerSecond> cuda_core_peak(const Ceilings& ceilings, std::string_view dtype);
// The highest rate of the library's products on tensor cores for an operand type: "f16", "tf32".
std::optional<FlopsPerSecond> tensor_core_peak(const Ceilings& ceilings, std::string_view operand);
// The highest bandwidth of a level over the loops that read. If the level was not measured, that of
// the nearest faster level, so that it stays an upper bound.
std::optional<BytesPerSecond> find_bandwidth(const Ceilings& ceilings, std::string_view level,
                                             int threads);
// The shortest time of a call of the library.
std::optional<Nanoseconds> find_dispatch_time(const Ceilings& ceilings, int threads);

// The smallest cache that holds the working set of `threads` threads, or "dram".
std::string_view level_that_holds(const Ceilings& ceilings, Bytes working_set, int threads);

}  // namespace bench
