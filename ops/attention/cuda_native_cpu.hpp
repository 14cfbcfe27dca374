// SPDX-License-Identifier: Apache-2.0
// Attention as backend `native` runs it on the CPU. Scores of a tile of rows and a block of keys
// stay in the caches, and sums are corrected whenever a larger score appears (Milakov and
// Gimelshein, arXiv 1805.02867; Dao et al., arXiv 2205.14135).
//
// There are two ways:
//   tiles   Many rows share the keys. Keys and values of a block are packed for products of kRows
//           rows and two vectors of columns, whose sums stay in registers. A task is a chunk of
//           rows of a group, with all its keys.
//   stream  There are few rows, as in decoding: reading keys and values takes all the time, so they
//           are read once, where they are. A task is a part of the keys of a group. finish_part()
//           adds up the parts.
// Scores are powers of 2: the query is multiplied by log2(e)/sqrt(head_dim) beforehand.
#pragma once

#include "base/units.hpp"
#include "ops/attention/cuda_native.hpp"
#include "ops/attention/cuda_native_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace bench::ops::cuda {

// More rows in a chunk would let its sums leave the second-level cache; fewer would pack keys more
// often.
inline constexpr std::int64_t kMaxChunkRows = 192;
inline constexpr std::int64_t kMaxStreamedRows = 8;
// The score of a key that a row does not attend to. Differences of scores stay finite.
inline constexpr float kMaskedScore = -1e30F;

// --- How the work is divided. Both steps and the memory use it.

struct AttentionWork {
  bool streams;
  std::int64_t parts;        // chunks of the rows of a group, or parts of its keys
  std::int64_t chunk_rows;   // rows of a chunk of tiles
  std::int64_t padded_size;  // elements of a head and padding, a multiple of two vectors

  static AttentionWork of(const AttentionPlan& plan, int threads) {
    // Two vectors of the widest registers; elements have at least 4 bytes.
    constexpr std::int64_t kTwoVectors = 32;
    // Unequal chunks, as a causal mask makes them, even out over two per thread.
    const std::int64_t wanted = (2 * threads + plan.groups() - 1) / plan.groups();
    AttentionWork work{};
    work.streams = plan.rows() <= kMaxStreamedRows;
    work.padded_size = round_up(plan.head_dim, kTwoVectors);
    if (work.streams) {
      work.parts = std::clamp<std::int64_t>(plan.kv_len / kKeyBlock, 1, wanted);
    } else {
      const std::int64_t least = (plan.rows() + kMaxChunkRows - 1) / kMaxChunkRows;
      constexpr std::int64_t kTile = 12;  // a multiple of kRows of all registers
      work.chunk_rows =
          round_up((plan.rows() + std::max(least, wanted) - 1) / std::max(least, wanted), kTile);
      work.parts = (plan.rows() + work.chunk_rows - 1) / work.chunk_rows;
    }
    return work;
  }
  // Elements of the result of one part: per row the sums, the sum of weights, the largest score.
  std::int64_t part_elements(const AttentionPlan& plan) const {
    return streams ? plan.rows() * (padded_size + 2) : 0;
  }
  std::int64_t thread_elements(const AttentionPlan&) const {
    if (streams) return kMaxStreamedRows * (padded_size + kKeyBlock);
    // Packed query, sums, sum of weights and largest score; packed keys and values; scores.
    return chunk_rows * (2 * padded_size + 2) + kKeyBlock * (2 * padded_size + 12);
  }
  // All parts of all groups, then the memory of each thread.
  std::int64_t bytes(const AttentionPlan& plan, int threads) const {
    const std::int64_t parts_elements = round_up(plan.groups() * parts * part_elements(plan), 16);
    return static_cast<std::int64_t>(sizeof(double)) *
           (parts_elements + threads * round_up(thread_elements(plan), 16));
  }
};

#define BENCH_INLINE [[gnu::always_inline]] inline

// The work of one thread.
template <Element kType, class Registers>
class CpuAttention : AttentionVectors<kType, Registers> {
  using Base = AttentionVectors<kType, Registers>;
  using Base::at, Base::kLanes, Base::kPanel, Base::kRows, Base::load_some, Base::raise_2_to;
  using Base::largest_of, Base::power_of_2, Base::sum_of;
  using typename Base::T, typename Base::Vector;

