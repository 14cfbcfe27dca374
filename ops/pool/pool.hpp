// SPDX-License-Identifier: Apache-2.0
// The operator pool: maximum or mean over windows of the spatial dimensions. forward: source ->
// destination. backward_data: diff_destination -> diff_source. For max, the first input of
// backward_data is the source, because it determines the positions of the maxima.
#pragma once

#include "ops/operator.hpp"
#include "ops/spatial.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bench::ops {

inline constexpr std::string_view kPoolMax = "max";
// Divides the sum by the window size.
inline constexpr std::string_view kPoolIncludePad = "avg_include_pad";
// Divides the sum by the number of window elements inside the input.
inline constexpr std::string_view kPoolExcludePad = "avg_exclude_pad";

// Returns the axes of complete parameters with their windows (global: the whole input) and outputs.
std::vector<SpatialAxis> pool_axes(const ParameterSet& complete);

std::vector<double> pool_reference(const Problem& problem, ReferenceInputs inputs,
                                   std::size_t output, std::span<const std::int64_t> positions);

}  // namespace bench::ops
