// SPDX-License-Identifier: Apache-2.0
// Parses the elementwise functions and post-ops in oneDNN's verbose lines.
#pragma once

#include "base/data_type.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace bench::ops {

// A depthwise convolution after a convolution: kernel, stride and padding of both axes.
struct VerboseDepthwise {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t pad = 0;
};

// A post-op of a primitive.
struct VerbosePostOp {
  // nullopt if a problem cannot have this post-op. It then counts one FLOP per element of the
  // result, whatever it computes (docs/work_model.md).
  std::optional<PostOp> post_op;
  // For a post-op that reads a tensor: the name of its data type (empty for that of the
  // destination) and, if a problem cannot have the post-op, its number of elements.
  std::string_view dtype;
  std::int64_t elements = 0;
  std::optional<VerboseDepthwise> depthwise = std::nullopt;
};
// Parses "attr-scratchpad:user attr-post-ops:sum+eltwise_relu" and "post_ops:'sum;eltwise_relu;';".
// Ignores all other attributes: scales, zero points, math modes and leading dimensions are not part
// of the model's work. `dims` are the destination's sizes.
std::vector<VerbosePostOp> parse_post_ops(std::string_view attributes,
                                          std::span<const std::int64_t> dims);

// Maps the library's names to functions of pointwise: "eltwise_logistic" -> sigmoid with
// coefficients, "binary_add" -> add. Returns nullopt if pointwise lacks the function.
struct VerboseFunction {
  std::string_view function;
  double alpha = 0;
  double beta = 0;
};
std::optional<VerboseFunction> find_verbose_eltwise(std::string_view algorithm, double alpha,
                                                    double beta);
std::optional<std::string_view> find_verbose_binary(std::string_view algorithm);

}  // namespace bench::ops