 public:
  BENCH_INLINE CpuAttention(const AttentionPlan& plan, const Addresses& tensors,
                            const AttentionWork& work, int thread)
      : plan_(plan), tensors_(tensors), work_(work), size_(plan.head_dim) {
    // Behind query, key, value, destination and, if there is one, log_sum.
    parts_ = static_cast<T*>(tensors.at[plan.writes_log_sum ? kLogSum + 1 : kLogSum]);
    memory_ = parts_ + round_up(plan.groups() * work.parts * work.part_elements(plan), 16) +
              thread * round_up(work.thread_elements(plan), 16);
    scale_ = T(1.4426950408889634) / std::sqrt(static_cast<T>(size_));
  }

  BENCH_INLINE void run_task(std::int64_t task) {
    const std::int64_t group = task / work_.parts;
    const std::int64_t part = task % work_.parts;
    if (work_.streams) {
      stream(group, part);
    } else {
      compute_chunk(group, part * work_.chunk_rows);
    }
  }

  // Adds up the parts of one row.
  BENCH_INLINE void finish(std::int64_t group, std::int64_t row) {
    const std::int64_t elements = work_.part_elements(plan_);
    const T* first = parts_ + group * work_.parts * elements;
    T largest = T(kMaskedScore);
    for (std::int64_t part = 0; part < work_.parts; ++part) {
      largest = std::max(largest, totals_of(first + part * elements)[2 * row + 1]);
    }
    T* sums = memory_;
    T total = 0;
    for (std::int64_t d = 0; d < size_; ++d) sums[d] = 0;
    for (std::int64_t part = 0; part < work_.parts; ++part) {
      const T* from = first + part * elements;
      const T* totals = totals_of(from) + 2 * row;
      const T factor = power_of_2(totals[1] - largest);
      total += factor * totals[0];
      for (std::int64_t d = 0; d < size_; ++d)
        sums[d] += factor * from[row * work_.padded_size + d];
    }
    write(group, row, sums, total, largest);
  }

 private:
  static constexpr int kLogSum = 4;

  // Turns `count` scores of one row into weights. `count` is a multiple of kLanes. Returns the
  // factor by which the caller multiplies the row's sums so far.
  BENCH_INLINE static T weigh(T* scores, std::int64_t count, T& total, T& largest) {
    Vector top = Vector{} + largest;
    for (std::int64_t i = 0; i < count; i += kLanes) {
      const Vector score = at(scores + i);
      top = score > top ? score : top;
    }
    const T new_largest = largest_of(top);
    const T factor = new_largest == largest ? T(1) : power_of_2(largest - new_largest);
    Vector sum = {};
    for (std::int64_t i = 0; i < count; i += kLanes) {
      Vector weight = at(scores + i) - new_largest;
      raise_2_to(weight);
      at(scores + i) = weight;
      sum += weight;
    }
    total = total * factor + sum_of(sum);
    largest = new_largest;
    return factor;
  }

  // `largest`: the score that the weights of `total` are relative to.
  BENCH_INLINE void write(std::int64_t group, std::int64_t row, const T* sums, T total, T largest) {
    const T factor = total > T(0) ? T(1) / total : T(0);
    const std::int64_t begin = plan_.row_begin(group, row);
    for (std::int64_t d = 0; d < size_; ++d) {
      store_as<T>(kType, tensors_.at[3], begin + d, sums[d] * factor);
    }
    if (!plan_.writes_log_sum) return;
    constexpr T kLogOf2 = T(0.6931471805599453);
    write_as<T>(tensors_.at[kLogSum], plan_.row_number(group, row),
                total > T(0) ? largest * kLogOf2 + std::log(total) : T(0));
  }

  // --- Tiles.

  struct Chunk {
    std::int64_t group, first, count;
    T *queries, *sums, *totals, *largest, *keys, *values, *scores;
  };

