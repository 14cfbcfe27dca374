// SPDX-License-Identifier: Apache-2.0
// On the CPU, a thread owns a part of the table's rows: it copies them and adds the updates whose
// index names one of them, in the order of the indices. No other thread writes them.
#include "ops/scatter_add/cuda_native.hpp"

#include "ops/cuda/kernels/cpu_rows.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/operator.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> scatter_add_form(const Problem& problem) {
  ScatterAddPlan plan;
  plan.table_rows = problem.parameters.count("rows");
  plan.dim = problem.parameters.count("dim");
  plan.indices = problem.parameters.count("indices");
  plan.gradient = problem.direction != Direction::forward;
  return plain_form(problem, "bench:scatter_add", "scatter_add", plan);
}

// Adds single elements. Those of other threads go to places that are not read, because a branch
// would be predicted wrongly for many; several places, so that no addition waits for the last one.
// A mask selects the address, because the compiler would make a branch of a choice.
template <class T>
[[gnu::always_inline]] inline void add_elements(const std::int32_t* indices, const T* updates,
                                                std::int64_t count, T* table, std::int64_t first,
                                                std::int64_t last) {
  constexpr std::int64_t kUnread = 64;
  T unread[kUnread] = {};
  const auto rows = static_cast<std::uint64_t>(last - first);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto row = static_cast<std::uint64_t>(indices[i] - first);
    const auto own = reinterpret_cast<std::uintptr_t>(table + indices[i]);
    const auto other = reinterpret_cast<std::uintptr_t>(unread + i % kUnread);
    const std::uintptr_t is_own = std::uintptr_t{0} - (row < rows ? 1 : 0);
    *reinterpret_cast<T*>((own & is_own) | (other & ~is_own)) += updates[i];
  }
}

// Sums in the table itself, for types that the kernel computes in.
template <class T>
[[gnu::always_inline]] inline void add_in_place(const ScatterAddPlan& plan,
                                                const Addresses& tensors, std::int64_t first,
                                                std::int64_t last) {
  const auto* indices = static_cast<const std::int32_t*>(tensors.at[1]);
  const auto* updates = static_cast<const T*>(tensors.at[2]);
  auto* table = static_cast<T*>(tensors.at[3]);
  const std::int64_t dim = plan.dim;
  std::memcpy(table + first * dim, static_cast<const T*>(tensors.at[0]) + first * dim,
              static_cast<std::size_t>((last - first) * dim) * sizeof(T));
  if (dim == 1) return add_elements(indices, updates, plan.indices, table, first, last);
  for (std::int64_t i = 0; i < plan.indices; ++i) {
    const std::int64_t row = indices[i];
    if (row < first || row >= last) continue;
    T* const to = table + row * dim;
    const T* const from = updates + i * dim;
    for (std::int64_t k = 0; k < dim; ++k) to[k] += from[k];
  }
}

// The same for narrow types, whose sums are kept in f32: rows that fit into the first-level cache
// are summed together, and all indices are read for each such chunk.
struct ScatterAddChunks : StatelessRows {
  static constexpr std::int64_t kSums = 8192;
  const ScatterAddPlan& plan;
  Element type = plan.type;
  std::int64_t columns = std::min(plan.dim, kSums);
  std::int64_t column_chunks = (plan.dim + columns - 1) / columns;
  std::int64_t chunk_rows = kSums / columns;

  std::int64_t rows() const {
    return (plan.table_rows + chunk_rows - 1) / chunk_rows * column_chunks;
  }
  template <class A>
  void write(const A& access, std::int64_t chunk, State<typename A::Value>, int, int) const {
    using T = typename A::Value;
    const std::int64_t first_row = chunk / column_chunks * chunk_rows;
    const std::int64_t first_column = chunk % column_chunks * columns;
    const std::int64_t row_count = std::min(chunk_rows, plan.table_rows - first_row);
    const std::int64_t width = std::min(columns, plan.dim - first_column);
    const auto at = [&](std::int64_t row) { return row * plan.dim + first_column; };
    alignas(64) T sums[kSums];
    for (std::int64_t r = 0; r < row_count; ++r) {
      for (std::int64_t k = 0; k < width; ++k) {
        sums[r * width + k] = access.load(0, at(first_row + r) + k);
      }
    }
    for (std::int64_t i = 0; i < plan.indices; ++i) {
      const std::int64_t row = access.load_index(1, i) - first_row;
      if (row < 0 || row >= row_count) continue;
      for (std::int64_t k = 0; k < width; ++k) sums[row * width + k] += access.load(2, at(i) + k);
    }
    for (std::int64_t r = 0; r < row_count; ++r) {
      for (std::int64_t k = 0; k < width; ++k) {
        access.store(3, at(first_row + r) + k, sums[r * width + k]);
      }
    }
  }
};

void run_scatter_add_part(const NativePlan& native_plan, const Addresses& tensors, int thread,
                          int threads) {
  const auto plan = native_plan.as<ScatterAddPlan>();
  const bool is_native = plan.type == Element::f32 || plan.type == Element::f64;
  if (plan.gradient) return run_part_of_rows(plan, tensors, thread, threads);
  if (!is_native) return run_part_of_rows(ScatterAddChunks{{}, plan}, tensors, thread, threads);
  const std::int64_t first = part_begin(plan.table_rows, thread, threads);
  const std::int64_t last = part_begin(plan.table_rows, thread + 1, threads);
  call_with_vectors([&](auto) __attribute__((always_inline)) {
    if (plan.type == Element::f64) {
      add_in_place<double>(plan, tensors, first, last);
    } else {
      add_in_place<float>(plan, tensors, first, last);
    }
  });
}

}  // namespace

extern const NativeEntry scatter_add_cuda_native;
const NativeEntry scatter_add_cuda_native = {
    .op = "scatter_add",
    .form = scatter_add_form,
    .host = {ScatterAddPlan::kKernel, run_rows<ScatterAddPlan>, run_scatter_add_part}};

}  // namespace bench::ops::cuda
