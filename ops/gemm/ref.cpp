// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/gemm.hpp"
#include "ops/model.hpp"
#include "ops/reference_tile.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

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
  const std::int64_t depth = shape.inner.count;
  const std::int64_t rows = std::min(kBlock, shape.rows.count - first);
  std::fill_n(packed, depth * kBlock, 0.0);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t k = 0; k < depth; ++k) {
      packed[k * kBlock + i] =
          a[stored_position(shape.left.storage, shape.rows.count, depth, first + i, k)];
    }
  }
}

// Packs kBlock columns of the right operand, from column `first` on, as [k][column].
void pack_columns(const GemmShape& shape, const double* b, std::int64_t first, double* packed) {
  const std::int64_t depth = shape.inner.count;
  const std::int64_t columns = std::min(kBlock, shape.columns.count - first);
  std::fill_n(packed, depth * kBlock, 0.0);
  for (std::int64_t k = 0; k < depth; ++k) {
    for (std::int64_t j = 0; j < columns; ++j) {
      packed[k * kBlock + j] =
          b[stored_position(shape.right.storage, depth, shape.columns.count, k, first + j)];
    }
  }
}

// Adds a tile to the destination, and the bias.
void add_tile(const GemmShape& shape, const Tile& tile, const double* bias, std::int64_t row,
              std::int64_t column, double* destination) {
  const std::int64_t columns = shape.columns.count;
  for (std::int64_t i = 0; i < std::min(kBlock, shape.rows.count - row); ++i) {
    for (std::int64_t j = 0; j < std::min(kBlock, columns - column); ++j) {
      destination[(row + i) * columns + column + j] +=
          tile[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] +
          (bias == nullptr ? 0 : bias[column + j]);
    }
  }
}

// Adds one product of the batch. `offsets[k]` is the position of index k in packed columns.
void multiply(const GemmShape& shape, const double* a, const double* b, const double* bias,
              std::span<const std::ptrdiff_t> offsets, double* destination) {
  const std::int64_t row_blocks = (shape.rows.count + kBlock - 1) / kBlock;
  const std::int64_t block_size = shape.inner.count * kBlock;
  std::vector<double> rows(static_cast<std::size_t>(row_blocks * block_size));
  for (std::int64_t block = 0; block < row_blocks; ++block) {
    pack_rows(shape, a, block * kBlock, rows.data() + block * block_size);
  }
  std::vector<double> columns(static_cast<std::size_t>(block_size));
  for (std::int64_t column = 0; column < shape.columns.count; column += kBlock) {
    pack_columns(shape, b, column, columns.data());
    for (std::int64_t block = 0; block < row_blocks; ++block) {
      Tile tile;
      accumulate_tile(columns.data(), offsets, rows.data() + block * block_size,
                      shape.rows.count == 1 ? 1 : kTile, tile);
      add_tile(shape, tile, bias, block * kBlock, column, destination);
    }
  }
}

// Returns the matrix of an operand for product `b` of the batch.
const double* find_matrix(const GemmShape& shape, const GemmOperand& operand,
                          ReferenceInputs inputs, std::int64_t b, std::int64_t elements) {
  return inputs[operand.tensor].data() + b / shape.share(operand.batch) * elements;
}

std::size_t find_tensor(const Problem& problem, std::string_view name) {
  const auto found = std::ranges::find(problem.tensors, name, &Tensor::name);
  return static_cast<std::size_t>(found - problem.tensors.begin());
}

// Computes a product of integers whose sums are scaled, before they are rounded. The sums are exact
// in double.
std::vector<double> quantised_values(const Problem& problem, ReferenceInputs inputs,
                                     std::span<const std::int64_t> positions) {
  std::vector<std::vector<double>> operands = {inputs[0], inputs[1]};
  if (problem.parameters.flag("src_zero_point")) {
    const double zero_point = inputs[find_tensor(problem, "src_zero_point")][0];
    for (double& value : operands[0]) value -= zero_point;
  }
  GemmShape shape = gemm_shape(problem);
  const bool has_bias = std::exchange(shape.has_bias, false);
  std::vector<double> values =
      positions.empty() ? gemm_values(shape, operands) : gemm_values_at(shape, operands, positions);
  const auto scale = [&](std::string_view name, std::size_t column) {
    const std::size_t tensor = find_tensor(problem, name);
    if (tensor == problem.tensors.size()) return 1.0;
    const std::vector<double>& scales = inputs[tensor];
    return scales[scales.size() == 1 ? 0 : column];
  };
  const auto columns = static_cast<std::size_t>(shape.columns.count);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto column = (positions.empty() ? i : static_cast<std::size_t>(positions[i])) % columns;
    values[i] *= scale("src_scale", column) * scale("weights_scale", column);
    if (has_bias) values[i] += inputs[2][column];
  }
  return values;
}

