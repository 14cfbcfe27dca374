// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "ops/description.hpp"
#include "ops/verbose_text.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace bench::ops {

extern const Operator layer_norm_operator;

namespace {

constexpr std::array<std::string_view, 1> kPrimitives = {"layer_normalization"};

enum class Statistics { kept, not_kept };

// Adds mean and variance, one value per group, if the primitive has them: inputs if they are given,
// else outputs that the backward pass needs. The norm of the root mean square has no mean.
bool add_statistics(Problem& problem, const NormalisationFlags& flags, Statistics statistics_use) {
  const std::int64_t groups = quantity(problem, "groups");
  const TensorRole role = flags.given_statistics ? TensorRole::weights : TensorRole::output;
  auto position = problem.tensors.end() - 1;
  if (role == TensorRole::output) position = problem.tensors.end();
  for (const char* name : {"variance", "mean"}) {
    const bool is_mean = std::string_view(name) == "mean";
    if (statistics_use == Statistics::not_kept || (is_mean && flags.root_mean_square)) continue;
    const Tensor statistics{name, role, DataType::f32, {groups}, groups};
    position = problem.tensors.insert(position, statistics);
  }
  // FLOPs per element that the operator has and the primitive does not: of the statistics, sum and
  // difference (no mean), square and sum (given); of the result, the difference.
  const std::int64_t without_mean = flags.root_mean_square ? 1 : 0;
  const std::int64_t statistics = flags.given_statistics ? 4 : 2 * without_mean;
  problem.work.flops -= (statistics + without_mean) * problem.tensors.front().touched;
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
  const bool has_statistics = keeps_statistics || flags->given_statistics;
  if (!has_statistics && !flags->root_mean_square) return problem;
  problem.fidelity = VerboseFidelity::shapes_only;
  problem.adapt = [flags = *flags, has_statistics](Problem& inference) {
    return add_statistics(inference, flags,
                          has_statistics ? Statistics::kept : Statistics::not_kept);
  };
  return problem;
}

}  // namespace

extern const VerboseMapping layer_norm_verbose;
const VerboseMapping layer_norm_verbose = {
    .op = "layer_norm", .primitives = kPrimitives, .request = parse_request};

}  // namespace bench::ops
