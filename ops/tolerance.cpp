// SPDX-License-Identifier: Apache-2.0
#include "ops/tolerance.hpp"

#include "ops/model.hpp"
#include "ops/pointwise/functions.hpp"

#include <algorithm>
#include <cmath>

namespace bench::ops {
namespace {

// Factor between the estimated error and the tolerance; tolerance.hpp states the margin that it
// gives.
constexpr double kSafety = 4;

// Largest input of a post-op, in magnitudes. Outputs have a standard deviation of a third of their
// magnitude. The factor covers the largest of millions of outputs, a bias and a residual.
constexpr double kMaxInput = 4;

// Upper limit for the slope of post-ops. Near the poles of log and sqrt, slopes are unbounded; the
// limit also applies to results there.
constexpr double kMaxSlope = 64;

// Returns the steepest slope of a post-op on the expected inputs, at least 1. Errors grow by this
// factor.
double find_max_slope(const PostOp& post_op, double magnitude) {
  const UnaryFunction* function = find_unary_function(post_op.function);
  if (function == nullptr) return 1;
  constexpr int kSamples = 64;
  double max_slope = 1;
  for (int i = -kSamples; i <= kSamples; ++i) {
    const double x = kMaxInput * magnitude * i / kSamples;
    const double slope = std::abs(function->derivative(x, post_op.alpha, post_op.beta));
    max_slope = std::max(max_slope, std::isfinite(slope) ? slope : kMaxSlope);
  }
  return std::min(max_slope, kMaxSlope);
}

Tolerance integer_tolerance(const Problem& problem) {
  const bool is_exact =
      problem.post_ops.empty() && std::ranges::none_of(problem.tensors, [](const Tensor& tensor) {
        return tensor.name == "bias";
      });
  if (is_exact) return {};
  // Bias and post-ops are computed in f32.
  return {.absolute = 1, .relative = 2 * info(DataType::f32).epsilon};
}

// Returns the fraction of a partial sum that one addition may lose.
double addition_rounding(const Problem& problem) {
  // Tensor cores of compute capability 8.9 and 9.0 add fp8 products with 13 bits after the leading
  // one, and truncate the rest. Sources: "around 14 bits" (DeepSeek-V3 Technical Report, 2024,
  // arXiv 2412.19437, section 3.3.2, on an H800); "22 bits: 1 sign, 8 exponent, 13 mantissa"
  // (SageAttention2, 2024, arXiv 2411.10958, on Ada and Hopper).
  constexpr double kFastAccumulation = 0x1p-13;
  if (problem.math == Math::fast_accumulation) return kFastAccumulation;
  return info(problem.dtype == DataType::f64 ? DataType::f64 : DataType::f32).epsilon;
}

}  // namespace

Tolerance accumulation_tolerance(const Problem& problem, std::int64_t terms, double magnitude) {
  if (info(problem.dtype).is_integer) return integer_tolerance(problem);
  constexpr double kTf32Rounding = 0x1p-10;
  const double factors = problem.math == Math::tf32 ? kTf32Rounding : 0;
  const double additions =
      std::sqrt(static_cast<double>(std::max<std::int64_t>(1, terms))) * addition_rounding(problem);
  double slope = 1;
  for (const PostOp& post_op : problem.post_ops) slope *= find_max_slope(post_op, magnitude);
  slope = std::min(slope, kMaxSlope);
  return {.absolute = kSafety * slope * magnitude * (additions + factors) +
                      smallest_positive(problem.dtype),
          .relative = info(problem.dtype).epsilon};
}

Tolerance signed_sum_tolerance(DataType dtype, double terms) {
  const Tolerance relative = rounding_tolerance(dtype, 8 + 4 * std::sqrt(terms), 0);
  return {.absolute = relative.absolute * std::sqrt(terms), .relative = relative.relative};
}

}  // namespace bench::ops
