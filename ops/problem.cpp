// SPDX-License-Identifier: Apache-2.0
#include "ops/problem.hpp"

#include "base/checked.hpp"
#include "base/nearest_name.hpp"
#include "base/quote.hpp"
#include "ops/operator.hpp"
#include "ops/post_op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace bench::ops {
namespace {

Status check_direction(const Operator& op, Direction direction) {
  if (std::ranges::find(op.directions, direction) != op.directions.end()) return Done{};
  std::vector<std::string_view> names;
  for (const Direction allowed : op.directions) names.push_back(to_string(allowed));
  return Error{fmt::format("`{}` has no direction `{}`", op.name, to_string(direction)),
               "direction", expectation(to_string(direction), names)};
}

Status check_data_type(DataType dtype) {
  if (info(dtype).is_case_type) return Done{};
  return Error{fmt::format("`{}` is the type of an accumulator, not of a case", info(dtype).name),
               "dtype",
               {}};
}

Status check_math(const Operator& op, Math math, DataType dtype, const Work& work) {
  if (math == Math::tf32 && dtype != DataType::f32) {
    return Error{fmt::format("`tf32` applies only to f32, not to {}", info(dtype).name), "math",
                 "set `math: tf32` only in entries with dtype f32"};
  }
  if (math != Math::fast_accumulation) return Done{};
  constexpr std::string_view kNext =
      "set `math: fast_accumulation` only in entries of gemm with dtype f8_e4m3";
  if (!is_fp8(dtype)) {
    return Error{fmt::format("`fast_accumulation` applies only to products of fp8, not of {}",
                             info(dtype).name),
                 "math", std::string(kNext)};
  }
  if (work.macs) return Done{};
  return Error{fmt::format("`{}` has no products that `fast_accumulation` could apply to", op.name),
               "math", std::string(kNext)};
}

Status check_post_ops(const ProblemRequest& request) {
  if (request.post_ops.empty()) return Done{};
  if (!request.op->takes_post_ops) {
    return Error{fmt::format("`{}` takes no post-ops", request.op->name), "post_ops", {}};
  }
  if (request.direction != Direction::forward) {
    return Error{
        fmt::format("post-ops need direction forward, not {}", to_string(request.direction)),
        "post_ops",
        {}};
  }
  return Done{};
}

std::string format_valid_flags(const Operator& op) {
  std::string flags;
  for (const Parameter& parameter : op.parameters) {
    if (parameter.kind == ParameterKind::flag) flags += fmt::format("+{}, ", parameter.token);
    if (parameter.kind != ParameterKind::word || parameter.token.empty()) continue;
    for (const std::string_view word : parameter.words) {
      if (word != parameter.fallback) flags += fmt::format("+{}_{}, ", parameter.token, word);
    }
  }
  return flags;
}

}  // namespace

std::optional<std::int64_t> element_count(std::span<const std::int64_t> dims) {
  Checked count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  return count.value();
}

std::int64_t Tensor::elements() const {
  const std::optional<std::int64_t> count = element_count(dims);
  assert(count && "model() checks the range");
  return *count;
}

Bytes Tensor::size() const { return {elements() * info(dtype).bytes}; }

std::size_t Problem::input_count() const {
  const auto first_output = std::ranges::find(tensors, TensorRole::output, &Tensor::role);
  return static_cast<std::size_t>(first_output - tensors.begin());
}

Result<Problem> make_problem(ProblemRequest request) {
  assert(request.op != nullptr);
  const Operator& op = *request.op;
  BENCH_RETURN_IF_ERROR(check_direction(op, request.direction));
  BENCH_RETURN_IF_ERROR(check_data_type(request.dtype));
  BENCH_RETURN_IF_ERROR(check_post_ops(request));
  // A request that sets no parameters has no table.
  ParameterSet requested =
      request.parameters.table().empty() ? ParameterSet(op.parameters) : request.parameters;
  for (std::size_t i = 0; i < requested.table().size(); ++i) {
    BENCH_RETURN_IF_ERROR(check_value(requested.table()[i], requested.value(i)));
  }
  Problem problem;
  problem.op = &op;
  problem.direction = request.direction;
  problem.dtype = request.dtype;
  problem.layout = request.layout;
  problem.math = request.math;
  problem.post_ops = std::move(request.post_ops);
  BENCH_ASSIGN_OR_RETURN(problem.parameters, op.complete(requested));
  BENCH_ASSIGN_OR_RETURN(Model model, op.model(problem));
  BENCH_RETURN_IF_ERROR(check_math(op, problem.math, problem.dtype, model.work));
  BENCH_RETURN_IF_ERROR(add_post_ops(problem.post_ops, model));
  problem.tensors = std::move(model.tensors);
  problem.work = model.work;
  problem.formulas = std::move(model.formulas);
  return problem;
}

std::string problem_tokens(const Problem& problem) {
  std::string tokens = format_tokens(problem.parameters);
  for (const PostOp& post_op : problem.post_ops) tokens += "+" + format_post_op(post_op);
  return tokens;
}

Result<ProblemTokens> parse_problem_tokens(const Operator& op, std::string_view text) {
  BENCH_ASSIGN_OR_RETURN(ParsedTokens parsed, parse_tokens(op.parameters, text));
  ProblemTokens tokens{std::move(parsed.parameters), {}};
  for (const std::string& flag : parsed.rest) {
    Result<PostOp> post_op = parse_post_op(flag);
    if (!post_op.ok()) {
      Error error = std::move(post_op).error();
      const std::string flags = format_valid_flags(op);
      error.what =
          fmt::format("unknown flag {} in {}: {}", quote("+" + flag), quote(text), error.what);
      if (!flags.empty())
        error.next = fmt::format("flags of {}: {}post-ops: {}", op.name, flags, error.next);
      return error;
    }
    tokens.post_ops.push_back(*post_op);
  }
  return tokens;
}

}  // namespace bench::ops
