// SPDX-License-Identifier: Apache-2.0
// Operators that compute one result per row of a tensor, or normalise each row: the lanes of a
// row each look at a part of it, their states are merged, and then each lane writes its
// part. One plan describes such an operator for the device (device/row_kernel.cuh) and for the CPU:
//
//   struct Plan {                              // plain data
//     static constexpr const char* kKernel;
//     std::int64_t rows() const;
//     std::int64_t row_size() const;           // about how many elements the lanes of a row share
//     Element type;
//     Precision precision;                     // wide for f64, else single
//     template <class T> struct State;         // what is known about some elements of a row
//     template <class A> State<A::Value> look(const A&, std::int64_t row, int lane, int lanes)
//     const;
//     template <class T> static State<T> merge(const State<T>&, const State<T>&);
//     template <class A> void write(const A&, std::int64_t row, const State<A::Value>& whole,
//                                   int lane, int lanes) const;
//   };
//
// `A` gives access to the tensors. A lane may have no elements, and merge() must accept its state.
// C++17.
#pragma once

#include "ops/cuda/kernels/element_codes.hpp"
#include "ops/cuda/kernels/host_kernel.hpp"
#include "ops/cuda/kernels/native_plan.hpp"
#include "ops/cuda/kernels/plans.hpp"

#include <cstdint>
#include <type_traits>

namespace bench::ops::cuda {

// Access to tensors whose element type is known when the kernel runs. `Value`: the type that the
// kernel computes in. Statistics (scale, shift) have this type, too. `Tensors`: Addresses or a
// reference to them; a device that indexes a copy has it in local memory, which is slow.
template <class T, class Tensors = Addresses>
struct Access {
  using Value = T;
  Tensors tensors;
  Element type;

  BENCH_BOTH T load(int tensor, std::int64_t i) const {
    return load_as<T>(type, tensors.at[tensor], i);
  }
  BENCH_BOTH T load_statistic(int tensor, std::int64_t i) const {
    return read_as<T>(tensors.at[tensor], i);
  }
  // Indices are s32 in every kernel.
  BENCH_BOTH std::int64_t load_index(int tensor, std::int64_t i) const {
    return read_as<std::int32_t>(tensors.at[tensor], i);
  }
  BENCH_BOTH void store(int tensor, std::int64_t i, T value) const {
    store_as<T>(type, tensors.at[tensor], i, value);
  }
  BENCH_BOTH void store_statistic(int tensor, std::int64_t i, T value) const {
    write_as<T>(tensors.at[tensor], i, value);
  }
};

template <Element kType>
using ElementConstant = std::integral_constant<Element, kType>;

// The same with an element type that the compiler knows.
template <Element kType, class Tensors = Addresses>
struct TypedAccess {
  using Value = std::conditional_t<kType == Element::f64, double, float>;
  static constexpr Element kElement = kType;
  Tensors tensors;

