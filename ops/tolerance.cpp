// SPDX-License-Identifier: Apache-2.0
#include "ops/tolerance.hpp"

#include "ops/model.hpp"
#include "ops/pointwise/functions.hpp"

#include <algorithm>
#include <cmath>

namespace bench::ops {
namespace {

// 3 to 6 times one standard deviation (outputs have a deviation of magnitude / 3).
constexpr double kSafety = 4;

// Outputs have a standard deviation of a third of their magnitude. This factor covers the largest
// of millions, a bias and a residual.
constexpr double kReach = 4;

// Near the poles of log and sqrt there is no bound; results there are not checked more closely.
constexpr double kSteepest = 64;

double steepest_slope(const PostOp& post_op, double magnitude) {
  const UnaryFunction* function = find_unary_function(post_op.function);
  if (function == nullptr) return 1;
  constexpr int kSamples = 64;
  double steepest = 1;
  for (int i = -kSamples; i <= kSamples; ++i) {
    const double x = kReach * magnitude * i / kSamples;
    const double slope = std::abs(function->derivative(x, post_op.alpha, post_op.beta));
    steepest = std::max(steepest, std::isfinite(slope) ? slope : kSteepest);
  }
  return std::min(steepest, kSteepest);
}

Tolerance integer_tolerance(const Problem& problem) {
  const bool exact =
      problem.post_ops.empty() && std::ranges::none_of(problem.tensors, [](const Tensor& tensor) {
        return tensor.name == "bias";
      });
  if (exact) return {};
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
  for (const PostOp& post_op : problem.post_ops) slope *= steepest_slope(post_op, magnitude);
  slope = std::min(slope, kSteepest);
  return {.absolute = kSafety * slope * magnitude * (additions + factors) +
                      smallest_positive(problem.dtype),
          .relative = info(problem.dtype).epsilon};
}

}  // namespace bench::ops
