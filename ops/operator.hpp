// SPDX-License-Identifier: Apache-2.0
// An operator: a row of data and pure functions. Each built-in operator is one `extern const
// Operator <name>_operator` in ops/<name>/op.cpp. The table all_operators() is generated from
// ops/CMakeLists.txt. Plugins add others: ops/catalogue.hpp contains all of them.
#pragma once

#include "base/result.hpp"
#include "ops/inference.hpp"
#include "ops/parameter.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops {

// Allowed deviation of an output from the reference: |got - want| <= absolute + relative * |want|.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

// Plain row-major inputs in the order of Model::tensors. They are doubles that the tensors' data
// types represent exactly.
using ReferenceInputs = std::span<const std::vector<double>>;

struct LibraryCopies;    // ops/tensor_core/eligibility.hpp
struct Platform;         // ops/tensor_core/architecture.hpp
struct ProblemFacts;     // ops/tensor_core/facts.hpp
struct TensorCoreFacts;  // ops/tensor_core/rules.hpp

// What the rules about tensor cores need of an operator.
struct MatrixProduct {
  // An operator that multiplies matrices. copies: the copies that the library makes around the
  // kernel of an eligible problem; nullptr: none are known.
  ProblemFacts (*facts)(const Problem& problem, const Platform& platform) = nullptr;
  std::optional<LibraryCopies> (*copies)(const Problem& problem,
                                         const TensorCoreFacts& facts) = nullptr;
  // Any other operator: a rule of its own ("op-pool") and the sentence why there is no product.
  std::string_view rule = {};
  std::string_view sentence = {};
};

struct Operator {
  std::string_view name;
  std::string_view help;  // one line
  std::span<const Parameter> parameters;
  std::span<const Direction> directions;
  bool takes_post_ops;  // in direction forward

  // Fills in defaults ("w = h") and expands scalars to one entry per spatial dimension (missing
  // dimensions stay missing). Then checks conditions on several values (groups divide channels,
  // output sizes >= 1). Errors: `where` is the parameter's name.
  std::function<Result<ParameterSet>(const ParameterSet& given)> complete;

  // Tensors, work and formulas of a problem with complete parameters. Does not read the problem's
  // derived fields. Errors: overflow.
  std::function<Result<Model>(const Problem& problem)> model;

  // The plain implementation. Returns the elements of output number `output` (0 = first output) at
  // the flat row-major `positions`, or all elements in order if `positions` is empty. Does not
  // apply post-ops (ops/post_op.hpp does). Accumulates in double. Called only in workers. Only a
  // plugin's function can fail.
  std::function<Result<std::vector<double>>(const Problem& problem, ReferenceInputs inputs,
                                            std::size_t output,
                                            std::span<const std::int64_t> positions)>
      reference;

  // For inputs filled by ops/fill.hpp.
  std::function<Tolerance(const Problem& problem)> tolerance;

  // For layers of networks. Without a rule, sizes are inferred by the usual names (`shape`, or n,
  // c, d, h, w).
  Inference inference = {};

  // Without facts and rule, no rule covers the operator.
  MatrixProduct product = {};

  // Small problems as in case ids, one per kind of shape. Checks sweep over them in all data types,
  // directions and layouts.
  std::span<const std::string_view> examples = {};

  // The backends of the CUDA plugin that serve it, in order of preference.
  std::span<const std::string_view> cuda = {};
};

// The built-in operators.
std::span<const Operator* const> all_operators();
const Operator* find_operator(
    std::string_view name);  // nullptr if unknown; also finds the alias `inner_product` of gemm
std::vector<std::string_view> operator_names();
// The names of the built-in operators whose row lists this backend of the CUDA plugin.
std::vector<std::string> operators_on_cuda(std::string_view backend);

// The lists that rows of Operator::cuda share: cuDNN with native kernels, or the two libraries for
// matrix products.
inline constexpr std::string_view kOnCudnn[] = {"cudnn"};
inline constexpr std::string_view kOnCublas[] = {"cublaslt", "cublas"};

}  // namespace bench::ops
