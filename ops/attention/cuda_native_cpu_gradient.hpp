// SPDX-License-Identifier: Apache-2.0
// The gradients of attention on the CPU (cuda_native_gradient.hpp has the formulas). One side of
// the pairs of queries and keys is `rows`, the other `columns`; the same code computes the gradient
// of the queries, with keys as columns, and those of keys and values, with queries as columns. So
// scores and slopes are computed twice, but no two threads add to one sum. A task is a chunk of
// rows of a group.
#pragma once

#include "base/units.hpp"
#include "ops/attention/cuda_native.hpp"
#include "ops/attention/cuda_native_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace bench::ops::cuda {

inline constexpr std::int64_t kGradientChunkRows = 96;  // a multiple of kRows of all registers

struct AttentionGradientWork {
  std::int64_t query_chunks, key_chunks;  // number in a group
  std::int64_t padded_size;  // elements of a head with those behind it, a multiple of two vectors

  static AttentionGradientWork of(const AttentionPlan& plan) {
    constexpr std::int64_t kTwoVectors = 32;
    return {(plan.rows() + kGradientChunkRows - 1) / kGradientChunkRows,
            (plan.kv_len + kGradientChunkRows - 1) / kGradientChunkRows,
            round_up(plan.head_dim, kTwoVectors)};
  }
  std::int64_t tasks(const AttentionPlan& plan) const {
    return plan.groups() * (query_chunks + key_chunks);
  }
  // Returns the elements of a thread's memory. Rows need two packed tensors and two sums, columns
  // two tensors, each packed in two ways. A tile needs weights and slopes, and each query of a
  // block or chunk two numbers.
  std::int64_t thread_elements() const {
    return 4 * kGradientChunkRows * padded_size + 4 * kKeyBlock * padded_size + 2 * kKeyBlock * 12 +
           2 * kKeyBlock;
  }
  std::int64_t bytes(int threads) const {
    return static_cast<std::int64_t>(sizeof(double)) * threads * round_up(thread_elements(), 16);
  }
};

#define BENCH_INLINE [[gnu::always_inline]] inline

// The work of one thread.
template <Element kType, class Registers>
class CpuAttentionGradient : AttentionVectors<kType, Registers> {
  using Base = AttentionVectors<kType, Registers>;
  using Base::at, Base::kLanes, Base::kPanel, Base::kRows, Base::raise_2_to;
  using typename Base::T, typename Base::Vector;
  static constexpr int kMemory = 9;  // behind the tensors

 public:
  BENCH_INLINE CpuAttentionGradient(const AttentionPlan& plan, const Addresses& tensors, int thread)
      : plan_(plan),
        tensors_(tensors),
        work_(AttentionGradientWork::of(plan)),
        size_(plan.head_dim),
        scale_(T(1) / std::sqrt(static_cast<T>(plan.head_dim))) {
    T* next = static_cast<T*>(tensors.at[kMemory]) + thread * round_up(work_.thread_elements(), 16);
    const auto take = [&next](std::int64_t elements) {
      T* memory = next;
      next += elements;
      return memory;
    };
    const std::int64_t rows = kGradientChunkRows * work_.padded_size;
    const std::int64_t columns = kKeyBlock * work_.padded_size;
    for (T*& memory : rows_) memory = take(rows);
    for (T*& memory : sums_) memory = take(rows);
    for (T*& memory : columns_) memory = take(columns);
    for (T*& memory : panels_) memory = take(columns);
    weights_ = take(kKeyBlock * kRows);
    slopes_ = take(kKeyBlock * kRows);
    log_sums_ = take(kKeyBlock);
    offsets_ = take(kKeyBlock);
  }

  BENCH_INLINE void run_task(std::int64_t task) {
    const std::int64_t per_group = work_.query_chunks + work_.key_chunks;
    const std::int64_t chunk = task % per_group;
    group_ = task / per_group;
    if (chunk < work_.query_chunks) {
      compute_chunk<Side::query>(chunk * kGradientChunkRows);
    } else {
      compute_chunk<Side::key>((chunk - work_.query_chunks) * kGradientChunkRows);
    }
  }

 private:
  enum class Side { query, key };  // what the rows are

  // Tensors of queries and keys that are multiplied with each other: scores, then slopes.
  static constexpr int kQuerySide[2] = {0, 5};  // query, diff_destination
  static constexpr int kKeySide[2] = {1, 2};    // key, value

