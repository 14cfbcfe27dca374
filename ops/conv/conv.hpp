// SPDX-License-Identifier: Apache-2.0
// Declares what the model, the reference and the kernels of the convolution share.
//
// Tensors (plain row-major, logical order):
//   source, diff_source            n, c, [d,] [h,] w
//   destination, diff_destination  n, k, then output sizes
//   weights, diff_weights          [g,] k/g, c/g, [t,] [r,] s      g only if groups > 1; the same
//                                  order for transposed (oneDNN's deconvolution: output channels
//                                  first), where source has c and destination k channels as well
//   bias, diff_bias                k
// Order of Model::tensors:
//   forward           source, weights, [bias,] destination
//   backward_data     diff_destination, weights, diff_source
//   backward_weights  source, diff_destination, diff_weights, [diff_bias]
#pragma once

#include "ops/operator.hpp"
#include "ops/problem.hpp"
#include "ops/spatial.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bench::ops {

enum class Bias { absent, present };

struct ConvShape {
  std::int64_t n = 1;
  std::int64_t groups = 1;
  std::int64_t c = 1;  // total over groups
  std::int64_t k = 1;
  Bias bias = Bias::absent;
  Sweep sweep = Sweep::convolution;
  std::vector<SpatialAxis> axes;  // outermost first; output sizes are inferred

  std::int64_t group_c() const { return c / groups; }
  std::int64_t group_k() const { return k / groups; }
};

// Returns the shape of a problem. `complete` must be a complete parameter set.
ConvShape conv_shape(const ParameterSet& complete);

extern const Operator conv_operator;

// Implement Operator::complete, model and tolerance for conv.
Result<ParameterSet> complete_conv(const ParameterSet& given);
Result<Model> model_conv(const Problem& problem);
Tolerance conv_tolerance(const Problem& problem);

// Implement MatrixProduct::facts and copies. cuDNN copies tensors in nchw, and tensors whose
// channels are not a multiple of 16 bytes. conv_copies() returns nullopt if there are no copies, or
// if it is unknown whether there are (groups, 8-bit types).
ProblemFacts conv_facts(const Problem& problem, const Platform& platform);
std::optional<LibraryCopies> conv_copies(const Problem& problem, const TensorCoreFacts& facts);

// Implements Operator::reference: compute_conv_values_at if positions are given, else
// compute_conv_values, which is optimised for speed. The two are independent implementations, and a
// test checks that they agree.
std::vector<double> reference_conv(const Problem& problem, ReferenceInputs inputs,
                                   std::size_t output, std::span<const std::int64_t> positions);
std::vector<double> compute_conv_values(const ConvShape& shape, Direction direction,
                                        ReferenceInputs inputs, std::size_t output);
std::vector<double> compute_conv_values_at(const ConvShape& shape, Direction direction,
                                           ReferenceInputs inputs, std::size_t output,
                                           std::span<const std::int64_t> positions);

}  // namespace bench::ops
