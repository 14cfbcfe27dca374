// SPDX-License-Identifier: Apache-2.0
// The native kernel of peak on a CUDA device: its plan and its arithmetic. The same source is
// compiled for the device and for the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/element_codes.hpp"
#include "ops/cuda/kernels/plans.hpp"

#include <cmath>
#include <cstdint>

namespace bench::ops::cuda {

// Tensors: the sources in their order, then the destination.
struct PeakPlan {
  static constexpr const char* kKernel = "peak";
  enum class Kind : std::uint8_t { products, read, write, copy, triad };
  enum class Factors : std::uint8_t { f32, f64, f16 };  // sums of f16 are in f32
  Kind kind = Kind::copy;
  Factors factors = Factors::f32;  // type of the factors
  std::int64_t steps = 1;          // products per accumulator, or passes over the data
  std::int64_t quads = 0;          // quads of each array that is moved
  double factor = 0;  // both factors of a product, or the factor of triad's second source
};

// A block has this many threads, and each thread this many accumulators. Accumulator c of thread t
// is element c * kPeakThreads + t of the destination.
inline constexpr int kPeakThreads = 512;
inline constexpr int kPeakAccumulators = 8;
// Steps between two checks of the loop's counter.
inline constexpr int kPeakUnrolled = 16;

// Returns the first step of part `part` of `parts`. A part ends before the first step of the next.
BENCH_BOTH std::int64_t step_begin(std::int64_t steps, std::int64_t part, std::int64_t parts) {
  return steps / parts * part + steps % parts * part / parts;
}

// Two f16 values in one register. The CPU computes the same in f32: all sums are exact.
struct HalfPair {
#if defined(__CUDA_ARCH__)
  std::uint32_t bits;
#else
  float at[2];
#endif
};

BENCH_BOTH float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
BENCH_BOTH double multiply_add(double a, double b, double c) { return fma(a, b, c); }

#if defined(__CUDA_ARCH__)
inline __device__ HalfPair multiply_add(HalfPair a, HalfPair b, HalfPair c) {
  HalfPair sum;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(sum.bits) : "r"(a.bits), "r"(b.bits), "r"(c.bits));
  return sum;
}
inline __device__ HalfPair make_half_pair(float value) {
  const std::uint32_t code = encode_small<5, 10, Infinity::present>(value);
  return {code << 16 | code};
}
inline __device__ float select_half(HalfPair pair, int i) {
  return decode_small<5, 10, Infinity::present>(i == 0 ? pair.bits & 0xffffu : pair.bits >> 16);
}
#else
inline HalfPair multiply_add(HalfPair a, HalfPair b, HalfPair c) {
  return {{fmaf(a.at[0], b.at[0], c.at[0]), fmaf(a.at[1], b.at[1], c.at[1])}};
}
inline HalfPair make_half_pair(float value) { return {{value, value}}; }
inline float select_half(HalfPair pair, int i) { return pair.at[i]; }
#endif

// Adds the products of `steps` steps to independent sums.
template <class T, int kSums>
BENCH_BOTH void add_products(std::int64_t steps, T factor, T (&sums)[kSums]) {
  for (; steps >= kPeakUnrolled; steps -= kPeakUnrolled) {
    BENCH_UNROLL
    for (int sum = 0; sum < kPeakUnrolled * kSums; ++sum) {
      sums[sum % kSums] = multiply_add(factor, factor, sums[sum % kSums]);
    }
  }
  for (; steps > 0; --steps) {
    BENCH_UNROLL
    for (int sum = 0; sum < kSums; ++sum) sums[sum] = multiply_add(factor, factor, sums[sum]);
  }
}

// The type of the accumulators.
template <PeakPlan::Factors kFactors>
struct PeakSums {
  using Type = float;
};
template <>
struct PeakSums<PeakPlan::Factors::f64> {
  using Type = double;
};

// The next two functions compute the sums of one thread over `steps` steps. The sums start from
// values that a compiler does not know to be 0 and equal, because it would otherwise compute only
// one of them.

template <class T>
BENCH_BOTH void sum_products(const PeakPlan& plan, const void* source, int thread,
                             std::int64_t steps, T (&sums)[kPeakAccumulators]) {
  BENCH_UNROLL
  for (int i = 0; i < kPeakAccumulators; ++i) {
    sums[i] = T(0) * read_as<T>(source, i * kPeakThreads + thread);
  }
  add_products(steps, static_cast<T>(plan.factor), sums);
}

