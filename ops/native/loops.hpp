// SPDX-License-Identifier: Apache-2.0
// The loops of the operator peak in machine code: the work of one thread. They are assembly, so
// that every build and compiler measures the same instructions.
#pragma once

#include "base/data_type.hpp"
#include "ops/peak/peak.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bench::ops {

// Adds `steps` times the products of two operands to accumulators that begin with 0, and stores
// these. `operands`: two blocks of kOperandBytes. A step count of 0 is not permitted.
using ArithmeticCode = void (*)(std::int64_t steps, const void* operands, void* sums);
inline constexpr std::int64_t kOperandBytes = 1024;

struct ArithmeticCodeRow {
  std::string_view function;
  DataType dtype;
  std::string_view flags;  // that /proc/cpuinfo must list; empty: every processor has them
  ArithmeticCode code;
};
std::span<const ArithmeticCodeRow> arithmetic_codes();

// The arrays of a movement. Aligned to 64 bytes. `largest` receives kLargest maxima of a read.
struct MovedArrays {
  float* to = nullptr;
  const float* a = nullptr;
  const float* b = nullptr;
  float* largest = nullptr;
};
inline constexpr std::int64_t kLargest = 128;

// Moves `chunks` (at least 1) chunks of kPeakChunk bytes of each array.
using MovementCode = void (*)(const MovedArrays& arrays, std::int64_t chunks);

struct MovementCodeRow {
  std::string_view function;
  std::string_view flags;
  std::string_view name;  // name of the vectors: "avx512"
  MovementCode code;
};
// The widest first.
std::span<const MovementCodeRow> movement_codes();

// The flags of /proc/cpuinfo of the first processor.
std::string processor_flags(std::string_view cpuinfo);
// Whether all of the wanted words are among the flags.
bool has_flags(std::string_view flags, std::string_view wanted);

// Asks the kernel to permit the tiles of AMX to this process. Returns false if it does not.
bool permit_tiles();

}  // namespace bench::ops
