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

// Access to tensors whose element type the compiler knows.
template <Element kType>
struct TypedAccess {
  using Value = std::conditional_t<kType == Element::f64, double, float>;
  static constexpr Element kElement = kType;
  Addresses tensors;

  Value load(int tensor, std::int64_t i) const {
    return load_as<Value>(kType, tensors.at[tensor], i);
  }
  Value load_statistic(int tensor, std::int64_t i) const {
    return read_as<Value>(tensors.at[tensor], i);
  }
  std::int64_t load_index(int tensor, std::int64_t i) const {
    return read_as<std::int32_t>(tensors.at[tensor], i);
  }
  void store(int tensor, std::int64_t i, Value value) const {
    store_as<Value>(kType, tensors.at[tensor], i, value);
  }
  void store_statistic(int tensor, std::int64_t i, Value value) const {
    write_as<Value>(tensors.at[tensor], i, value);
  }
};

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

template <class Plan>
[[gnu::always_inline]] inline void compute_typed_rows(const Plan& plan, const Addresses& tensors,
                                                      std::int64_t first, std::int64_t last) {
  switch (plan.type) {
    case Element::f64:
      return compute_rows<Element::f64>(plan, tensors, first, last);
    case Element::f16:
      return compute_rows<Element::f16>(plan, tensors, first, last);
    case Element::bf16:
      return compute_rows<Element::bf16>(plan, tensors, first, last);
    default:
      return compute_rows<Element::f32>(plan, tensors, first, last);
  }
}

template <class Plan>
[[gnu::flatten, gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma,prefer-vector-width=512")]] void
compute_rows_avx512(const Plan& plan, const Addresses& tensors, std::int64_t first,
                    std::int64_t last) {
  compute_typed_rows(plan, tensors, first, last);
}

template <class Plan>
[[gnu::flatten, gnu::target("avx2,fma")]] void compute_rows_avx2(const Plan& plan,
                                                                 const Addresses& tensors,
                                                                 std::int64_t first,
                                                                 std::int64_t last) {
  compute_typed_rows(plan, tensors, first, last);
}

// Computes the rows from `first` on, before `last`, with the widest vectors of this processor.
template <class Plan>
void run_row_range(const Plan& plan, const Addresses& tensors, std::int64_t first,
                   std::int64_t last) {
  switch (best_vectors()) {
    case VectorSet::avx512:
      return compute_rows_avx512(plan, tensors, first, last);
    case VectorSet::avx2:
      return compute_rows_avx2(plan, tensors, first, last);
    case VectorSet::portable:
      return compute_typed_rows(plan, tensors, first, last);
  }
}

// Computes the part of the rows that belongs to `thread` of `threads`.
template <class Plan>
void run_part_of_rows(const Plan& plan, const Addresses& tensors, int thread, int threads) {
  run_row_range(plan, tensors, plan.rows() * thread / threads,
                plan.rows() * (thread + 1) / threads);
}

// Implements HostKernel::run_part.
template <class Plan>
void run_row_part(const NativePlan& native_plan, const Addresses& tensors, int thread,
                  int threads) {
  run_part_of_rows(native_plan.as<Plan>(), tensors, thread, threads);
}

}  // namespace bench::ops::cuda
