// SPDX-License-Identifier: Apache-2.0
// Computes a complete convolution output, optimised for speed (compute_conv_values of
// ops/conv/conv.hpp).
#include "ops/conv/conv.hpp"
#include "ops/conv/grid.hpp"
#include "ops/reference_tile.hpp"

#include <algorithm>
#include <cstddef>

namespace bench::ops {
namespace {

// The directions forward and backward_data as a mapping of source channels to result channels.
struct Mapping {
  GridAxes axes;
  std::int64_t images;
  std::int64_t groups;
  std::int64_t source_channels;  // per group
  std::int64_t result_channels;  // per group
  // Distances of neighbouring channels in the weights [g][k][c][taps], in units of one kernel.
  std::int64_t source_distance;
  std::int64_t result_distance;
};

Mapping make_mapping(const ConvShape& shape, Direction direction) {
  const bool forward = direction == Direction::forward;
  const bool reads_window = forward == (shape.sweep == Sweep::convolution);
  const bool transposed = shape.sweep == Sweep::transposed;
  Mapping mapping{{},
                  shape.n,
                  shape.groups,
                  forward ? shape.group_c() : shape.group_k(),
                  forward ? shape.group_k() : shape.group_c(),
                  forward ? 1 : shape.group_c(),
                  forward ? shape.group_c() : 1};
  mapping.axes = make_grid_axes(shape, [&](const SpatialAxis& axis) {
    const std::int64_t window = transposed ? axis.output : axis.input;
    const std::int64_t steps = transposed ? axis.input : axis.output;
    return reads_window ? make_reading_axis(axis, window, steps)
                        : make_receiving_axis(axis, window, steps);
  });
  return mapping;
}

// Computes the results of a mapping. The references and arrays must outlive the object.
class Correlation {
 public:
  Correlation(const Mapping& mapping, const double* source, const double* weights,
              std::vector<double>& result)
      : mapping_(mapping),
        layout_(mapping.axes),
        plane_(layout_.row_columns * mapping.axes[1].length),
        channel_(plane_ * mapping.axes[0].length),
        grid_(static_cast<std::size_t>(channel_ * mapping.source_channels)),
        source_(source),
        weights_(weights),
        result_(result) {
    for (std::int64_t c = 0; c < mapping_.source_channels; ++c) {
      for_each_tap(mapping_.axes, [&](std::int64_t z, std::int64_t y, std::int64_t x) {
        offsets_.push_back(c * channel_ + z * plane_ + y * layout_.row_columns + layout_.column(x));
      });
    }
  }

  void run() {
    for (std::int64_t g = 0; g < mapping_.groups; ++g) {
      const std::vector<double> packed = pack_weights(g);
      for (std::int64_t n = 0; n < mapping_.images; ++n) {
        fill_grid(n * mapping_.groups + g);
        for (std::int64_t block = 0; block * kColumns < mapping_.result_channels; ++block) {
          sum_block(packed.data() + block * kColumns * terms(), n * mapping_.groups + g,
                    block * kColumns);
        }
      }
    }
  }

 private:
  std::int64_t terms() const { return static_cast<std::int64_t>(offsets_.size()); }

  // Returns the weights of group g as [block of result channels][term][channel within the block].
  std::vector<double> pack_weights(std::int64_t g) const {
    const std::int64_t kernel = grid_taps(mapping_.axes);
    const std::int64_t blocks = (mapping_.result_channels + kColumns - 1) / kColumns;
    std::vector<double> packed(static_cast<std::size_t>(blocks * kColumns * terms()));
    for (std::int64_t k = 0; k < mapping_.result_channels; ++k) {
      double* out = packed.data() + k / kColumns * kColumns * terms() + k % kColumns;
      for (std::int64_t c = 0; c < mapping_.source_channels; ++c) {
        const double* in =
            weights_ + (g * mapping_.source_channels * mapping_.result_channels +
                        k * mapping_.result_distance + c * mapping_.source_distance) *
                           kernel;
        for (std::int64_t t = 0; t < kernel; ++t, out += kColumns) *out = in[t];
      }
    }
    return packed;
  }

  // Copies the source into the grid. Positions without an element keep their initial zeros.
  void fill_grid(std::int64_t image_group) {
    for (std::int64_t c = 0; c < mapping_.source_channels; ++c) {
      const double* in =
          source_ + (image_group * mapping_.source_channels + c) * grid_elements(mapping_.axes);
      double* out = grid_.data() + c * channel_;
      for_each_used_element(mapping_.axes,
                            [&](std::int64_t i, std::int64_t z, std::int64_t y, std::int64_t x) {
                              out[z * plane_ + y * layout_.row_columns + layout_.column(x)] = in[i];
                            });
    }
  }

  void sum_block(const double* packed, std::int64_t image_group, std::int64_t first_channel) {
    const GridAxes& axes = mapping_.axes;
    const std::int64_t rows = std::min(kColumns, mapping_.result_channels - first_channel);
    double* out = result_.data() +
                  (image_group * mapping_.result_channels + first_channel) * grid_results(axes);
    for (std::int64_t z = 0; z < axes[0].results; ++z) {
      for (std::int64_t y = 0; y < axes[1].results; ++y, out += axes[2].results) {
        const double* in =
            grid_.data() + z * axes[0].step * plane_ + y * axes[1].step * layout_.row_columns;
        for (std::int64_t x = 0; x < axes[2].results; x += kColumns) {
          sum_tile(in + x, packed, rows, out + x, std::min(kColumns, axes[2].results - x));
        }
      }
    }
  }

  void sum_tile(const double* in, const double* packed, std::int64_t rows, double* out,
                std::int64_t columns) {
    Tile tile;
    accumulate_tile(in, offsets_, packed, rows == 1 ? 1 : kTile, tile);
    for (std::int64_t i = 0; i < rows; ++i) {
      std::copy_n(tile[static_cast<std::size_t>(i)].begin(), columns,
                  out + i * grid_results(mapping_.axes));
    }
  }

  const Mapping& mapping_;
  RowLayout layout_;
  std::int64_t plane_;
  std::int64_t channel_;
  std::vector<double> grid_;
  std::vector<std::ptrdiff_t> offsets_;
  const double* source_;
  const double* weights_;
  std::vector<double>& result_;
};

void add_bias(const std::vector<double>& bias, std::int64_t volume, std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] += bias[i / static_cast<std::size_t>(volume) % bias.size()];
  }
}

std::vector<double> correlate(const ConvShape& shape, Direction direction, ReferenceInputs inputs) {
  const Mapping mapping = make_mapping(shape, direction);
  const std::int64_t count =
      mapping.images * mapping.groups * mapping.result_channels * grid_results(mapping.axes);
  if (!fits_grid_limit(mapping.axes, mapping.source_channels)) {
    return compute_element_by_element(shape, direction, inputs, 0, count);
  }
  std::vector<double> values(static_cast<std::size_t>(count));
  Correlation(mapping, inputs[0].data(), inputs[1].data(), values).run();
  if (direction == Direction::forward && shape.bias == Bias::present) {
    add_bias(inputs[2], grid_results(mapping.axes), values);
  }
  return values;
}

}  // namespace

std::vector<double> compute_conv_values(const ConvShape& shape, Direction direction,
                                        ReferenceInputs inputs, std::size_t output) {
  if (direction != Direction::backward_weights) return correlate(shape, direction, inputs);
  return compute_gradient(shape, inputs, output);
}

}  // namespace bench::ops
