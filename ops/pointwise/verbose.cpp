// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "ops/operator.hpp"
#include "ops/pointwise/functions.hpp"
#include "ops/verbose_post_ops.hpp"
#include "ops/verbose_text.hpp"

#include <array>
#include <string>
#include <utility>

namespace bench::ops {

extern const Operator pointwise_operator;

namespace {

constexpr std::array<std::string_view, 2> kPrimitives = {"eltwise", "binary"};

// Parses "alg:eltwise_relu alpha:0.1 beta:0", or "alg:eltwise_relu:0.1:0" as in version 1.0.
std::optional<VerboseFunction> parse_function(std::string_view auxiliary) {
  std::string_view algorithm = auxiliary_value(auxiliary, "alg");
  std::string_view alpha = auxiliary_value(auxiliary, "alpha");
  std::string_view beta = auxiliary_value(auxiliary, "beta");
  const std::size_t first = algorithm.find(':');
  const std::size_t second = algorithm.rfind(':');
  if (first != second) {
    alpha = algorithm.substr(first + 1, second - first - 1);
    beta = algorithm.substr(second + 1);
    algorithm = algorithm.substr(0, first);
  }
  const auto alpha_number = parse_real(alpha);
  const auto beta_number = parse_real(beta);
  if (!alpha_number || !beta_number) return std::nullopt;
  return find_verbose_eltwise(algorithm, *alpha_number, *beta_number);
}

std::optional<VerboseProblem> parse_unary(const VerbosePrimitive& primitive) {
  const auto direction = parse_direction(primitive.propagation);
  const auto function = parse_function(primitive.auxiliary);
  auto shape = parse_dims(primitive.problem);
  if (!direction || !function || !shape) return std::nullopt;
  // A derivative computed from the destination has another cost than one computed from the source.
  const bool uses_destination =
      primitive.auxiliary.find("_use_dst_for_bwd") != std::string_view::npos;
  if (uses_destination && *direction != Direction::forward) return std::nullopt;
  ParameterSet set(pointwise_operator.parameters);
  set.set("function", std::string(function->function));
  set.set("shape", std::move(*shape));
  const int coefficients = find_unary_function(function->function)->coefficients;
  if (coefficients > 0) set.set("alpha", function->alpha);
  if (coefficients > 1) set.set("beta", function->beta);
  return VerboseProblem{.request = {.direction = *direction, .parameters = std::move(set)}};
}

std::optional<VerboseProblem> parse_binary(const VerbosePrimitive& primitive) {
  const auto function = find_verbose_binary(auxiliary_value(primitive.auxiliary, "alg"));
  // Early versions 2.x append the destination's sizes after a space.
  auto shapes = parse_dims_list(primitive.problem.substr(0, primitive.problem.find(' ')));
  if (!function || !shapes || shapes->size() < 2) return std::nullopt;
  ParameterSet set(pointwise_operator.parameters);
  set.set("function", std::string(*function));
  set.set("a", std::move((*shapes)[0]));
  set.set("b", std::move((*shapes)[1]));
  return VerboseProblem{.request = {.parameters = std::move(set)}};
}

std::optional<VerboseProblem> parse_request(const VerbosePrimitive& primitive) {
  return primitive.primitive == "binary" ? parse_binary(primitive) : parse_unary(primitive);
}

}  // namespace

extern const VerboseMapping pointwise_verbose;
const VerboseMapping pointwise_verbose = {
    .op = "pointwise", .primitives = kPrimitives, .request = parse_request};

}  // namespace bench::ops
