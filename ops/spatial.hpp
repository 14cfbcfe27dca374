// SPDX-License-Identifier: Apache-2.0
// Handles spatial dimensions for conv, pool and batch_norm: rank, completion of parameters and
// output sizes. Also counts the elements and taps that a kernel's sweep over an axis really uses.
#pragma once

#include "base/checked.hpp"
#include "base/result.hpp"
#include "ops/parameter.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bench::ops {

// The first spatial dimension follows n and c.
inline constexpr std::size_t kFirstSpatial = 2;
inline constexpr std::size_t kMaxSpatialRank = 3;
// Names of the parameters for sizes and for a kernel's sizes, outermost first. A lower rank uses
// the last names.
inline constexpr std::array<std::string_view, kMaxSpatialRank> kSpatialSizeNames = {"d", "h", "w"};
inline constexpr std::array<std::string_view, kMaxSpatialRank> kKernelSizeNames = {"t", "r", "s"};

// Sets one parameter per size (at most kMaxSpatialRank). Uses the last of the three `names`.
void set_spatial_sizes(ParameterSet& set, std::span<const std::string_view, kMaxSpatialRank> names,
                       std::span<const std::int64_t> sizes);

// --- Completion (for Operator::complete). Errors: `where` is the parameter's name.

// Returns the rank of the sizes `d`, `h`, `w`: 3 with d, else 2 with h, else 1. A missing size
// takes the value of the one before it (h = d, w = h).
Result<int> complete_sizes(ParameterSet& set);
// Completes counts for `rank` dimensions. `names` are the parameters of three dimensions, outermost
// first ({"t", "r", "s"}). The outermost parameter of the rank is required. A missing parameter
// takes the value of the one before it. A parameter outside the rank is an error.
Status complete_chain(ParameterSet& set, std::span<const std::string_view> names, int rank);
// Expand a spatial or a padding parameter to one entry per dimension. If the parameter is not set,
// each entry is `default_value`, or 0 for padding.
Status expand_spatial(ParameterSet& set, std::string_view name, int rank,
                      std::int64_t default_value);
Status expand_padding(ParameterSet& set, std::string_view name, int rank);

// Returns the size parameters of a rank, outermost first: {"d","h","w"}, {"h","w"}, {"w"}.
std::span<const std::string_view> size_names(int rank);
// Return the rank and the sizes of a complete set.
int spatial_rank(const ParameterSet& complete);
std::vector<std::int64_t> spatial_sizes(const ParameterSet& complete);

// --- One axis.

struct SpatialAxis {
  std::string_view name;  // name of the size parameter: "h"
  std::int64_t input = 1;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  PadPair pad;
  std::int64_t dilation = 1;  // 1 = dense
  std::int64_t output_pad = 0;
  std::int64_t output = 1;  // set by infer_output
};

// The relation of inputs and outputs along an axis; r is a tap of the kernel. convolution: output o
// reads inputs o*stride - pad.begin + r*dilation. transposed: input i adds to outputs i*stride -
// pad.begin + r*dilation.
enum class Sweep { convolution, transposed };

// Returns the axes of a complete set: sizes, kernel sizes, and `stride`, `pad`, `dilation`,
// `output_pad` if the table has them. `kernel_names` are the counts (as in complete_chain) or one
// spatial parameter ({"window"}). Does not set the outputs; see infer_output.
std::vector<SpatialAxis> spatial_axes(const ParameterSet& complete,
                                      std::span<const std::string_view> kernel_names);

// Sets `output`: floor((H + p0 + p1 - d*(R-1) - 1)/s) + 1, transposed (H-1)*s - p0 - p1 + d*(R-1) +
// output_pad + 1. Errors: output below 1, a value beyond 2^63; `where` is the axis' name.
Status infer_output(SpatialAxis& axis, Sweep sweep);

// Work along one axis; a problem's counts are products over its axes. count_axis() is exact and
// takes logarithmic time, because sizes come from users and may be huge. Requires `output`.
struct AxisCounts {
  Checked taps;          // pairs (output position, kernel tap) that use an input, not padding
  std::int64_t inputs;   // distinct input positions in such pairs
  std::int64_t outputs;  // distinct output positions in such pairs
  std::int64_t kernels;  // distinct kernel positions in such pairs
};
AxisCounts count_axis(const SpatialAxis& axis, Sweep sweep);

}  // namespace bench::ops
