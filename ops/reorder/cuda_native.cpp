// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/native_entry.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> make_reorder_form(const Problem& problem) {
  const auto find_layout = [&](std::string_view parameter) {
    const std::string& word = problem.parameters.word(parameter);
    constexpr std::array kAll = {MemoryLayout::plain, MemoryLayout::nhwc, MemoryLayout::blocked16};
    return *std::ranges::find(kAll, word,
                              [](MemoryLayout candidate) { return to_string(candidate); });
  };
  return reorder_form(problem.tensors[0].dims, problem.dtype, find_layout("from"),
                      find_layout("to"));
}

}  // namespace

extern const NativeEntry reorder_cuda_native;
const NativeEntry reorder_cuda_native = {.op = "reorder", .form = make_reorder_form};

}  // namespace bench::ops::cuda