// Returns sums over all matrices of diff_destination, which has one column per value of the bias.
std::vector<double> bias_gradient(const Problem& problem, ReferenceInputs inputs,
                                  std::span<const std::int64_t> positions) {
  constexpr std::size_t kDiffDestination = 1;
  const std::vector<double>& values = inputs[kDiffDestination];
  const std::int64_t columns = problem.parameters.count("n");
  return evaluate(columns, positions, [&](std::int64_t column) {
    double sum = 0;
    for (auto i = static_cast<std::size_t>(column); i < values.size();
         i += static_cast<std::size_t>(columns)) {
      sum += values[i];
    }
    return sum;
  });
}

}  // namespace

std::vector<double> gemm_values(const GemmShape& shape, ReferenceInputs inputs) {
  std::vector<std::ptrdiff_t> offsets(static_cast<std::size_t>(shape.inner.count));
  for (std::size_t k = 0; k < offsets.size(); ++k) {
    offsets[k] = static_cast<std::ptrdiff_t>(k) * kBlock;
  }
  const std::int64_t matrix = shape.rows.count * shape.columns.count;
  std::vector<double> values(static_cast<std::size_t>(shape.result_batch * matrix));
  const double* const bias = shape.has_bias ? inputs[2].data() : nullptr;
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    multiply(shape, find_matrix(shape, shape.left, inputs, b, shape.rows.count * shape.inner.count),
             find_matrix(shape, shape.right, inputs, b, shape.inner.count * shape.columns.count),
             bias, offsets, values.data() + b / shape.share(shape.result_batch) * matrix);
  }
  return values;
}

std::vector<double> gemm_values_at(const GemmShape& shape, ReferenceInputs inputs,
                                   std::span<const std::int64_t> positions) {
  const std::int64_t m_count = shape.rows.count;
  const std::int64_t n_count = shape.columns.count;
  const std::int64_t k_count = shape.inner.count;
  const bool is_a_plain = shape.left.storage == Storage::plain;
  const bool is_b_plain = shape.right.storage == Storage::plain;
  const std::int64_t summed = shape.share(shape.result_batch);
  std::vector<double> values;
  values.reserve(positions.size());
  for (const std::int64_t position : positions) {
    const std::int64_t n = position % n_count;
    const std::int64_t m = position / n_count % m_count;
    const std::int64_t first = position / n_count / m_count * summed;
    double sum = 0;
    for (std::int64_t b = first; b < first + summed; ++b) {
      const double* a_element = find_matrix(shape, shape.left, inputs, b, m_count * k_count) +
                                m * (is_a_plain ? k_count : 1);
      const double* b_element = find_matrix(shape, shape.right, inputs, b, k_count * n_count) +
                                n * (is_b_plain ? 1 : k_count);
      for (std::int64_t k = 0; k < k_count; ++k) {
        sum += *a_element * *b_element;
        a_element += is_a_plain ? 1 : m_count;
        b_element += is_b_plain ? n_count : 1;
      }
    }
    values.push_back(sum + (shape.has_bias ? inputs[2][static_cast<std::size_t>(n)] : 0));
  }
  return values;
}

std::vector<double> reference_gemm(const Problem& problem, ReferenceInputs inputs,
                                   std::size_t output, std::span<const std::int64_t> positions) {
  if (output > 0) return bias_gradient(problem, inputs, positions);
  if (is_quantised(problem.parameters)) return quantised_values(problem, inputs, positions);
  const GemmShape shape = gemm_shape(problem);
  return positions.empty() ? gemm_values(shape, inputs) : gemm_values_at(shape, inputs, positions);
}

}  // namespace bench::ops
