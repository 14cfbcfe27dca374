// SPDX-License-Identifier: Apache-2.0
#include "ops/description.hpp"
#include "ops/model.hpp"
#include "ops/reorder/reorder.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

namespace bench::ops {
namespace {

constexpr std::array<std::string_view, 3> kLayoutNames = {"nchw", "nhwc", "blocked16"};

constexpr std::string_view kTypeNames[] = {"f64", "f32", "f16",     "bf16",   "s32",
                                           "s8",  "u8",  "f8_e4m3", "f8_e5m2"};

constexpr Parameter kParameters[] = {
    {"shape", "", ParameterKind::shape, kRequired,
     "sizes of the tensor; with `from` and `to` n, c, then 1 to 3 spatial ones"},
    {"from", "", ParameterKind::word, kOptional, "source layout", 1, kLayoutNames},
    {"to", "", ParameterKind::word, kOptional, "destination layout", 1, kLayoutNames},
    {"permutation", "p", ParameterKind::shape, kOptional,
     "the source's axis that becomes axis 0, axis 1, ... of the destination", 0},
    {"dst_dtype", "", ParameterKind::word, kOptional,
     "data type of the destination, if it is another", 1, kTypeNames},
};
constexpr Requirement kRequirements[] = {
    {"rank(permutation) == 0 or (rank(permutation) == rank(shape) and rank(only(shape, "
     "permutation)) == rank(shape))",
     "permutation",
     "`permutation` is {permutation}, expected each axis of the shape {shape} once, 0 to "
     "{rank(shape) - 1}"},
};
constexpr Quantity kQuantities[] = {{"flops", "0"}};
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "shape"},
    {"destination", TensorRole::output, "permuted(shape, permutation)", ElementType::converted},
};
constexpr std::string_view kExamples[] = {"2x16x9x9-nchw-nhwc",
                                          "2x20x9x9-nhwc-nchw",
                                          "2x20x9x9-nchw-blocked16",
                                          "2x20x9-blocked16-nhwc",
                                          "3x40x17-p0x2x1",
                                          "2x5x6x7-p2x0x3x1",
                                          "4x70-bf16",
                                          "4x70-f32",
                                          "2x16x9x9-nchw-nhwc-f32",
                                          "30x17-f16-p1x0"};

// Whether the parameters say what to do: layouts, a permutation, or another type.
Status check(const ParameterSet& given) {
  const bool has_layouts = given.has("from") || given.has("to");
  const bool has_permutation = given.has("permutation");
  if (has_layouts && has_permutation) {
    return Error{"`permutation` is for plain tensors, without `from` and `to`", "permutation",
                 "leave `permutation` out, or `from` and `to`"};
  }
  if (!has_layouts && (has_permutation || given.has("dst_dtype"))) return Done{};
  constexpr std::string_view kLayoutParameters[] = {"from", "to"};
  for (const std::string_view name : kLayoutParameters) {
    if (!given.has(name)) {
      return Error{fmt::format("`{}` is missing", name), std::string(name),
                   "a reorder has `from` and `to`, or `permutation`, or `dst_dtype` alone"};
    }
  }
  if (!given.has("shape")) return Done{};  // complete() names it
  const std::size_t rank = given.numbers("shape").size();
  if (rank >= 3 && rank <= 5) return Done{};
  return Error{fmt::format("`shape` has {} sizes, expected 3 to 5", rank), "shape",
               "n, c, then 1 to 3 spatial sizes, such as [1, 64, 56, 56]"};
}

// Moving values is exact; a conversion rounds once.
Tolerance tolerance(const Problem& problem) {
  const DataType type = problem.tensors.back().dtype;
  if (type == problem.dtype || info(type).is_integer) return {};
  return {.absolute = smallest_positive(type), .relative = info(type).epsilon};
}

// The gradient of a permutation is moved back by the inverse one; layouts change places.
std::vector<GradientStep> gradient(const Problem& layer) {
  ParameterSet parameters(kParameters);
  parameters.set("shape", layer.tensors.back().dims);
  if (layer.parameters.has("permutation")) {
    const Dims& permutation = layer.parameters.numbers("permutation");
    Dims inverse(permutation.size());
    for (std::size_t i = 0; i < permutation.size(); ++i) {
      inverse[static_cast<std::size_t>(permutation[i])] = static_cast<std::int64_t>(i);
    }
    parameters.set("permutation", inverse);
  }
  if (layer.parameters.has("from")) {
    parameters.set("from", layer.parameters.word("to"));
    parameters.set("to", layer.parameters.word("from"));
  }
  if (layer.parameters.has("dst_dtype")) {
    parameters.set("dst_dtype", std::string(info(layer.dtype).name));
  }
  Problem inverse = *make_problem(
      {.op = layer.op, .dtype = layer.tensors.back().dtype, .parameters = std::move(parameters)});
  return {{.problems = {{std::move(inverse), {"diff_destination"}}}, .outputs = {"diff_source"}}};
}

}  // namespace

std::span<const std::string_view> reorder_layouts() { return kLayoutNames; }

extern const Operator reorder_operator;
const Operator reorder_operator =
    describe({.name = "reorder",
              .help = "the same values in another memory layout, order of axes or data type",
              .parameters = kParameters,
              .requirements = kRequirements,
              .quantities = kQuantities,
              .tensors = kTensors,
              .where = "shape",
              .check = check},
             {.reference = reorder_reference,
              .tolerance = tolerance,
              .gradient = gradient,
              .product = {.rule = "op-reorder", .sentence = "a copy: nothing is multiplied"},
              .examples = kExamples,
              .cuda = kOnCudnn});

Result<Model> reorder_model(std::span<const std::int64_t> dims, DataType dtype) {
  Problem problem;
  problem.op = &reorder_operator;
  problem.dtype = dtype;
  problem.parameters = ParameterSet(kParameters);
  problem.parameters.set("shape", Dims(dims.begin(), dims.end()));
  return reorder_operator.model(problem);
}

namespace {

// Returns the flat position in the source of the destination's element `position`. `strides` are
// those of the destination's axes in the source.
std::size_t source_position(const Dims& destination, const Dims& strides, std::int64_t position) {
  std::int64_t flat = 0;
  for (std::size_t d = destination.size(); d-- > 0;) {
    flat += position % destination[d] * strides[d];
    position /= destination[d];
  }
  return static_cast<std::size_t>(flat);
}

}  // namespace

Dims permuted_strides(const Problem& problem) {
  const Dims& shape = problem.tensors[0].dims;
  Dims strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  if (!problem.parameters.has("permutation")) return strides;
  Dims permuted;
  for (const std::int64_t axis : problem.parameters.numbers("permutation")) {
    permuted.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  return permuted;
}

std::vector<double> reorder_reference(const Problem& problem, ReferenceInputs inputs,
                                      std::size_t /*output: there is one*/,
                                      std::span<const std::int64_t> positions) {
  const Tensor& result = problem.tensors.back();
  const Dims strides = permuted_strides(problem);
  return evaluate(result.elements(), positions, [&](std::int64_t position) {
    return stored_value(result.dtype, inputs[0][source_position(result.dims, strides, position)]);
  });
}

}  // namespace bench::ops