  BENCH_BOTH Value load(int tensor, std::int64_t i) const {
    return load_as<Value>(kType, tensors.at[tensor], i);
  }
  BENCH_BOTH Value load_statistic(int tensor, std::int64_t i) const {
    return read_as<Value>(tensors.at[tensor], i);
  }
  BENCH_BOTH std::int64_t load_index(int tensor, std::int64_t i) const {
    return read_as<std::int32_t>(tensors.at[tensor], i);
  }
  BENCH_BOTH void store(int tensor, std::int64_t i, Value value) const {
    store_as<Value>(kType, tensors.at[tensor], i, value);
  }
  BENCH_BOTH void store_statistic(int tensor, std::int64_t i, Value value) const {
    write_as<Value>(tensors.at[tensor], i, value);
  }
};

// Returns a / b, of numbers that are not negative. A device divides 64 bits several times as slowly
// as 32 bits.
BENCH_BOTH std::int64_t quotient(std::int64_t a, std::int64_t b) {
#if defined(__CUDA_ARCH__)
  if (a <= UINT32_MAX && b <= UINT32_MAX) {
    return static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
  }
#endif
  return a / b;
}

// Calls use(i, load(i)) for the elements i of a lane: every `lanes`-th one from begin + lane on,
// before `end`. A device loads several elements before it uses the first, so that it waits for
// memory once: load() must not depend on what use() stores.
template <class Load, class Use>
BENCH_BOTH_INLINED void for_lane(std::int64_t begin, std::int64_t end, int lane, int lanes,
                                 const Load& load, const Use& use) {
  std::int64_t i = begin + lane;
#if defined(__CUDA_ARCH__)
  constexpr int kAhead = 4;
  for (; i + (kAhead - 1) * static_cast<std::int64_t>(lanes) < end; i += kAhead * lanes) {
    decltype(load(i)) values[kAhead];
    BENCH_UNROLL
    for (int k = 0; k < kAhead; ++k) values[k] = load(i + k * lanes);
    BENCH_UNROLL
    for (int k = 0; k < kAhead; ++k) use(i + k * lanes, values[k]);
  }
#endif
  for (; i < end; i += lanes) use(i, load(i));
}

// The same with two values: calls use(i, load_a(i), load_b(i)).
template <class LoadA, class LoadB, class Use>
BENCH_BOTH_INLINED void for_lane(std::int64_t begin, std::int64_t end, int lane, int lanes,
                                 const LoadA& load_a, const LoadB& load_b, const Use& use) {
#if defined(__CUDA_ARCH__)
  struct Both {
    decltype(load_a(begin)) a;
    decltype(load_b(begin)) b;
  };
  for_lane(
      begin, end, lane, lanes,
      [&](std::int64_t i) {
        return Both{load_a(i), load_b(i)};
      },
      [&](std::int64_t i, const Both& both) { use(i, both.a, both.b); });
#else
  // The compiler vectorises few loops over structures.
  for (std::int64_t i = begin + lane; i < end; i += lanes) use(i, load_a(i), load_b(i));
#endif
}

// The base of plans whose rows are just some elements, about which nothing must be known first.
struct StatelessRows {
  template <class T>
  struct State {};
  template <class A>
  BENCH_BOTH State<typename A::Value> look(const A&, std::int64_t, int, int) const {
    return {};
  }
  template <class S>
  BENCH_BOTH static S merge(const S& a, const S&) {
    return a;
  }
};

// The same for equal parts of `elements` elements.
struct RowsOfElements : StatelessRows {
  static constexpr std::int64_t kPart = 4096;
  std::int64_t elements = 0;

  BENCH_BOTH std::int64_t rows() const { return (elements + kPart - 1) / kPart; }
  BENCH_BOTH std::int64_t row_size() const { return kPart; }
  BENCH_BOTH std::int64_t end_of(std::int64_t row) const {
    return row * kPart + kPart < elements ? row * kPart + kPart : elements;
  }
};

// Rows along one dimension of a dense tensor: `size` elements that are `inner` apart.
struct DenseRows {
  std::int64_t outer = 1, size = 1, inner = 1;

  BENCH_BOTH std::int64_t count() const { return outer * inner; }
  // Returns the position of element `i` of a row.
  BENCH_BOTH std::int64_t at(std::int64_t row, std::int64_t i) const {
    return row / inner * size * inner + row % inner + i * inner;
  }
};

// The CPU version of a row kernel, for tests.
template <class Plan>
void run_rows(const NativePlan& native_plan, const Addresses& tensors) {
  const auto plan = native_plan.as<Plan>();
  run_by(plan.precision, [&](auto zero) {
    const Access<decltype(zero)> access{tensors, plan.type};
    for (std::int64_t row = 0; row < plan.rows(); ++row) {
      auto whole = plan.look(access, row, 0, kHostLanes);
      for (int lane = 1; lane < kHostLanes; ++lane) {
        whole = Plan::merge(whole, plan.look(access, row, lane, kHostLanes));
      }
      for (int lane = 0; lane < kHostLanes; ++lane) {
        plan.write(access, row, whole, lane, kHostLanes);
      }
    }
  });
}

}  // namespace bench::ops::cuda
