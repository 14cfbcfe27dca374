// SPDX-License-Identifier: Apache-2.0
#include "ops/blas/product.hpp"

#include "ops/operator.hpp"
#include "ops/post_op.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>

namespace bench::ops {
namespace {

BlasMatrix blas_matrix(const GemmOperand& operand, const GemmSize& rows, const GemmSize& columns) {
  const bool is_plain = operand.storage == Storage::plain;
  return {.tensor = operand.tensor,
          .storage = operand.storage,
          .leading = static_cast<std::int32_t>(is_plain ? columns.count : rows.count),
          .elements = rows.count * columns.count,  // in range: a part of a tensor
          .batch = operand.batch};
}

std::optional<BackendError> check_blas_type(const Problem& problem, const BlasLibrary& library) {
  if (problem.math == Math::tf32) {
    return unsupported(fmt::format(
        "tf32 is a format of GPUs, which {} does not have; leave `math: tf32` out", library.title));
  }
  if (problem.dtype == DataType::f32 || problem.dtype == DataType::f64) return std::nullopt;
  return unsupported(
      fmt::format("backend {} multiplies f32 and f64, not {}: no function of CBLAS has the types "
                  "of this product (docs/configuration.md, Libraries of products)",
                  library.backend, info(problem.dtype).name));
}

// Returns the factor of the product.
Result<double, BackendError> blas_factor(const Problem& problem, const GemmShape& shape,
                                         const BlasLibrary& library) {
  const auto refuse = [&](std::string_view what) {
    return unsupported(
        fmt::format("{} computes no {}, because CBLAS has none; leave it out to compare products "
                    "of all libraries",
                    library.title, what));
  };
  if (shape.has_bias) return refuse("bias");
  if (shape.bias_gradient) return refuse("gradient of a bias");
  double factor = 1;
  for (const PostOp& post_op : problem.post_ops) {
    if (post_op.function != "scale") return refuse(fmt::format("post-op `{}`", post_op.function));
    factor *= post_op.alpha;
  }
  return factor;
}

std::optional<BackendError> check_blas_sizes(const GemmShape& shape, const BlasLibrary& library) {
  constexpr std::int64_t kMaxSize = std::numeric_limits<std::int32_t>::max();
  for (const GemmSize& size : {shape.rows, shape.columns, shape.inner}) {
    if (size.count <= kMaxSize) continue;
    return unsupported(fmt::format("`{}` is {}, but backend {} calls functions with 32-bit sizes",
                                   size.parameter, size.count, library.backend));
  }
  return std::nullopt;
}

}  // namespace

Result<BlasProduct, BackendError> blas_product(const Problem& problem, const BlasLibrary& library) {
  if (problem.op != &gemm_operator) {
    return unsupported(
        fmt::format("backend {} computes gemm, not {}", library.backend, problem.op->name));
  }
  if (auto error = check_blas_type(problem, library)) return *std::move(error);
  const GemmShape shape = gemm_shape(problem);
  if (auto error = check_blas_sizes(shape, library)) return *std::move(error);
  BENCH_ASSIGN_OR_RETURN(const double factor, blas_factor(problem, shape, library));
  const GemmOperand result{shape.result, Storage::plain, shape.result_batch};
  return BlasProduct{.dtype = problem.dtype,
                     .m = static_cast<std::int32_t>(shape.rows.count),
                     .n = static_cast<std::int32_t>(shape.columns.count),
                     .k = static_cast<std::int32_t>(shape.inner.count),
                     .batch = shape.batch,
                     .a = blas_matrix(shape.left, shape.rows, shape.inner),
                     .b = blas_matrix(shape.right, shape.inner, shape.columns),
                     .c = blas_matrix(result, shape.rows, shape.columns),
                     .alpha = factor};
}

}  // namespace bench::ops
