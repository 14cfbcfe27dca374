// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/reorder/reorder.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>

namespace bench::ops::cuda {
namespace {

MemoryLayout find_layout(const Problem& problem, std::string_view parameter) {
  const std::string& word = problem.parameters.word(parameter);
  constexpr std::array kAll = {MemoryLayout::plain, MemoryLayout::nhwc, MemoryLayout::blocked16};
  return *std::ranges::find(kAll, word,
                            [](MemoryLayout candidate) { return to_string(candidate); });
}

// Returns the plan of a permutation that swaps two blocks of neighbouring axes behind the first
// axes, which stay: the transposition of matrices.
std::optional<TransposePlan> find_transposition(const Dims& shape, const Dims& permutation) {
  std::size_t fixed = 0;
  while (fixed < shape.size() && permutation[fixed] == static_cast<std::int64_t>(fixed)) ++fixed;
  if (fixed == shape.size()) return std::nullopt;
  Dims rotated(shape.size());
  std::iota(rotated.begin(), rotated.end(), 0);
  const auto middle = rotated.begin() + permutation[fixed];
  const auto first = rotated.begin() + static_cast<std::ptrdiff_t>(fixed);
  TransposePlan plan;
  for (std::size_t d = 0; d < fixed; ++d) plan.batch *= shape[d];
  for (auto axis = first; axis != middle; ++axis) {
    plan.rows *= shape[static_cast<std::size_t>(*axis)];
  }
  for (auto axis = middle; axis != rotated.end(); ++axis) {
    plan.columns *= shape[static_cast<std::size_t>(*axis)];
  }
  std::rotate(first, middle, rotated.end());
  return rotated == permutation ? std::optional(plan) : std::nullopt;
}

// Plain tensors: another order of the axes, another type, or both.
Result<NativeForm, BackendError> make_plain_form(const Problem& problem) {
  const Tensor& source = problem.tensors[0];
  const Tensor& destination = problem.tensors[1];
  if (problem.parameters.has("permutation") && source.dtype == destination.dtype) {
    auto plan = find_transposition(source.dims, problem.parameters.numbers("permutation"));
    if (plan) {
      plan->bytes = static_cast<int>(info(source.dtype).bytes);
      return transposition_form(*plan);
    }
  }
  return strided_copy_form(destination.dims, {source.dtype, permuted_strides(problem)},
                           {destination.dtype, row_major_strides(destination.dims)});
}

// Copies between plain and nhwc tensors with another type.
Result<NativeForm, BackendError> make_conversion_form(const Problem& problem, MemoryLayout from,
                                                      MemoryLayout to) {
  if (from == MemoryLayout::blocked16 || to == MemoryLayout::blocked16) {
    return unsupported("no kernel converts a type to or from blocked16; leave `dst_dtype` out");
  }
  const Tensor& source = problem.tensors[0];
  return strided_copy_form(source.dims, {source.dtype, layout_strides(source.dims, from)},
                           {problem.tensors[1].dtype, layout_strides(source.dims, to)});
}

Result<NativeForm, BackendError> make_reorder_form(const Problem& problem) {
  const Tensor& source = problem.tensors[0];
  const Tensor& destination = problem.tensors[1];
  if (!problem.parameters.has("from")) {
    BENCH_ASSIGN_OR_RETURN(NativeForm form, make_plain_form(problem));
    form.tensors = native_tensors(problem, MemoryLayout::plain);
    return form;
  }
  const MemoryLayout from = find_layout(problem, "from"), to = find_layout(problem, "to");
  if (source.dtype == destination.dtype) {
    return reorder_form(source.dims, problem.dtype, from, to);
  }
  BENCH_ASSIGN_OR_RETURN(NativeForm form, make_conversion_form(problem, from, to));
  form.tensors = {native_tensor(source, from), native_tensor(destination, to)};
  return form;
}

}  // namespace

extern const NativeEntry reorder_cuda_native;
const NativeEntry reorder_cuda_native = {.op = "reorder", .form = make_reorder_form};

}  // namespace bench::ops::cuda
