// SPDX-License-Identifier: Apache-2.0
#include "ops/model.hpp"
#include "ops/softmax/softmax.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace bench::ops {
namespace {

constexpr std::array<Parameter, 2> kParameters = {{
    {.name = "shape",
     .token = "",
     .kind = ParameterKind::shape,
     .fallback = "required",
     .help = "sizes of the tensor"},
    {.name = "axis",
     .token = "a",
     .kind = ParameterKind::count,
     .fallback = "last",
     .help = "dimension along which the results add up to 1, counted from 0",
     .minimum = 0},
}};

constexpr std::string_view kExamples[] = {"2x1000", "2x16x9x9-a1"};

constexpr std::array<Direction, 1> kDirections = {Direction::forward};

Result<ParameterSet> complete(const ParameterSet& given) {
  BENCH_RETURN_IF_ERROR(require(given, "shape"));
  ParameterSet set = given;
  const auto rank = static_cast<std::int64_t>(set.numbers("shape").size());
  if (!set.has("axis")) set.set("axis", rank - 1);
  if (set.count("axis") < rank) return set;
  return Error{.what = fmt::format("`axis` is {}, the shape {} has the axes 0 to {}",
                                   set.count("axis"), join_dims(set.numbers("shape")), rank - 1),
               .where = "axis",
               .next = {}};
}

// FLOPs per element: comparison for the maximum, subtraction of the maximum, addition to the sum,
// division by the sum.
constexpr std::int64_t kFlopsPerElement = 4;

Result<Model> model(const Problem& problem) {
  if (info(problem.dtype).is_integer) return undefined_for_integers("softmax", problem.dtype);
  const Dims& shape = problem.parameters.numbers("shape");
  ModelDraft draft;
  for (const auto& [name, role] :
       {std::pair("source", TensorRole::input), std::pair("destination", TensorRole::output)}) {
    BENCH_ASSIGN_OR_RETURN(Tensor tensor,
                           make_shaped_tensor(name, role, problem.dtype, "shape", shape));
    draft.tensors.push_back(std::move(tensor));
  }
  const std::int64_t elements = draft.tensors.back().touched;
  draft.flops = Checked(kFlopsPerElement) * elements;
  draft.flops_valid = draft.flops;
  draft.sfu_ops = elements;
  draft.formulas = {{"flops", fmt::format("{}*elements", kFlopsPerElement),
                     fmt::format("{}*{}", kFlopsPerElement, elements), draft.flops},
                    {"sfu_ops", "elements", fmt::to_string(elements), draft.sfu_ops}};
  return finish_model(std::move(draft), "shape");
}

// Allowed error, in roundings, of a library's exp. The sum of positive terms adds at most one
// rounding per term if the terms are added sequentially.
constexpr double kExpSteps = 64;

Tolerance tolerance(const Problem& problem) {
  const Dims& shape = problem.parameters.numbers("shape");
  const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
  const double steps = kExpSteps + static_cast<double>(shape[axis]);
  // Results are about 1/size, so the only absolute error is the underflow of a narrow type.
  return {.absolute = smallest_positive(problem.dtype),
          .relative = rounding_tolerance(problem.dtype, steps, 0).relative};
}

}  // namespace

extern const Operator softmax_operator;
const Operator softmax_operator = {
    .name = "softmax",
    .help = "exponentials along one axis, divided by their sum",
    .parameters = kParameters,
    .directions = kDirections,
    .takes_post_ops = false,
    .complete = complete,
    .model = model,
    .reference = softmax_reference,
    .tolerance = tolerance,
    .inference = kShapeInference,
    .product = {.rule = "op-softmax",
                .sentence = "exponentials and sums: there is no product of matrices"},
    .examples = kExamples,
    .cuda = kOnCudnn,
};

}  // namespace bench::ops
