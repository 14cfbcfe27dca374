// SPDX-License-Identifier: Apache-2.0
// Computes the gradients of weights and bias, optimised for speed.
#include "ops/conv/grid.hpp"
#include "ops/reference_tile.hpp"

#include <algorithm>
#include <cstddef>

namespace bench::ops {
namespace {

// Computes the gradient of the weights. The sum runs over the sweep's steps. A tile is 4 step
// channels x 4 window channels at one tap.
class WeightsGradient {
 public:
  WeightsGradient(const ConvShape& shape, const GridAxes& axes, const double* window,
                  const double* steps, std::vector<double>& result)
      : shape_(shape), axes_(axes), window_(window), steps_(steps), result_(result) {
    const bool transposed = shape.sweep == Sweep::transposed;
    window_channels_ = transposed ? shape.group_k() : shape.group_c();
    step_channels_ = transposed ? shape.group_c() : shape.group_k();
    window_distance_ = transposed ? shape.group_c() : 1;
    step_distance_ = transposed ? 1 : shape.group_c();
    for (std::int64_t z = 0; z < axes[0].results; ++z) {
      for (std::int64_t y = 0; y < axes[1].results; ++y) {
        for (std::int64_t x = 0; x < axes[2].results; ++x) {
          offsets_.push_back(grid_index(z * axes[0].step, y * axes[1].step, x * axes[2].step));
        }
      }
    }
    grid_.resize(static_cast<std::size_t>(grid_index(axes[0].length, 0, 0)));
  }

  void run() {
    for (std::int64_t n = 0; n < shape_.n; ++n) {
      for (std::int64_t g = 0; g < shape_.groups; ++g) {
        const std::vector<double> packed = pack_steps(n * shape_.groups + g);
        for (std::int64_t c = 0; c < window_channels_; c += kColumns) {
          fill_grid(n * shape_.groups + g, c);
          for (std::int64_t k = 0; k < step_channels_; k += kColumns) {
            add_taps(packed.data() + k * grid_results(axes_), g, c, k);
          }
        }
      }
    }
  }

 private:
  // Returns the index of a position's first channel. The window channels of a block are innermost.
  std::int64_t grid_index(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return ((z * axes_[1].length + y) * axes_[2].length + x) * kColumns;
  }

  // Returns the steps of an image's group as [block of step channels][step][channel within the
  // block].
  std::vector<double> pack_steps(std::int64_t image_group) const {
    const std::int64_t count = grid_results(axes_);
    const std::int64_t blocks = (step_channels_ + kColumns - 1) / kColumns;
    std::vector<double> packed(static_cast<std::size_t>(blocks * kColumns * count));
    for (std::int64_t k = 0; k < step_channels_; ++k) {
      const double* in = steps_ + (image_group * step_channels_ + k) * count;
      double* out = packed.data() + k / kColumns * kColumns * count + k % kColumns;
      for (std::int64_t i = 0; i < count; ++i) out[i * kColumns] = in[i];
    }
    return packed;
  }

  void fill_grid(std::int64_t image_group, std::int64_t first_channel) {
    for (std::int64_t c = 0; c < std::min(kColumns, window_channels_ - first_channel); ++c) {
      const double* in =
          window_ + (image_group * window_channels_ + first_channel + c) * grid_elements(axes_);
      for_each_used_element(axes_,
                            [&](std::int64_t i, std::int64_t z, std::int64_t y, std::int64_t x) {
                              grid_[static_cast<std::size_t>(grid_index(z, y, x) + c)] = in[i];
                            });
    }
  }

  void add_taps(const double* packed, std::int64_t g, std::int64_t first_c, std::int64_t first_k) {
    const std::int64_t rows = std::min(kColumns, step_channels_ - first_k);
    const std::int64_t columns = std::min(kColumns, window_channels_ - first_c);
    std::int64_t tap = 0;
    for_each_tap(axes_, [&](std::int64_t z, std::int64_t y, std::int64_t x) {
      Tile tile;
      accumulate_tile(grid_.data() + grid_index(z, y, x), offsets_, packed, rows == 1 ? 1 : kTile,
                      tile);
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) {
          const std::int64_t kernel = g * window_channels_ * step_channels_ +
                                      (first_k + i) * step_distance_ +
                                      (first_c + j) * window_distance_;
          result_[static_cast<std::size_t>(kernel * grid_taps(axes_) + tap)] +=
              tile[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
        }
      }
      ++tap;
    });
  }

  const ConvShape& shape_;
  const GridAxes& axes_;
  const double* window_;
  const double* steps_;
  std::vector<double>& result_;
  std::int64_t window_channels_ = 1;
  std::int64_t step_channels_ = 1;
  std::int64_t window_distance_ = 1;
  std::int64_t step_distance_ = 1;
  std::vector<std::ptrdiff_t> offsets_;
  std::vector<double> grid_;
};

std::vector<double> compute_weights_gradient(const ConvShape& shape, ReferenceInputs inputs) {
  const bool transposed = shape.sweep == Sweep::transposed;
  const GridAxes axes = make_grid_axes(shape, [&](const SpatialAxis& axis) {
    return make_reading_axis(axis, transposed ? axis.output : axis.input,
                             transposed ? axis.input : axis.output);
  });
  const std::int64_t count = shape.k * shape.group_c() * grid_taps(axes);
  if (!fits_grid_limit(axes, kColumns)) {
    return compute_element_by_element(shape, Direction::backward_weights, inputs, 0, count);
  }
  std::vector<double> values(static_cast<std::size_t>(count));
  const std::vector<double>& window = inputs[transposed ? 1 : 0];
  const std::vector<double>& steps = inputs[transposed ? 0 : 1];
  WeightsGradient(shape, axes, window.data(), steps.data(), values).run();
  return values;
}

std::vector<double> compute_bias_gradient(const ConvShape& shape,
                                          const std::vector<double>& gradient) {
  const auto channels = static_cast<std::size_t>(shape.k);
  const std::size_t volume = gradient.size() / (static_cast<std::size_t>(shape.n) * channels);
  std::vector<double> sums(channels);
  for (std::size_t i = 0; i < gradient.size(); ++i) sums[i / volume % channels] += gradient[i];
  return sums;
}

}  // namespace

std::vector<double> compute_gradient(const ConvShape& shape, ReferenceInputs inputs,
                                     std::size_t output) {
  return output == 0 ? compute_weights_gradient(shape, inputs)
                     : compute_bias_gradient(shape, inputs[1]);
}

}  // namespace bench::ops
