// SPDX-License-Identifier: Apache-2.0
#include "ops/layer_norm/layer_norm.hpp"
#include "ops/model.hpp"
#include "ops/tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace bench::ops {
namespace {

constexpr double kDefaultEpsilon = 1e-5;  // as in PyTorch and ONNX

constexpr std::array<Parameter, 5> kParameters = {{
    {.name = "shape",
     .token = "",
     .kind = ParameterKind::shape,
     .fallback = "required",
     .help = "sizes of the tensor"},
    {.name = "axis",
     .token = "a",
     .kind = ParameterKind::count,
     .fallback = "last",
     .help = "first normalised dimension, counted from 0; those behind it are normalised with it",
     .minimum = 0},
    {.name = "epsilon",
     .token = "eps",
     .kind = ParameterKind::real,
     .fallback = "1e-05",
     .help = "added to the variance, above 0"},
    {.name = "scale",
     .token = "noscale",
     .kind = ParameterKind::flag,
     .fallback = "true",
     .help = "multiplies by one value per normalised element"},
    {.name = "shift",
     .token = "noshift",
     .kind = ParameterKind::flag,
     .fallback = "true",
     .help = "adds one value per normalised element"},
}};

constexpr std::string_view kExamples[] = {"16x768", "2x16x9x9-a1", "4x40+noscale",
                                          "3x8x20-a1eps0.001+noscale+noshift"};
constexpr std::array<Direction, 1> kDirections = {Direction::forward};

Result<ParameterSet> complete(const ParameterSet& given) {
  BENCH_RETURN_IF_ERROR(require(given, "shape"));
  ParameterSet set = given;
  const auto rank = static_cast<std::int64_t>(set.numbers("shape").size());
  if (!set.has("axis")) set.set("axis", rank - 1);
  if (!set.has("epsilon")) set.set("epsilon", kDefaultEpsilon);
  for (const std::string_view name : {"scale", "shift"}) {
    if (!set.has(name)) set.set(name, true);
  }
  if (!(set.real("epsilon") > 0)) {
    return Error{
        .what = fmt::format("`epsilon` is {}, expected a number above 0", set.real("epsilon")),
        .where = "epsilon",
        .next = {}};
  }
  if (set.count("axis") < rank) return set;
  return Error{.what = fmt::format("`axis` is {}, the shape {} has the axes 0 to {}",
                                   set.count("axis"), join_dims(set.numbers("shape")), rank - 1),
               .where = "axis",
               .next = {}};
}

std::vector<DraftFormula> formulas(const LayerNormShape& shape, const ModelDraft& draft,
                                   std::int64_t flops_per_element) {
  const Checked elements = Checked(shape.groups) * shape.size;
  return {{"elements", "groups*size", fmt::format("{}*{}", shape.groups, shape.size), elements},
          {"flops", fmt::format("{}*elements", flops_per_element),
           fmt::format("{}*{}", flops_per_element, elements.value().value_or(0)), draft.flops}};
}

Result<Model> model(const Problem& problem) {
  if (info(problem.dtype).is_integer) return undefined_for_integers("layer_norm", problem.dtype);
  const Dims& dims = problem.parameters.numbers("shape");
  const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
  const DataType weights_dtype = problem.dtype == DataType::f64 ? DataType::f64 : DataType::f32;
  ModelDraft draft;
  const auto add = [&](std::string_view name, TensorRole role, DataType dtype,
                       std::span<const std::int64_t> sizes) -> Status {
    BENCH_ASSIGN_OR_RETURN(Tensor tensor, make_shaped_tensor(name, role, dtype, "shape", sizes));
    draft.tensors.push_back(std::move(tensor));
    return Done{};
  };
  BENCH_RETURN_IF_ERROR(add("source", TensorRole::input, problem.dtype, dims));
  for (const std::string_view name : {"scale", "shift"}) {
    if (!problem.parameters.flag(name)) continue;
    BENCH_RETURN_IF_ERROR(
        add(name, TensorRole::weights, weights_dtype, std::span(dims).subspan(axis)));
  }
  BENCH_RETURN_IF_ERROR(add("destination", TensorRole::output, problem.dtype, dims));
  const LayerNormShape shape = layer_norm_shape(problem.parameters);
  const std::int64_t flops_per_element =
      layer_norm_flops({.has_scale = shape.has_scale, .has_shift = shape.has_shift});
  draft.flops = Checked(flops_per_element) * draft.tensors.back().touched;
  draft.flops_valid = draft.flops;
  draft.formulas = formulas(shape, draft, flops_per_element);
  return finish_model(std::move(draft), "shape");
}

// Roundings that the tolerance allows: difference, root, quotient, product and sum, each on
// operands of order 1, and those of the two sums. The signs of n roundings in a sum are random, so
// together they count as the square root of n.
constexpr double kRoundings = 32;
// Groups of this size and above have a variance near 1/3, that of the inputs (ops/fill.hpp). The
// elements of a smaller group may be almost equal. Its quotient then enlarges the error of the
// difference, up to a limit that epsilon determines.
constexpr std::int64_t kLargeGroup = 64;

Tolerance tolerance(const Problem& problem) {
  const LayerNormShape shape = layer_norm_shape(problem.parameters);
  const double error_factor =
      shape.size >= kLargeGroup ? 2 : 1 / std::sqrt(std::min(1.0, shape.epsilon));
  const double roundings = kRoundings + 4 * std::sqrt(static_cast<double>(shape.size));
  return rounding_tolerance(problem.dtype, roundings * error_factor, 0);
}

}  // namespace

LayerNormShape layer_norm_shape(const ParameterSet& complete) {
  const Dims& dims = complete.numbers("shape");
  const auto axis = static_cast<std::size_t>(complete.count("axis"));
  // make_problem() has checked that all elements can be counted.
  const std::span<const std::int64_t> all(dims);
  return {.groups = element_count(all.first(axis)).value_or(0),
          .size = element_count(all.subspan(axis)).value_or(0),
          .has_scale = complete.flag("scale"),
          .has_shift = complete.flag("shift"),
          .epsilon = complete.real("epsilon")};
}

bool is_in_nhwc(const Problem& problem) {
  constexpr std::size_t kMinNhwcRank = 3;
  return problem.layout == Layout::nhwc && problem.tensors[0].dims.size() >= kMinNhwcRank;
}

std::int64_t layer_norm_flops(const LayerNormFlopOptions& options) {
  constexpr std::int64_t kStatistics = 4;     // sum; difference, square, sum
  constexpr std::int64_t kNormalisation = 2;  // difference from the mean, quotient
  return kNormalisation + (options.has_statistics ? 0 : kStatistics) + (options.has_scale ? 1 : 0) +
         (options.has_shift ? 1 : 0);
}

const Operator layer_norm_operator = {
    .name = "layer_norm",
    .help = "normalisation of trailing dimensions by their own mean and variance",
    .parameters = kParameters,
    .directions = kDirections,
    .takes_post_ops = false,
    .complete = complete,
    .model = model,
    .reference = layer_norm_reference,
    .tolerance = tolerance,
    .inference = kShapeInference,
    .product = {.rule = "op-layer-norm",
                .sentence = "sums, and one factor per element: there is no product of matrices"},
    .examples = kExamples,
    .cuda = kOnCudnn,
};

}  // namespace bench::ops
