// SPDX-License-Identifier: Apache-2.0
// The operator resample: an image with other spatial sizes. The centre of each element of the
// result is at x = (i + 0.5)*input/output - 0.5 of the source, as in oneDNN and as in
// torch.nn.functional.interpolate with the modes `nearest-exact` and `linear`, `bilinear`,
// `trilinear` without `align_corners`.
#include "ops/description.hpp"
#include "ops/model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench::ops {
namespace {

constexpr std::string_view kFunctions[] = {"nearest", "linear"};
constexpr Parameter kParameters[] = {
    {"function", "", ParameterKind::word, kRequired,
     "nearest: the element at the centre; linear: weighted neighbours along each axis", 1,
     kFunctions},
    {"shape", "", ParameterKind::shape, kRequired, "sizes of the source: n, c and 1 to 3 others"},
    {"size", "o", ParameterKind::shape, kRequired, "spatial sizes of the result"},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data};
constexpr Requirement kRequirements[] = {
    {"rank(shape) >= 3 and rank(shape) <= 5", "shape",
     "the shape {shape} has {rank(shape)} dimensions, expected n, c and 1 to 3 spatial ones"},
    {"rank(size) == rank(shape) - 2", "size",
     "`size` has {rank(size)} sizes, the shape {shape} has {rank(shape) - 2} spatial ones"},
    {"not integer or forward", "dtype", "the gradient of resample is not defined for integers",
     "use a floating-point type"},
};
constexpr Quantity kQuantities[] = {
    {"outputs", "shape[0]*shape[1]*prod(size)"},
    // Neighbours of an element of the result, 2 along each axis.
    {"neighbours", "function == 'nearest' ? 1 : (rank(size) == 1 ? 2 : (rank(size) == 2 ? 4 : 8))"},
    {"reach", "function == 'nearest' ? 1 : 2", Quantity::Shown::no},
    // Elements of the source that are neighbours of one of the result.
    {"used",
     "shape[0]*shape[1]*min(shape[2], reach*size[0])*(rank(size) > 1 ? min(shape[3], "
     "reach*size[1]) : 1)*(rank(size) > 2 ? min(shape[4], reach*size[2]) : 1)",
     Quantity::Shown::no},
    {"flops", "0", Quantity::Shown::yes, "forward and function == 'nearest'"},
    // A product per neighbour, and their sum.
    {"flops", "outputs*(2*neighbours - 1)", Quantity::Shown::yes,
     "forward and function == 'linear'"},
    {"flops", "outputs", Quantity::Shown::yes, "backward_data and function == 'nearest'"},
    {"flops", "outputs*2*neighbours", Quantity::Shown::yes,
     "backward_data and function == 'linear'"},
};
constexpr auto kOfCase = ElementType::of_case;
constexpr std::string_view kResult = "[shape[:2], size]";
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "shape", kOfCase, "forward", "used"},
    {"diff_destination", TensorRole::input, kResult, kOfCase, "backward_data"},
    {"destination", TensorRole::output, kResult, kOfCase, "forward"},
    {"diff_source", TensorRole::output, "shape", kOfCase, "backward_data"},
};
constexpr std::string_view kExamples[] = {"nearest-2x16x8x8-o16x16", "linear-2x16x8x8-o16x16",
                                          "nearest-2x16x8x8-o4x4",   "linear-2x16x9x7-o5x12",
                                          "linear-2x3x11-o20",       "linear-1x4x3x4x5-o6x8x10"};

// The neighbours of a place of the result along an axis, with their factors.
struct Neighbours {
  std::int64_t index[2];
  double factor[2];
};

Neighbours find_neighbours(std::int64_t place, std::int64_t input, std::int64_t output,
                           bool is_linear) {
  if (!is_linear) {
    return {{std::min((2 * place + 1) * input / (2 * output), input - 1), 0}, {1, 0}};
  }
  const double x = (static_cast<double>(place) + 0.5) * static_cast<double>(input) /
                       static_cast<double>(output) -
                   0.5;
  const auto low = static_cast<std::int64_t>(std::floor(x));
  const double factor = x - std::floor(x);
  return {{std::max<std::int64_t>(low, 0), std::min(low + 1, input - 1)}, {1 - factor, factor}};
}

