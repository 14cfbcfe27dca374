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
#include <vector>

namespace bench::ops {

extern const Operator batch_norm_operator;

namespace {

constexpr std::array<std::string_view, 1> kPrimitives = {"batch_normalization"};
constexpr std::array<std::string_view, 5> kWords = {"mb", "ic", "id", "ih", "iw"};

// The flags of the primitive, and what its propagation kind means.
struct Flags : NormalisationFlags {
  bool is_backward = false;
  // Forward: writes its statistics for the backward pass. Backward: also computes the gradients of
  // scale and shift.
  bool gives_parameters = false;
};

// The tensors of the operator, which is inference: source, mean, variance, scale, shift ->
// destination.
class InferenceTensors {
 public:
  explicit InferenceTensors(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) {}

  std::int64_t elements() const { return tensors_.front().touched; }
  // Creates a tensor with the type and the sizes of the inference tensor `pattern`.
  Tensor make(std::string_view name, std::string_view pattern, TensorRole role) const {
    Tensor tensor = *std::ranges::find(tensors_, pattern, &Tensor::name);
    tensor.name = name;
    tensor.role = role;
    return tensor;
  }

 private:
  std::vector<Tensor> tensors_;
};

// Returns false if the FLOPs exceed 64 bits.
bool set_flops(Problem& problem, std::int64_t elements, std::int64_t per_element) {
  const auto flops = (Checked(per_element) * elements).value();
  if (flops) problem.work.flops = *flops;
  return flops.has_value();
}

// FLOPs per element of the statistics. Mean: sum. Variance: difference, square, sum.
constexpr std::int64_t kStatisticsFlops = 1 + 3;
// FLOPs per element of the normalisation: difference from the mean, quotient by the deviation.
constexpr std::int64_t kNormalisationFlops = 2;

// Adapts an inference problem to a forward primitive that computes its own statistics, or has no
// scale or no shift. Returns false if the FLOPs exceed 64 bits.
bool adapt_to_forward(Problem& problem, const Flags& flags) {
  const InferenceTensors inference(problem.tensors);
  const TensorRole statistics = flags.given_statistics ? TensorRole::weights : TensorRole::output;
  std::vector<Tensor> tensors = {inference.make("source", "source", TensorRole::input)};
  for (const auto& [name, is_present] : {std::pair("scale", flags.scale), {"shift", flags.shift}}) {
    if (is_present) tensors.push_back(inference.make(name, name, TensorRole::weights));
  }
  if (flags.given_statistics || flags.gives_parameters) {
    for (const char* name : {"mean", "variance"}) {
      tensors.push_back(inference.make(name, name, statistics));
    }
  }
  tensors.push_back(inference.make("destination", "destination", TensorRole::output));
  problem.tensors = std::move(tensors);
  const std::int64_t per_element =
      kNormalisationFlops + (flags.given_statistics ? 0 : kStatisticsFlops) +
      (flags.scale ? 1 : 0) + (flags.shift ? 1 : 0) + (flags.relu ? 1 : 0);
  return set_flops(problem, inference.elements(), per_element);
}

// Adapts an inference problem to a backward primitive. Returns false if the FLOPs exceed 64 bits.
//
// The gradient of the source is g*(dy - mean(dy) - x*mean(x*dy)), with x the normalised source and
// g = scale/deviation. With given statistics it is g*dy. The gradient of the scale is sum(x*dy),
// that of the shift sum(dy).
bool adapt_to_backward(Problem& problem, const Flags& flags) {
  const InferenceTensors inference(problem.tensors);
  const bool gives_scale = flags.gives_parameters && flags.scale;
  const bool gives_shift = flags.gives_parameters && flags.shift;
  const bool needs_source = !flags.given_statistics || gives_scale;
  std::vector<Tensor> tensors;
  const auto add = [&](std::string_view name, std::string_view pattern, TensorRole role) {
    tensors.push_back(inference.make(name, pattern, role));
  };
  if (needs_source) add("source", "source", TensorRole::input);
  if (needs_source) add("mean", "mean", TensorRole::weights);
  add("variance", "variance", TensorRole::weights);
  if (flags.scale) add("scale", "scale", TensorRole::weights);
  add("diff_destination", "destination", TensorRole::input);
  add("diff_source", "source", TensorRole::output);
  if (gives_scale) add("diff_scale", "scale", TensorRole::output);
  if (gives_shift) add("diff_shift", "shift", TensorRole::output);
  problem.tensors = std::move(tensors);
  const bool sums_gradients = !flags.given_statistics || gives_shift;
  const std::int64_t per_element =
      (needs_source ? kNormalisationFlops + 2 : 0) +  // plus product and sum of x*dy
      (sums_gradients ? 1 : 0) +
      (flags.given_statistics ? 1 : 4) +  // quotient by the deviation; product, two differences
      (flags.scale ? 1 : 0) + (flags.relu ? 1 : 0);
  return set_flops(problem, inference.elements(), per_element);
}

struct Propagation {
  std::string_view name;
  bool is_backward;
  bool gives_parameters;
};
constexpr std::array<Propagation, 5> kPropagations = {{{"forward_inference", false, false},
                                                       {"forward_training", false, true},
                                                       {"forward", false, true},
                                                       {"backward", true, true},
                                                       {"backward_data", true, false}}};

// Returns whether the primitive is a case of the operator: given statistics, scale and shift,
// nothing fused.
bool is_operator_case(const Flags& flags) {
  return !flags.is_backward && flags.given_statistics && flags.scale && flags.shift && !flags.relu;
}

std::optional<VerboseProblem> parse_request(const VerbosePrimitive& primitive) {
  const auto parsed = parse_normalisation_flags(primitive.auxiliary);
  const auto* propagation =
      std::ranges::find(kPropagations, primitive.propagation, &Propagation::name);
  const auto words = ProblemWords::parse(primitive.problem);
  if (!parsed || parsed->root_mean_square || propagation == kPropagations.end() || !words ||
      !words->has_only(kWords)) {
    return std::nullopt;
  }
  const Flags flags = {*parsed, propagation->is_backward, propagation->gives_parameters};
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
  VerboseProblem problem{.request = {.parameters = std::move(set)}};
  if (is_operator_case(flags)) return problem;
  problem.fidelity = VerboseFidelity::shapes_only;
  problem.adapt = [flags](Problem& adapted) {
    return flags.is_backward ? adapt_to_backward(adapted, flags) : adapt_to_forward(adapted, flags);
  };
  return problem;
}

}  // namespace

extern const VerboseMapping batch_norm_verbose;
const VerboseMapping batch_norm_verbose = {
    .op = "batch_norm", .primitives = kPrimitives, .request = parse_request};

}  // namespace bench::ops
