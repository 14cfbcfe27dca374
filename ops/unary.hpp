// SPDX-License-Identifier: Apache-2.0
// Unary element-wise functions: one table for the operator pointwise and for post-ops.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace bench::ops {

struct UnaryFunction {
  std::string_view name;
  std::string_view formula;     // "max(x, 0)", with a for alpha and b for beta
  std::optional<double> alpha;  // its default; absent where the function does not use it
  std::optional<double> beta;
  // An element's work by convention bench-1 (docs/work_model.md).
  std::int64_t flops;
  std::int64_t sfu_ops;
  double (*evaluate)(double x, double alpha, double beta);
};

// In the order of the manual.
std::span<const UnaryFunction> unary_functions();
const UnaryFunction* find_unary_function(std::string_view name);  // nullptr when unknown
std::vector<std::string_view> unary_function_names();

}  // namespace bench::ops
