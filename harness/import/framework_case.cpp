// SPDX-License-Identifier: Apache-2.0
#include "harness/import/framework_case.hpp"

#include "base/python_value.hpp"
#include "base/quote.hpp"
#include "harness/import/aten_function.hpp"
#include "ops/framework_operator.hpp"
#include "ops/kineto_work.hpp"
#include "ops/operator.hpp"
#include "ops/pyprof_row.hpp"
#include "profiler/nvtx/framework_range.hpp"
#include "profiler/readers/kineto_event.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace bench {
namespace {

using ops::Direction;
using Requests = Result<std::vector<ops::ProblemRequest>>;
using Shapes = std::vector<FrameworkRange::Shape>;

constexpr std::string_view kAten = "aten::";
constexpr std::string_view kNoType = "the profile does not state one data type of its tensors";
constexpr std::string_view kNoParameters = "the profile does not give all of its parameters";

Error not_a_case(std::string_view what) { return {std::string(what), {}, {}}; }

// "backward" of a framework does not say which gradient. Of a convolution these are both.
Result<std::vector<Direction>> find_directions(const ops::Operator& op, std::string_view written) {
  if (written.empty()) return std::vector{Direction::forward};
  if (const auto direction = enumerator_from_name<Direction>(written))
    return std::vector{*direction};
  if (op.name == "conv") return std::vector{Direction::backward_data, Direction::backward_weights};
  if (op.name == "pointwise") return std::vector{Direction::backward_data};
  return not_a_case("the profile does not show which gradient its kernels compute");
}

// The operator of a case and its parameters as in an id.
Requests request_tokens(std::string_view op_name, std::string_view parameters,
                        const GpuCall& call) {
  const ops::Operator* op = ops::find_operator(op_name);
  if (op == nullptr || parameters.empty()) return not_a_case(kNoParameters);
  const auto dtype = data_type_from_name(call.dtype);
  if (!dtype) return not_a_case(kNoType);
  const auto parsed = ops::parse_problem_tokens(*op, parameters);
  if (!parsed.ok()) return not_a_case(kNoParameters);
  BENCH_ASSIGN_OR_RETURN(const auto directions, find_directions(*op, call.direction));
  std::vector<ops::ProblemRequest> requests;
  for (const Direction direction : directions)
    requests.push_back({.op = op,
                        .direction = direction,
                        .dtype = *dtype,
                        .parameters = parsed->parameters,
                        .post_ops = parsed->post_ops});
  return requests;
}

// This program's names of data types, and those of the arguments of aten_function.hpp.
struct AtenName {
  std::string_view dtype, aten;
};
constexpr std::array<AtenName, 6> kAtenNames = {
    {{"f16", "f16"}, {"bf16", "bf16"}, {"f32", "f32"}, {"f64", "f64"}, {"s8", "i8"}, {"u8", "u8"}}};

PythonValue make_tensor(const FrameworkRange::Shape& shape, std::string_view dtype) {
  PythonValue sizes{.kind = PythonValue::Kind::list};
  for (const std::int64_t size : shape)
    sizes.items.push_back({.kind = PythonValue::Kind::number, .number = static_cast<double>(size)});
  return {.kind = PythonValue::Kind::call,
          .word = "T",
          .items = {std::move(sizes), {.kind = PythonValue::Kind::word, .word = dtype}}};
}

// Arguments that are texts. A trace of Kineto may lack their values, and then the variant of the
// function is unknown.
struct VariantArgument {
  std::string_view function;
  std::size_t index;
  std::string_view keyword;
};
constexpr std::array<VariantArgument, 2> kVariants = {
    {{"gelu", 1, "approximate"}, {"gelu_backward", 2, "approximate"}}};

// Returns the arguments of a call in a trace of Kineto as those of an operator log.
Result<std::vector<PythonValue>> make_arguments(std::string_view function, const GpuCall& call) {
  const Shapes shapes = parse_framework_shapes(call.problem);
  const auto* type = std::ranges::find(kAtenNames, call.dtype, &AtenName::dtype);
  if (type == kAtenNames.end()) return not_a_case(kNoType);
  std::vector<std::string_view> values = split_list(call.arguments);
  const bool has_others =
      std::ranges::any_of(shapes, [](const auto& shape) { return shape.empty(); });
  if (values.size() != shapes.size()) {
    if (has_others) return not_a_case("the trace does not have the values of its arguments");
    values.assign(shapes.size(), {});
  }
  std::vector<PythonValue> arguments;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto* variant = std::ranges::find(kVariants, function, &VariantArgument::function);
    const bool is_variant = variant != kVariants.end() && variant->index == i;
    if (is_variant && values[i].empty())
      return not_a_case("the trace does not state the variant of the function");
    auto value = values[i].empty() ? std::optional(PythonValue{.word = "None"})
                                   : parse_python_value(values[i]);
    if (!value) return not_a_case("an argument is not understood");
    arguments.push_back(shapes[i].empty() ? *std::move(value) : make_tensor(shapes[i], type->aten));
    if (is_variant) arguments.back().keyword = variant->keyword;
  }
  return arguments;
}

