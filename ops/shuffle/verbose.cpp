// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "base/text.hpp"
#include "ops/operator.hpp"
#include "ops/verbose_text.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace bench::ops {

extern const Operator shuffle_operator;

namespace {

constexpr std::array<std::string_view, 1> kPrimitives = {"shuffle"};

// The library's group is the distance of slices that become neighbours.
std::optional<VerboseProblem> parse_request(const VerbosePrimitive& primitive) {
  auto shape = parse_dims(primitive.problem);
  const auto direction = parse_direction(primitive.propagation);
  const auto axis = parse_number<std::int64_t>(auxiliary_value(primitive.auxiliary, "axis"));
  const auto group = parse_number<std::int64_t>(auxiliary_value(primitive.auxiliary, "group"));
  if (!shape || !direction || !axis || !group || *axis < 0 || *group < 1 ||
      *axis >= static_cast<std::int64_t>(shape->size())) {
    return std::nullopt;
  }
  const std::int64_t size = (*shape)[static_cast<std::size_t>(*axis)];
  if (size % *group != 0) return std::nullopt;
  ParameterSet set(shuffle_operator.parameters);
  set.set("shape", *std::move(shape));
  set.set("axis", *axis);
  set.set("groups", size / *group);
  return VerboseProblem{.request = {.direction = *direction, .parameters = std::move(set)}};
}

}  // namespace

extern const VerboseMapping shuffle_verbose;
const VerboseMapping shuffle_verbose = {
    .op = "shuffle", .primitives = kPrimitives, .request = parse_request};

}  // namespace bench::ops
