// SPDX-License-Identifier: Apache-2.0
// The operator rope, a rotary position embedding (Su et al., arXiv 2104.09864), as Llama and
// GPT-NeoX have it: element j of the first half of a head and element j of its second half are the
// coordinates of a point, which is rotated by the angle of its position.
//   destination[s, j]          = source[s, j]*cosine[s, j] - source[s, j + half]*sine[s, j]
//   destination[s, j + half]   = source[s, j + half]*cosine[s, j] + source[s, j]*sine[s, j]
// The gradient of the source is the gradient of the destination, rotated back.
#include "ops/description.hpp"
#include "ops/model.hpp"

#include <cstddef>

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    {"batch", "b", ParameterKind::count, "1", "sequences"},
    {"heads", "h", ParameterKind::count, kRequired, "heads of each sequence"},
    {"seq", "s", ParameterKind::count, kRequired, "positions of each sequence"},
    {"head_dim", "d", ParameterKind::count, kRequired, "elements of a head, an even number"},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data};
constexpr Requirement kRequirements[] = {
    {"head_dim/2*2 == head_dim", "head_dim",
     "`head_dim` is {head_dim}, which does not consist of two halves", "use an even number"},
};
constexpr Quantity kQuantities[] = {
    {"half", "head_dim/2", Quantity::Shown::no},
    {"elements", "batch*heads*seq*head_dim"},
    // Two products and their sum.
    {"flops", "3*elements"},
};
constexpr auto kOfCase = ElementType::of_case;
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "[batch, heads, seq, head_dim]", kOfCase, "forward"},
    {"diff_destination", TensorRole::input, "[batch, heads, seq, head_dim]", kOfCase,
     "backward_data"},
    {"cosine", TensorRole::weights, "[seq, half]"},
    {"sine", TensorRole::weights, "[seq, half]"},
    {"destination", TensorRole::output, "[batch, heads, seq, head_dim]", kOfCase, "forward"},
    {"diff_source", TensorRole::output, "[batch, heads, seq, head_dim]", kOfCase, "backward_data"},
};
constexpr std::string_view kExamples[] = {"h8s16d64", "b2h3s5d6", "h4s1d2"};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs,
                              std::size_t /*output: there is one*/,
                              std::span<const std::int64_t> positions) {
  const std::int64_t half = quantity(problem, "half");
  const std::int64_t size = 2 * half;
  const std::int64_t seq = problem.parameters.count("seq");
  const double sign = problem.direction == Direction::forward ? 1 : -1;
  return evaluate(problem.tensors.back().elements(), positions, [&](std::int64_t position) {
    const std::int64_t element = position % size;
    const auto angle = static_cast<std::size_t>(position / size % seq * half + element % half);
    const bool is_first = element < half;
    const auto partner = static_cast<std::size_t>(position + (is_first ? half : -half));
    const double turned = sign * (is_first ? -1 : 1) * inputs[2][angle] * inputs[0][partner];
    return inputs[1][angle] * inputs[0][static_cast<std::size_t>(position)] + turned;
  });
}

// Two products and their sum.
Tolerance tolerance(const Problem& problem) { return rounding_tolerance(problem.dtype, 4, 0); }

}  // namespace

extern const Operator rope_operator;
const Operator rope_operator = describe(
    {.name = "rope",
     .help = "rotary position embedding: rotates pairs of elements by their position",
     .parameters = kParameters,
     .requirements = kRequirements,
     .quantities = kQuantities,
     .tensors = kTensors,
     .where = "seq",
     .directions = kDirections,
     .data_types = DataTypes::floating},
    {.reference = reference,
     .tolerance = tolerance,
     .product = {.rule = "op-rope",
                 .sentence = "each pair of elements has a rotation of its own: there is no "
                             "product of matrices"},
     .examples = kExamples,
     .cpu = kOnNative,
     .cuda = kOnCudnn});

}  // namespace bench::ops
