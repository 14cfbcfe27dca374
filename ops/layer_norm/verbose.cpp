// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "ops/description.hpp"
#include "ops/verbose_text.hpp"

#include <array>
#include <optional>
#include <utility>

namespace bench::ops {

extern const Operator layer_norm_operator;

namespace {

constexpr std::array<std::string_view, 1> kPrimitives = {"layer_normalization"};

// Adds mean and variance, one value per group: inputs if they are given, else outputs that the
// backward pass needs.
bool add_statistics(Problem& problem, const NormalisationFlags& flags) {
  const std::int64_t groups = quantity(problem, "groups");
  const TensorRole role = flags.given_statistics ? TensorRole::weights : TensorRole::output;
  auto position = problem.tensors.end() - 1;
  if (role == TensorRole::output) position = problem.tensors.end();
  for (const char* name : {"variance", "mean"}) {
    const Tensor statistics{name, role, DataType::f32, {groups}, groups};
    position = problem.tensors.insert(position, statistics);
  }
  if (!flags.given_statistics) return true;
  // The operator computes the statistics: sum; difference, square, sum.
  constexpr std::int64_t kStatistics = 4;
  problem.work.flops -= kStatistics * problem.tensors.front().touched;
  return true;
}

// The library normalises the last dimension. Returns nullopt for gradients, which the operator does
// not have.
std::optional<VerboseProblem> parse_request(const VerbosePrimitive& primitive) {
  const auto flags = parse_normalisation_flags(primitive.auxiliary);
  auto shape = parse_dims(primitive.problem);
  const bool keeps_statistics =
      primitive.propagation == "forward_training" || primitive.propagation == "forward";
  if (!flags || flags->relu || !shape ||
      (!keeps_statistics && primitive.propagation != "forward_inference")) {
    return std::nullopt;
  }
  ParameterSet set(layer_norm_operator.parameters);
  set.set("shape", *std::move(shape));
  set.set("scale", flags->scale);
  set.set("shift", flags->shift);
  VerboseProblem problem{.request = {.parameters = std::move(set)}};
  if (!keeps_statistics && !flags->given_statistics) return problem;
  problem.fidelity = VerboseFidelity::shapes_only;
  problem.adapt = [flags = *flags](Problem& inference) { return add_statistics(inference, flags); };
  return problem;
}

}  // namespace

extern const VerboseMapping layer_norm_verbose;
const VerboseMapping layer_norm_verbose = {
    .op = "layer_norm", .primitives = kPrimitives, .request = parse_request};

}  // namespace bench::ops
