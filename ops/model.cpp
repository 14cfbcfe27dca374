// SPDX-License-Identifier: Apache-2.0
#include "ops/model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace bench::ops {
namespace {

Error too_large(std::string_view what) {
  return {.what = fmt::format("{} exceeds 2^63 - 1", what),
          .where = "shape",
          .next = "use smaller sizes"};
}

Result<std::int64_t> checked(std::string_view what, Checked count) {
  const std::optional<std::int64_t> value = count.value();
  if (!value) return too_large(what);
  return *value;
}

Status fill_touched(std::vector<Tensor>& tensors) {
  for (Tensor& tensor : tensors) {
    const std::optional<std::int64_t> elements = element_count(tensor.dims);
    const std::string what =
        fmt::format("the size of `{}` ({})", tensor.name, join_dims(tensor.dims));
    if (!elements) return too_large(what);
    BENCH_RETURN_IF_ERROR(checked(what, Checked(*elements) * info(tensor.dtype).bytes));
    if (tensor.touched == kAllElements) tensor.touched = *elements;
  }
  return Done{};
}

// Reads, then writes: the order of the tensors.
Status count_bytes(Model& model) {
  Checked read = 0;
  Checked written = 0;
  Formula formula{.name = "bytes", .expression = {}, .values = {}, .result = 0};
  for (const Tensor& tensor : model.tensors) {
    if (tensor.touched == 0) continue;
    const std::int64_t size = info(tensor.dtype).bytes;
    (tensor.role == TensorRole::output ? written : read) += Checked(tensor.touched) * size;
    const std::string_view plus = formula.values.empty() ? "" : "+";
    formula.expression += fmt::format("{}{}*{}", plus, tensor.name, info(tensor.dtype).name);
    formula.values += fmt::format("{}{}*{}", plus, tensor.touched, size);
  }
  BENCH_ASSIGN_OR_RETURN(model.work.bytes_read, checked("bytes", read));
  BENCH_ASSIGN_OR_RETURN(model.work.bytes_written, checked("bytes", written));
  BENCH_ASSIGN_OR_RETURN(formula.result, checked("bytes", read + written));
  model.formulas.push_back(std::move(formula));
  return Done{};
}

}  // namespace

Tensor whole_tensor(std::string name, TensorRole role, DataType dtype, Dims dims) {
  return {.name = std::move(name),
          .role = role,
          .dtype = dtype,
          .dims = std::move(dims),
          .touched = kAllElements};
}

Result<Model> finish_model(ModelDraft draft) {
  BENCH_RETURN_IF_ERROR(fill_touched(draft.tensors));
  Model model;
  model.tensors = std::move(draft.tensors);
  BENCH_ASSIGN_OR_RETURN(model.work.flops, checked("the number of FLOPs", draft.flops));
  BENCH_ASSIGN_OR_RETURN(model.work.flops_valid, checked("the number of FLOPs", draft.flops_valid));
  BENCH_ASSIGN_OR_RETURN(model.work.sfu_ops,
                         checked("the number of special functions", draft.sfu_ops));
  for (DraftFormula& formula : draft.formulas) {
    BENCH_ASSIGN_OR_RETURN(const std::int64_t result, checked(formula.name, formula.result));
    model.formulas.push_back({.name = std::move(formula.name),
                              .expression = std::move(formula.expression),
                              .values = std::move(formula.values),
                              .result = result});
  }
  BENCH_RETURN_IF_ERROR(count_bytes(model));
  return model;
}

std::string join_dims(std::span<const std::int64_t> dims, std::string_view separator) {
  return fmt::format("{}", fmt::join(dims, separator));
}

Error undefined_for_integers(std::string_view what, DataType dtype) {
  return {.what = fmt::format("{} is not defined for {}", what, info(dtype).name),
          .where = "dtype",
          .next = "use a floating type"};
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
