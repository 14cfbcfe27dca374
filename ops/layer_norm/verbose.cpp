// SPDX-License-Identifier: Apache-2.0
// oneDNN's layer_normalization is the operator layer_norm, and with the flag M (root mean square,
// from 3.9 on) the operator rms_norm.
#include "ops/verbose.hpp"

#include "ops/description.hpp"
#include "ops/operator.hpp"
#include "ops/verbose_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace bench::ops {

extern const Operator layer_norm_operator;
extern const Operator rms_norm_operator;

namespace {

constexpr std::array<std::string_view, 1> kPrimitives = {"layer_normalization"};

struct Propagation {
  std::string_view name;
  Direction direction;
  std::string_view mode;
};
constexpr Propagation kPropagations[] = {
    {"forward_inference", Direction::forward, "inference"},
    {"forward_training", Direction::forward, "training"},
    {"forward", Direction::forward, "training"},  // the name until 2.x
    {"backward_data", Direction::backward_data, "inference"},
    {"backward", Direction::backward_weights, "inference"},
};

// Adds the given mean and variance, one value per group, which the operator computes: sum;
// difference, square, sum.
bool add_given_statistics(Problem& problem) {
  const std::int64_t groups = quantity(problem, "groups");
  for (const char* name : {"variance", "mean"}) {
    problem.tensors.insert(problem.tensors.end() - 1,
                           {name, TensorRole::weights, DataType::f32, {groups}, groups});
  }
  problem.work.flops -= 4 * problem.tensors.front().touched;
  return true;
}

// Adds the shift, which the operator rms_norm does not have.
bool add_shift(Problem& problem) {
  const std::int64_t size = quantity(problem, "size");
  problem.tensors.insert(problem.tensors.begin() + 1,
                         {"shift", TensorRole::weights, DataType::f32, {size}, size});
  problem.work.flops += problem.tensors.front().touched;
  return true;
}

// The library normalises the last dimension. Returns nullopt for gradients with given statistics,
// which are constants there, and for gradients of a shift of a root mean square norm.
std::optional<VerboseProblem> parse_request(const VerbosePrimitive& primitive) {
  const auto flags = parse_normalisation_flags(primitive.auxiliary);
  auto shape = parse_dims(primitive.problem);
  const auto* propagation =
      std::ranges::find(kPropagations, primitive.propagation, &Propagation::name);
  if (!flags || flags->relu || !shape || propagation == std::end(kPropagations)) {
    return std::nullopt;
  }
  const bool is_forward = propagation->direction == Direction::forward;
  const bool is_rms = flags->root_mean_square;
  if (flags->given_statistics && (is_rms || !is_forward)) return std::nullopt;
  if (is_rms && flags->shift && propagation->direction == Direction::backward_weights) {
    return std::nullopt;
  }
  const Operator& op = is_rms ? rms_norm_operator : layer_norm_operator;
  ParameterSet set(op.parameters);
  set.set("shape", *std::move(shape));
  set.set("scale", flags->scale);
  if (!is_rms) set.set("shift", flags->shift);
  if (!flags->given_statistics) set.set("mode", std::string(propagation->mode));
  VerboseProblem problem{
      .request = {.op = &op, .direction = propagation->direction, .parameters = std::move(set)}};
  if (flags->given_statistics) problem.adapt = add_given_statistics;
  if (is_rms && flags->shift && is_forward) problem.adapt = add_shift;
  if (problem.adapt) problem.fidelity = VerboseFidelity::shapes_only;
  return problem;
}

}  // namespace

extern const VerboseMapping layer_norm_verbose;
const VerboseMapping layer_norm_verbose = {
    .op = "layer_norm", .primitives = kPrimitives, .request = parse_request};

}  // namespace bench::ops
