// SPDX-License-Identifier: Apache-2.0
// On the CPU, an element is an integer: its value in the order of the results, then its position.
// So integers are compared, and equal values keep their order. A thread computes whole lines.
#include "ops/sort/cuda_native.hpp"

#include "ops/cuda/kernels/cpu_rows.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/cuda/kernels/vector_math.hpp"
#include "ops/operator.hpp"
#include "ops/sort/sort.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> sort_form(const Problem& problem) {
  if (is_in_nhwc(problem)) {
    return unsupported("the kernel takes plain tensors; leave `layout: nhwc` out");
  }
  SortPlan plan;
  const Dims& shape = problem.parameters.numbers("shape");
  if (problem.direction != Direction::forward) {
    plan.task = SortPlan::Task::gradient;
  } else if (problem.parameters.word("function").starts_with("arg")) {
    plan.task = SortPlan::Task::positions;
  }
  plan.ascending = sorts_ascending(problem.parameters);
  plan.size = shape.back();
  plan.kept = kept_per_line(problem.parameters);
  for (const std::int64_t size : shape) plan.lines *= size;
  plan.lines /= plan.size;
  return plain_form(problem, "bench:sort", "sort", plan);
}

template <class T>
struct SortKeyOf {
  using Type = std::uint64_t;
  using Value = std::uint32_t;
};
template <>
struct SortKeyOf<double> {
  using Type = unsigned __int128;
  using Value = std::uint64_t;
};
constexpr std::int64_t kMaxKeyBytes = 16;
template <class T>
using SortKey = typename SortKeyOf<T>::Type;
template <class T>
using SortValue = typename SortKeyOf<T>::Value;

// Returns an unsigned integer that is small for an element that comes early. -0 equals 0.
template <class T>
[[gnu::always_inline]] inline SortValue<T> to_sort_value(T x, bool ascending) {
  const auto ordered = to_ordered(x);
  const auto value = static_cast<SortValue<T>>(ordered == -1 ? 0 : ordered);
  constexpr SortValue<T> kSign = SortValue<T>(1) << (sizeof(T) * 8 - 1);
  return ascending ? value ^ kSign : ~(value ^ kSign);
}
template <class T>
[[gnu::always_inline]] inline SortKey<T> to_key(SortValue<T> value, std::int64_t position) {
  return static_cast<SortKey<T>>(value) << (sizeof(T) * 8) | static_cast<SortKey<T>>(position);
}

// Memory for the keys of a line. Beyond twice the kept ones, keys are dropped when it is full.
constexpr std::int64_t kSpareKeys = 128;
std::int64_t key_count(const SortPlan& plan) {
  return std::min(plan.size, 2 * plan.kept + kSpareKeys);
}

// Elements that are compared with the limit together, first of a block, then of its parts.
constexpr std::int64_t kSortBlock = 64, kSortPart = 16;

// Collects the keys of a line's first `kept` elements, unordered and with some others.
template <class A, class Key>
[[gnu::always_inline]] inline std::int64_t collect_keys(const SortPlan& plan, const A& access,
                                                        std::int64_t line, Key* keys) {
  using T = typename A::Value;
  const std::int64_t limit_count = key_count(plan);
  const std::int64_t first = line * plan.size;
  SortValue<T> limit = ~SortValue<T>(0);
  std::int64_t count = 0;
  bool is_full = false;  // `limit` is the last kept value
  for (std::int64_t begin = 0; begin < plan.size; begin += kSortBlock) {
    const std::int64_t length = std::min(kSortBlock, plan.size - begin);
    SortValue<T> values[kSortBlock];
    SortValue<T> smallest = ~SortValue<T>(0);
    for (std::int64_t i = 0; i < length; ++i) {
      values[i] = to_sort_value<T>(access.load(0, first + begin + i), plan.ascending);
      smallest = std::min(smallest, values[i]);
    }
    if (is_full && smallest >= limit) continue;
    if (count + length > limit_count) {
      std::nth_element(keys, keys + plan.kept - 1, keys + count);
      limit = static_cast<SortValue<T>>(keys[plan.kept - 1] >> (sizeof(T) * 8));
      count = plan.kept;
      is_full = true;
    }
    for (std::int64_t part = 0; part < length; part += kSortPart) {
      const std::int64_t part_end = std::min(length, part + kSortPart);
      SortValue<T> least = ~SortValue<T>(0);
      for (std::int64_t i = part; i < part_end; ++i) least = std::min(least, values[i]);
      if (is_full && least >= limit) continue;
      for (std::int64_t i = part; i < part_end; ++i) {
        keys[count] = to_key<T>(values[i], begin + i);
        count += !is_full || values[i] < limit ? 1 : 0;
      }
    }
  }
  return count;
}

// Up to this number of kept elements, they are kept in order: few elements of a line are inserted.
constexpr std::int64_t kMaxInserted = 32;

