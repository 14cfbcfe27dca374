// SPDX-License-Identifier: Apache-2.0
#include "base/checked.hpp"
#include "ops/conv/conv.hpp"
#include "ops/model.hpp"
#include "ops/tolerance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace bench::ops {
namespace {

using enum ParameterKind;

constexpr std::array<Parameter, 16> kParameters = {{
    {"n", "n", count, "1", "batch size"},
    {"g", "g", count, "1", "groups; g = c = k is a depthwise convolution"},
    {"c", "c", count, "required", "input channels, over all groups"},
    {"d", "d", count, "optional", "input depth; with it the convolution is 3-D"},
    {"h", "h", count, "like d", "input height; without d the convolution is 2-D"},
    {"w", "w", count, "like h", "input width; without d and h the convolution is 1-D"},
    {"k", "k", count, "required", "output channels, over all groups"},
    {"t", "t", count, "optional", "kernel depth, required in 3-D"},
    {"r", "r", count, "like t", "kernel height, required in 2-D"},
    {"s", "s", count, "like r", "kernel width, required in 1-D"},
    {"stride", "u", spatial, "1", "step of the kernel, in elements"},
    {"pad", "p", padding, "0", "zeros before and after the input, in elements", 0},
    {"dilation", "e", spatial, "1", "distance of the kernel's taps; 1 is dense"},
    {"output_pad", "o", spatial, "0", "rows added to a transposed convolution's output", 0},
    {"bias", "bias", flag, "false", "adds one value per output channel"},
    {"transposed", "transposed", flag, "false", "transposed convolution (deconvolution)"},
}};

constexpr std::string_view kExamples[] = {"n2c16h9k16r3",
                                          "n2c16h9k16r3p1",
                                          "n2c16h9k16r3p1_0",
                                          "n2c16h9k16r3p0_2x1",
                                          "n2c16h9k16r3p2e2",
                                          "n2g2c16h9k16r3p1u2",
                                          "n2g16c16h9k16r3p1",
                                          "n2c16w9k16s3p1",
                                          "n2c16d5h9k16t3r3p1u2",
                                          "n2c16h9k16r3u2+transposed",
                                          "n2g2c16w9k16s3u2+transposed",
                                          "n2c16h9k16r3p1+bias",
                                          "n2c16h9k16r3p1+bias+relu",
                                          "n2c16h9k16r3p1+bias+add+relu",
                                          "n2c16h9k16r3p1+hardswish",
                                          "n2c16h9k16r3u2+transposed+bias"};

constexpr std::array<Direction, 3> kDirections = {Direction::forward, Direction::backward_data,
                                                  Direction::backward_weights};

void set_default(ParameterSet& set, std::string_view name, Value value) {
  if (!set.has(name)) set.set(name, std::move(value));
}

Status check_groups(const ParameterSet& set) {
  const std::int64_t groups = set.count("g");
  for (const std::string_view channels : {"c", "k"}) {
    if (set.count(channels) % groups == 0) continue;
    return Error{
        fmt::format("`g` = {} does not divide `{}` = {}", groups, channels, set.count(channels)),
        "g", "c and k are totals over all groups"};
  }
  return Done{};
}

// Returns an error if output_pad is invalid. Only a transposed convolution has an output_pad. It
// must be less than the stride or the dilation, because the output size is ambiguous by less than
// one step.
Status check_output_pad(const ConvShape& shape) {
  for (const SpatialAxis& axis : shape.axes) {
    const bool transposed = shape.sweep == Sweep::transposed;
    if (!transposed && axis.output_pad != 0) {
      return Error{"`output_pad` belongs to a transposed convolution", "output_pad",
                   "add `transposed: true`"};
    }
    if (axis.output_pad != 0 && axis.output_pad >= std::max(axis.stride, axis.dilation)) {
      return Error{fmt::format("`output_pad` = {} along `{}`, expected less than stride {} or "
                               "dilation {}",
                               axis.output_pad, axis.name, axis.stride, axis.dilation),
                   "output_pad",
                   {}};
    }
  }
  return Done{};
}

ConvShape make_shape_without_outputs(const ParameterSet& set) {
  ConvShape shape;
  shape.n = set.count("n");
  shape.groups = set.count("g");
  shape.c = set.count("c");
  shape.k = set.count("k");
  shape.bias = set.flag("bias") ? Bias::present : Bias::absent;
  shape.sweep = set.flag("transposed") ? Sweep::transposed : Sweep::convolution;
  shape.axes = spatial_axes(set, kKernelSizeNames);
  return shape;
}

}  // namespace

