// SPDX-License-Identifier: Apache-2.0
// The matrix product of a problem as CBLAS computes it: C = alpha * A * B + beta * C, row-major.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/blas_library.hpp"
#include "ops/gemm/gemm.hpp"
#include "ops/problem.hpp"

#include <cstddef>
#include <cstdint>

namespace bench::ops {

// All matrices of an operand or of the result; they lie one after the other.
struct BlasMatrix {
  std::size_t tensor = 0;  // index in Problem::tensors
  Storage storage = Storage::plain;
  std::int32_t leading = 1;   // elements between the stored rows
  std::int64_t elements = 1;  // elements of one matrix
  std::int64_t batch = 1;     // fewer than that of the product: consecutive products share one
  friend bool operator==(const BlasMatrix&, const BlasMatrix&) = default;
};

struct BlasProduct {
  DataType dtype = DataType::f32;  // f32 or f64
  std::int32_t m = 1, n = 1, k = 1;
  std::int64_t batch = 1;
  BlasMatrix a, b, c;
  double alpha = 1;

  // Whether each product has matrices of its own, so that one strided call can compute all.
  bool is_strided() const {
    return batch > 1 && a.batch == batch && b.batch == batch && c.batch == batch;
  }
  // How many consecutive products read or write the same matrix of `matrix`.
  std::int64_t share(const BlasMatrix& matrix) const { return batch / matrix.batch; }
};

// BackendError: CBLAS does not compute the problem. A bias and post-ops other than leading scales
// are refused, because CBLAS has none (docs/decisions/0054).
Result<BlasProduct, BackendError> blas_product(const Problem& problem, const BlasLibrary& library);

}  // namespace bench::ops
