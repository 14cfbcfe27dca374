// SPDX-License-Identifier: Apache-2.0
// Spatial dimensions, shared by conv, pool and batch_norm: rank, completion of parameters, output
// sizes, and how many elements and taps a sweep of a kernel over an axis really touches.
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

// Behind n and c.
inline constexpr std::size_t kFirstSpatial = 2;
inline constexpr std::size_t kMaxSpatialRank = 3;
// Parameters of sizes and of a kernel's sizes, outermost first; those of a lower rank are the last.
inline constexpr std::array<std::string_view, kMaxSpatialRank> kSpatialSizeNames = {"d", "h", "w"};
inline constexpr std::array<std::string_view, kMaxSpatialRank> kKernelSizeNames = {"t", "r", "s"};

// Sets the last of the three `names`, as many as there are sizes (at most kMaxSpatialRank).
void set_spatial_sizes(ParameterSet& set, std::span<const std::string_view, kMaxSpatialRank> names,
                       std::span<const std::int64_t> sizes);

// --- Completion (for Operator::complete). Errors: `where` is the parameter's name.

// Rank of the sizes `d`, `h`, `w`: with d 3, else with h 2, with w alone 1. A missing size takes
// the one before it (h = d, w = h).
Result<int> complete_sizes(ParameterSet& set);
// Counts of rank `rank` whose names, outermost of three first, are `names` ({"t", "r", "s"}): the
// outermost one of the rank is required, a missing one takes the one before it, one outside the
// rank is an error.
Status complete_chain(ParameterSet& set, std::span<const std::string_view> names, int rank);
// Expands `name` (spatial, or padding below) to one entry a dimension; absent: `fallback` in each.
Status expand_spatial(ParameterSet& set, std::string_view name, int rank, std::int64_t fallback);
Status expand_padding(ParameterSet& set, std::string_view name, int rank);

// The size parameters of a rank, outermost first: {"d","h","w"}, {"h","w"}, {"w"}.
std::span<const std::string_view> size_names(int rank);
// Rank and sizes of a complete set.
int spatial_rank(const ParameterSet& complete);
std::vector<std::int64_t> spatial_sizes(const ParameterSet& complete);

// --- One axis.

struct SpatialAxis {
  std::string_view name;  // of the size parameter: "h"
  std::int64_t input = 1;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  PadPair pad;
  std::int64_t dilation = 1;  // 1 = dense
  std::int64_t output_pad = 0;
  std::int64_t output = 1;  // set by infer_output
};

// convolution: output o reads inputs o*stride - pad.begin + r*dilation. transposed: input i adds to
// outputs i*stride - pad.begin + r*dilation.
enum class Sweep { convolution, transposed };

// Typed view of a complete set: sizes, then by name the counts `kernel_names` (as in
// complete_chain) or one spatial parameter (`kernel_names` of size 1: {"window"}), and `stride`,
// `pad`, `dilation`, `output_pad` where the table has them. Outputs are not inferred.
std::vector<SpatialAxis> spatial_axes(const ParameterSet& complete,
                                      std::span<const std::string_view> kernel_names);

// Sets `output`: floor((H + p0 + p1 - d*(R-1) - 1)/s) + 1, transposed (H-1)*s - p0 - p1 + d*(R-1) +
// output_pad + 1. Errors: output below 1, a step beyond 2^63; `where` is the axis' name.
Status infer_output(SpatialAxis& axis, Sweep sweep);

// Work along one axis; those of a problem are products over its axes. Exact, in logarithmic time
// (sizes come from users and may be huge). Needs `output`.
struct AxisCounts {
  Checked taps;          // pairs (output position, kernel tap) that fall onto an input, not padding
  std::int64_t inputs;   // distinct input positions that take part in a pair
  std::int64_t outputs;  // distinct output positions that do
  std::int64_t kernels;  // distinct kernel positions that do
};
AxisCounts count_axis(const SpatialAxis& axis, Sweep sweep);

}  // namespace bench::ops