  template <Side kRowSide>
  BENCH_INLINE void compute_chunk(std::int64_t first) {
    constexpr bool kIsQuery = kRowSide == Side::query;
    const auto& row_tensors = kIsQuery ? kQuerySide : kKeySide;
    const auto& column_tensors = kIsQuery ? kKeySide : kQuerySide;
    const std::int64_t all_rows = kIsQuery ? plan_.rows() : plan_.kv_len;
    const std::int64_t all_columns = kIsQuery ? plan_.kv_len : plan_.rows();
    const std::int64_t count = std::min(kGradientChunkRows, all_rows - first);
    const std::int64_t begin = (group_ * all_rows + first) * size_;
    for (int i = 0; i < 2; ++i) {
      Base::pack_rows(tensors_.at[row_tensors[i]], begin, count, size_, T(1), rows_[i]);
      std::fill_n(sums_[i], kGradientChunkRows * work_.padded_size, T(0));
    }
    if (kIsQuery) prepare_queries(first, count);
    for (std::int64_t column = 0; column < all_columns; column += kKeyBlock) {
      const std::int64_t columns = std::min(kKeyBlock, all_columns - column);
      if (!pairs_exist<kRowSide>(first, count, column, columns)) continue;
      const std::int64_t from = (group_ * all_columns + column) * size_;
      for (int i = 0; i < 2; ++i) {
        const void* tensor = tensors_.at[column_tensors[i]];
        Base::pack_transposed(tensor, from, columns, size_, columns_[i]);
        if (i == 0 || !kIsQuery) Base::pack_panels(tensor, from, columns, size_, panels_[i]);
      }
      if (!kIsQuery) prepare_queries(column, columns);
      for (std::int64_t r = 0; r < count; r += kRows) {
        compute_tile<kRowSide>(first, r, std::min<std::int64_t>(kRows, count - r), column, columns);
      }
    }
    for (std::int64_t r = 0; r < count; ++r) {
      for (std::int64_t d = 0; d < size_; ++d) {
        const std::int64_t to = begin + r * size_ + d;
        const std::int64_t from = r * work_.padded_size + d;
        store_as<T>(kType, tensors_.at[kIsQuery ? 6 : 7], to, sums_[0][from] * scale_);
        if (!kIsQuery) store_as<T>(kType, tensors_.at[8], to, sums_[1][from]);
      }
    }
  }

