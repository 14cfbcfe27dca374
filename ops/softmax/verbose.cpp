// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "ops/operator.hpp"
#include "ops/verbose_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

namespace bench::ops {

extern const Operator softmax_operator;

namespace {

// Until version 2.x, the logarithmic softmax was a primitive of its own.
constexpr std::string_view kLogarithm = "logsoftmax";
constexpr std::array<std::string_view, 4> kPrimitives = {"softmax", "softmax_v2", kLogarithm,
                                                         "logsoftmax_v2"};

// oneDNN 1.x does not print an algorithm.
constexpr std::array<std::string_view, 5> kAlgorithms = {
    "", "softmax", "softmax_accurate", "softmax_accurate_inf_as_zero", "softmax_log"};

std::optional<VerboseProblem> parse_request(const VerbosePrimitive& primitive) {
  const std::string_view algorithm = primitive.primitive.starts_with(kLogarithm)
                                         ? std::string_view("softmax_log")
                                         : auxiliary_value(primitive.auxiliary, "alg");
  const std::string_view axis = auxiliary_value(primitive.auxiliary, "axis");
  auto shape = parse_dims(primitive.problem);
  const bool is_known = std::ranges::find(kAlgorithms, algorithm) != kAlgorithms.end();
  const auto direction = parse_direction(primitive.propagation);
  if (!shape || !is_known || !direction) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(axis.data(), axis.data() + axis.size(), number);
  if (error != std::errc() || end != axis.data() + axis.size() || number < 0) return std::nullopt;
  ParameterSet set(softmax_operator.parameters);
  set.set("shape", std::move(*shape));
  set.set("axis", number);
  set.set("log", algorithm == "softmax_log");
  return VerboseProblem{.request = {.direction = *direction, .parameters = std::move(set)}};
}

}  // namespace

extern const VerboseMapping softmax_verbose;
const VerboseMapping softmax_verbose = {
    .op = "softmax", .primitives = kPrimitives, .request = parse_request};

}  // namespace bench::ops
