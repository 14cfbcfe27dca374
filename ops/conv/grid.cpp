// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/grid.hpp"

#include "base/checked.hpp"

#include <numeric>

namespace bench::ops {
namespace {

// Maximum number of elements of a grid (256 MiB of doubles). A larger grid is mostly padding, or
// belongs to an output that is rarely checked completely. Such outputs are computed element by
// element.
constexpr std::int64_t kMaxGrid = std::int64_t{1} << 25;

}  // namespace

GridAxis make_reading_axis(const SpatialAxis& axis, std::int64_t window, std::int64_t steps) {
  GridAxis grid;
  grid.elements = window;
  grid.begin = axis.pad.begin;
  grid.results = steps;
  grid.step = axis.stride;
  grid.taps = axis.kernel;
  grid.tap_step = axis.dilation;
  grid.length = (steps - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
  return grid;
}

GridAxis make_receiving_axis(const SpatialAxis& axis, std::int64_t window, std::int64_t steps) {
  const std::int64_t reach = (axis.kernel - 1) * axis.dilation;
  GridAxis grid;
  grid.elements = steps;
  grid.spread = axis.stride;
  grid.begin = reach - axis.pad.begin;
  grid.results = window;
  grid.taps = axis.kernel;
  grid.first_tap = reach;
  grid.tap_step = -axis.dilation;
  grid.length = window + reach;
  return grid;
}

bool fits_grid_limit(const GridAxes& axes, std::int64_t channels) {
  const Checked row = (Checked(axes[2].length) + axes[2].step + kColumns * axes[2].step);
  const Checked size = row * axes[0].length * axes[1].length * channels;
  return size.value().value_or(kMaxGrid + 1) <= kMaxGrid;
}

std::int64_t grid_results(const GridAxes& axes) {
  return axes[0].results * axes[1].results * axes[2].results;
}

std::int64_t grid_taps(const GridAxes& axes) { return axes[0].taps * axes[1].taps * axes[2].taps; }

std::int64_t grid_elements(const GridAxes& axes) {
  return axes[0].elements * axes[1].elements * axes[2].elements;
}

std::vector<double> compute_element_by_element(const ConvShape& shape, Direction direction,
                                               ReferenceInputs inputs, std::size_t output,
                                               std::int64_t count) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(count));
  std::iota(positions.begin(), positions.end(), std::int64_t{0});
  return compute_conv_values_at(shape, direction, inputs, output, positions);
}

}  // namespace bench::ops
