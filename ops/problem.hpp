// SPDX-License-Identifier: Apache-2.0
// A problem: one operator with everything that determines what is computed. Problems are plain data
// and independent of how they are measured.
#pragma once

#include "base/data_type.hpp"
#include "base/enumerators.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/parameter.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops {

struct Operator;

BENCH_ENUM(Direction, forward, backward_data, backward_weights);
BENCH_ENUM(Layout, any, nchw, nhwc);  // any: the backend chooses, as in frameworks
// The permitted rounding. In YAML: default, tf32, fast_accumulation.
// tf32: f32 operands may be rounded to TF32.
// fast_accumulation: the sums of fp8 products may stay in the tensor cores' accumulators, which
// have few bits. Otherwise the sums are repeatedly moved to f32.
BENCH_ENUM(Math, (standard, "default"), tf32, fast_accumulation);

// Logical sizes, outermost first: always n, c, then spatial (nchw order).
using Dims = std::vector<std::int64_t>;
// Returns nullopt if the product overflows (2^63 or more).
std::optional<std::int64_t> element_count(std::span<const std::int64_t> dims);

// The role of a tensor. weights: constant between calls in deployments (weights, bias, statistics).
BENCH_ENUM(TensorRole, input, weights, output);

struct Tensor {
  std::string name;  // "source", "weights", "bias", "residual", "destination", "diff_source", ...
  TensorRole role;
  DataType dtype;
  Dims dims;
  // Number of elements that the computation reads or writes (stride > kernel leaves some inputs
  // unused). Bytes are computed from it.
  std::int64_t touched = 0;

  std::int64_t elements() const;  // product of dims; model() checked the range
  Bytes size() const;             // elements * element size, plain row-major
};

// The work of a problem in the convention `bench-1` (docs/work_model.md). Every count is checked
// for overflow when it is computed.
struct Work {
  std::optional<std::int64_t>
      macs;  // multiply-accumulates; conv, gemm, grouped_gemm and attention only
  std::int64_t flops = 0;
  std::int64_t flops_valid = 0;  // excluding the taps in padding
  std::int64_t sfu_ops = 0;      // exp, tanh, erf, ...: one each, in addition to their plain FLOPs
  std::int64_t bytes_read = 0;   // compulsory: each distinct input element that is used, once
  std::int64_t bytes_written = 0;

  Flops total() const { return {flops}; }
  Bytes traffic() const { return {bytes_read + bytes_written}; }
  friend bool operator==(const Work&, const Work&) = default;
};

// One line of `explain`: how a number was computed.
struct Formula {
  std::string name;        // "flops", "bytes", "P"
  std::string expression;  // "2*N*K*P*Q*(C/g)*R*S"
  std::string values;      // "2*32*64*56*56*64*3*3"
  std::int64_t result;
};

// What an operator computes from complete parameters, before post-ops.
struct Model {
  std::vector<Tensor>
      tensors;  // inputs and weights in the order of the reference's `inputs`, then outputs
  Work work;
  std::vector<Formula> formulas;
};

// An operation fused after an operator's output, applied to each element in order. `function` is
// the name of a unary pointwise function, or "add", which adds a tensor `residual` of the output's
// shape.
struct PostOp {
  std::string function;
  double alpha = 0;  // as in pointwise, whose defaults apply if the text has no coefficients
  double beta = 0;
  friend bool operator==(const PostOp&, const PostOp&) = default;
};

struct Problem {
  const Operator* op = nullptr;
  Direction direction = Direction::forward;
  DataType dtype = DataType::f32;
  Layout layout = Layout::any;
  Math math = Math::standard;
  ParameterSet parameters{{}};  // complete
  std::vector<PostOp> post_ops;

  // Derived by make_problem, including post-ops. Their tensors follow the operator's inputs, and
  // their work is added.
  std::vector<Tensor> tensors;
  Work work;
  std::vector<Formula> formulas;

  // Returns the number of inputs and weights, which precede the outputs.
  std::size_t input_count() const;
  std::size_t output_count() const { return tensors.size() - input_count(); }
  const Tensor& output(std::size_t index = 0) const { return tensors[input_count() + index]; }
};

struct ProblemRequest {
  const Operator* op = nullptr;
  Direction direction = Direction::forward;
  DataType dtype = DataType::f32;
  Layout layout = Layout::any;
  Math math = Math::standard;
  ParameterSet parameters{{}};  // as written; missing ones take their defaults
  std::vector<PostOp> post_ops = {};
};

// Completes and checks the parameters and computes the model. Errors: impossible shapes, overflow
// beyond 2^63 - 1 elements or operations, a direction or post-op that the operator does not have,
// fast accumulation for anything but an fp8 product. `where` names the parameter at fault (or
// "direction", "dtype", "math", "post_ops").
Result<Problem> make_problem(ProblemRequest request);

// Formats the parameter segment of a case id: "n32c64h56w56k64r3s3p1+bias+add+relu".
std::string problem_tokens(const Problem& problem);
// Parses the parameter segment of a case id.
struct ProblemTokens {
  ParameterSet parameters;
  std::vector<PostOp> post_ops;
};
Result<ProblemTokens> parse_problem_tokens(const Operator& op, std::string_view text);

}  // namespace bench::ops
