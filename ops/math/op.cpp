// SPDX-License-Identifier: Apache-2.0
// The operator math: y = f(a), f(a, b) or f(a, b, c) of each element, for functions that are not
// activations of every library, and the gradients of all operands at once:
//   diff_a = df/da * diff_destination, and so on.
// All tensors have the same sizes; pointwise broadcasts.
#include "base/random.hpp"
#include "ops/description.hpp"
#include "ops/math/functions.hpp"
#include "ops/model.hpp"
#include "ops/tensor.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace bench::ops {
namespace {

const Parameter kParameters[] = {
    {"function", "", ParameterKind::word, kRequired, "what is computed for each element", 1,
     math_function_names()},
    {"shape", "", ParameterKind::shape, kRequired, "sizes of all tensors"},
    {.name = "alpha",
     .token = "alpha",
     .kind = ParameterKind::real,
     .fallback = "optional",
     .help = "power: exponent (3), softplus: steepness (1), addcmul and addcdiv: factor (1)"},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data};

const MathFunction& function_of(const ParameterSet& set) {
  return *find_math_function(set.word("function"));
}
std::optional<std::int64_t> count_operands(const ParameterSet& set) {
  return function_of(set).operands;
}
std::optional<std::int64_t> count_flops(const ParameterSet& set) {
  return function_of(set).forward.flops;
}
std::optional<std::int64_t> count_special(const ParameterSet& set) {
  return function_of(set).forward.sfu_ops;
}
std::optional<std::int64_t> count_gradient_flops(const ParameterSet& set) {
  return function_of(set).backward.value_or(MathWork{}).flops;
}
std::optional<std::int64_t> count_gradient_special(const ParameterSet& set) {
  return function_of(set).backward.value_or(MathWork{}).sfu_ops;
}

constexpr auto kHidden = Quantity::Shown::no;
constexpr Quantity kQuantities[] = {
    {"operands", "operands of the function", kHidden, "", count_operands},
    {"elements", "prod(shape)", kHidden},
    {"cost", "FLOPs of an element", kHidden, "forward", count_flops},
    {"cost", "FLOPs of an element", kHidden, "backward_data", count_gradient_flops},
    {"special", "special functions of an element", kHidden, "forward", count_special},
    {"special", "special functions of an element", kHidden, "backward_data",
     count_gradient_special},
    {"flops", "{cost}*elements"},
    {"sfu_ops", "{special}*elements"},
};
constexpr auto kOfCase = ElementType::of_case;
constexpr TensorRow kTensors[] = {
    {"a", TensorRole::input, "shape"},
    {"b", TensorRole::input, "shape", kOfCase, "operands > 1"},
    {"c", TensorRole::input, "shape", kOfCase, "operands > 2"},
    {"diff_destination", TensorRole::input, "shape", kOfCase, "backward_data"},
    {"destination", TensorRole::output, "shape", kOfCase, "forward"},
    {"diff_a", TensorRole::output, "shape", kOfCase, "backward_data"},
    {"diff_b", TensorRole::output, "shape", kOfCase, "backward_data and operands > 1"},
    {"diff_c", TensorRole::output, "shape", kOfCase,
     "backward_data and operands > 2 and function != 'select'"},
};
constexpr std::string_view kExamples[] = {
    "sin-4x33", "mish-64",      "power-16x9-alpha2.5", "pow-4x33",
    "ge-64",    "select-3x5x7", "lerp-4x33",           "addcmul-64-alpha0.5"};

Status check(const ParameterSet& given) {
  if (!given.has("alpha") || !given.has("function")) return Done{};
  const MathFunction* function = find_math_function(given.word("function"));
  if (function == nullptr || function->alpha) return Done{};
  return Error{.what = fmt::format("`{}` has no `alpha`", function->name),
               .where = "alpha",
               .next = "leave `alpha` out"};
}

MathArguments arguments_at(const Problem& problem, ReferenceInputs inputs, std::size_t i) {
  const MathFunction& function = function_of(problem.parameters);
  MathArguments at{.alpha = function.alpha.value_or(0)};
  if (problem.parameters.has("alpha")) at.alpha = problem.parameters.real("alpha");
  at.a = inputs[0][i];
  if (function.operands > 1) at.b = inputs[1][i];
  if (function.operands > 2) at.c = inputs[2][i];
  return at;
}

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs, std::size_t output,
                              std::span<const std::int64_t> positions) {
  const MathFunction& function = function_of(problem.parameters);
  const Tensor& result = problem.output();
  return evaluate(result.elements(), positions, [&](std::int64_t position) {
    const auto i = static_cast<std::size_t>(position);
    const MathArguments at = arguments_at(problem, inputs, i);
    if (problem.direction == Direction::forward) {
      return stored_value(result.dtype, function.value(at));
    }
    return function.slopes(at)[output] * inputs[static_cast<std::size_t>(function.operands)][i];
  });
}