// Finds the cases of a call in a trace of Kineto. A function of aten has the direction in its name.
Requests request_kineto(const GpuCall& call, const Activity& kernel) {
  const std::string_view name = call.op.substr(kAten.size());
  const std::string_view function = name.substr(0, name.size() - (name.ends_with('_') ? 1 : 0));
  const auto work = ops::compute_kineto_work(kernel);
  if (work && !work->parameters.empty()) {
    GpuCall forward = call;
    forward.direction = "forward";
    return request_tokens(work->op, work->parameters, forward);
  }
  auto arguments = make_arguments(function, call);
  if (!arguments.ok()) return arguments.error();
  return request_aten_call(function, *arguments);
}

// Finds the cases of a call with a marker, which has all arguments.
Requests request_marker(const GpuCall& call, const FrameworkRange& marker) {
  const auto work =
      ops::compute_framework_work({marker.name, &marker.inputs, nullptr, &marker.arguments});
  if (!work) return not_a_case(fmt::format("no case computes the function {}", quote(marker.name)));
  GpuCall typed = call;
  if (!work->dtype.empty()) typed.dtype = work->dtype;
  return request_tokens(work->op, work->case_parameters, typed);
}

// Finds the cases of a row of PyProf's table. The sizes of a product are those of the kernel, also
// if it computes a gradient.
Requests request_pyprof(const GpuCall& call, const FrameworkWork& work) {
  GpuCall typed = call;
  if (call.parameters.find("M=") != std::string_view::npos) typed.direction = "forward";
  return request_tokens(work.op, work.case_parameters, typed);
}

Requests request_call(const GpuCall& call, const Activity& kernel) {
  if (call.op.starts_with(kAten) && call.problem.starts_with('['))
    return request_kineto(call, kernel);
  if (const auto marker = parse_pyprof_marker(call.problem)) return request_marker(call, *marker);
  if (const auto work = ops::find_pyprof_work(kernel)) return request_pyprof(call, *work);
  if (ops::find_operator(call.op) != nullptr) return request_tokens(call.op, call.parameters, call);
  if (!call.parameters.empty()) return not_a_case(kNoParameters);
  return not_a_case(fmt::format("no case computes the function {}", quote(call.op)));
}

}  // namespace

std::string describe_gpu_call(const GpuCall& call) {
  std::string text(call.op);
  const auto append = [&](std::string_view part) {
    if (!part.empty()) text.append(" ").append(part);
  };
  append(call.direction);
  append(call.dtype);
  append(call.in_shapes.empty() ? call.parameters : call.in_shapes);
  return text;
}

Result<std::vector<ops::Problem>> find_gpu_cases(const GpuCall& call, const Activity& kernel) {
  BENCH_ASSIGN_OR_RETURN(auto requests, request_call(call, kernel));
  std::vector<ops::Problem> problems;
  for (ops::ProblemRequest& request : requests) {
    const bool multiplies = request.op->product.facts != nullptr;
    if (call.names_tf32 && multiplies && request.dtype == DataType::f32)
      request.math = ops::Math::tf32;
    auto problem = ops::make_problem(std::move(request));
    if (!problem.ok()) return not_a_case(problem.error().what);
    problems.push_back(*std::move(problem));
  }
  return problems;
}

}  // namespace bench