  BENCH_INLINE void compute_chunk(std::int64_t group, std::int64_t first) {
    const std::int64_t rows = work_.chunk_rows;
    Chunk chunk{};
    chunk.group = group;
    chunk.first = first;
    chunk.count = std::min(rows, plan_.rows() - first);
    chunk.queries = memory_;
    chunk.sums = chunk.queries + rows * work_.padded_size;
    chunk.keys = chunk.sums + rows * work_.padded_size;
    chunk.values = chunk.keys + kKeyBlock * work_.padded_size;
    chunk.scores = chunk.values + kKeyBlock * work_.padded_size;
    chunk.totals = chunk.scores + kKeyBlock * kRows;
    chunk.largest = chunk.totals + rows;
    std::fill_n(chunk.sums, rows * work_.padded_size, T(0));
    std::fill_n(chunk.totals, rows, T(0));
    std::fill_n(chunk.largest, rows, T(kMaskedScore));
    Base::pack_rows(tensors_.at[0], plan_.row_begin(group, first), chunk.count, size_, scale_,
                    chunk.queries);
    KeyRange keys{plan_.kv_len, 0};
    for (std::int64_t r = 0; r < chunk.count; ++r) add_range(plan_.keys(group, first + r), keys);
    for (std::int64_t key = keys.begin; key < keys.end; key += kKeyBlock) {
      const std::int64_t count = std::min(kKeyBlock, keys.end - key);
      const std::int64_t begin = plan_.key_begin(group, key);
      Base::pack_transposed(tensors_.at[1], begin, count, size_, chunk.keys);
      Base::pack_panels(tensors_.at[2], begin, count, size_, chunk.values);
      for (std::int64_t r = 0; r < chunk.count; r += kRows)
        compute_tile(chunk, r, {key, key + count});
    }
    for (std::int64_t r = 0; r < chunk.count; ++r) {
      write(group, first + r, chunk.sums + r * work_.padded_size, chunk.totals[r],
            chunk.largest[r]);
    }
  }
  BENCH_INLINE static void add_range(const KeyRange& range, KeyRange& to) {
    if (range.begin >= range.end) return;
    to.begin = std::min(to.begin, range.begin);
    to.end = std::max(to.end, range.end);
  }