// Allowed errors, in roundings: of polynomials, which combine several; of plain arithmetic.
Tolerance tolerance(const Problem& problem) {
  constexpr double kSpecialSteps = 256, kPlainSteps = 16;
  const MathFunction& function = function_of(problem.parameters);
  const bool is_forward = problem.direction == Direction::forward;
  const MathWork work = is_forward ? function.forward : *function.backward;
  return rounding_tolerance(problem.dtype, work.sfu_ops > 0 ? kSpecialSteps : kPlainSteps, 0);
}

std::optional<std::vector<double>> values(const Problem& problem, std::size_t tensor,
                                          std::uint64_t stream) {
  const MathFunction& function = function_of(problem.parameters);
  if (tensor >= static_cast<std::size_t>(function.operands)) return std::nullopt;
  const MathRange range = function.ranges[tensor];
  const Tensor& description = problem.tensors[tensor];
  const bool is_whole =
      range.values == MathRange::Values::whole || info(description.dtype).is_integer;
  const double low = info(description.dtype).is_integer && description.dtype == DataType::u8
                         ? std::max(0.0, range.low)
                         : range.low;
  std::vector<double> result(static_cast<std::size_t>(description.elements()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double unit = static_cast<double>(mix(stream + i) >> 41) * 0x1p-23;
    const double value = low + unit * (range.high - low);
    result[i] = is_whole ? std::floor(value) : value;
  }
  round_all_to(description.dtype, result);
  return result;
}

std::size_t count_inputs(const ParameterSet& written) {
  const MathFunction* function =
      written.has("function") ? find_math_function(written.word("function")) : nullptr;
  return function == nullptr ? 1 : static_cast<std::size_t>(function->operands);
}

Operator make_math() {
  Operator op = describe(
      {.name = "math",
       .help = "a mathematical function of each element of one to three tensors, with gradients",
       .parameters = kParameters,
       .quantities = kQuantities,
       .tensors = kTensors,
       .where = "shape",
       .directions = kDirections,
       .check = check},
      {.reference = reference,
       .tolerance = tolerance,
       .inference = {count_inputs, infer_shape},
       .filling = {.values = values},
       .product = {.rule = "op-math", .sentence = "one element at a time: there is no product"},
       .examples = kExamples,
       .cpu = kOnNative,
       .cuda = kOnCudnn});
  // What the tables of a description cannot say: each function has its own types and directions.
  op.model = [inner = op.model](const Problem& problem) -> Result<Model> {
    const MathFunction& function = function_of(problem.parameters);
    const bool is_integer = info(problem.dtype).is_integer;
    const bool is_backward = problem.direction != Direction::forward;
    if (is_integer && (function.types == MathTypes::floating || is_backward)) {
      return undefined_for_integers(
          fmt::format("{}`{}`", is_backward ? "backward_data of " : "", function.name),
          problem.dtype);
    }
    if (!is_integer && function.types == MathTypes::integers) {
      return Error{.what = fmt::format("`{}` is not defined for {}", function.name,
                                       info(problem.dtype).name),
                   .where = "dtype",
                   .next = "use s8 or u8"};
    }
    if (is_backward && !function.backward) {
      return Error{.what = fmt::format("`{}` has no gradient", function.name),
                   .where = "direction",
                   .next = "use `forward`"};
    }
    return inner(problem);
  };
  return op;
}

}  // namespace

extern const Operator math_operator;
const Operator math_operator = make_math();

}  // namespace bench::ops
