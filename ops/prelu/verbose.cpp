// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "ops/operator.hpp"
#include "ops/verbose_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace bench::ops {

extern const Operator prelu_operator;

namespace {

constexpr std::array<std::string_view, 1> kPrimitives = {"prelu"};

// Returns the word for slopes with these sizes; empty for axes that cases do not have.
std::string_view find_slopes(const Dims& shape, const Dims& slopes) {
  if (slopes == shape) return "all";
  Dims channel(shape.size(), 1);
  if (slopes == channel) return "one";
  if (shape.size() < 2) return {};
  channel[1] = shape[1];
  return slopes == channel ? "channel" : std::string_view();
}

std::optional<VerboseProblem> parse_request(const VerbosePrimitive& primitive) {
  const auto shapes = parse_dims_list(primitive.problem);
  const bool is_backward = primitive.propagation == "backward";
  if (!shapes || shapes->size() != 2 || (*shapes)[0].size() != (*shapes)[1].size() ||
      (!is_backward && !primitive.propagation.starts_with("forward"))) {
    return std::nullopt;
  }
  const std::string_view slopes = find_slopes((*shapes)[0], (*shapes)[1]);
  if (slopes.empty()) return std::nullopt;
  ParameterSet set(prelu_operator.parameters);
  set.set("shape", (*shapes)[0]);
  set.set("slopes", std::string(slopes));
  return VerboseProblem{
      .request = {.direction = is_backward ? Direction::backward_weights : Direction::forward,
                  .parameters = std::move(set)}};
}

}  // namespace

extern const VerboseMapping prelu_verbose;
const VerboseMapping prelu_verbose = {
    .op = "prelu", .primitives = kPrimitives, .request = parse_request};

}  // namespace bench::ops
