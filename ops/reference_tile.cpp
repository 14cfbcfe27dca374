// SPDX-License-Identifier: Apache-2.0
// A tile of 4 x 4 doubles stays in registers over all terms. A term then costs 16 multiplications
// and additions for 2 short loads. Otherwise loads and stores would limit the reference.
#include "ops/reference_tile.hpp"

namespace bench::ops {
namespace {

template <std::size_t kRows>
void accumulate(const double* source, std::span<const std::ptrdiff_t> offsets,
                const double* weights, Tile& tile) {
  std::array<std::array<double, kTile>, kRows> sums{};
  for (const std::ptrdiff_t offset : offsets) {
    const double* const columns = source + offset;
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (std::size_t j = 0; j < kTile; ++j) sums[i][j] += weights[i] * columns[j];
    }
    weights += kTile;
  }
  for (std::size_t i = 0; i < kRows; ++i) tile[i] = sums[i];
}

}  // namespace

void accumulate_tile(const double* source, std::span<const std::ptrdiff_t> offsets,
                     const double* weights, std::size_t rows, Tile& tile) {
  if (rows == 1) {
    accumulate<1>(source, offsets, weights, tile);
  } else {
    accumulate<kTile>(source, offsets, weights, tile);
  }
}

}  // namespace bench::ops
