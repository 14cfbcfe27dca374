// SPDX-License-Identifier: Apache-2.0
// The operator dropout: each element becomes 0 with probability p; the others are divided by 1 - p.
// `mask` has 1 for each element that stays. The gradient uses the mask.
//   destination = source * mask / (1 - p)
//   diff_source = diff_destination * mask / (1 - p)
#include "base/random.hpp"
#include "ops/description.hpp"
#include "ops/dropout/dropout.hpp"
#include "ops/model.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    {"shape", "", ParameterKind::shape, kRequired, "sizes of the tensor"},
    {.name = "p",
     .token = "p",
     .kind = ParameterKind::real,
     .fallback = "0.5",
     .help = "probability that an element becomes 0"},
    {"seed", "s", ParameterKind::count, "0", "seed of the random numbers", 0},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data};
constexpr Quantity kQuantities[] = {
    {"elements", "prod(shape)", Quantity::Shown::no},
    // The product; random numbers are integer arithmetic.
    {"flops", "elements"},
};
constexpr auto kOfCase = ElementType::of_case;
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "shape", kOfCase, "forward"},
    {"mask", TensorRole::input, "shape", ElementType::u8, "backward_data"},
    {"diff_destination", TensorRole::input, "shape", kOfCase, "backward_data"},
    {"destination", TensorRole::output, "shape", kOfCase, "forward"},
    {"mask", TensorRole::output, "shape", ElementType::u8, "forward"},
    {"diff_source", TensorRole::output, "shape", kOfCase, "backward_data"},
};
constexpr std::string_view kExamples[] = {"4x33", "2x16x9-p0.1", "64-p0.25s7"};

Status check(const ParameterSet& given) {
  if (!given.has("p") || (given.real("p") >= 0 && given.real("p") < 1)) return Done{};
  return Error{.what = "`p` must be at least 0 and below 1", .where = "p", .next = "0.1 is usual"};
}

// MurmurHash3's finaliser of the position and the seed, as a fraction of 2^32.
bool is_kept(std::uint64_t position, const DropoutLimits& limits) {
  std::uint32_t bits = static_cast<std::uint32_t>(position) * 0x9e3779b9U + limits.seed;
  bits = (bits ^ bits >> 16) * 0x85ebca6bU;
  bits = (bits ^ bits >> 13) * 0xc2b2ae35U;
  return (bits ^ bits >> 16) >= limits.threshold;
}

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs, std::size_t output,
                              std::span<const std::int64_t> positions) {
  const DropoutLimits limits = dropout_limits(problem.parameters);
  const double scale = 1 / (1 - problem.parameters.real("p"));
  return evaluate(problem.output().elements(), positions, [&](std::int64_t position) {
    const auto i = static_cast<std::size_t>(position);
    if (problem.direction != Direction::forward) return inputs[0][i] * inputs[1][i] * scale;
    const double kept = is_kept(i, limits) ? 1 : 0;
    return output == 0 ? inputs[0][i] * kept * scale : kept;
  });
}

Tolerance tolerance(const Problem& problem) { return rounding_tolerance(problem.dtype, 8, 0); }

std::optional<std::vector<double>> values(const Problem& problem, std::size_t tensor,
                                          std::uint64_t stream) {
  if (problem.tensors[tensor].name != "mask") return std::nullopt;
  std::vector<double> mask(static_cast<std::size_t>(problem.tensors[tensor].elements()));
  for (std::size_t i = 0; i < mask.size(); ++i) {
    mask[i] = static_cast<double>(mix(stream + i) >> 63);
  }
  return mask;
}

}  // namespace

DropoutLimits dropout_limits(const ParameterSet& complete) {
  return {
      .threshold = static_cast<std::uint32_t>(complete.real("p") * 0x1p32),
      .seed = static_cast<std::uint32_t>(mix(static_cast<std::uint64_t>(complete.count("seed"))))};
}

extern const Operator dropout_operator;
const Operator dropout_operator = describe(
    {.name = "dropout",
     .help = "random elements become 0, with the mask for the gradient",
     .parameters = kParameters,
     .quantities = kQuantities,
     .tensors = kTensors,
     .where = "shape",
     .directions = kDirections,
     .data_types = DataTypes::floating,
     .check = check},
    {.reference = reference,
     .tolerance = tolerance,
     .filling = {.values = values},
     .product = {.rule = "op-dropout", .sentence = "one element at a time: there is no product"},
     .examples = kExamples,
     .cpu = kOnNative,
     .cuda = kOnCudnn});

}  // namespace bench::ops
