// SPDX-License-Identifier: Apache-2.0
#include "ops/model.hpp"

#include "ops/tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace bench::ops {

Result<Model> finish_model(ModelDraft draft, std::string_view where) {
  Model model;
  model.tensors = std::move(draft.tensors);
  BENCH_ASSIGN_OR_RETURN(model.work.flops, in_range(draft.flops, "flops", where));
  BENCH_ASSIGN_OR_RETURN(model.work.flops_valid, in_range(draft.flops_valid, "flops_valid", where));
  BENCH_ASSIGN_OR_RETURN(model.work.sfu_ops,
                         in_range(draft.sfu_ops, "special-function operations", where));
  if (draft.macs) {
    BENCH_ASSIGN_OR_RETURN(model.work.macs, in_range(*draft.macs, "macs", where));
  }
  for (DraftFormula& formula : draft.formulas) {
    BENCH_ASSIGN_OR_RETURN(const std::int64_t result,
                           in_range(formula.result, formula.name, where));
    model.formulas.push_back({.name = std::move(formula.name),
                              .expression = std::move(formula.expression),
                              .values = std::move(formula.values),
                              .result = result});
  }
  BENCH_RETURN_IF_ERROR(count_bytes(model.tensors, model.work));
  model.formulas.push_back(bytes_formula(model.tensors));
  return model;
}

Result<Tensor> make_shaped_tensor(std::string_view name, TensorRole role, DataType dtype,
                                  std::string_view parameter, std::span<const std::int64_t> dims) {
  std::vector<Extent> extents;
  extents.reserve(dims.size());
  for (const std::int64_t dim : dims) extents.push_back({parameter, dim});
  return make_tensor(name, role, dtype, extents);
}

std::string join_dims(std::span<const std::int64_t> dims, std::string_view separator) {
  return fmt::format("{}", fmt::join(dims, separator));
}

Error undefined_for_integers(std::string_view what, DataType dtype) {
  return {.what = fmt::format("{} is not defined for {}", what, info(dtype).name),
          .where = "dtype",
          .next = "use a floating-point type"};
}

Tolerance rounding_tolerance(DataType dtype, double steps, double integer_steps) {
  if (info(dtype).is_integer) return {.absolute = integer_steps, .relative = 0};
  const DataType arithmetic = dtype == DataType::f64 ? DataType::f64 : DataType::f32;
  const double error = info(dtype).epsilon + steps * info(arithmetic).epsilon;
  return {.absolute = error, .relative = error};
}

double smallest_positive(DataType dtype) {
  double step = 1;
  while (step / 2 > 0 && round_to(dtype, step / 2) == step / 2) step /= 2;
  return step;
}

double stored_value(DataType dtype, double value) {
  return info(dtype).is_integer ? round_to(dtype, value) : value;
}

}  // namespace bench::ops
