// SPDX-License-Identifier: Apache-2.0
#include "ops/framework_row.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace bench::ops {
namespace {

using namespace framework;

std::optional<Equivalent> make_elementwise(std::span<const std::int64_t> shape,
                                           const FrameworkRow& row, Direction direction,
                                           Fidelity fidelity) {
  if (shape.empty()) return std::nullopt;
  ParameterSet set = default_parameters("pointwise");
  set.set("function", std::string(row.function));
  set.set("shape", Dims(shape.begin(), shape.end()));
  auto result = equivalent("pointwise", std::move(set), fidelity);
  result->request.direction = direction;
  return result;
}

std::optional<Equivalent> make_unary(const FrameworkCall& call, const FrameworkRow& row) {
  return make_elementwise(tensor_shape(call, 0), row, Direction::forward, Fidelity::exact);
}

// Handles a function with coefficients. Only the work is equal, because the call does not show the
// values of the coefficients.
std::optional<Equivalent> make_unary_with_coefficients(const FrameworkCall& call,
                                                       const FrameworkRow& row) {
  return make_elementwise(tensor_shape(call, 0), row, Direction::forward, Fidelity::work_only);
}

// The arguments are the gradient and the source of the forward pass.
std::optional<Equivalent> make_gradient(const FrameworkCall& call, const FrameworkRow& row) {
  const auto gradient = tensor_shape(call, 0);
  if (!std::ranges::equal(gradient, tensor_shape(call, 1))) return std::nullopt;
  return make_elementwise(gradient, row, Direction::backward_data, Fidelity::work_only);
}

// A number instead of a tensor counts as one element.
std::optional<Equivalent> make_binary(const FrameworkCall& call, const FrameworkRow& row) {
  const auto a = tensor_shape(call, 0);
  const auto b = tensor_shape(call, 1);
  if (call.inputs->size() < 2 || (a.empty() && b.empty())) return std::nullopt;
  const auto extend = [](std::span<const std::int64_t> shape, std::size_t rank) {
    Dims result(rank - shape.size(), 1);
    result.insert(result.end(), shape.begin(), shape.end());
    return result;
  };
  const std::size_t rank = std::max(a.size(), b.size());
  ParameterSet set = default_parameters("pointwise");
  set.set("function", std::string(row.function));
  set.set("a", extend(a, rank));
  set.set("b", extend(b, rank));
  const bool has_number = a.empty() || b.empty();
  auto result =
      equivalent("pointwise", std::move(set), has_number ? Fidelity::work_only : Fidelity::dense);
  return has_number ? with_other_tensors(std::move(result)) : result;
}

constexpr std::array kFrameworkRows = {
    FrameworkRow{"relu", make_unary, nullptr, "relu"},
    FrameworkRow{"sigmoid", make_unary, nullptr, "sigmoid"},
    FrameworkRow{"tanh", make_unary, nullptr, "tanh"},
    FrameworkRow{"exp", make_unary, nullptr, "exp"},
    FrameworkRow{"log", make_unary, nullptr, "log"},
    FrameworkRow{"sqrt", make_unary, nullptr, "sqrt"},
    FrameworkRow{"abs", make_unary, nullptr, "abs"},
    FrameworkRow{"square", make_unary, nullptr, "square"},
    FrameworkRow{"silu", make_unary, nullptr, "swish"},
    FrameworkRow{"hardswish", make_unary, nullptr, "hardswish"},
    FrameworkRow{"hardsigmoid", make_unary, nullptr, "hardsigmoid"},
    FrameworkRow{"leaky_relu", make_unary_with_coefficients, nullptr, "leaky_relu"},
    FrameworkRow{"elu", make_unary_with_coefficients, nullptr, "elu"},
    FrameworkRow{"clamp", make_unary_with_coefficients, nullptr, "clip"},
    FrameworkRow{"clamp_min", make_unary_with_coefficients, nullptr, "clip"},
    FrameworkRow{"clamp_max", make_unary_with_coefficients, nullptr, "clip"},
    FrameworkRow{"hardtanh", make_unary_with_coefficients, nullptr, "clip"},
    FrameworkRow{"relu6", make_unary_with_coefficients, nullptr, "clip"},
    FrameworkRow{"threshold_backward", make_gradient, nullptr, "relu"},
    FrameworkRow{"leaky_relu_backward", make_gradient, nullptr, "leaky_relu"},
    // From the destination: 1 - y*y, as many FLOPs as from the source.
    FrameworkRow{"tanh_backward", make_gradient, nullptr, "tanh"},
    FrameworkRow{"silu_backward", make_gradient, nullptr, "swish"},
    FrameworkRow{"hardswish_backward", make_gradient, nullptr, "hardswish"},
    FrameworkRow{"hardsigmoid_backward", make_gradient, nullptr, "hardsigmoid"},
    FrameworkRow{"hardtanh_backward", make_gradient, nullptr, "clip"},
    FrameworkRow{"add", make_binary, nullptr, "add"},
    FrameworkRow{"sub", make_binary, nullptr, "sub"},
    FrameworkRow{"rsub", make_binary, nullptr, "sub"},
    FrameworkRow{"mul", make_binary, nullptr, "mul"},
    FrameworkRow{"div", make_binary, nullptr, "div"},
    FrameworkRow{"maximum", make_binary, nullptr, "max"},
    FrameworkRow{"minimum", make_binary, nullptr, "min"},
};

}  // namespace

extern const FrameworkMapping pointwise_framework;
const FrameworkMapping pointwise_framework = {.op = "pointwise", .rows = kFrameworkRows};

}  // namespace bench::ops
