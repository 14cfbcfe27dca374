// SPDX-License-Identifier: Apache-2.0
// The operator peak: loops that do nothing but arithmetic, or nothing but move data. Their rates
// are the ceilings of a machine and of its GPU.
//
// Arithmetic: destination = source + steps * terms * kPeakProduct. The loop adds `terms` products
// of equal constants to each accumulator, `steps` times. All values are exact in f32. Movement:
// `steps` passes over `bytes` of f32 data. read: the maximum. write: source[0] everywhere. copy:
// the source. triad: a + 3*b.
#pragma once

#include "ops/operator.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bench::ops {

inline constexpr std::string_view kPeakOperator = "peak";

// A loop over accumulators in registers.
struct ArithmeticLoop {
  std::string_view function;
  DataType dtype;  // type of the factors
  DataType sums;   // type of the accumulators
  // all accumulators of one thread; of `fma_cuda`: of one block of threads
  std::int64_t elements;
  std::int64_t terms;  // products that one step adds to each accumulator
};
std::span<const ArithmeticLoop> arithmetic_loops();
// Returns nullptr if no loop of that name computes the type.
const ArithmeticLoop* find_arithmetic_loop(std::string_view function, DataType dtype);

enum class Movement { read, write, copy, triad };
enum class StoreKind { cached, streaming };  // streaming: bypasses the caches
struct MovementLoop {
  std::string_view function;
  Movement movement;
  StoreKind stores;
  std::int64_t arrays;  // number of arrays that `bytes` is divided into
};
std::span<const MovementLoop> movement_loops();
const MovementLoop* find_movement_loop(std::string_view function);  // nullptr if unknown

// The only arithmetic on a GPU: fused multiply-adds of the CUDA cores. No other device has it.
inline constexpr std::string_view kGpuArithmetic = "fma_cuda";

// The bytes of each array are a multiple of this.
inline constexpr std::int64_t kPeakChunk = 512;
// Steps of arithmetic if none are given: about 0.2 ms.
inline constexpr std::int64_t kPeakSteps = 131072;
// The maximum of `steps`. More would exceed the range of 32-bit sums.
inline constexpr std::int64_t kMaxPeakSteps = 1 << 24;
// One product of the constant factors (2^-6 each; integers: 1).
inline constexpr double kPeakProduct = 0x1p-12;
inline constexpr double kTriadFactor = 3;

// The steps of a problem of this operator.
std::int64_t peak_steps(const Problem& problem);

std::vector<double> peak_reference(const Problem& problem, ReferenceInputs inputs,
                                   std::size_t output, std::span<const std::int64_t> positions);

}  // namespace bench::ops
