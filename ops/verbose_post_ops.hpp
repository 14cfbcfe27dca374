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

// A post-op and the data type of the tensor that it reads, if any. The data type is nullopt if it
// is that of the destination.
struct VerbosePostOp {
  PostOp post_op;
  std::optional<DataType> dtype;
};
// Parses "attr-scratchpad:user attr-post-ops:sum+eltwise_relu" and "post_ops:'sum;eltwise_relu;';".
// Ignores scales, zero points, math and accumulation modes: they belong to the data type and are
// not part of the model's work. `dims` are the destination's sizes, with which tensors of post-ops
// must agree. Returns nullopt for everything else.
std::optional<std::vector<VerbosePostOp>> parse_post_ops(std::string_view attributes,
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
