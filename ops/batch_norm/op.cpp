// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/batch_norm.hpp"
#include "ops/model.hpp"
#include "ops/spatial.hpp"
#include "ops/tensor.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>

namespace bench::ops {
namespace {

constexpr std::array<std::string_view, 1> kModes = {"inference"};
constexpr double kDefaultEpsilon = 1e-5;  // as in PyTorch and ONNX

constexpr std::array<Parameter, 7> kParameters = {{
    {.name = "mode",
     .token = "",
     .kind = ParameterKind::word,
     .fallback = "inference",
     .help = "inference: mean and variance are given",
     .words = kModes},
    {.name = "n", .token = "n", .kind = ParameterKind::count, .fallback = "1", .help = "images"},
    {.name = "c",
     .token = "c",
     .kind = ParameterKind::count,
     .fallback = "required",
     .help = "channels"},
    {.name = "d",
     .token = "d",
     .kind = ParameterKind::count,
     .fallback = "optional",
     .help = "depth (3-D)"},
    {.name = "h",
     .token = "h",
     .kind = ParameterKind::count,
     .fallback = "like d",
     .help = "height (2-D and 3-D)"},
    {.name = "w",
     .token = "w",
     .kind = ParameterKind::count,
     .fallback = "like h",
     .help = "width"},
    {.name = "epsilon",
     .token = "eps",
     .kind = ParameterKind::real,
     .fallback = "1e-05",
     .help = "added to the variance, above 0"},
}};

constexpr std::string_view kExamples[] = {"n2c16h9", "n2c16w9", "n2c16d5h9"};

constexpr std::array<Direction, 1> kDirections = {Direction::forward};

Result<ParameterSet> complete(const ParameterSet& given) {
  BENCH_RETURN_IF_ERROR(require(given, "c"));
  ParameterSet set = given;
  if (!set.has("mode")) set.set("mode", std::string(kModes[0]));
  if (!set.has("n")) set.set("n", std::int64_t{1});
  if (!set.has("epsilon")) set.set("epsilon", kDefaultEpsilon);
  if (!(set.real("epsilon") > 0)) {
    return Error{
        .what = fmt::format("`epsilon` is {}, expected a number above 0", set.real("epsilon")),
        .where = "epsilon",
        .next = {}};
  }
  BENCH_RETURN_IF_ERROR(complete_sizes(set));
  return set;
}

// FLOPs of a batch norm that is not folded into a convolution: subtraction of the mean, division,
// scale, shift.
constexpr std::int64_t kFlopsPerElement = 4;

Result<Model> model(const Problem& problem) {
  const ParameterSet& set = problem.parameters;
  std::vector<Extent> extents = {{"n", set.count("n")}, {"c", set.count("c")}};
  const std::vector<std::int64_t> sizes = spatial_sizes(set);
  const std::span<const std::string_view> names = size_names(spatial_rank(set));
  for (std::size_t i = 0; i < sizes.size(); ++i) extents.push_back({names[i], sizes[i]});
  const DataType statistics = problem.dtype == DataType::f64 ? DataType::f64 : DataType::f32;
  ModelDraft draft;
  const auto add = [&](std::string_view name, TensorRole role, DataType dtype,
                       const std::vector<Extent>& shape) -> Status {
    BENCH_ASSIGN_OR_RETURN(Tensor tensor, make_tensor(name, role, dtype, shape));
    draft.tensors.push_back(std::move(tensor));
    return Done{};
  };
  BENCH_RETURN_IF_ERROR(add("source", TensorRole::input, problem.dtype, extents));
  for (const std::string_view name : {"mean", "variance", "scale", "shift"}) {
    BENCH_RETURN_IF_ERROR(add(name, TensorRole::weights, statistics, {extents[1]}));
  }
  BENCH_RETURN_IF_ERROR(add("destination", TensorRole::output, problem.dtype, extents));
  const std::int64_t elements = draft.tensors.back().touched;
  draft.flops = Checked(kFlopsPerElement) * elements;
  draft.flops_valid = draft.flops;
  draft.formulas = {{"flops", fmt::format("{}*elements", kFlopsPerElement),
                     fmt::format("{}*{}", kFlopsPerElement, elements), draft.flops}};
  return finish_model(std::move(draft), "c");
}

// Allowed error, in roundings, of difference, root, quotient, product and sum. Their operands are
// of order 1 to 4.
constexpr double kSteps = 32;

Tolerance tolerance(const Problem& problem) { return rounding_tolerance(problem.dtype, kSteps, 1); }

std::optional<Join> join(const Problem& /*always inference*/) {
  return Join{Join::Kind::into_weights};
}

// Returns for each channel the terms of scale/sqrt(variance + epsilon) * (x - mean) + shift.
std::vector<ChannelAffine> make_affine(const Problem& layer, ReferenceInputs values) {
  const double epsilon = layer.parameters.real("epsilon");
  const auto& [mean, variance, scale, shift] = std::tie(values[1], values[2], values[3], values[4]);
  std::vector<ChannelAffine> channels;
  for (std::size_t k = 0; k < scale.size(); ++k) {
    channels.push_back({mean[k], scale[k] / std::sqrt(variance[k] + epsilon), shift[k]});
  }
  return channels;
}

bool is_positive(const Problem& problem, std::size_t tensor) {
  return problem.tensors[tensor].name == "variance";
}

}  // namespace

extern const Operator batch_norm_operator;
const Operator batch_norm_operator = {
    .name = "batch_norm",
    .help = "batch normalisation with given statistics",
    .parameters = kParameters,
    .directions = kDirections,
    .takes_post_ops = false,
    .complete = complete,
    .model = model,
    .reference = batch_norm_reference,
    .tolerance = tolerance,
    .inference = kImageInference,
    .joining = {.join = join, .affine = make_affine},
    .filling = {.is_positive = is_positive},
    .product = {.rule = "op-batch-norm",
                .sentence =
                    "one factor and one summand per channel: there is no product of matrices"},
    .examples = kExamples,
    .cuda = kOnCudnn,
};

}  // namespace bench::ops