ConvShape conv_shape(const ParameterSet& complete) {
  ConvShape shape = make_shape_without_outputs(complete);
  for (SpatialAxis& axis : shape.axes) {
    // Cannot fail, because complete() has rejected shapes without output.
    [[maybe_unused]] const Status status = infer_output(axis, shape.sweep);
  }
  return shape;
}

Result<ParameterSet> complete_conv(const ParameterSet& given) {
  ParameterSet set = given;
  BENCH_RETURN_IF_ERROR(require(set, "c"));
  BENCH_RETURN_IF_ERROR(require(set, "k"));
  set_default(set, "n", std::int64_t{1});
  set_default(set, "g", std::int64_t{1});
  set_default(set, "bias", false);
  set_default(set, "transposed", false);
  BENCH_ASSIGN_OR_RETURN(const int rank, complete_sizes(set));
  BENCH_RETURN_IF_ERROR(complete_chain(set, kKernelSizeNames, rank));
  BENCH_RETURN_IF_ERROR(expand_spatial(set, "stride", rank, 1));
  BENCH_RETURN_IF_ERROR(expand_padding(set, "pad", rank));
  BENCH_RETURN_IF_ERROR(expand_spatial(set, "dilation", rank, 1));
  BENCH_RETURN_IF_ERROR(expand_spatial(set, "output_pad", rank, 0));
  BENCH_RETURN_IF_ERROR(check_groups(set));
  ConvShape shape = make_shape_without_outputs(set);
  BENCH_RETURN_IF_ERROR(check_output_pad(shape));
  for (SpatialAxis& axis : shape.axes) {
    BENCH_RETURN_IF_ERROR(infer_output(axis, shape.sweep));
  }
  return set;
}

const Operator conv_operator = {
    .name = "conv",
    .help = "convolution in 1, 2 or 3 dimensions, grouped, dilated, transposed",
    .parameters = kParameters,
    .directions = kDirections,
    .takes_post_ops = true,
    .complete = complete_conv,
    .model = model_conv,
    .reference = reference_conv,
    .tolerance = conv_tolerance,
    .inference = kImageInference,
    .joining = {.takes_affine = true},
    .product = {.facts = conv_facts, .copies = conv_copies},
    .examples = kExamples,
    .cuda = kOnCudnn,
};

namespace {

// Returns the number of products in one element of the output, ignoring borders.
Checked count_terms(const ConvShape& shape, Direction direction) {
  Checked terms = direction == Direction::forward         ? shape.group_c()
                  : direction == Direction::backward_data ? shape.group_k()
                                                          : shape.n;
  for (const SpatialAxis& axis : shape.axes) {
    terms *=
        direction == Direction::backward_weights ? std::max(axis.input, axis.output) : axis.kernel;
  }
  return terms;
}

}  // namespace

Tolerance conv_tolerance(const Problem& problem) {
  const ConvShape shape = conv_shape(problem.parameters);
  const std::int64_t terms = count_terms(shape, problem.direction)
                                 .value()
                                 .value_or(std::numeric_limits<std::int64_t>::max());
  // Weights are scaled so that outputs are of order 1. A gradient of weights sums up unscaled
  // values.
  const bool scaled = problem.direction != Direction::backward_weights;
  return accumulation_tolerance(problem, terms, scaled ? 1 : std::sqrt(static_cast<double>(terms)));
}

}  // namespace bench::ops