// Finds the keys of a line's first `kept` elements, in order.
template <class A, class Key>
[[gnu::always_inline]] inline void insert_keys(const SortPlan& plan, const A& access,
                                               std::int64_t line, Key* keys) {
  using T = typename A::Value;
  const std::int64_t first = line * plan.size, kept = plan.kept;
  std::fill_n(keys, kept, ~Key(0));
  SortValue<T> limit = ~SortValue<T>(0);
  for (std::int64_t begin = 0; begin < plan.size; begin += kSortPart) {
    const std::int64_t length = std::min(kSortPart, plan.size - begin);
    SortValue<T> values[kSortPart];
    SortValue<T> smallest = ~SortValue<T>(0);
    for (std::int64_t i = 0; i < length; ++i) {
      values[i] = to_sort_value<T>(access.load(0, first + begin + i), plan.ascending);
      smallest = std::min(smallest, values[i]);
    }
    if (smallest >= limit && begin >= kept) continue;
    for (std::int64_t i = 0; i < length; ++i) {
      const Key key = to_key<T>(values[i], begin + i);
      if (key >= keys[kept - 1]) continue;
      std::int64_t at = kept - 1;
      for (; at > 0 && keys[at - 1] > key; --at) keys[at] = keys[at - 1];
      keys[at] = key;
    }
    limit = static_cast<SortValue<T>>(keys[kept - 1] >> (sizeof(T) * 8));
  }
}

template <class A>
[[gnu::always_inline]] inline void sort_line(const SortPlan& plan, const A& access,
                                             std::int64_t line, void* memory) {
  using T = typename A::Value;
  auto* keys = static_cast<SortKey<T>*>(memory);
  if (plan.kept <= kMaxInserted) {
    insert_keys(plan, access, line, keys);
  } else {
    const std::int64_t count = collect_keys(plan, access, line, keys);
    if (count > plan.kept) std::nth_element(keys, keys + plan.kept - 1, keys + count);
    std::sort(keys, keys + plan.kept);
  }
  for (std::int64_t i = 0; i < plan.kept; ++i) {
    const auto position = static_cast<std::int32_t>(static_cast<std::uint32_t>(keys[i]));
    access.store(1, line * plan.kept + i, access.load(0, line * plan.size + position));
    write_as<std::int32_t>(access.tensors.at[2], line * plan.kept + i, position);
  }
}

// Finds the block with the first element in order, then the element.
template <class A>
[[gnu::always_inline]] inline void find_first(const SortPlan& plan, const A& access,
                                              std::int64_t line) {
  using T = typename A::Value;
  constexpr std::int64_t kBlock = 1024;
  const std::int64_t first = line * plan.size;
  SortValue<T> best = ~SortValue<T>(0);
  std::int64_t best_block = 0;
  for (std::int64_t begin = 0; begin < plan.size; begin += kBlock) {
    const std::int64_t end = std::min(plan.size, begin + kBlock);
    SortValue<T> smallest = ~SortValue<T>(0);
    for (std::int64_t i = begin; i < end; ++i) {
      smallest = std::min(smallest, to_sort_value<T>(access.load(0, first + i), plan.ascending));
    }
    if (smallest < best) best = smallest, best_block = begin;
  }
  std::int64_t position = best_block;
  while (to_sort_value<T>(access.load(0, first + position), plan.ascending) != best) ++position;
  write_as<std::int32_t>(access.tensors.at[1], line, position);
}

template <class A>
[[gnu::always_inline]] inline void scatter_line(const SortPlan& plan, const A& access,
                                                std::int64_t line) {
  using T = typename A::Value;
  for (std::int64_t i = 0; i < plan.size; ++i) access.store(2, line * plan.size + i, T(0));
  for (std::int64_t j = line * plan.kept; j < (line + 1) * plan.kept; ++j) {
    const std::int64_t at = line * plan.size + access.load_index(0, j);
    access.store(2, at, access.load(2, at) + access.load(1, j));
  }
}

std::int64_t sort_memory_bytes(const NativePlan& native_plan, int threads) {
  const auto plan = native_plan.as<SortPlan>();
  // A block of keys is written before those beyond the count are dropped.
  return plan.task == SortPlan::Task::values
             ? threads * (key_count(plan) + kSortBlock) * kMaxKeyBytes
             : kMaxKeyBytes;
}

void run_sort_part(const NativePlan& native_plan, const Addresses& tensors, int thread,
                   int threads) {
  const auto plan = native_plan.as<SortPlan>();
  constexpr int kMemory = 3;  // behind the source, the values and the positions
  void* memory = plan.task == SortPlan::Task::values
                     ? static_cast<char*>(tensors.at[kMemory]) +
                           thread * (key_count(plan) + kSortBlock) * kMaxKeyBytes
                     : nullptr;
  call_with_vectors([&](auto) __attribute__((always_inline)) {
    call_with_type(
        plan.type, [&](auto type) __attribute__((always_inline)) {
          const TypedAccess<decltype(type)::value> access{tensors};
          const std::int64_t end = part_begin(plan.lines, thread + 1, threads);
          for (std::int64_t line = part_begin(plan.lines, thread, threads); line < end; ++line) {
            if (plan.task == SortPlan::Task::values) sort_line(plan, access, line, memory);
            if (plan.task == SortPlan::Task::positions) find_first(plan, access, line);
            if (plan.task == SortPlan::Task::gradient) scatter_line(plan, access, line);
          }
        });
  });
}

}  // namespace

extern const NativeEntry sort_cuda_native;
const NativeEntry sort_cuda_native = {
    .op = "sort",
    .form = sort_form,
    .host = {SortPlan::kKernel, run_rows<SortPlan>, run_sort_part, nullptr, sort_memory_bytes}};

}  // namespace bench::ops::cuda
