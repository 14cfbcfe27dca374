// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "ops/operator.hpp"
#include "ops/verbose_text.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace bench::ops {

extern const Operator resample_operator;

namespace {

constexpr std::array<std::string_view, 1> kPrimitives = {"resampling"};

// Reads "mb2ic16_ih8oh16_iw8ow16".
std::optional<VerboseProblem> parse_request(const VerbosePrimitive& primitive) {
  const auto words = ProblemWords::parse(primitive.problem);
  const auto direction = parse_direction(primitive.propagation);
  constexpr std::string_view kAlgorithm = "resampling_";
  const std::string_view algorithm = auxiliary_value(primitive.auxiliary, "alg");
  if (!words || !direction || !algorithm.starts_with(kAlgorithm)) return std::nullopt;
  const auto n = words->find("mb"), c = words->find("ic");
  if (!n || !c) return std::nullopt;
  Dims shape = {*n, *c}, size;
  for (const char axis : {'d', 'h', 'w'}) {
    const auto input = words->find(std::string("i") + axis);
    const auto output = words->find(std::string("o") + axis);
    if (input.has_value() != output.has_value()) return std::nullopt;
    if (!input) continue;
    shape.push_back(*input);
    size.push_back(*output);
  }
  ParameterSet set(resample_operator.parameters);
  set.set("function", std::string(algorithm.substr(kAlgorithm.size())));
  set.set("shape", std::move(shape));
  set.set("size", std::move(size));
  return VerboseProblem{.request = {.direction = *direction, .parameters = std::move(set)}};
}

}  // namespace

extern const VerboseMapping resample_verbose;
const VerboseMapping resample_verbose = {
    .op = "resample", .primitives = kPrimitives, .request = parse_request};

}  // namespace bench::ops