  // Adds the keys of a block to the sums of kRows rows of the chunk, from `first` on.
  BENCH_INLINE void compute_tile(const Chunk& chunk, std::int64_t first, const KeyRange& block) {
    KeyRange ranges[kRows];
    KeyRange used{block.end, block.begin};
    for (int r = 0; r < kRows; ++r) {
      if (first + r >= chunk.count) continue;
      const KeyRange range = plan_.keys(chunk.group, chunk.first + first + r);
      ranges[r] = {std::max(range.begin, block.begin), std::min(range.end, block.end)};
      add_range(ranges[r], used);
    }
    if (used.begin >= used.end) return;
    const std::int64_t count = used.end - block.begin;
    for (std::int64_t n = 0; n < count; n += kPanel) {
      Vector products[kRows][2] = {};
      Base::template multiply<1, kRows>(chunk.queries + first * size_, chunk.keys + n * size_,
                                        size_, products);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        at(chunk.scores + r * kKeyBlock + n) = products[r][0];
        at(chunk.scores + r * kKeyBlock + n + kLanes) = products[r][1];
      }
    }
    for (int r = 0; r < kRows; ++r) {
      weigh_row(chunk, first, r, {ranges[r].begin - block.begin, ranges[r].end - block.begin},
                round_up(count, kPanel));
    }
    for (std::int64_t d = 0; d < round_up(size_, kPanel); d += kPanel) {
      Vector sums[kRows][2];
      T* to = chunk.sums + first * work_.padded_size + d;
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        sums[r][0] = at(to + r * work_.padded_size);
        sums[r][1] = at(to + r * work_.padded_size + kLanes);
      }
      Base::template multiply<kKeyBlock, 1>(chunk.scores, chunk.values + d * kKeyBlock, count,
                                            sums);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        at(to + r * work_.padded_size) = sums[r][0];
        at(to + r * work_.padded_size + kLanes) = sums[r][1];
      }
    }
  }
  // `range`: the keys of the block that the row attends to.
  BENCH_INLINE void weigh_row(const Chunk& chunk, std::int64_t first, int r, const KeyRange& range,
                              std::int64_t count) {
    T* scores = chunk.scores + r * kKeyBlock;
    if (range.begin >= range.end) {
      std::fill_n(scores, count, T(0));
      return;
    }
    std::fill(scores, scores + range.begin, T(kMaskedScore));
    std::fill(scores + range.end, scores + count, T(kMaskedScore));
    const std::int64_t row = first + r;
    const T factor = weigh(scores, count, chunk.totals[row], chunk.largest[row]);
    if (factor == T(1)) return;
    T* sums = chunk.sums + row * work_.padded_size;
    for (std::int64_t d = 0; d < work_.padded_size; d += kLanes) at(sums + d) *= factor;
  }

  // --- Stream.

  BENCH_INLINE T* totals_of(T* part) { return part + plan_.rows() * work_.padded_size; }
  BENCH_INLINE const T* totals_of(const T* part) { return part + plan_.rows() * work_.padded_size; }

  BENCH_INLINE void stream(std::int64_t group, std::int64_t part) {
    const std::int64_t rows = plan_.rows();
    T* sums = parts_ + (group * work_.parts + part) * work_.part_elements(plan_);
    T* totals = totals_of(sums);
    T* queries = memory_;
    T* scores = queries + kMaxStreamedRows * work_.padded_size;
    std::fill_n(sums, rows * work_.padded_size, T(0));
    KeyRange keys{plan_.kv_len, 0};
    for (std::int64_t r = 0; r < rows; ++r) {
      totals[2 * r] = 0;
      totals[2 * r + 1] = T(kMaskedScore);
      add_range(plan_.keys(group, r), keys);
      const std::int64_t begin = plan_.row_begin(group, r);
      for (std::int64_t d = 0; d < work_.padded_size; ++d) {
        queries[r * work_.padded_size + d] =
            d < size_ ? scale_ * load_as<T>(kType, tensors_.at[0], begin + d) : T(0);
      }
    }
    const std::int64_t count = std::max<std::int64_t>(0, keys.end - keys.begin);
    const std::int64_t end = keys.begin + count * (part + 1) / work_.parts;
    for (std::int64_t key = keys.begin + count * part / work_.parts; key < end; key += kKeyBlock) {
      const KeyRange block{key, std::min(end, key + kKeyBlock)};
      std::int64_t row = 0;
      for (; row + 4 <= rows; row += 4) score_rows<4>(group, block, row, queries, scores);
      for (; row < rows; ++row) score_rows<1>(group, block, row, queries, scores);
      for (std::int64_t r = 0; r < rows; ++r) {
        weigh_streamed(group, r, block, scores + r * kKeyBlock, totals + 2 * r,
                       sums + r * work_.padded_size);
      }
      for (row = 0; row + 4 <= rows; row += 4) add_rows<4>(group, block, row, scores, sums);
      for (; row < rows; ++row) add_rows<1>(group, block, row, scores, sums);
    }
  }
  template <int kCount>
  BENCH_INLINE void score_rows(std::int64_t group, const KeyRange& block, std::int64_t row,
                               const T* queries, T* scores) {
    constexpr int kKeys = kLanes >= 16 ? 4 : 2;  // as many as there are registers for
    for (std::int64_t key = block.begin; key < block.end; key += kKeys) {
      Vector products[kKeys][kCount] = {};
      for (std::int64_t d = 0; d < size_; d += kLanes) {
        Vector x[kKeys];
#pragma GCC unroll 4
        for (int i = 0; i < kKeys; ++i) {
          // Behind the last key, it is read again.
          const std::int64_t begin = plan_.key_begin(group, std::min(key + i, block.end - 1));
          load_some(tensors_.at[1], begin + d, size_ - d, x[i]);
        }
#pragma GCC unroll 4
        for (int r = 0; r < kCount; ++r) {
          const Vector query = at(queries + (row + r) * work_.padded_size + d);
#pragma GCC unroll 4
          for (int i = 0; i < kKeys; ++i) products[i][r] += query * x[i];
        }
      }
      // Sums behind the last key are overwritten: a block has a multiple of kKeys scores.
#pragma GCC unroll 4
      for (int i = 0; i < kKeys; ++i) {
#pragma GCC unroll 4
        for (int r = 0; r < kCount; ++r) {
          scores[(row + r) * kKeyBlock + key + i - block.begin] = sum_of(products[i][r]);
        }
      }
    }
  }
  BENCH_INLINE void weigh_streamed(std::int64_t group, std::int64_t row, const KeyRange& block,
                                   T* scores, T* totals, T* sums) {
    const KeyRange range = plan_.keys(group, row);
    const std::int64_t begin = std::max(range.begin, block.begin) - block.begin;
    const std::int64_t end = std::min(range.end, block.end) - block.begin;
    const std::int64_t count = round_up(block.end - block.begin, kLanes);
    if (begin >= end) {
      std::fill_n(scores, count, T(0));
      return;
    }
    std::fill(scores, scores + begin, T(kMaskedScore));
    std::fill(scores + end, scores + count, T(kMaskedScore));
    const T factor = weigh(scores, count, totals[0], totals[1]);
    if (factor == T(1)) return;
    for (std::int64_t d = 0; d < work_.padded_size; d += kLanes) at(sums + d) *= factor;
  }
  template <int kCount>
  BENCH_INLINE void add_rows(std::int64_t group, const KeyRange& block, std::int64_t row,
                             const T* scores, T* sums) {
    constexpr int kKeys = 4;
    for (std::int64_t key = block.begin; key < block.end; key += kKeys) {
      const std::int64_t present = std::min<std::int64_t>(kKeys, block.end - key);
      T weights[kCount][kKeys] = {};
      for (int r = 0; r < kCount; ++r) {
        for (std::int64_t i = 0; i < present; ++i) {
          weights[r][i] = scores[(row + r) * kKeyBlock + key + i - block.begin];
        }
      }
      for (std::int64_t d = 0; d < size_; d += kLanes) {
        Vector values[kKeys];
#pragma GCC unroll 4
        for (int i = 0; i < kKeys; ++i) {
          const std::int64_t begin = plan_.key_begin(group, std::min(key + i, block.end - 1));
          load_some(tensors_.at[2], begin + d, size_ - d, values[i]);
        }
#pragma GCC unroll 4
        for (int r = 0; r < kCount; ++r) {
          Vector sum = at(sums + (row + r) * work_.padded_size + d);
#pragma GCC unroll 4
          for (int i = 0; i < kKeys; ++i) sum += weights[r][i] * values[i];
          at(sums + (row + r) * work_.padded_size + d) = sum;
        }
      }
    }
  }

  const AttentionPlan& plan_;
  const Addresses& tensors_;
  const AttentionWork& work_;
  std::int64_t size_;
  T scale_;
  T* parts_;
  T* memory_;
};

