// SPDX-License-Identifier: Apache-2.0
// Matrix product and its gradients: what model, reference and kernels share.
//
// destination[b][m][n] = sum over k of source[b][m][k] * weights[b][k][n] (+ bias[n]).
// Tensors (plain row-major; the batch comes first, only if it is > 1):
//   source       [source_batch,] m, k    trans_a: stored as [source_batch,] k, m
//   weights      [weights_batch,] k, n   trans_b: stored as [weights_batch,] n, k;
//                                        an input if two_inputs
//   bias         n
//   destination  [batch,] m, n
// Quantised (s8, u8), with the scales and the zero point that the parameters name:
//   destination = src_scale * weights_scale[n] * sum of (source - src_zero_point) * weights (+
//   bias) src_scale 1, weights_scale 1 or n, src_zero_point 1
// Order of Model::tensors: forward: source, weights, [bias,] [src_scale,] [weights_scale,]
// [src_zero_point,] destination. backward_data:
// diff_destination, weights, diff_source. backward_weights: source, diff_destination,
// diff_weights[, diff_bias].
#pragma once

#include "ops/operator.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace bench::ops {

enum class Storage { plain, transposed };

// One factor. If `batch` is less than that of the product, consecutive products share a matrix.
struct GemmOperand {
  std::size_t tensor = 0;  // index in Problem::tensors
  Storage storage = Storage::plain;
  std::int64_t batch = 1;
};

// A size of the product, and the parameter that it is.
struct GemmSize {
  std::string_view parameter;
  std::int64_t count = 1;
};

// The product that a problem computes, whichever its direction:
//   result[b][i][j] = sum over l of left[b][i][l] * right[b][l][j] (+ bias[j])
// The result is stored plain. If its batch is less than that of the product, consecutive products
// are added up.
struct GemmShape {
  std::int64_t batch = 1;
  GemmSize rows, columns, inner;  // i, j, l
  GemmOperand left, right;
  std::size_t result = 0;  // index in Problem::tensors
  std::int64_t result_batch = 1;
  bool has_bias = false;  // tensor number 2
  // The operand of which a gradient of the bias adds up all matrices' rows as the user sees them;
  // nullopt if there is none. The gradient is the tensor after the result.
  enum class Side { left, right };
  std::optional<Side> bias_gradient = std::nullopt;

  // The number of consecutive products that share a matrix of this batch.
  std::int64_t share(std::int64_t operand_batch) const { return batch / operand_batch; }
};

// Products that are added up are one product if both factors' matrices lie one below the other; the
// shape then is this product.
GemmShape gemm_shape(const Problem& problem);

// Returns how many matrices an operand with these batch dimensions has, if its product has those of
// `product`, as the operator counts them: leading dimensions are the same, and the others are 1.
// Returns nullopt if the dimensions are others.
std::optional<std::int64_t> shared_batch(std::span<const std::int64_t> product,
                                         std::span<const std::int64_t> operand);

extern const Operator gemm_operator;

// Whether the sums of a forward product are scaled or shifted, or stored in another type than s32.
bool is_quantised(const ParameterSet& complete);

// Implements Operator::tolerance.
Tolerance gemm_tolerance(const Problem& problem);

// Implements MatrixProduct::facts.
ProblemFacts gemm_facts(const Problem& problem, const Platform& platform);

// Implements Operator::reference: gemm_values_at if positions are given, else gemm_values, which is
// optimised for speed. The two are written independently, and a test checks that they agree.
std::vector<double> reference_gemm(const Problem& problem, ReferenceInputs inputs,
                                   std::size_t output, std::span<const std::int64_t> positions);
std::vector<double> gemm_values(const GemmShape& shape, ReferenceInputs inputs);
std::vector<double> gemm_values_at(const GemmShape& shape, ReferenceInputs inputs,
                                   std::span<const std::int64_t> positions);

}  // namespace bench::ops
