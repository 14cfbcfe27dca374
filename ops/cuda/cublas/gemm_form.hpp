// SPDX-License-Identifier: Apache-2.0
// A gemm in the column-major words of cuBLAS: which matrix is which, leading dimensions, types,
// epilogue. Pure.
#pragma once

#include "base/data_type.hpp"
#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/support.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace bench::ops::cuda {

enum class Operation { none, transpose };
enum class ProductCompute { f32, f32_as_tf32, f64, s32 };
// Of fp8. promoted: partial sums move to f32 again and again. fast: they stay where the tensor
// cores add.
enum class Accumulation { promoted, fast };
enum class Activation { none, relu, gelu };
enum class Presence { absent, present };

// Column-major: `rows` is contiguous, `leading` elements lie between columns.
struct MatrixForm {
  std::size_t tensor = 0;  // number in Problem::tensors
  DataType dtype = DataType::f32;
  std::int64_t rows = 1, columns = 1, leading = 1;
  std::int64_t batch_stride = 0;  // elements
  Operation operation = Operation::none;
};

// d = activation(op(a) * op(b) + c + bias), column-major. A row-major product is the transposed one
// of the same buffers: a is the weights, b the source, m and n change places.
struct GemmForm {
  std::int64_t m = 1, n = 1, k = 1, batch = 1;  // cuBLAS's
  MatrixForm a, b, d;
  // A residual that is added. Of d's type, but for fp8, to which cuBLASLt adds bf16 alone.
  std::optional<MatrixForm> c;
  ProductCompute compute = ProductCompute::f32;
  Accumulation accumulation = Accumulation::promoted;
  Presence bias = Presence::absent;  // one value a row of d, in addend_type
  std::size_t bias_tensor = 0;
  Activation activation = Activation::none;
};

// In which residual and bias are added to a result of this type: bf16 to fp8, else the result's.
DataType addend_type(DataType destination);

// cublaslt has epilogues and fp8, cublas neither.
enum class ProductLibrary { cublaslt, cublas };

// Refusal: what the library has no product for, whatever the device.
Result<GemmForm, Refusal> gemm_form(const Problem& problem, ProductLibrary library);

// What a device of this compute capability adds to that: fp8 from 8.9 on, and before 10.0
// and on 12.x only with both operands contiguous along k. Absent: nothing.
std::optional<Refusal> refused_by_device(const GemmForm& form, ComputeCapability of);

}  // namespace bench::ops::cuda
