// SPDX-License-Identifier: Apache-2.0
// Element-wise functions and post-ops in the words of oneDNN's verbose lines.
#pragma once

#include "base/data_type.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace bench::ops {

// A post-op and the data type of the tensor that it reads, if any: absent type: the destination's.
struct VerbosePostOp {
  PostOp post_op;
  std::optional<DataType> dtype;
};
// Of "attr-scratchpad:user attr-post-ops:sum+eltwise_relu" and of "post_ops:'sum;eltwise_relu;';".
// Scales, zero points, math and accumulation modes belong to the data type: they are no work of the
// model. `dims` is the destination's, for tensors that post-ops add. Absent for all else.
std::optional<std::vector<VerbosePostOp>> parse_post_ops(std::string_view attributes,
                                                         std::span<const std::int64_t> dims);

// Functions of pointwise by the library's words: "eltwise_logistic" -> sigmoid with coefficients,
// "binary_add" -> add. Absent where pointwise lacks it.
struct VerboseFunction {
  std::string_view function;
  double alpha = 0;
  double beta = 0;
};
std::optional<VerboseFunction> find_verbose_eltwise(std::string_view algorithm, double alpha,
                                                    double beta);
std::optional<std::string_view> find_verbose_binary(std::string_view algorithm);

}  // namespace bench::ops
