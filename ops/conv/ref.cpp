// SPDX-License-Identifier: Apache-2.0
// Computes the convolution element by element from its definition: it finds the pairs of positions
// for each axis, then sums the products over all pairs.
#include "ops/conv/conv.hpp"

#include <array>
#include <cstddef>

namespace bench::ops {
namespace {

// Positions along one axis in the two operands of a product of the sum.
struct Pair {
  std::int64_t first;
  std::int64_t second;
};
using Pairs = std::vector<Pair>;

// Always three axes: missing outer ones have size 1.
using Axes = std::array<SpatialAxis, 3>;

Axes make_three_axes(const ConvShape& shape) {
  Axes axes;
  const std::size_t missing = 3 - shape.axes.size();
  for (std::size_t i = 0; i < shape.axes.size(); ++i) axes[missing + i] = shape.axes[i];
  return axes;
}

// Returns the window position that step `step` of the sweep uses with tap `tap`. The position may
// be outside the window.
std::int64_t window_position(const SpatialAxis& axis, std::int64_t step, std::int64_t tap) {
  return step * axis.stride - axis.pad.begin + tap * axis.dilation;
}

// Returns the (window position, tap) pairs of one step of the sweep, which an output of a
// convolution reads.
Pairs find_step_pairs(const SpatialAxis& axis, std::int64_t step, std::int64_t window_size) {
  Pairs pairs;
  for (std::int64_t tap = 0; tap < axis.kernel; ++tap) {
    const std::int64_t position = window_position(axis, step, tap);
    if (position >= 0 && position < window_size) pairs.push_back({position, tap});
  }
  return pairs;
}

// Returns the (step, tap) pairs of one window position, from which an output of a transposed
// convolution receives.
Pairs find_window_pairs(const SpatialAxis& axis, std::int64_t position, std::int64_t steps) {
  Pairs pairs;
  for (std::int64_t tap = 0; tap < axis.kernel; ++tap) {
    const std::int64_t distance = position + axis.pad.begin - tap * axis.dilation;
    if (distance % axis.stride != 0) continue;
    const std::int64_t step = distance / axis.stride;
    if (step >= 0 && step < steps) pairs.push_back({step, tap});
  }
  return pairs;
}

// Returns the pairs of input and output positions at one tap.
Pairs find_tap_pairs(const SpatialAxis& axis, std::int64_t tap, Sweep sweep) {
  Pairs pairs;
  const bool transposed = sweep == Sweep::transposed;
  const std::int64_t steps = transposed ? axis.input : axis.output;
  const std::int64_t window_size = transposed ? axis.output : axis.input;
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::int64_t position = window_position(axis, step, tap);
    if (position < 0 || position >= window_size) continue;
    pairs.push_back(transposed ? Pair{step, position} : Pair{position, step});
  }
  return pairs;
}

// Sizes of one operand along the three axes.
using Sizes = std::array<std::int64_t, 3>;

std::int64_t offset(const Sizes& sizes, std::int64_t d, std::int64_t h, std::int64_t w) {
  return (d * sizes[1] + h) * sizes[2] + w;
}

double sum_products(const std::array<Pairs, 3>& pairs, const double* first,
                    const Sizes& first_sizes, const double* second, const Sizes& second_sizes) {
  double sum = 0;
  for (const Pair& d : pairs[0]) {
    for (const Pair& h : pairs[1]) {
      const double* const first_row = first + offset(first_sizes, d.first, h.first, 0);
      const double* const second_row = second + offset(second_sizes, d.second, h.second, 0);
      for (const Pair& w : pairs[2]) sum += first_row[w.first] * second_row[w.second];
    }
  }
  return sum;
}

std::int64_t volume(const Sizes& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

// Defines each output of the convolution by one formula over named operands.
struct Definition {
  explicit Definition(const ConvShape& conv) : shape(conv), axes(make_three_axes(conv)) {
    for (std::size_t i = 0; i < 3; ++i) {
      inputs[i] = axes[i].input;
      outputs[i] = axes[i].output;
      kernels[i] = axes[i].kernel;
    }
  }

  const ConvShape& shape;
  Axes axes;
  Sizes inputs{};
  Sizes outputs{};
  Sizes kernels{};

  static Sizes to_coordinates(std::int64_t flat, const Sizes& sizes) {
    return {flat / (sizes[1] * sizes[2]), flat / sizes[2] % sizes[1], flat % sizes[2]};
  }

  // weights[g][k within g][c within g]
  const double* kernel_weights(const std::vector<double>& weights, std::int64_t k,
                               std::int64_t c_in_group) const {
    return weights.data() + (k * shape.group_c() + c_in_group) * volume(kernels);
  }

  double destination(const std::vector<double>& source, const std::vector<double>& weights,
                     std::int64_t position) const {
    const Sizes coordinates = to_coordinates(position % volume(outputs), outputs);
    const std::int64_t k = position / volume(outputs) % shape.k;
    const std::int64_t n = position / volume(outputs) / shape.k;
    std::array<Pairs, 3> pairs;
    for (std::size_t i = 0; i < 3; ++i) {
      pairs[i] = shape.sweep == Sweep::transposed
                     ? find_window_pairs(axes[i], coordinates[i], axes[i].input)
                     : find_step_pairs(axes[i], coordinates[i], axes[i].input);
    }
    const std::int64_t first_c = k / shape.group_k() * shape.group_c();
    double sum = 0;
    for (std::int64_t c = 0; c < shape.group_c(); ++c) {
      sum += sum_products(pairs, source.data() + (n * shape.c + first_c + c) * volume(inputs),
                          inputs, kernel_weights(weights, k, c), kernels);
    }
    return sum;
  }

  double diff_source(const std::vector<double>& diff_destination,
                     const std::vector<double>& weights, std::int64_t position) const {
    const Sizes coordinates = to_coordinates(position % volume(inputs), inputs);
    const std::int64_t c = position / volume(inputs) % shape.c;
    const std::int64_t n = position / volume(inputs) / shape.c;
    std::array<Pairs, 3> pairs;
    for (std::size_t i = 0; i < 3; ++i) {
      pairs[i] = shape.sweep == Sweep::transposed
                     ? find_step_pairs(axes[i], coordinates[i], axes[i].output)
                     : find_window_pairs(axes[i], coordinates[i], axes[i].output);
    }
    const std::int64_t first_k = c / shape.group_c() * shape.group_k();
    double sum = 0;
    for (std::int64_t k = first_k; k < first_k + shape.group_k(); ++k) {
      sum += sum_products(pairs, diff_destination.data() + (n * shape.k + k) * volume(outputs),
                          outputs, kernel_weights(weights, k, c % shape.group_c()), kernels);
    }
    return sum;
  }

  double diff_weights(const std::vector<double>& source,
                      const std::vector<double>& diff_destination, std::int64_t position) const {
    const Sizes coordinates = to_coordinates(position % volume(kernels), kernels);
    const std::int64_t k = position / volume(kernels) / shape.group_c();
    const std::int64_t c =
        position / volume(kernels) % shape.group_c() + k / shape.group_k() * shape.group_c();
    std::array<Pairs, 3> pairs;
    for (std::size_t i = 0; i < 3; ++i)
      pairs[i] = find_tap_pairs(axes[i], coordinates[i], shape.sweep);
    double sum = 0;
    for (std::int64_t n = 0; n < shape.n; ++n) {
      sum += sum_products(pairs, source.data() + (n * shape.c + c) * volume(inputs), inputs,
                          diff_destination.data() + (n * shape.k + k) * volume(outputs), outputs);
    }
    return sum;
  }

  double diff_bias(const std::vector<double>& diff_destination, std::int64_t k) const {
    double sum = 0;
    for (std::int64_t n = 0; n < shape.n; ++n) {
      for (std::int64_t i = 0; i < volume(outputs); ++i) {
        sum += diff_destination[static_cast<std::size_t>((n * shape.k + k) * volume(outputs) + i)];
      }
    }
    return sum;
  }

  double forward(ReferenceInputs tensors, std::int64_t position) const {
    const auto k = static_cast<std::size_t>(position / volume(outputs) % shape.k);
    const double bias = shape.bias == Bias::present ? tensors[2][k] : 0;
    return destination(tensors[0], tensors[1], position) + bias;
  }
};

}  // namespace

std::vector<double> compute_conv_values_at(const ConvShape& shape, Direction direction,
                                           ReferenceInputs inputs, std::size_t output,
                                           std::span<const std::int64_t> positions) {
  const Definition definition(shape);
  const auto value = [&](std::int64_t position) {
    switch (direction) {
      case Direction::forward:
        return definition.forward(inputs, position);
      case Direction::backward_data:
        return definition.diff_source(inputs[0], inputs[1], position);
      case Direction::backward_weights:
        return output == 0 ? definition.diff_weights(inputs[0], inputs[1], position)
                           : definition.diff_bias(inputs[1], position);
    }
    return 0.0;
  };
  std::vector<double> values;
  values.reserve(positions.size());
  for (const std::int64_t position : positions) values.push_back(value(position));
  return values;
}

std::vector<double> reference_conv(const Problem& problem, ReferenceInputs inputs,
                                   std::size_t output, std::span<const std::int64_t> positions) {
  const ConvShape shape = conv_shape(problem.parameters);
  return positions.empty()
             ? compute_conv_values(shape, problem.direction, inputs, output)
             : compute_conv_values_at(shape, problem.direction, inputs, output, positions);
}

}  // namespace bench::ops
