// SPDX-License-Identifier: Apache-2.0
// For the tests of conv: random shapes, and the convolution as a plain loop nest.
#pragma once

#include "ops/conv/conv.hpp"
#include "ops/test_support.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace bench::ops::op_test {

// Upper limits of random shapes.
struct ConvLimits {
  std::int64_t images = 2;
  std::int64_t groups = 3;
  std::int64_t channels = 2;  // per group
  std::int64_t size = 5;
  std::int64_t kernel = 3;
};

// A random request: rank, groups, uneven pads, stride larger than the kernel, dilation, transposed,
// bias. Some requests have no output.
inline ParameterSet random_conv_request(Random& random, const ConvLimits& limits) {
  ParameterSet set(conv_operator.parameters);
  const auto rank = static_cast<std::size_t>(draw(random, 1, 3));
  const std::int64_t groups = draw(random, 1, limits.groups);
  set.set("n", draw(random, 1, limits.images));
  set.set("g", groups);
  set.set("c", groups * draw(random, 1, limits.channels));
  set.set("k", groups * draw(random, 1, limits.channels));
  constexpr std::array<const char*, 3> kSizes = {"d", "h", "w"};
  constexpr std::array<const char*, 3> kKernels = {"t", "r", "s"};
  const bool transposed = draw(random, 0, 2) == 0;
  std::vector<std::int64_t> strides, dilations, output_pads;
  std::vector<PadPair> pads;
  for (std::size_t i = 3 - rank; i < 3; ++i) {
    set.set(kSizes[i], draw(random, 1, limits.size));
    set.set(kKernels[i], draw(random, 1, limits.kernel));
    strides.push_back(draw(random, 1, 4));
    dilations.push_back(draw(random, 1, 3));
    pads.push_back({draw(random, 0, 3), draw(random, 0, 3)});
    const std::int64_t max_output_pad = std::max(strides.back(), dilations.back()) - 1;
    output_pads.push_back(transposed ? draw(random, 0, max_output_pad) : 0);
  }
  set.set("stride", strides);
  set.set("dilation", dilations);
  set.set("pad", pads);
  set.set("output_pad", output_pads);
  set.set("transposed", transposed);
  set.set("bias", draw(random, 0, 1) == 1);
  return set;
}

// A random problem with an output.
inline Problem random_conv(Random& random, const ConvLimits& limits) {
  while (true) {
    const auto direction = static_cast<Direction>(draw(random, 0, 2));
    Result<Problem> problem =
        make_problem({.op = &conv_operator,
                      .direction = direction,
                      .dtype = draw(random, 0, 1) == 0 ? DataType::f32 : DataType::bf16,
                      .parameters = random_conv_request(random, limits)});
    if (problem.ok()) return std::move(problem).value();
  }
}

// One multiply-accumulate of the convolution: flat indexes into source, weights and destination in
// plain layout. `padding`: the product lies in the padding, so its indexes are invalid.
struct Product {
  std::size_t source;
  std::size_t weights;
  std::size_t destination;
  bool padding;
};

// Loops over the steps and kernel taps of `axis` and of the axes after it, and calls `visit`.
template <class Visit>
void walk_axes(const std::array<SpatialAxis, 3>& axes, Sweep sweep, std::size_t axis,
               std::int64_t source, std::int64_t weights, std::int64_t destination, bool padding,
               Visit& visit) {
  if (axis == axes.size()) {
    return visit(Product{static_cast<std::size_t>(source), static_cast<std::size_t>(weights),
                         static_cast<std::size_t>(destination), padding});
  }
  const SpatialAxis& a = axes[axis];
  const bool transposed = sweep == Sweep::transposed;
  for (std::int64_t step = 0; step < (transposed ? a.input : a.output); ++step) {
    for (std::int64_t tap = 0; tap < a.kernel; ++tap) {
      const std::int64_t position = step * a.stride - a.pad.begin + tap * a.dilation;
      const bool outside = position < 0 || position >= (transposed ? a.output : a.input);
      walk_axes(axes, sweep, axis + 1, source * a.input + (transposed ? step : position),
                weights * a.kernel + tap, destination * a.output + (transposed ? position : step),
                padding || outside, visit);
    }
  }
}

// Visits every multiply-accumulate of the definition in sequence. A convolution pairs each
// destination element with each tap, a transposed one each source element with each tap.
template <class Visit>
void for_each_product(const ConvShape& shape, Visit visit) {
  std::array<SpatialAxis, 3> axes;
  for (std::size_t i = 0; i < shape.axes.size(); ++i) {
    axes[3 - shape.axes.size() + i] = shape.axes[i];
  }
  for (std::int64_t n = 0; n < shape.n; ++n) {
    for (std::int64_t k = 0; k < shape.k; ++k) {
      for (std::int64_t c = 0; c < shape.group_c(); ++c) {
        const std::int64_t group = k / shape.group_k();
        walk_axes(axes, shape.sweep, 0, n * shape.c + group * shape.group_c() + c,
                  k * shape.group_c() + c, n * shape.k + k, false, visit);
      }
    }
  }
}

}  // namespace bench::ops::op_test
