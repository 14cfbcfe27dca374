// SPDX-License-Identifier: Apache-2.0
// The inner loop of the fast references of conv and gemm.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace bench::ops {

inline constexpr std::size_t kTile = 4;  // rows and columns

using Tile = std::array<std::array<double, kTile>, kTile>;

// Computes tile[i][j] = sum over t of weights[t*kTile + i] * source[offsets[t] + j] for the first
// `rows` rows (1 or kTile); the others are unchanged. `weights` contains kTile values per term.
void accumulate_tile(const double* source, std::span<const std::ptrdiff_t> offsets,
                     const double* weights, std::size_t rows, Tile& tile);

}  // namespace bench::ops