  // Computes what queries need once: log_sum as a power of 2, and
  // sum(diff_destination*destination).
  BENCH_INLINE void prepare_queries(std::int64_t first, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t begin = plan_.row_begin(group_, first + i);
      Vector sum = {};
      for (std::int64_t d = 0; d < size_; d += kLanes) {
        Vector result, diff;
        Base::load_some(tensors_.at[3], begin + d, size_ - d, result);
        Base::load_some(tensors_.at[5], begin + d, size_ - d, diff);
        sum += result * diff;
      }
      offsets_[i] = Base::sum_of(sum);
      log_sums_[i] = kLog2E * read_as<T>(tensors_.at[4], plan_.row_number(group_, first + i));
    }
    std::fill(offsets_ + count, offsets_ + kKeyBlock, T(0));
    std::fill(log_sums_ + count, log_sums_ + kKeyBlock, T(0));
  }

  // Whether any row attends to any column.
  template <Side kRowSide>
  BENCH_INLINE bool pairs_exist(std::int64_t row, std::int64_t rows, std::int64_t column,
                                std::int64_t columns) const {
    constexpr bool kIsQuery = kRowSide == Side::query;
    const std::int64_t query = kIsQuery ? row : column, queries = kIsQuery ? rows : columns;
    const std::int64_t key = kIsQuery ? column : row, keys = kIsQuery ? columns : rows;
    for (std::int64_t i = 0; i < queries; ++i) {
      const KeyRange range = plan_.keys(group_, query + i);
      if (std::max(range.begin, key) < std::min(range.end, key + keys)) return true;
    }
    return false;
  }

  // Adds the columns of a block to the sums of kRows rows, the chunk's from `tile` on.
  template <Side kRowSide>
  BENCH_INLINE void compute_tile(std::int64_t first, std::int64_t tile, std::int64_t rows,
                                 std::int64_t column, std::int64_t columns) {
    if (!pairs_exist<kRowSide>(first + tile, rows, column, columns)) return;
    for (std::int64_t n = 0; n < columns; n += kPanel) {
      Vector scores[kRows][2] = {};
      Base::template multiply<1, kRows>(rows_[0] + tile * size_, columns_[0] + n * size_, size_,
                                        scores);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        at(weights_ + r * kKeyBlock + n) = scores[r][0];
        at(weights_ + r * kKeyBlock + n + kLanes) = scores[r][1];
      }
      Vector slopes[kRows][2] = {};
      Base::template multiply<1, kRows>(rows_[1] + tile * size_, columns_[1] + n * size_, size_,
                                        slopes);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        at(slopes_ + r * kKeyBlock + n) = slopes[r][0];
        at(slopes_ + r * kKeyBlock + n + kLanes) = slopes[r][1];
      }
    }
    weigh<kRowSide>(first, tile, rows, column, columns);
    add_columns(slopes_, panels_[0], columns, sums_[0] + tile * work_.padded_size);
    if (kRowSide == Side::key) {
      add_columns(weights_, panels_[1], columns, sums_[1] + tile * work_.padded_size);
    }
  }

  // Turns products into weights and slopes; those of other pairs become 0.
  template <Side kRowSide>
  BENCH_INLINE void weigh(std::int64_t first, std::int64_t tile, std::int64_t rows,
                          std::int64_t column, std::int64_t columns) {
    constexpr bool kIsQuery = kRowSide == Side::query;
    for (int r = 0; r < kRows; ++r) {
      T* weights = weights_ + r * kKeyBlock;
      T* slopes = slopes_ + r * kKeyBlock;
      if (r >= rows) {
        std::fill_n(weights, columns, T(0));
        std::fill_n(slopes, columns, T(0));
        continue;
      }
      for (std::int64_t n = 0; n < columns; n += kLanes) {
        Vector log_sum = Vector{} + log_sums_[tile + r], offset = Vector{} + offsets_[tile + r];
        if (!kIsQuery) {
          log_sum = at(log_sums_ + n);
          offset = at(offsets_ + n);
        }
        Vector weight = at(weights + n) * (scale_ * kLog2E) - log_sum;
        Base::raise_2_to_any(weight);
        at(weights + n) = weight;
        at(slopes + n) = weight * (at(slopes + n) - offset);
      }
      mask_row<kRowSide>(first + tile + r, column, columns, weights, slopes);
    }
  }
  template <Side kRowSide>
  BENCH_INLINE void mask_row(std::int64_t row, std::int64_t column, std::int64_t columns,
                             T* weights, T* slopes) const {
    if (kRowSide == Side::query) {
      const KeyRange range = plan_.keys(group_, row);
      const std::int64_t begin = std::clamp<std::int64_t>(range.begin - column, 0, columns);
      const std::int64_t end = std::clamp<std::int64_t>(range.end - column, begin, columns);
      for (T* values : {weights, slopes}) {
        std::fill(values, values + begin, T(0));
        std::fill(values + end, values + columns, T(0));
      }
      return;
    }
    if (!plan_.is_causal && !plan_.has_lengths) return;
    for (std::int64_t n = 0; n < columns; ++n) {
      const KeyRange range = plan_.keys(group_, column + n);
      if (row < range.begin || row >= range.end) weights[n] = slopes[n] = T(0);
    }
  }

  BENCH_INLINE void add_columns(const T* factors, const T* panels, std::int64_t columns, T* to) {
    for (std::int64_t d = 0; d < round_up(size_, kPanel); d += kPanel) {
      Vector sums[kRows][2];
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        sums[r][0] = at(to + r * work_.padded_size + d);
        sums[r][1] = at(to + r * work_.padded_size + d + kLanes);
      }
      Base::template multiply<kKeyBlock, 1>(factors, panels + d * kKeyBlock, columns, sums);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        at(to + r * work_.padded_size + d) = sums[r][0];
        at(to + r * work_.padded_size + d + kLanes) = sums[r][1];
      }
    }
  }

  static constexpr T kLog2E = T(1.4426950408889634);
  const AttentionPlan& plan_;
  const Addresses& tensors_;
  AttentionGradientWork work_;
  std::int64_t size_, group_ = 0;
  T scale_;
  T *rows_[2], *sums_[2], *columns_[2], *panels_[2];
  T *weights_, *slopes_, *log_sums_, *offsets_;
};

#undef BENCH_INLINE

}  // namespace bench::ops::cuda
