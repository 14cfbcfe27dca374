// SPDX-License-Identifier: Apache-2.0
// Computes a complete convolution output, optimised for speed (conv_values of ops/conv/conv.hpp).
#include "ops/conv/conv.hpp"
#include "ops/conv/grid.hpp"
#include "ops/reference_tile.hpp"

#include <algorithm>
#include <cstddef>

namespace bench::ops {
namespace {

// forward and backward_data: computes `to` result channels from `from` source channels.

struct Mapping {
  GridAxes axes;
  std::int64_t images;
  std::int64_t groups;
  std::int64_t from;  // channels per group
  std::int64_t to;
  // Distances in the weights [g][k][c][taps], in units of one kernel.
  std::int64_t from_distance;
  std::int64_t to_distance;
};

Mapping make_mapping(const ConvShape& shape, Direction direction) {
  const bool forward = direction == Direction::forward;
  const bool reads = forward == (shape.sweep == Sweep::convolution);
  const bool transposed = shape.sweep == Sweep::transposed;
  Mapping mapping{{},
                  shape.n,
                  shape.groups,
                  forward ? shape.group_c() : shape.group_k(),
                  forward ? shape.group_k() : shape.group_c(),
                  forward ? 1 : shape.group_c(),
                  forward ? shape.group_c() : 1};
  mapping.axes = grid_axes(shape, [&](const SpatialAxis& axis) {
    const std::int64_t window = transposed ? axis.output : axis.input;
    const std::int64_t steps = transposed ? axis.input : axis.output;
    return reads ? reading(axis, window, steps) : receiving(axis, window, steps);
  });
  return mapping;
}

class Correlation {
 public:
  Correlation(const Mapping& mapping, const double* source, const double* weights,
              std::vector<double>& result)
      : m_(mapping),
        layout_(mapping.axes),
        plane_(layout_.row * mapping.axes[1].length),
        channel_(plane_ * mapping.axes[0].length),
        grid_(static_cast<std::size_t>(channel_ * mapping.from)),
        source_(source),
        weights_(weights),
        result_(result) {
    for (std::int64_t c = 0; c < m_.from; ++c) {
      for_each_tap(m_.axes, [&](std::int64_t z, std::int64_t y, std::int64_t x) {
        offsets_.push_back(c * channel_ + z * plane_ + y * layout_.row + layout_.column(x));
      });
    }
  }

  void run() {
    for (std::int64_t g = 0; g < m_.groups; ++g) {
      const std::vector<double> packed = pack_weights(g);
      for (std::int64_t n = 0; n < m_.images; ++n) {
        fill_grid(n * m_.groups + g);
        for (std::int64_t block = 0; block * kColumns < m_.to; ++block) {
          sum_block(packed.data() + block * kColumns * terms(), n * m_.groups + g,
                    block * kColumns);
        }
      }
    }
  }

 private:
  std::int64_t terms() const { return static_cast<std::int64_t>(offsets_.size()); }

  // [block of result channels][term][channel within the block]
  std::vector<double> pack_weights(std::int64_t g) const {
    const std::int64_t kernel = grid_taps(m_.axes);
    const std::int64_t blocks = (m_.to + kColumns - 1) / kColumns;
    std::vector<double> packed(static_cast<std::size_t>(blocks * kColumns * terms()));
    for (std::int64_t k = 0; k < m_.to; ++k) {
      double* out = packed.data() + k / kColumns * kColumns * terms() + k % kColumns;
      for (std::int64_t c = 0; c < m_.from; ++c) {
        const double* in =
            weights_ + (g * m_.from * m_.to + k * m_.to_distance + c * m_.from_distance) * kernel;
        for (std::int64_t t = 0; t < kernel; ++t, out += kColumns) *out = in[t];
      }
    }
    return packed;
  }

  // Elements that are not placed stay zero, as the grid's constructor set them.
  void fill_grid(std::int64_t image_group) {
    for (std::int64_t c = 0; c < m_.from; ++c) {
      const double* in = source_ + (image_group * m_.from + c) * grid_elements(m_.axes);
      double* out = grid_.data() + c * channel_;
      for_each_placed(m_.axes, [&](std::int64_t i, std::int64_t z, std::int64_t y, std::int64_t x) {
        out[z * plane_ + y * layout_.row + layout_.column(x)] = in[i];
      });
    }
  }

  void sum_block(const double* packed, std::int64_t image_group, std::int64_t first_channel) {
    const GridAxes& axes = m_.axes;
    const std::int64_t rows = std::min(kColumns, m_.to - first_channel);
    double* out = result_.data() + (image_group * m_.to + first_channel) * grid_results(axes);
    for (std::int64_t z = 0; z < axes[0].results; ++z) {
      for (std::int64_t y = 0; y < axes[1].results; ++y, out += axes[2].results) {
        const double* in =
            grid_.data() + z * axes[0].step * plane_ + y * axes[1].step * layout_.row;
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
                  out + i * grid_results(m_.axes));
    }
  }

  const Mapping& m_;
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

std::vector<double> mapped_values(const ConvShape& shape, Direction direction,
                                  ReferenceInputs inputs) {
  const Mapping mapping = make_mapping(shape, direction);
  const std::int64_t count =
      mapping.images * mapping.groups * mapping.to * grid_results(mapping.axes);
  if (!fits(mapping.axes, mapping.from)) {
    return element_by_element(shape, direction, inputs, 0, count);
  }
  std::vector<double> values(static_cast<std::size_t>(count));
  Correlation(mapping, inputs[0].data(), inputs[1].data(), values).run();
  if (direction == Direction::forward && shape.bias == Bias::present) {
    add_bias(inputs[2], grid_results(mapping.axes), values);
  }
  return values;
}

}  // namespace

std::vector<double> conv_values(const ConvShape& shape, Direction direction, ReferenceInputs inputs,
                                std::size_t output) {
  if (direction != Direction::backward_weights) return mapped_values(shape, direction, inputs);
  return gradient_values(shape, inputs, output);
}

}  // namespace bench::ops
