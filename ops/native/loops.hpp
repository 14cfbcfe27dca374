// SPDX-License-Identifier: Apache-2.0
// The loops of the operator peak: the work of one thread. Loops for specific instruction sets are
// assembly, so that every build and compiler measures the same instructions. The portable ones are
// C++ with vector types.
#pragma once

#include "base/data_type.hpp"
#include "ops/peak/peak.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bench::ops {

// Repeats `steps` times (at least once): multiplies two operands and adds the products to
// accumulators that begin at 0. Then stores the accumulators in `sums`. `operands`: two blocks of
// kOperandBytes.
using ArithmeticCode = void (*)(std::int64_t steps, const void* operands, void* sums);
inline constexpr std::int64_t kOperandBytes = 1024;

struct ArithmeticCodeRow {
  std::string_view function;
  DataType dtype;
  std::string_view flags;  // flags that /proc/cpuinfo must list; empty: the loop needs none
  ArithmeticCode code;
};
std::span<const ArithmeticCodeRow> arithmetic_codes();

// The arrays that a bandwidth loop reads (`a`, `b`) and writes (`to`), aligned to 64 bytes. A loop
// that only reads stores kLargest partial maxima in `largest`.
struct CopyArrays {
  float* to = nullptr;
  const float* a = nullptr;
  const float* b = nullptr;
  float* largest = nullptr;
};
inline constexpr std::int64_t kLargest = 128;

// Moves `chunks` (at least 1) chunks of kPeakChunk bytes of each array.
using MovementCode = void (*)(const CopyArrays& arrays, std::int64_t chunks);

struct MovementCodeRow {
  std::string_view function;
  std::string_view flags;
  std::string_view name;  // name of the vectors: "avx512"
  MovementCode code;
};
// Returns all rows, those with the widest vectors first.
std::span<const MovementCodeRow> movement_codes();

// The flags of /proc/cpuinfo of the first processor.
std::string processor_flags(std::string_view cpuinfo);
// Returns whether `flags` contains each of the space-separated words in `required_flags`.
bool has_flags(std::string_view flags, std::string_view required_flags);

// Asks Linux to let this process use AMX tiles. Returns false if Linux refuses.
bool permit_tiles();

}  // namespace bench::ops
