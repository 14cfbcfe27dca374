// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/gemm.hpp"
#include "ops/reference_tile.hpp"

#include <algorithm>
#include <cstddef>

namespace bench::ops {
namespace {

constexpr std::int64_t kBlock = kTile;

// Returns the position of element (row, column) of a stored rows x columns matrix.
std::int64_t stored_position(Storage storage, std::int64_t rows, std::int64_t columns,
                             std::int64_t row, std::int64_t column) {
  return storage == Storage::plain ? row * columns + column : column * rows + row;
}

// Packs kBlock rows of the left operand, from row `first` on, as [k][row]. Rows beyond the last are
// zero.
void pack_rows(const GemmShape& shape, const double* a, std::int64_t first, double* packed) {
  const std::int64_t rows = std::min(kBlock, shape.m - first);
  std::fill_n(packed, shape.k * kBlock, 0.0);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t k = 0; k < shape.k; ++k) {
      packed[k * kBlock + i] = a[stored_position(shape.a, shape.m, shape.k, first + i, k)];
    }
  }
}

// Packs kBlock columns of the right operand, from column `first` on, as [k][column].
void pack_columns(const GemmShape& shape, const double* b, std::int64_t first, double* packed) {
  const std::int64_t columns = std::min(kBlock, shape.n - first);
  std::fill_n(packed, shape.k * kBlock, 0.0);
  for (std::int64_t k = 0; k < shape.k; ++k) {
    for (std::int64_t j = 0; j < columns; ++j) {
      packed[k * kBlock + j] = b[stored_position(shape.b, shape.k, shape.n, k, first + j)];
    }
  }
}

void write_tile(const GemmShape& shape, const Tile& tile, const double* bias, std::int64_t row,
                std::int64_t column, double* destination) {
  for (std::int64_t i = 0; i < std::min(kBlock, shape.m - row); ++i) {
    for (std::int64_t j = 0; j < std::min(kBlock, shape.n - column); ++j) {
      destination[(row + i) * shape.n + column + j] =
          tile[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] +
          (bias == nullptr ? 0 : bias[column + j]);
    }
  }
}

// Computes one product of the batch. `offsets[k]` is the position of index k in packed columns.
void multiply(const GemmShape& shape, const double* a, const double* b, const double* bias,
              std::span<const std::ptrdiff_t> offsets, double* destination) {
  const std::int64_t row_blocks = (shape.m + kBlock - 1) / kBlock;
  std::vector<double> rows(static_cast<std::size_t>(row_blocks * shape.k * kBlock));
  for (std::int64_t block = 0; block < row_blocks; ++block) {
    pack_rows(shape, a, block * kBlock, rows.data() + block * shape.k * kBlock);
  }
  std::vector<double> columns(static_cast<std::size_t>(shape.k * kBlock));
  for (std::int64_t column = 0; column < shape.n; column += kBlock) {
    pack_columns(shape, b, column, columns.data());
    for (std::int64_t block = 0; block < row_blocks; ++block) {
      Tile tile;
      accumulate_tile(columns.data(), offsets, rows.data() + block * shape.k * kBlock,
                      shape.m == 1 ? 1 : kTile, tile);
      write_tile(shape, tile, bias, block * kBlock, column, destination);
    }
  }
}

}  // namespace

std::vector<double> gemm_values(const GemmShape& shape, ReferenceInputs inputs) {
  std::vector<std::ptrdiff_t> offsets(static_cast<std::size_t>(shape.k));
  for (std::size_t k = 0; k < offsets.size(); ++k) {
    offsets[k] = static_cast<std::ptrdiff_t>(k) * kBlock;
  }
  std::vector<double> values(static_cast<std::size_t>(shape.batch * shape.m * shape.n));
  const double* const bias = shape.has_bias ? inputs[2].data() : nullptr;
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    multiply(shape, inputs[0].data() + b * shape.m * shape.k,
             inputs[1].data() + b * shape.k * shape.n, bias, offsets,
             values.data() + b * shape.m * shape.n);
  }
  return values;
}

std::vector<double> gemm_values_at(const GemmShape& shape, ReferenceInputs inputs,
                                   std::span<const std::int64_t> positions) {
  const bool is_a_plain = shape.a == Storage::plain;
  const bool is_b_plain = shape.b == Storage::plain;
  std::vector<double> values;
  values.reserve(positions.size());
  for (const std::int64_t position : positions) {
    const std::int64_t n = position % shape.n;
    const std::int64_t m = position / shape.n % shape.m;
    const std::int64_t b = position / shape.n / shape.m;
    const double* a_element =
        inputs[0].data() + b * shape.m * shape.k + m * (is_a_plain ? shape.k : 1);
    const double* b_element =
        inputs[1].data() + b * shape.k * shape.n + n * (is_b_plain ? 1 : shape.k);
    double sum = 0;
    for (std::int64_t k = 0; k < shape.k; ++k) {
      sum += *a_element * *b_element;
      a_element += is_a_plain ? 1 : shape.m;
      b_element += is_b_plain ? shape.n : 1;
    }
    values.push_back(sum + (shape.has_bias ? inputs[2][static_cast<std::size_t>(n)] : 0));
  }
  return values;
}

std::vector<double> reference_gemm(const Problem& problem, ReferenceInputs inputs, std::size_t,
                                   std::span<const std::int64_t> positions) {
  const GemmShape shape = gemm_shape(problem.parameters);
  return positions.empty() ? gemm_values(shape, inputs) : gemm_values_at(shape, inputs, positions);
}

}  // namespace bench::ops
