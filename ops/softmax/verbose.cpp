// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "base/checked.hpp"
#include "ops/operator.hpp"
#include "ops/softmax/softmax.hpp"
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

// FLOPs per element of diff_source = y*(diff_y - sum(y*diff_y)): a product and an addition for the
// sum, a difference, a product.
constexpr std::int64_t kGradientFlops = 4;
// FLOPs per element of the logarithmic softmax's gradient, diff_source = diff_y -
// exp(y)*sum(diff_y): an addition for the sum, a product, a difference. The exponential does not
// count as a FLOP.
constexpr std::int64_t kLogarithmGradientFlops = 3;

struct VerboseRow {
  std::string_view algorithm;
  std::int64_t gradient_flops;
  // shapes_only for softmax_log, which the operator cannot express. Its forward FLOPs are the same:
  // a comparison, a difference, an addition, and a difference instead of the division.
  VerboseFidelity fidelity;
};
// oneDNN 1.x does not print an algorithm.
constexpr std::array<VerboseRow, 5> kAlgorithms = {
    {{"", kGradientFlops, VerboseFidelity::exact},
     {"softmax", kGradientFlops, VerboseFidelity::exact},
     {"softmax_accurate", kGradientFlops, VerboseFidelity::exact},
     {"softmax_accurate_inf_as_zero", kGradientFlops, VerboseFidelity::exact},
     {"softmax_log", kLogarithmGradientFlops, VerboseFidelity::shapes_only}}};

// Adapts a forward problem (source -> destination) to the gradient (destination and
// diff_destination -> diff_source). All tensors have the same shape. Returns false if the FLOPs
// exceed 64 bits.
bool adapt_to_gradient(Problem& problem, std::int64_t flops_per_element) {
  const auto flops = (Checked(flops_per_element) * problem.tensors.front().touched).value();
  if (!flops) return false;
  Tensor destination = problem.tensors.back();
  destination.role = TensorRole::input;
  Tensor diff_destination = destination;
  diff_destination.name = "diff_destination";
  Tensor diff_source = problem.tensors.front();
  diff_source.name = "diff_source";
  diff_source.role = TensorRole::output;
  problem.tensors = {std::move(destination), std::move(diff_destination), std::move(diff_source)};
  problem.work.flops = *flops;
  return true;
}

std::optional<VerboseProblem> parse_request(const VerbosePrimitive& primitive) {
  const std::string_view algorithm = primitive.primitive.starts_with(kLogarithm)
                                         ? std::string_view("softmax_log")
                                         : auxiliary_value(primitive.auxiliary, "alg");
  const std::string_view axis = auxiliary_value(primitive.auxiliary, "axis");
  auto shape = parse_dims(primitive.problem);
  const auto* row = std::ranges::find(kAlgorithms, algorithm, &VerboseRow::algorithm);
  const auto direction = parse_direction(primitive.propagation);
  if (!shape || row == kAlgorithms.end() || !direction) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(axis.data(), axis.data() + axis.size(), number);
  if (error != std::errc() || end != axis.data() + axis.size() || number < 0) return std::nullopt;
  ParameterSet set(softmax_operator.parameters);
  set.set("shape", std::move(*shape));
  set.set("axis", number);
  VerboseProblem problem{.request = {.parameters = std::move(set)}, .fidelity = row->fidelity};
  if (*direction != Direction::forward) {
    problem.adapt = [flops = row->gradient_flops](Problem& forward) {
      return adapt_to_gradient(forward, flops);
    };
  }
  return problem;
}

}  // namespace

extern const VerboseMapping softmax_verbose;
const VerboseMapping softmax_verbose = {
    .op = "softmax", .primitives = kPrimitives, .request = parse_request};

}  // namespace bench::ops
