// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "base/checked.hpp"
#include "ops/batch_norm/batch_norm.hpp"
#include "ops/operator.hpp"
#include "ops/verbose_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace bench::ops {

extern const Operator batch_norm_operator;

namespace {

constexpr std::array<std::string_view, 1> kPrimitives = {"batch_normalization"};
constexpr std::array<std::string_view, 5> kWords = {"mb", "ic", "id", "ih", "iw"};

// no: a forward pass computes statistics of the batch and does not write them.
enum class WritesStatistics { yes, no };
struct Propagation {
  std::string_view name;
  Direction direction;
  WritesStatistics statistics = WritesStatistics::yes;
};
constexpr std::array<Propagation, 5> kPropagations = {
    {{"forward_inference", Direction::forward, WritesStatistics::no},
     {"forward_training", Direction::forward},
     {"forward", Direction::forward},  // the name until 2.x
     {"backward", Direction::backward_weights},
     {"backward_data", Direction::backward_data}}};

bool is_written_statistic(const Tensor& tensor) {
  return tensor.role == TensorRole::output && (tensor.name == "mean" || tensor.name == "variance");
}

// What the primitive has and no case of the operator: a fused relu (one comparison per element,
// also in its gradient), or statistics of the batch that are not written. Returns false if the
// FLOPs exceed 64 bits.
bool adapt_to_flags(Problem& problem, const NormalisationFlags& flags,
                    WritesStatistics statistics) {
  if (statistics == WritesStatistics::no) std::erase_if(problem.tensors, is_written_statistic);
  if (!flags.relu) return true;
  const auto flops = (Checked(problem.work.flops) + problem.tensors.front().touched).value();
  if (flops) problem.work.flops = *flops;
  return flops.has_value();
}

std::optional<ParameterSet> read_sizes(std::string_view text) {
  const auto words = ProblemWords::parse(text);
  if (!words || !words->has_only(kWords)) return std::nullopt;
  const auto n = words->find("mb");
  const auto c = words->find("ic");
  if (!n || !c) return std::nullopt;
  ParameterSet set(batch_norm_operator.parameters);
  set.set("n", *n);
  set.set("c", *c);
  for (const auto& [name, word] : {std::pair("d", "id"), {"h", "ih"}, {"w", "iw"}}) {
    if (const auto size = words->find(word)) set.set(name, *size);
  }
  // A primitive without spatial dimensions becomes one with a single element.
  if (!words->find("iw")) set.set("w", std::int64_t{1});
  return set;
}

std::optional<VerboseProblem> parse_request(const VerbosePrimitive& primitive) {
  const auto flags = parse_normalisation_flags(primitive.auxiliary);
  const auto* propagation =
      std::ranges::find(kPropagations, primitive.propagation, &Propagation::name);
  auto set = read_sizes(primitive.problem);
  if (!flags || flags->root_mean_square || propagation == kPropagations.end() || !set) {
    return std::nullopt;
  }
  set->set("mode", std::string(flags->given_statistics ? "inference" : "training"));
  set->set("scale", flags->scale);
  set->set("shift", flags->shift);
  VerboseProblem problem{
      .request = {.direction = propagation->direction, .parameters = *std::move(set)}};
  const auto statistics = flags->given_statistics ? WritesStatistics::yes : propagation->statistics;
  if (!flags->relu && statistics == WritesStatistics::yes) return problem;
  problem.fidelity = VerboseFidelity::shapes_only;
  problem.adapt = [flags = *flags, statistics](Problem& adapted) {
    return adapt_to_flags(adapted, flags, statistics);
  };
  return problem;
}

}  // namespace

extern const VerboseMapping batch_norm_verbose;
const VerboseMapping batch_norm_verbose = {
    .op = "batch_norm", .primitives = kPrimitives, .request = parse_request};

}  // namespace bench::ops
