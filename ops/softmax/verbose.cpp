// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "ops/operator.hpp"
#include "ops/softmax/softmax.hpp"
#include "ops/verbose_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace bench::ops {

extern const Operator softmax_operator;

namespace {

constexpr std::array<std::string_view, 2> kPrimitives = {"softmax", "softmax_v2"};
// 1.x names none: its logarithmic softmax was a primitive of its own.
constexpr std::array<std::string_view, 4> kAlgorithms = {"", "softmax", "softmax_accurate",
                                                         "softmax_accurate_inf_as_zero"};

std::optional<VerboseProblem> request(const VerbosePrimitive& primitive) {
  const std::string_view algorithm = auxiliary_value(primitive.auxiliary, "alg");
  const std::string_view axis = auxiliary_value(primitive.auxiliary, "axis");
  auto shape = parse_dims(primitive.problem);
  const bool known = std::ranges::find(kAlgorithms, algorithm) != kAlgorithms.end();
  if (!shape || !known || direction_of(primitive.propagation) != Direction::forward) {
    return std::nullopt;
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(axis.data(), axis.data() + axis.size(), number);
  if (error != std::errc() || end != axis.data() + axis.size() || number < 0) return std::nullopt;
  ParameterSet set(softmax_operator.parameters);
  set.set("shape", std::move(*shape));
  set.set("axis", number);
  return VerboseProblem{.request = {.parameters = std::move(set)}};
}

}  // namespace

extern const VerboseMapping softmax_verbose;
const VerboseMapping softmax_verbose = {
    .op = "softmax", .primitives = kPrimitives, .request = request};

}  // namespace bench::ops
