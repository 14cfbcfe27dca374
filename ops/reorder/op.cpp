// SPDX-License-Identifier: Apache-2.0
#include "ops/description.hpp"
#include "ops/reorder/reorder.hpp"

#include <array>

namespace bench::ops {
namespace {

constexpr std::array<std::string_view, 3> kLayoutNames = {"nchw", "nhwc", "blocked16"};

constexpr Parameter kParameters[] = {
    {"shape", "", ParameterKind::shape, kRequired,
     "sizes of the tensor: n, c, then 1 to 3 spatial ones"},
    {"from", "", ParameterKind::word, kRequired, "source layout", 1, kLayoutNames},
    {"to", "", ParameterKind::word, kRequired, "destination layout", 1, kLayoutNames},
};
constexpr Requirement kRequirements[] = {
    {"rank(shape) >= 3 and rank(shape) <= 5", "shape",
     "`shape` has {rank(shape)} sizes, expected 3 to 5",
     "n, c, then 1 to 3 spatial sizes, such as [1, 64, 56, 56]"},
};
constexpr Quantity kQuantities[] = {{"flops", "0"}};
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "shape"},
    {"destination", TensorRole::output, "shape"},
};
constexpr std::string_view kExamples[] = {"2x16x9x9-nchw-nhwc", "2x20x9x9-nhwc-nchw",
                                          "2x20x9x9-nchw-blocked16", "2x20x9-blocked16-nhwc"};

Tolerance tolerance(const Problem& /*moving values is exact*/) { return {}; }

}  // namespace

std::span<const std::string_view> reorder_layouts() { return kLayoutNames; }

extern const Operator reorder_operator;
const Operator reorder_operator =
    describe({.name = "reorder",
              .help = "the same values in another memory layout",
              .parameters = kParameters,
              .requirements = kRequirements,
              .quantities = kQuantities,
              .tensors = kTensors,
              .where = "shape"},
             {.reference = reorder_reference,
              .tolerance = tolerance,
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

}  // namespace bench::ops
