// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "base/checked.hpp"
#include "ops/layer_norm/layer_norm.hpp"
#include "ops/tensor.hpp"
#include "ops/verbose_text.hpp"

#include <array>
#include <optional>
#include <utility>

namespace bench::ops {
namespace {

constexpr std::array<std::string_view, 1> kPrimitives = {"layer_normalization"};

// Adds mean and variance, one value per group: inputs if they are given, else outputs that the
// backward pass needs.
bool add_statistics(Problem& problem, const NormalisationFlags& flags) {
  const LayerNormShape shape = layer_norm_shape(problem.parameters);
  const TensorRole role = flags.given_statistics ? TensorRole::weights : TensorRole::output;
  auto position = problem.tensors.end() - 1;
  if (role == TensorRole::output) position = problem.tensors.end();
  for (const char* name : {"variance", "mean"}) {
    const Tensor statistics{name, role, DataType::f32, {shape.groups}, shape.groups};
    position = problem.tensors.insert(position, statistics);
  }
  const LayerNormFlopOptions steps{flags.scale, flags.shift, flags.given_statistics};
  const auto flops = (Checked(layer_norm_flops(steps)) * problem.tensors.front().touched).value();
  if (flops) problem.work.flops = *flops;
  return flops.has_value();
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
