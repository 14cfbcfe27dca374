// SPDX-License-Identifier: Apache-2.0
// Matrix product: what model, reference and kernels share.
//
// destination[b][m][n] = sum over k of source[b][m][k] * weights[b][k][n] (+ bias[n]).
// Tensors (plain row-major; `b` comes first, only if batch > 1):
//   source       [b,] m, k      trans_a: stored as [b,] k, m
//   weights      [b,] k, n      trans_b: stored as [b,] n, k; an input if two_inputs
//   bias         n
//   destination  [b,] m, n
// Order of Model::tensors: source, weights, [bias,] destination.
#pragma once

#include "ops/operator.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bench::ops {

enum class Storage { plain, transposed };

struct GemmShape {
  std::int64_t batch = 1;
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  Storage a = Storage::plain;
  Storage b = Storage::plain;
  bool has_bias = false;
};

// `complete` must be a complete parameter set.
GemmShape gemm_shape(const ParameterSet& complete);

extern const Operator gemm_operator;

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
