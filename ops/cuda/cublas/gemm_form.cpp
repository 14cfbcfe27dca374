// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cublas/gemm_form.hpp"

#include "ops/backend/kernel.hpp"
#include "ops/gemm/gemm.hpp"

#include <fmt/format.h>

#include <limits>
#include <string>

namespace bench::ops::cuda {
namespace {

// Describes a row-major matrix of `rows` x `columns` as column-major: rows and columns are swapped.
// `storage` determines which of the two is contiguous.
MatrixForm operand(const Problem& problem, std::size_t tensor, std::int64_t rows,
                   std::int64_t columns, Storage storage) {
  const bool plain = storage == Storage::plain;
  MatrixForm form;
  form.tensor = tensor;
  form.dtype = problem.tensors[tensor].dtype;
  form.rows = plain ? columns : rows;
  form.columns = plain ? rows : columns;
  form.leading = form.rows;
  form.batch_stride = rows * columns;
  form.operation = plain ? Operation::none : Operation::transpose;
  return form;
}

ProductCompute product_compute(const Problem& problem) {
  if (info(problem.dtype).is_integer) return ProductCompute::s32;
  if (problem.dtype == DataType::f64) return ProductCompute::f64;
  const bool tf32 = problem.dtype == DataType::f32 && problem.math == Math::tf32;
  return tf32 ? ProductCompute::f32_as_tf32 : ProductCompute::f32;
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

// cuBLASLt adds first and applies one activation last.
std::optional<BackendError> add_epilogue(const Problem& problem, const GemmShape& shape,
                                         GemmForm& form) {
  std::size_t next = 2;  // source, weights, [bias], residuals
  if (shape.has_bias) {
    form.bias = Presence::present;
    form.bias_tensor = next++;
  }
  for (const PostOp& post_op : problem.post_ops) {
    if (form.activation != Activation::none) {
      return unsupported(fmt::format("cuBLASLt fuses nothing after an activation, not even `{}`",
                                     post_op.function));
    }
    if (post_op.function == "add" && !form.c) {
      form.c = operand(problem, next++, shape.m, shape.n, Storage::plain);
      form.c->dtype = addend_type(form.d.dtype);
      continue;
    }
    const auto activation = find_activation(post_op.function);
    if (!activation) {
      return unsupported(fmt::format("cuBLASLt fuses one add, then relu or gelu_tanh, not `{}`",
                                     post_op.function));
    }
    form.activation = *activation;
  }
  return std::nullopt;
}

constexpr ComputeCapability kFp8Products = {8, 9};
// fp8 kernels read both operands only along k, except those of tcgen05, which desktop Blackwell
// does not have.
constexpr ComputeCapability kTcgen05 = {10, 0};
constexpr int kDesktopBlackwell = 12;

// cuBLAS itself uses 32-bit sizes.
std::optional<BackendError> refused_sizes(const GemmForm& form, ProductLibrary library) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (library != ProductLibrary::cublas) return std::nullopt;
  for (const std::int64_t size :
       {form.m, form.n, form.k, form.batch, form.a.leading, form.b.leading, form.d.leading}) {
    if (size > kMost)
      return unsupported(fmt::format("cuBLAS supports sizes up to {}, not {}", kMost, size));
  }
  return std::nullopt;
}

std::optional<BackendError> refused_types(const Problem& problem, const GemmForm& form,
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
  const bool epilogue = form.bias == Presence::present || form.activation != Activation::none;
  if (epilogue && library == ProductLibrary::cublas) {
    return unsupported(
        "cuBLAS has no epilogues; use backend cublaslt, or leave bias and "
        "activations out");
  }
  if (form.compute != ProductCompute::s32) return std::nullopt;
  if (epilogue) return unsupported("cuBLASLt fuses nothing after sums of 32-bit integers");
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

Result<GemmForm, BackendError> gemm_form(const Problem& problem, ProductLibrary library) {
  const GemmShape shape = gemm_shape(problem.parameters);
  GemmForm form;
  form.m = shape.n;
  form.n = shape.m;
  form.k = shape.k;
  form.batch = shape.batch;
  form.a = operand(problem, 1, shape.k, shape.n, shape.b);
  form.b = operand(problem, 0, shape.m, shape.k, shape.a);
  form.d = operand(problem, problem.tensors.size() - 1, shape.m, shape.n, Storage::plain);
  form.compute = product_compute(problem);
  if (problem.math == Math::fast_accumulation) form.accumulation = Accumulation::fast;
  if (auto error = add_epilogue(problem, shape, form)) return *std::move(error);
  if (auto error = refused_types(problem, form, library)) return *std::move(error);
  if (auto error = refused_sizes(form, library)) return *std::move(error);
  return form;
}

std::optional<BackendError> refused_by_device(const GemmForm& form, ComputeCapability of) {
  if (of == kNoDevice || !is_fp8(form.a.dtype)) return std::nullopt;
  if (of < kFp8Products) return unsupported("fp8 needs compute capability 8.9");
  const bool contiguous =
      form.a.operation == Operation::transpose && form.b.operation == Operation::none;
  if (!contiguous && (of < kTcgen05 || of.major == kDesktopBlackwell)) {
    return unsupported(
        "before compute capability 10.0 and on 12.x fp8 needs both operands contiguous along k: "
        "trans_b without trans_a");
  }
  // Rows must be multiples of 16 bytes. A size that is not the length of a row may be any value.
  constexpr std::int64_t kRow = 16;
  const bool n_is_of_rows = form.b.operation == Operation::transpose;
  for (const std::int64_t size : {form.m, form.k, n_is_of_rows ? form.n : kRow}) {
    if (size % kRow != 0) {
      return unsupported(fmt::format("fp8 needs rows in multiples of {}, not {}", kRow, size));
    }
  }
  return std::nullopt;
}

}  // namespace bench::ops::cuda
