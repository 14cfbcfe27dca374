// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "ops/operator.hpp"
#include "ops/verbose_text.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace bench::ops {

extern const Operator lrn_operator;

namespace {

constexpr std::array<std::string_view, 1> kPrimitives = {"lrn"};

// Reads "mb2ic16_ih8iw8ls5beta0.75". Lines do not state alpha and k, on which the time does not
// depend.
std::optional<VerboseProblem> parse_request(const VerbosePrimitive& primitive) {
  const std::size_t end = primitive.problem.find("beta");
  const auto words = ProblemWords::parse(primitive.problem.substr(0, end));
  const auto direction = parse_direction(primitive.propagation);
  if (!words || !direction || !words->find("mb") || !words->find("ic") || !words->find("ls")) {
    return std::nullopt;
  }
  Dims shape;
  for (const std::string_view name : {"mb", "ic", "id", "ih", "iw"}) {
    if (const auto size = words->find(name)) shape.push_back(*size);
  }
  ParameterSet set(lrn_operator.parameters);
  set.set("shape", std::move(shape));
  set.set("size", *words->find("ls"));
  if (auxiliary_value(primitive.auxiliary, "alg") == "lrn_within_channel") {
    set.set("function", std::string("within_channel"));
  }
  if (end != std::string_view::npos) {
    const auto beta = parse_real(primitive.problem.substr(end + std::string_view("beta").size()));
    if (!beta) return std::nullopt;
    set.set("beta", *beta);
  }
  return VerboseProblem{.request = {.direction = *direction, .parameters = std::move(set)}};
}

}  // namespace

extern const VerboseMapping lrn_verbose;
const VerboseMapping lrn_verbose = {
    .op = "lrn", .primitives = kPrimitives, .request = parse_request};

}  // namespace bench::ops