// Maximum number of steps of one f16 sum. Its products are kPeakProduct (2^-12), and f16 has 11
// significant bits, so sums of up to 2048 products are exact.
inline constexpr std::int64_t kHalfSteps = 2048;

BENCH_BOTH void sum_half_products(const PeakPlan& plan, const void* source, int thread,
                                  std::int64_t steps, float (&sums)[kPeakAccumulators]) {
  constexpr int kPairs = kPeakAccumulators / 2;
  const HalfPair factor = make_half_pair(static_cast<float>(plan.factor));
  BENCH_UNROLL
  for (int i = 0; i < kPeakAccumulators; ++i) sums[i] = 0;
  while (steps > 0) {
    const std::int64_t chunk_steps = steps < kHalfSteps ? steps : kHalfSteps;
    HalfPair pairs[kPairs];
    BENCH_UNROLL
    for (int pair = 0; pair < kPairs; ++pair) {
      pairs[pair] = make_half_pair(0.0f * read_as<float>(source, pair * kPeakThreads + thread));
    }
    add_products(chunk_steps, factor, pairs);
    BENCH_UNROLL
    for (int i = 0; i < kPeakAccumulators; ++i) {
      sums[i] += select_half(pairs[i / 2], i % 2);
    }
    steps -= chunk_steps;
  }
}

// Computes the sums of one thread of block `block` of `blocks`.
template <PeakPlan::Factors kFactors, class T>
BENCH_BOTH void compute_block_sums(const PeakPlan& plan, const void* source, int thread,
                                   std::int64_t block, std::int64_t blocks,
                                   T (&sums)[kPeakAccumulators]) {
  const std::int64_t steps =
      step_begin(plan.steps, block + 1, blocks) - step_begin(plan.steps, block, blocks);
  if constexpr (kFactors == PeakPlan::Factors::f16) {
    sum_half_products(plan, source, thread, steps, sums);
  } else {
    sum_products(plan, source, thread, steps, sums);
  }
}

// Four values of an array, which one thread reads or writes at once.
struct alignas(16) PeakQuad {
  float at[4];
};

// Returns what a loop of this kind writes for one quad. `largest` receives the maximum of the
// values read.
template <PeakPlan::Kind kKind>
BENCH_BOTH PeakQuad moved_quad(const PeakPlan& plan, const PeakQuad& a, const PeakQuad& b,
                               float& largest) {
  PeakQuad result = a;
  BENCH_UNROLL
  for (int i = 0; i < 4; ++i) {
    if (kKind == PeakPlan::Kind::read) largest = a.at[i] > largest ? a.at[i] : largest;
    if (kKind == PeakPlan::Kind::triad) {
      result.at[i] = multiply_add(static_cast<float>(plan.factor), b.at[i], a.at[i]);
    }
  }
  return result;
}

// Moves the quads of thread `thread` of `threads`, in each pass. Returns the maximum of the values
// read. Memory: load(array, quad) and store(array, quad, value). On the device, they bypass the
// first-level cache; otherwise later passes would read from this cache.
template <PeakPlan::Kind kKind, class Memory>
BENCH_BOTH float move_quads(const PeakPlan& plan, const Addresses& tensors, std::int64_t thread,
                            std::int64_t threads) {
  constexpr bool kReads = kKind != PeakPlan::Kind::write;
  constexpr bool kStores = kKind != PeakPlan::Kind::read;
  constexpr int kDestination = kKind == PeakPlan::Kind::triad ? 2 : 1;
  const float first = read_as<float>(tensors.at[0], 0);
  const PeakQuad first_quad = {{first, first, first, first}};
  float largest = first;
  for (std::int64_t pass = 0; pass < plan.steps; ++pass) {
    for (std::int64_t quad = thread; quad < plan.quads; quad += threads) {
      PeakQuad a = first_quad, b = first_quad;
      if (kReads) a = Memory::load(tensors.at[0], quad);
      if (kKind == PeakPlan::Kind::triad) b = Memory::load(tensors.at[1], quad);
      const PeakQuad result = moved_quad<kKind>(plan, a, b, largest);
      if (kStores) Memory::store(tensors.at[kDestination], quad, result);
    }
  }
  return largest;
}

}  // namespace bench::ops::cuda
