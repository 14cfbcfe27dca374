// SPDX-License-Identifier: Apache-2.0
#include "ops/embedding/cuda_native.hpp"

#include "ops/cuda/kernels/cpu_rows.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/description.hpp"

#include <algorithm>
#include <cstring>

namespace bench::ops::cuda {
namespace {

// The gradient on the CPU: rows of the table whose sums fit into the first-level cache are one row
// of the kernel, so that the gradient of the table is written once. All indices are read for each.
struct EmbeddingChunks : StatelessRows {
  static constexpr std::int64_t kSums = 8192;
  static constexpr std::int64_t kScanned = 64;  // indices that are tested together
  const EmbeddingPlan& plan;
  Element type = plan.type;
  std::int64_t columns = std::min(plan.inner, kSums);
  std::int64_t column_chunks = (plan.inner + columns - 1) / columns;
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
    const std::int64_t width = std::min(columns, plan.inner - first_column);
    alignas(64) T sums[kSums];
    std::fill_n(sums, row_count * width, T(0));
    const auto* indices = static_cast<const std::int32_t*>(access.tensors.at[1]);
    for (std::int64_t i = 0; i < plan.indices; i += kScanned) {
      const std::int64_t end = std::min(plan.indices, i + kScanned);
      if (!names_any(indices + i, end - i, first_row, row_count)) continue;
      for (std::int64_t j = i; j < end; ++j) {
        const std::int64_t row = indices[j] - first_row;
        if (row < 0 || row >= row_count) continue;
        T* const row_sums = sums + row * width;
        for (std::int64_t k = 0; k < width; ++k) {
          row_sums[k] += access.load(0, j * plan.inner + first_column + k);
        }
      }
    }
    for (std::int64_t row = 0; row < row_count; ++row) {
      for (std::int64_t k = 0; k < width; ++k) {
        access.store(2, (first_row + row) * plan.inner + first_column + k, sums[row * width + k]);
      }
    }
  }

 private:
  // Whether one of `count` indices is among the rows. Without a branch, so that it is vectorised.
  static bool names_any(const std::int32_t* indices, std::int64_t count, std::int64_t first_row,
                        std::int64_t row_count) {
    const auto first = static_cast<std::uint32_t>(first_row);
    const auto rows = static_cast<std::uint32_t>(row_count);
    std::uint32_t found = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      found |= static_cast<std::uint32_t>(static_cast<std::uint32_t>(indices[i]) - first < rows);
    }
    return found != 0;
  }
};

// Copies single elements, which are not worth a call each.
template <class Unit>
void copy_units(const EmbeddingPlan& plan, const Addresses& tensors, std::int64_t first,
                std::int64_t last) {
  const auto* indices = static_cast<const std::int32_t*>(tensors.at[1]);
  const auto* table = static_cast<const Unit*>(tensors.at[0]);
  auto* destination = static_cast<Unit*>(tensors.at[2]);
  while (first < last) {
    const std::int64_t slice = first / plan.indices;
    const std::int64_t begin = first - slice * plan.indices;
    const std::int64_t end = std::min(plan.indices, begin + last - first);
    const Unit* const from = table + slice * plan.table_rows;
    Unit* const to = destination + slice * plan.indices;
    for (std::int64_t i = begin; i < end; ++i) to[i] = from[indices[i]];
    first += end - begin;
  }
}

void copy_rows(const EmbeddingPlan& plan, const Addresses& tensors, std::int64_t first,
               std::int64_t last) {
  const auto* table = static_cast<const char*>(tensors.at[0]);
  auto* destination = static_cast<char*>(tensors.at[2]);
  while (first < last) {
    const std::int64_t units = std::min(plan.inner - first % plan.inner, last - first);
    std::memcpy(destination + first * plan.unit,
                table + plan.source_of(tensors.at[1], first) * plan.unit,
                static_cast<std::size_t>(units * plan.unit));
    first += units;
  }
}

void look_up(const EmbeddingPlan& plan, const Addresses& tensors, std::int64_t first,
             std::int64_t last) {
  if (plan.inner == 1 && plan.unit == 8) {
    copy_units<std::uint64_t>(plan, tensors, first, last);
  } else if (plan.inner == 1 && plan.unit == 4) {
    copy_units<std::uint32_t>(plan, tensors, first, last);
  } else if (plan.inner == 1 && plan.unit == 2) {
    copy_units<std::uint16_t>(plan, tensors, first, last);
  } else {
    copy_rows(plan, tensors, first, last);
  }
}

Result<NativeForm, BackendError> embedding_form(const Problem& problem) {
  EmbeddingPlan plan;
  const bool is_forward = problem.direction == Direction::forward;
  plan.function = is_forward ? EmbeddingFunction::lookup : EmbeddingFunction::gradient;
  plan.table_rows = problem.parameters.count("rows");
  plan.inner = problem.parameters.count("dim");
  plan.indices = problem.parameters.count("indices");
  if (is_forward) set_widest_unit(plan, info(problem.dtype).bytes);
  return plain_form(problem, is_forward ? "bench:lookup" : "bench:embedding_gradient_block",
                    "embedding", plan);
}

}  // namespace

void set_widest_unit(EmbeddingPlan& plan, std::int64_t element_bytes) {
  constexpr std::int64_t kWidest = 16;
  const std::int64_t bytes = plan.inner * element_bytes;
  std::int64_t unit = kWidest;
  while (bytes % unit != 0) unit /= 2;
  plan.unit = static_cast<int>(unit);
  plan.inner = bytes / unit;
}

void run_embedding(const NativePlan& native_plan, const Addresses& tensors) {
  const auto plan = native_plan.as<EmbeddingPlan>();
  if (plan.function == EmbeddingFunction::gradient) {
    return run_rows<EmbeddingPlan>(native_plan, tensors);
  }
  for (std::int64_t i = 0; i < plan.units(); ++i) {
    std::memcpy(
        static_cast<char*>(tensors.at[2]) + i * plan.unit,
        static_cast<const char*>(tensors.at[0]) + plan.source_of(tensors.at[1], i) * plan.unit,
        static_cast<std::size_t>(plan.unit));
  }
}

void run_embedding_part(const NativePlan& native_plan, const Addresses& tensors, int thread,
                        int threads) {
  const auto plan = native_plan.as<EmbeddingPlan>();
  if (plan.function == EmbeddingFunction::gradient) {
    return run_part_of_rows(EmbeddingChunks{{}, plan}, tensors, thread, threads);
  }
  const std::int64_t units = plan.units();
  look_up(plan, tensors, part_begin(units, thread, threads),
          part_begin(units, thread + 1, threads));
}

extern const NativeEntry embedding_cuda_native;
const NativeEntry embedding_cuda_native = {
    .op = "embedding",
    .form = embedding_form,
    .host = {EmbeddingPlan::kKernel, run_embedding, run_embedding_part}};

}  // namespace bench::ops::cuda
