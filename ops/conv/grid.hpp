// SPDX-License-Identifier: Apache-2.0
// The operand layout of the fast convolution reference (ops/conv/whole.cpp and gradient.cpp). One
// operand is copied into a grid with its padding. If the copied operand has one element per step of
// the kernel's sweep, stride - 1 zeros separate its elements. The sum over channels and taps then
// has the same offsets for each result and needs no bounds checks. accumulate_tile receives the
// offsets.
#pragma once

#include "ops/conv/conv.hpp"
#include "ops/reference_tile.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace bench::ops {

// Number of columns of a tile.
inline constexpr std::int64_t kColumns = kTile;

// One axis of the grid. Element i of the copied operand is at position i*spread + begin. The
// element is left out if no sum reads it. Result o and tap r read position o*step + first_tap +
// r*tap_step.
struct GridAxis {
  std::int64_t elements = 1;
  std::int64_t spread = 1;
  std::int64_t begin = 0;
  std::int64_t results = 1;
  std::int64_t step = 1;
  std::int64_t taps = 1;
  std::int64_t first_tap = 0;
  std::int64_t tap_step = 1;
  std::int64_t length = 1;

  std::int64_t tap(std::int64_t r) const { return first_tap + r * tap_step; }
};
using GridAxes = std::array<GridAxis, 3>;

// Returns the axis of a grid that contains the `window` positions under the kernel. There is one
// result per step of the kernel; it reads the positions that the kernel covers in this step.
GridAxis make_reading_axis(const SpatialAxis& axis, std::int64_t window, std::int64_t steps);

// Returns the axis of a grid that contains one element per step of the kernel, spread by the
// stride. There is one result per `window` position; it sums the steps whose kernel covers it. This
// equals a convolution with stride 1 and the taps in reverse order.
GridAxis make_receiving_axis(const SpatialAxis& axis, std::int64_t window, std::int64_t steps);

// Calls make(axis) for each axis of the shape. Missing outer axes have size 1.
template <class MakeAxis>
GridAxes make_grid_axes(const ConvShape& shape, MakeAxis make) {
  GridAxes grid;
  const std::size_t missing = 3 - shape.axes.size();
  for (std::size_t i = 0; i < shape.axes.size(); ++i) grid[missing + i] = make(shape.axes[i]);
  return grid;
}

// The layout of one row of the grid. Positions are grouped by their remainder modulo the step, so
// that neighbouring results read neighbouring columns. Up to kColumns - 1 columns after a row are
// read but never used.
struct RowLayout {
  explicit RowLayout(const GridAxes& axes)
      : step(axes[2].step),
        phase_columns((axes[2].length + axes[2].step - 1) / axes[2].step + kColumns),
        row_columns(phase_columns * step) {}

  std::int64_t step;
  std::int64_t phase_columns;  // columns of the positions with equal remainders
  std::int64_t row_columns;

  std::int64_t column(std::int64_t x) const { return x % step * phase_columns + x / step; }
};

std::int64_t grid_results(const GridAxes& axes);
std::int64_t grid_taps(const GridAxes& axes);
std::int64_t grid_elements(const GridAxes& axes);

// Returns whether a grid with this many channels is small enough, since padding may make it very
// large.
bool fits_grid_limit(const GridAxes& axes, std::int64_t channels);

// Calls visit(element index, d, h, w in the grid) for each element that some sum reads.
template <class Visit>
void for_each_used_element(const GridAxes& axes, Visit visit) {
  // Returns -1 if the element is outside the grid.
  const auto find_position = [](const GridAxis& axis, std::int64_t i) {
    const std::int64_t position = i * axis.spread + axis.begin;
    return position >= 0 && position < axis.length ? position : -1;
  };
  for (std::int64_t d = 0; d < axes[0].elements; ++d) {
    const std::int64_t z = find_position(axes[0], d);
    for (std::int64_t h = 0; h < axes[1].elements && z >= 0; ++h) {
      const std::int64_t y = find_position(axes[1], h);
      for (std::int64_t w = 0; w < axes[2].elements && y >= 0; ++w) {
        const std::int64_t x = find_position(axes[2], w);
        if (x >= 0) visit((d * axes[1].elements + h) * axes[2].elements + w, z, y, x);
      }
    }
  }
}

// Calls visit(d, h, w offset in the grid) for each tap.
template <class Visit>
void for_each_tap(const GridAxes& axes, Visit visit) {
  for (std::int64_t t = 0; t < axes[0].taps; ++t) {
    for (std::int64_t r = 0; r < axes[1].taps; ++r) {
      for (std::int64_t s = 0; s < axes[2].taps; ++s) {
        visit(axes[0].tap(t), axes[1].tap(r), axes[2].tap(s));
      }
    }
  }
}

// Computes all `count` elements of an output with compute_conv_values_at. For shapes whose grid is
// too large.
std::vector<double> compute_element_by_element(const ConvShape& shape, Direction direction,
                                               ReferenceInputs inputs, std::size_t output,
                                               std::int64_t count);

// Computes output number `output` of direction backward_weights (ops/conv/gradient.cpp).
std::vector<double> compute_gradient(const ConvShape& shape, ReferenceInputs inputs,
                                     std::size_t output);

}  // namespace bench::ops