enum class AttentionStep { run, finish };

// Later chunks of a causal group have more keys: the threads take turns in both orders.
template <class Attention>
BENCH_INLINE void run_tasks(Attention& attention, std::int64_t tasks, int thread, int threads) {
  for (std::int64_t turn = 0; turn * threads < tasks; ++turn) {
    const std::int64_t task = turn * threads + (turn % 2 == 0 ? thread : threads - 1 - thread);
    if (task < tasks) attention.run_task(task);
  }
}

template <Element kType, class Registers>
BENCH_INLINE void compute_attention(const AttentionPlan& plan, const Addresses& tensors, int thread,
                                    int threads, AttentionStep step) {
  const AttentionWork work = AttentionWork::of(plan, threads);
  CpuAttention<kType, Registers> attention(plan, tensors, work, thread);
  if (step == AttentionStep::finish) {
    if (!work.streams) return;
    const std::int64_t rows = plan.groups() * plan.rows();
    const std::int64_t end = part_begin(rows, thread + 1, threads);
    for (std::int64_t row = part_begin(rows, thread, threads); row < end; ++row) {
      attention.finish(row / plan.rows(), row % plan.rows());
    }
    return;
  }
  run_tasks(attention, plan.groups() * work.parts, thread, threads);
}

#undef BENCH_INLINE

}  // namespace bench::ops::cuda
