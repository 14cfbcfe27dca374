// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "ops/operator.hpp"
#include "ops/verbose_text.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace bench::ops {

extern const Operator concat_operator;

namespace {

constexpr std::array<std::string_view, 1> kPrimitives = {"concat"};

// Reads "2x3x4x5:2x7x4x5", with the axis in the auxiliary field. Lines until 1.0 state the result
// only, and have no problem.
std::optional<VerboseProblem> parse_request(const VerbosePrimitive& primitive) {
  auto shapes = parse_dims_list(primitive.problem.substr(0, primitive.problem.find(' ')));
  const auto axis = parse_real(auxiliary_value(primitive.auxiliary, "axis"));
  if (!shapes || !axis || *axis < 0 || *axis >= static_cast<double>(shapes->front().size())) {
    return std::nullopt;
  }
  const auto along = static_cast<std::size_t>(*axis);
  Dims whole = shapes->front();
  whole[along] = 0;
  Dims sizes;
  for (const Dims& shape : *shapes) {
    if (shape.size() != whole.size()) return std::nullopt;
    for (std::size_t d = 0; d < whole.size(); ++d) {
      if (d != along && shape[d] != whole[d]) return std::nullopt;
    }
    sizes.push_back(shape[along]);
    if (__builtin_add_overflow(whole[along], shape[along], &whole[along])) return std::nullopt;
  }
  ParameterSet set(concat_operator.parameters);
  set.set("shape", std::move(whole));
  set.set("axis", static_cast<std::int64_t>(along));
  set.set("sizes", std::move(sizes));
  return VerboseProblem{.request = {.parameters = std::move(set)}};
}

}  // namespace

extern const VerboseMapping concat_verbose;
const VerboseMapping concat_verbose = {
    .op = "concat", .primitives = kPrimitives, .request = parse_request};

}  // namespace bench::ops
