// SPDX-License-Identifier: Apache-2.0
// The operator layer_norm: each group of elements, those of the dimensions from `axis` on, is
// normalised by its own mean and variance.
//   destination = scale*(source - mean)/sqrt(variance + epsilon) + shift
// Tensors: source, [scale,] [shift] -> destination. Scale and shift have the sizes of a group. They
// are f32 (f64 for f64), as libraries keep them.
#pragma once

#include "ops/operator.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bench::ops {

// A layer norm as libraries see it: rows of contiguous elements.
struct LayerNormShape {
  std::int64_t groups = 1;
  std::int64_t size = 1;  // elements of a group
  bool has_scale = true;
  bool has_shift = true;
  double epsilon = 0;
};

// `complete` must be a complete parameter set of a problem.
LayerNormShape layer_norm_shape(const ParameterSet& complete);

// Whether the problem's tensor is an image in nhwc, whose elements are not in row-major order.
bool is_in_nhwc(const Problem& problem);

// The steps of a forward pass. has_statistics: mean and variance are given, not computed.
struct LayerNormFlopOptions {
  bool has_scale = true;
  bool has_shift = true;
  bool has_statistics = false;
};
// Returns the FLOPs per element.
std::int64_t layer_norm_flops(const LayerNormFlopOptions& options);

extern const Operator layer_norm_operator;

std::vector<double> layer_norm_reference(const Problem& problem, ReferenceInputs inputs,
                                         std::size_t output,
                                         std::span<const std::int64_t> positions);

}  // namespace bench::ops