// The sizes of source and result with three spatial axes; missing outer ones have the size 1.
struct Volume {
  std::array<std::int64_t, 3> input = {1, 1, 1}, output = {1, 1, 1};
  bool is_linear;

  explicit Volume(const Problem& problem)
      : is_linear(problem.parameters.word("function") == "linear") {
    const Dims& shape = problem.parameters.numbers("shape");
    const Dims& size = problem.parameters.numbers("size");
    std::copy_backward(shape.begin() + 2, shape.end(), input.end());
    std::copy_backward(size.begin(), size.end(), output.end());
  }
  std::int64_t inputs() const { return input[0] * input[1] * input[2]; }
  std::int64_t outputs() const { return output[0] * output[1] * output[2]; }

  // Calls visit(element of the source's image, factor) for the neighbours of an element.
  template <class Visit>
  void for_each_neighbour(std::int64_t position, Visit visit) const {
    const std::int64_t places[3] = {position / (output[1] * output[2]),
                                    position / output[2] % output[1], position % output[2]};
    Neighbours axes[3];
    for (std::size_t a = 0; a < 3; ++a) {
      axes[a] = find_neighbours(places[a], input[a], output[a], is_linear && output[a] > 0);
    }
    for (std::size_t i = 0; i < 8; ++i) {
      const std::size_t at[3] = {i >> 2, i >> 1 & 1, i & 1};
      double factor = 1;
      std::int64_t element = 0;
      for (std::size_t a = 0; a < 3; ++a) {
        factor *= axes[a].factor[at[a]];
        element = element * input[a] + axes[a].index[at[a]];
      }
      if (factor != 0) visit(element, factor);
    }
  }
};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs,
                              std::size_t /*output: there is one*/,
                              std::span<const std::int64_t> positions) {
  const Volume volume(problem);
  const Tensor& result = problem.output();
  if (problem.direction == Direction::forward) {
    return evaluate(result.elements(), positions, [&](std::int64_t position) {
      const double* image = inputs[0].data() + position / volume.outputs() * volume.inputs();
      double sum = 0;
      volume.for_each_neighbour(
          position % volume.outputs(),
          [&](std::int64_t element, double factor) { sum += factor * image[element]; });
      return stored_value(result.dtype, sum);
    });
  }
  std::vector<double> sums(static_cast<std::size_t>(result.elements()));
  for (std::size_t i = 0; i < inputs[0].size(); ++i) {
    const auto position = static_cast<std::int64_t>(i);
    double* image = sums.data() + position / volume.outputs() * volume.inputs();
    volume.for_each_neighbour(
        position % volume.outputs(),
        [&](std::int64_t element, double factor) { image[element] += factor * inputs[0][i]; });
  }
  return evaluate(result.elements(), positions,
                  [&](std::int64_t position) { return sums[static_cast<std::size_t>(position)]; });
}

// A gradient adds up the elements that an element of the source is a neighbour of: their factors,
// which are at most 1, add up to the quotient of the sizes.
Tolerance tolerance(const Problem& problem) {
  const bool is_forward = problem.direction == Direction::forward;
  const bool is_nearest = problem.parameters.word("function") == "nearest";
  if (is_forward && is_nearest) return {};
  constexpr double kSteps = 16;  // of coordinates and factors, and of up to 8 products
  if (is_forward) return rounding_tolerance(problem.dtype, kSteps, 1);
  const double terms = std::max(1.0, static_cast<double>(quantity(problem, "outputs")) /
                                         static_cast<double>(problem.output().elements()));
  Tolerance result = rounding_tolerance(problem.dtype, kSteps + 8 * terms, 0);
  result.absolute *= std::max(1.0, std::sqrt(terms));
  return result;
}

}  // namespace

extern const Operator resample_operator;
const Operator resample_operator = describe(
    {.name = "resample",
     .help = "an image with other spatial sizes: nearest or linear",
     .parameters = kParameters,
     .requirements = kRequirements,
     .quantities = kQuantities,
     .tensors = kTensors,
     .where = "shape",
     .directions = kDirections},
    {.reference = reference,
     .tolerance = tolerance,
     .product = {.rule = "op-resample",
                 .sentence = "a few products per element: there is no product of matrices"},
     .examples = kExamples});

}  // namespace bench::ops
