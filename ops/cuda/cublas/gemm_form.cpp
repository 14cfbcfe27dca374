// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cublas/gemm_form.hpp"

#include "ops/backend/kernel.hpp"
#include "ops/gemm/gemm.hpp"
#include "ops/grouped_gemm/grouped_gemm.hpp"
#include "ops/post_op.hpp"

#include <fmt/format.h>

#include <limits>
#include <string>

namespace bench::ops::cuda {
namespace {

// Describes matrices of `rows` x `columns` as column-major. Plain (row-major) storage swaps rows
// and columns. Other storage is column-major already and needs a transposition.
MatrixForm make_operand(const Problem& problem, const GemmOperand& operand, const GemmSize& rows,
                        const GemmSize& columns) {
  const bool is_plain = operand.storage == Storage::plain;
  MatrixForm form;
  form.tensor = operand.tensor;
  form.dtype = problem.tensors[operand.tensor].dtype;
  form.rows = is_plain ? columns.count : rows.count;
  form.columns = is_plain ? rows.count : columns.count;
  form.leading = form.rows;
  form.batch_stride = operand.batch == 1 ? 0 : rows.count * columns.count;
  form.operation = is_plain ? Operation::none : Operation::transpose;
  return form;
}

// Merges products that share their right matrix, if the rows of their left matrices and results
// continue each other. The libraries have one stride per operand, so only all products of a batch
// can share a matrix.
void merge_rows(GemmShape& shape) {
  const std::int64_t shared = shape.right.batch;
  const bool continues = shape.left.storage == Storage::plain && shape.left.batch == shape.batch &&
                         shape.result_batch == shape.batch;
  if (shared == 1 || shared == shape.batch || !continues) return;
  shape.rows.count *= shape.share(shared);  // in range: it divides the result's element count
  shape.batch = shape.left.batch = shape.result_batch = shared;
}

std::optional<BackendError> check_batch(const GemmShape& shape) {
  if (shape.result_batch != shape.batch) {
    return unsupported(
        "the gradient of a shared matrix adds up products, which is one product only if their "
        "source is plain and the weights are shared; cuBLAS does not add up products");
  }
  for (const GemmOperand& operand : {shape.left, shape.right}) {
    if (operand.batch == 1 || operand.batch == shape.batch) continue;
    return unsupported(
        "all products of a batch can share a matrix in cuBLAS, or those with shared weights and a "
        "plain source are larger products; others cannot");
  }
  return std::nullopt;
}

// The result's tensor as an operand.
GemmOperand result_operand(const GemmShape& shape) {
  return {shape.result, Storage::plain, shape.result_batch};
}

ProductCompute choose_compute(const Problem& problem) {
  if (info(problem.dtype).is_integer) return ProductCompute::s32;
  if (problem.dtype == DataType::f64) return ProductCompute::f64;
  const bool uses_tf32 = problem.dtype == DataType::f32 && problem.math == Math::tf32;
  return uses_tf32 ? ProductCompute::f32_as_tf32 : ProductCompute::f32;
}

struct ActivationRow {
  std::string_view name;
  Activation activation;
};
// cuBLASLt's GELU is the approximation by tanh.
constexpr ActivationRow kActivations[] = {{"relu", Activation::relu},
                                          {"gelu_tanh", Activation::gelu}};

std::optional<Activation> find_activation(std::string_view name) {
  for (const ActivationRow& row : kActivations) {
    if (row.name == name) return row.activation;
  }
  return std::nullopt;
}

// Adds scale, bias, residual and activation to the form. cuBLASLt scales the product first, then
// adds, and applies one activation last. Returns an error if it does not support the post-ops.
std::optional<BackendError> add_epilogue(const Problem& problem, const GemmShape& shape,
                                         GemmForm& form) {
  std::size_t next = 2;  // source, weights, [bias], residuals
  if (shape.has_bias) {
    form.bias = Presence::present;
    form.bias_tensor = next++;
  }
  if (shape.bias_gradient) {
    // a is the right operand.
    form.bias_gradient =
        *shape.bias_gradient == GemmShape::Side::right ? BiasGradient::of_a : BiasGradient::of_b;
    form.bias_tensor = shape.result + 1;
  }
  for (const PostOp& post_op : problem.post_ops) {
    const bool is_first = form.bias == Presence::absent && !form.c;
    if (post_op.function == "scale" && is_first && form.activation == Activation::none &&
        form.compute != ProductCompute::s32) {
      form.alpha *= post_op.alpha;
      continue;
    }
    if (form.activation != Activation::none) {
      return unsupported(fmt::format("cuBLASLt fuses nothing after an activation, not even `{}`",
                                     post_op.function));
    }
    if (post_op.function == "add" && !form.c) {
      form.c = form.d;
      form.c->tensor = next++;
      form.c->dtype = addend_type(form.d.dtype);
      continue;
    }
    const auto activation = find_activation(post_op.function);
    if (!activation) {
      return unsupported(fmt::format(
          "cuBLASLt fuses a scale before the bias, one add, then relu or gelu_tanh, not `{}`",
          post_op.function));
    }
    form.activation = *activation;
  }
  return std::nullopt;
}

constexpr ComputeCapability kFp8Products = {8, 9};
// fp8 kernels require operands that are contiguous along k, except tcgen05 kernels, which desktop
// Blackwell does not have.
constexpr ComputeCapability kTcgen05 = {10, 0};
constexpr int kDesktopBlackwell = 12;

// Returns an error if a size is too large. cuBLAS uses 32-bit sizes, cuBLASLt does not.
std::optional<BackendError> check_sizes(const GemmForm& form, ProductLibrary library) {
  constexpr std::int64_t kMaxSize = std::numeric_limits<std::int32_t>::max();
  if (library != ProductLibrary::cublas) return std::nullopt;
  for (const std::int64_t size :
       {form.m, form.n, form.k, form.batch, form.a.leading, form.b.leading, form.d.leading}) {
    if (size > kMaxSize)
      return unsupported(fmt::format("cuBLAS supports sizes up to {}, not {}", kMaxSize, size));
  }
  return std::nullopt;
}

std::optional<BackendError> check_types(const Problem& problem, const GemmForm& form,
                                        ProductLibrary library) {
  if (problem.dtype == DataType::u8) {
    return unsupported("cuBLAS multiplies signed 8-bit integers only");
  }
  if (problem.dtype == DataType::f8_e5m2) {
    return unsupported("cuBLASLt multiplies f8_e5m2 with f8_e4m3 only, not with itself");
  }
  if (is_fp8(problem.dtype) && library == ProductLibrary::cublas) {
    return unsupported("cuBLAS has no fp8; use backend cublaslt");
  }
  const bool is_gradient = problem.direction != Direction::forward;
  if (is_gradient && is_fp8(problem.dtype)) {
    return unsupported("gradients of fp8 multiply f8_e5m2 with f8_e4m3, which no `dtype` names");
  }
  if (is_gradient && info(problem.dtype).is_integer) {
    return unsupported(fmt::format("cuBLAS has no gradients of {}", info(problem.dtype).name));
  }
  if (form.bias_gradient != BiasGradient::none && form.batch > 1) {
    return unsupported("cuBLASLt adds up the gradient of a bias in one product, not in a batch");
  }
  const bool has_epilogue = has_bias_address(form) || form.activation != Activation::none;
  if (has_epilogue && library == ProductLibrary::cublas) {
    return unsupported(
        "cuBLAS has no epilogues; use backend cublaslt, or leave bias and "
        "activations out");
  }
  if (form.compute != ProductCompute::s32) return std::nullopt;
  if (has_epilogue) return unsupported("cuBLASLt fuses nothing after sums of 32-bit integers");
  constexpr std::int64_t kIntegerMultiple = 4;
  for (const std::int64_t size : {form.m, form.n, form.k}) {
    if (size % kIntegerMultiple != 0) {
      return unsupported(
          fmt::format("cuBLAS needs sizes of 8-bit products in multiples of {}, not {}",
                      kIntegerMultiple, size));
    }
  }
  return std::nullopt;
}

}  // namespace

DataType addend_type(DataType destination) {
  return is_fp8(destination) ? DataType::bf16 : destination;
}

bool has_bias_address(const GemmForm& form) {
  return form.bias == Presence::present || form.bias_gradient != BiasGradient::none;
}

Result<GemmForm, BackendError> gemm_form(const Problem& problem, ProductLibrary library) {
  if (is_quantised(problem.parameters)) {
    return unsupported(
        "the backends on cuda store sums of 8-bit products as s32 without scaling them; leave "
        "scales, zero point and dst_dtype out");
  }
  GemmShape shape = gemm_shape(problem);
  merge_rows(shape);
  if (auto error = check_batch(shape)) return *std::move(error);
  GemmForm form;
  form.m = shape.columns.count;
  form.n = shape.rows.count;
  form.k = shape.inner.count;
  form.batch = shape.batch;
  form.a = make_operand(problem, shape.right, shape.inner, shape.columns);
  form.b = make_operand(problem, shape.left, shape.rows, shape.inner);
  form.d = make_operand(problem, result_operand(shape), shape.rows, shape.columns);
  form.compute = choose_compute(problem);
  if (problem.math == Math::fast_accumulation) form.accumulation = Accumulation::fast;
  if (auto error = add_epilogue(problem, shape, form)) return *std::move(error);
  if (auto error = check_types(problem, form, library)) return *std::move(error);
  if (auto error = check_sizes(form, library)) return *std::move(error);
  return form;
}

std::optional<BackendError> refused_by_device(const GemmForm& form, ComputeCapability capability) {
  if (capability == kNoDevice || !is_fp8(form.a.dtype)) return std::nullopt;
  if (capability < kFp8Products) return unsupported("fp8 needs compute capability 8.9");
  const bool is_contiguous =
      form.a.operation == Operation::transpose && form.b.operation == Operation::none;
  if (!is_contiguous && (capability < kTcgen05 || capability.major == kDesktopBlackwell)) {
    return unsupported(
        "before compute capability 10.0 and on 12.x fp8 needs both operands contiguous along k: "
        "trans_b without trans_a");
  }
  // The length of a row in bytes must be a multiple of 16. Sizes that are not row lengths may have
  // any value.
  constexpr std::int64_t kRowMultiple = 16;
  const bool n_is_row_length = form.b.operation == Operation::transpose;
  for (const std::int64_t size : {form.m, form.k, n_is_row_length ? form.n : kRowMultiple}) {
    if (size % kRowMultiple != 0) {
      return unsupported(
          fmt::format("fp8 needs rows in multiples of {}, not {}", kRowMultiple, size));
    }
  }
  return std::nullopt;
}

bool is_product(const Problem& problem) {
  return problem.op == &gemm_operator || problem.op == &grouped_gemm_operator;
}

std::string product_name(std::string_view library, ProductParts parts) {
  return fmt::format("{}{}", library, parts == ProductParts::library ? "" : " + bench:elementwise");
}

Result<Problem, BackendError> product_part(const Problem& problem) {
  const DataTypeInfo& result = info(problem.tensors.back().dtype);
  if (problem.post_ops.empty() || result.is_integer || result.bytes < 2) {
    return unsupported("bench computes no post-ops after this product");
  }
  Problem product = problem;
  product.post_ops.clear();
  if (result.bytes < 4) product.tensors.back().dtype = DataType::f32;
  std::erase_if(product.tensors, is_residual);
  return product;
}

Result<ProductParts, BackendError> product_parts(const Problem& problem, ProductLibrary library,
                                                 ComputeCapability capability) {
  if (problem.op == &grouped_gemm_operator) {
    for (const Problem& product : group_products(problem)) {
      const auto parts = product_parts(product, library, capability);
      if (!parts) return parts;
    }
    return ProductParts::library;
  }
  const auto error_of = [&](const Problem& product) -> std::optional<BackendError> {
    const auto form = gemm_form(product, library);
    return form ? refused_by_device(*form, capability) : std::optional(form.error());
  };
  auto error = error_of(problem);
  if (!error) return ProductParts::library;
  const auto product = product_part(problem);
  if (product && !error_of(*product)) return ProductParts::library_and_epilogue;
  return *std::move(error);
}

}  // namespace bench::ops::cuda
