// SPDX-License-Identifier: Apache-2.0
// The operator lrn, local response normalisation (Krizhevsky et al., 2012):
//   b = k + alpha/count * sum of the squares of the neighbours
//   destination = source*b^-beta
// The neighbours are `size` channels around the element's, or a window of `size` elements along
// each spatial axis; `count` is their number without borders. With p = diff_destination*source*
// b^(-beta - 1), the gradient is
//   diff_source = diff_destination*b^-beta - 2*alpha*beta/count * source * sum of the neighbours' p
#include "ops/description.hpp"
#include "ops/model.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench::ops {
namespace {

constexpr std::string_view kFunctions[] = {"across_channels", "within_channel"};
constexpr Parameter kParameters[] = {
    {"function", "", ParameterKind::word, "across_channels",
     "the neighbours: other channels, or a window of the image", 1, kFunctions},
    {"shape", "", ParameterKind::shape, kRequired, "sizes: n, c and 1 to 3 spatial ones"},
    {"size", "r", ParameterKind::count, "5", "odd number of neighbours along an axis"},
    {"alpha", "alpha", ParameterKind::real, "0.0001", "factor of the mean square"},
    {"beta", "beta", ParameterKind::real, "0.75", "exponent"},
    {"k", "k", ParameterKind::real, "1", "what is added, above 0", 1, {}, 0},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data};
constexpr Requirement kRequirements[] = {
    {"rank(shape) >= 3 and rank(shape) <= 5", "shape",
     "the shape {shape} has {rank(shape)} dimensions, expected n, c and 1 to 3 spatial ones"},
    {"(size - 1)/2*2 == size - 1", "size", "`size` is {size}, expected an odd number"},
};
constexpr Quantity kQuantities[] = {
    {"elements", "prod(shape)"},
    {"neighbours",
     "function == 'across_channels' or rank(shape) == 3 ? size : (rank(shape) == 4 ? size*size : "
     "size*size*size)"},
    // A square and an addition per neighbour; a product, an addition, and a product.
    {"flops", "elements*(2*neighbours + 3)", Quantity::Shown::yes, "forward"},
    // b as before; p: 3 products; its sum; a product, two factors of the sum, a difference.
    {"flops", "elements*(2*neighbours + 2 + 3 + neighbours + 4)", Quantity::Shown::yes,
     "backward_data"},
    {"sfu_ops", "elements"},  // the power
};
constexpr auto kOfCase = ElementType::of_case;
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "shape"},
    {"diff_destination", TensorRole::input, "shape", kOfCase, "backward_data"},
    {"destination", TensorRole::output, "shape", kOfCase, "forward"},
    {"diff_source", TensorRole::output, "shape", kOfCase, "backward_data"},
};
constexpr std::string_view kExamples[] = {
    "across_channels-2x16x9x9-r5", "across_channels-2x16x9x9-r5alpha1k2",
    "across_channels-1x20x7x5-r3alpha0.5beta0.5", "within_channel-2x16x9x9-r3alpha1"};

// Finds the neighbours of an element.
class Neighbourhood {
 public:
  explicit Neighbourhood(const Problem& problem)
      : shape_(problem.parameters.numbers("shape")),
        half_((problem.parameters.count("size") - 1) / 2),
        is_across_(problem.parameters.word("function") == "across_channels") {}

  // Calls visit(index) for each neighbour of `position`, itself included.
  template <class Visit>
  void visit(std::int64_t position, Visit visit) const {
    const std::size_t begin = is_across_ ? 1 : 2, end = is_across_ ? 2 : shape_.size();
    std::int64_t stride = 1;
    for (std::size_t axis = end; axis < shape_.size(); ++axis) stride *= shape_[axis];
    visit_axis(position, begin, end, stride, visit);
  }

 private:
  // `stride`: that of axis `end` - 1.
  template <class Visit>
  void visit_axis(std::int64_t position, std::size_t begin, std::size_t end, std::int64_t stride,
                  const Visit& visit) const {
    if (end == begin) return visit(static_cast<std::size_t>(position));
    const std::int64_t size = shape_[end - 1];
    const std::int64_t place = position / stride % size;
    const std::int64_t last = std::min(place + half_, size - 1);
    for (std::int64_t i = std::max<std::int64_t>(place - half_, 0); i <= last; ++i) {
      visit_axis(position + (i - place) * stride, begin, end - 1, stride * size, visit);
    }
  }

  const Dims& shape_;
  std::int64_t half_;
  bool is_across_;
};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs,
                              std::size_t /*output: there is one*/,
                              std::span<const std::int64_t> positions) {
  const Neighbourhood neighbourhood(problem);
  const double beta = problem.parameters.real("beta");
  const double factor =
      problem.parameters.real("alpha") / static_cast<double>(quantity(problem, "neighbours"));
  const std::vector<double>& source = inputs[0];
  const auto base = [&](std::int64_t position) {
    double sum = 0;
    neighbourhood.visit(position, [&](std::size_t i) { sum += source[i] * source[i]; });
    return problem.parameters.real("k") + factor * sum;
  };
  return evaluate(problem.output().elements(), positions, [&](std::int64_t position) {
    const auto i = static_cast<std::size_t>(position);
    const double power = std::pow(base(position), -beta);
    if (problem.direction == Direction::forward) return source[i] * power;
    double sum = 0;
    neighbourhood.visit(position, [&](std::size_t j) {
      sum += inputs[1][j] * source[j] * std::pow(base(static_cast<std::int64_t>(j)), -beta - 1);
    });
    return inputs[1][i] * power - 2 * factor * beta * source[i] * sum;
  });
}

// The sum of squares, the power, which libraries compute as two square roots or by exp and log, and
// a few products.
Tolerance tolerance(const Problem& problem) {
  const auto neighbours = static_cast<double>(quantity(problem, "neighbours"));
  return rounding_tolerance(problem.dtype, 64 + 4 * neighbours, 0);
}

}  // namespace

extern const Operator lrn_operator;
const Operator lrn_operator = describe(
    {.name = "lrn",
     .help = "local response normalisation: division by a power of the neighbours' squares",
     .parameters = kParameters,
     .requirements = kRequirements,
     .quantities = kQuantities,
     .tensors = kTensors,
     .where = "shape",
     .directions = kDirections,
     .data_types = DataTypes::floating},
    {.reference = reference,
     .tolerance = tolerance,
     .product = {.rule = "op-lrn", .sentence = "sums of squares: there is no product of matrices"},
     .examples = kExamples});

}  // namespace bench::ops
