// SPDX-License-Identifier: Apache-2.0
// Describes a gemm in cuBLAS's column-major terms: the role of each matrix, leading dimensions,
// types, epilogue. Pure.
#pragma once

#include "base/data_type.hpp"
#include "base/enumerators.hpp"
#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/support.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bench::ops::cuda {

enum class Operation { none, transpose };
BENCH_ENUM(ProductCompute, (f32, "32F"), (f32_as_tf32, "32F_FAST_TF32"), (f64, "64F"),
           (s32, "32I"));
// How fp8 products accumulate. promoted: partial sums are repeatedly moved to f32. fast: partial
// sums stay in the tensor cores' accumulators.
enum class Accumulation { promoted, fast };
enum class Activation { none, relu, gelu };
enum class Presence { absent, present };
// The matrix whose rows or columns cuBLASLt also adds up into the gradient of a bias.
enum class BiasGradient { none, of_a, of_b };

// A column-major matrix. A column of `rows` elements is contiguous; columns are `leading` elements
// apart.
struct MatrixForm {
  std::size_t tensor = 0;  // index in Problem::tensors
  DataType dtype = DataType::f32;
  std::int64_t rows = 1, columns = 1, leading = 1;
  std::int64_t batch_stride = 0;  // elements; 0: all products of the batch share the matrix
  Operation operation = Operation::none;
};

// d = activation(alpha * op(a) * op(b) + c + bias), column-major. A row-major product is the
// transposed product of the same buffers: a is the weights, b is the source, and m and n are
// swapped.
struct GemmForm {
  std::int64_t m = 1, n = 1, k = 1, batch = 1;  // as cuBLAS names them
  MatrixForm a, b, d;
  // The residual to add. It has d's type, except for fp8: cuBLASLt adds only bf16 to fp8.
  std::optional<MatrixForm> c;
  ProductCompute compute = ProductCompute::f32;
  Accumulation accumulation = Accumulation::promoted;
  Presence bias = Presence::absent;  // one value per row of d, in addend_type
  BiasGradient bias_gradient = BiasGradient::none;
  std::size_t bias_tensor = 0;  // of bias or bias_gradient
  double alpha = 1;
  Activation activation = Activation::none;
};

// Whether a call has the address of a bias or of a bias's gradient.
bool has_bias_address(const GemmForm& form);

// Returns the type of residual and bias for a result of this type: bf16 for fp8, else the result's
// type.
DataType addend_type(DataType destination);

// The library that computes a product. cublaslt supports epilogues and fp8; cublas supports
// neither.
enum class ProductLibrary { cublaslt, cublas };

// Describes the product of a problem. BackendError: the library does not support the product on any
// device.
Result<GemmForm, BackendError> gemm_form(const Problem& problem, ProductLibrary library);

// Returns the problem without its post-ops, for a native kernel that computes them afterwards
// (epilogue_form()). A result of 16 bits is f32 in between, so that it is rounded once.
// BackendError: the problem has no post-ops, or results of fewer than 16 bits or integers.
Result<Problem, BackendError> product_part(const Problem& problem);

// Returns why a device of this compute capability cannot run the product, or nullopt if it can. fp8
// requires 8.9. Before 10.0 and on 12.x, fp8 requires both operands to be contiguous along k.
std::optional<BackendError> refused_by_device(const GemmForm& form, ComputeCapability capability);

// What computes a product: the library, and a native kernel for post-ops that it does not fuse.
enum class ProductParts { library, library_and_epilogue };
// Returns what computes a product: "cuBLASLt", "cuBLASLt + bench:elementwise".
std::string product_name(std::string_view library, ProductParts parts);
// Whether cuBLASLt and cuBLAS serve the operator: gemm, grouped_gemm.
bool is_product(const Problem& problem);
// Returns what runs the products of such a problem. BackendError: why the library or a device of
// this compute capability cannot.
Result<ProductParts, BackendError> product_parts(const Problem& problem, ProductLibrary library,
                                                 ComputeCapability capability);

}  // namespace bench::ops::cuda
