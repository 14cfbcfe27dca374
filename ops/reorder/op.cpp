// SPDX-License-Identifier: Apache-2.0
#include "ops/model.hpp"
#include "ops/reorder/reorder.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace bench::ops {
namespace {

constexpr std::array<std::string_view, 3> kLayoutNames = {"nchw", "nhwc", "blocked16"};

constexpr std::array<Parameter, 3> kParameters = {{
    {.name = "shape",
     .token = "",
     .kind = ParameterKind::shape,
     .fallback = "required",
     .help = "sizes of the tensor: n, c, then 1 to 3 spatial ones"},
    {.name = "from",
     .token = "",
     .kind = ParameterKind::word,
     .fallback = "required",
     .help = "source layout",
     .words = kLayoutNames},
    {.name = "to",
     .token = "",
     .kind = ParameterKind::word,
     .fallback = "required",
     .help = "destination layout",
     .words = kLayoutNames},
}};

constexpr std::string_view kExamples[] = {"2x16x9x9-nchw-nhwc", "2x20x9x9-nhwc-nchw",
                                          "2x20x9x9-nchw-blocked16", "2x20x9-blocked16-nhwc"};

constexpr std::array<Direction, 1> kDirections = {Direction::forward};
constexpr std::size_t kMinRank = 3;
constexpr std::size_t kMaxRank = 5;

Result<ParameterSet> complete(const ParameterSet& given) {
  for (const Parameter& parameter : kParameters) {
    BENCH_RETURN_IF_ERROR(require(given, parameter.name));
  }
  const std::size_t rank = given.numbers("shape").size();
  if (rank >= kMinRank && rank <= kMaxRank) return given;
  return Error{
      .what = fmt::format("`shape` has {} sizes, expected {} to {}", rank, kMinRank, kMaxRank),
      .where = "shape",
      .next = "n, c, then 1 to 3 spatial sizes, such as [1, 64, 56, 56]"};
}

Result<Model> model(const Problem& problem) {
  return reorder_model(problem.parameters.numbers("shape"), problem.dtype);
}

Tolerance tolerance(const Problem& /*moving values is exact*/) { return {}; }

}  // namespace

std::span<const std::string_view> reorder_layouts() { return kLayoutNames; }

Result<Model> reorder_model(std::span<const std::int64_t> dims, DataType dtype) {
  ModelDraft draft;
  for (const auto& [name, role] :
       {std::pair("source", TensorRole::input), std::pair("destination", TensorRole::output)}) {
    BENCH_ASSIGN_OR_RETURN(Tensor tensor, make_shaped_tensor(name, role, dtype, "shape", dims));
    draft.tensors.push_back(std::move(tensor));
  }
  draft.formulas = {{"flops", "0", "0", 0}};
  return finish_model(std::move(draft), "shape");
}

extern const Operator reorder_operator;
const Operator reorder_operator = {
    .name = "reorder",
    .help = "the same values in another memory layout",
    .parameters = kParameters,
    .directions = kDirections,
    .takes_post_ops = false,
    .complete = complete,
    .model = model,
    .reference = reorder_reference,
    .tolerance = tolerance,
    .inference = kShapeInference,
    .product = {.rule = "op-reorder", .sentence = "a copy: nothing is multiplied"},
    .examples = kExamples,
    .cuda = kOnCudnn,
};

}  // namespace bench::ops
