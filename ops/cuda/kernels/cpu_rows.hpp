// SPDX-License-Identifier: Apache-2.0
// Row kernels (rows.hpp) as backend `native` runs them on the CPU: the rows are divided among the
// threads, and the loop over a row is compiled for several sets of vector instructions. A source
// that uses run_row_part() is compiled with the options of BENCH_VECTOR_OPTIONS
// (cmake/BenchOperators.cmake), so that the compiler may add up a row in any order.
#pragma once

#include "ops/cuda/kernels/rows.hpp"

#include <cstdint>
#include <type_traits>

namespace bench::ops::cuda {

// The widest vectors that this processor has.
enum class VectorSet { portable, avx2, avx512 };
inline VectorSet best_vectors() {
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return VectorSet::avx512;
  }
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? VectorSet::avx2
                                                                         : VectorSet::portable;
}

template <VectorSet kSet>
using VectorConstant = std::integral_constant<VectorSet, kSet>;

// Call body(VectorConstant) compiled for a set of vectors. `body` and what it calls become a part
// of the function, if they can be inlined.
template <class Body>
[[gnu::flatten, gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma,prefer-vector-width=512")]] void
call_with_avx512(const Body& body) {
  body(VectorConstant<VectorSet::avx512>());
}
template <class Body>
[[gnu::flatten, gnu::target("avx2,fma")]] void call_with_avx2(const Body& body) {
  body(VectorConstant<VectorSet::avx2>());
}
template <class Body>
[[gnu::flatten]] void call_portable(const Body& body) {
  body(VectorConstant<VectorSet::portable>());
}

// Calls body(VectorConstant) with the widest vectors of this processor.
template <class Body>
void call_with_vectors(const Body& body) {
  switch (best_vectors()) {
    case VectorSet::avx512:
      return call_with_avx512(body);
    case VectorSet::avx2:
      return call_with_avx2(body);
    case VectorSet::portable:
      return call_portable(body);
  }
}

// Calls body(ElementConstant) for a floating-point type.
template <class Body>
[[gnu::always_inline]] inline void call_with_type(Element type, const Body& body) {
  switch (type) {
    case Element::f64:
      return body(ElementConstant<Element::f64>());
    case Element::f16:
      return body(ElementConstant<Element::f16>());
    case Element::bf16:
      return body(ElementConstant<Element::bf16>());
    default:
      return body(ElementConstant<Element::f32>());
  }
}

// Computes the rows from `first` on, before `last`.
template <Element kType, class Plan>
[[gnu::always_inline]] inline void compute_rows(const Plan& shared_plan, const Addresses& tensors,
                                                std::int64_t first, std::int64_t last) {
  // These are copies of the thread: the compiler knows that no result overwrites them.
  const Plan plan = shared_plan;
  const TypedAccess<kType> access{tensors};
  for (std::int64_t row = first; row < last; ++row) {
    plan.write(access, row, plan.look(access, row, 0, 1), 0, 1);
  }
}

// The same with the widest vectors of this processor.
template <class Plan>
void run_row_range(const Plan& plan, const Addresses& tensors, std::int64_t first,
                   std::int64_t last) {
  call_with_vectors([&](auto) __attribute__((always_inline)) {
    call_with_type(
        plan.type, [&](auto type) __attribute__((always_inline)) {
          compute_rows<decltype(type)::value>(plan, tensors, first, last);
        });
  });
}

// Computes the part of the rows that belongs to `thread` of `threads`.
template <class Plan>
void run_part_of_rows(const Plan& plan, const Addresses& tensors, int thread, int threads) {
  run_row_range(plan, tensors, part_begin(plan.rows(), thread, threads),
                part_begin(plan.rows(), thread + 1, threads));
}

// Implements HostKernel::run_part.
template <class Plan>
void run_row_part(const NativePlan& native_plan, const Addresses& tensors, int thread,
                  int threads) {
  run_part_of_rows(native_plan.as<Plan>(), tensors, thread, threads);
}

}  // namespace bench::ops::cuda
