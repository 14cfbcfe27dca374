// SPDX-License-Identifier: Apache-2.0
// On the CPU, each thread copies the runs of its part of the destination.
#include "ops/slice/cuda_native.hpp"

#include "ops/cuda/kernels/native_entry.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> slice_form(const Problem& problem) {
  if (is_in_nhwc(problem)) {
    return unsupported("the kernel takes plain tensors; leave `layout: nhwc` out");
  }
  const Dims& shape = problem.tensors[0].dims;
  const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  SlicePlan plan;
  plan.elements = problem.tensors.back().elements();
  plan.line = shape[axis] * inner;
  plan.begin = problem.parameters.count("begin") * inner;
  plan.run = problem.parameters.count("size") * inner;
  plan.bytes = static_cast<int>(info(problem.dtype).bytes);
  return plain_form(problem, "bench:slice", "slice", plan);
}

void run_slice_part(const NativePlan& native_plan, const Addresses& tensors, int thread,
                    int threads) {
  const auto plan = native_plan.as<SlicePlan>();
  const auto* source = static_cast<const char*>(tensors.at[0]);
  auto* destination = static_cast<char*>(tensors.at[1]);
  const std::int64_t end = part_begin(plan.elements, thread + 1, threads);
  std::int64_t at = part_begin(plan.elements, thread, threads);
  while (at < end) {
    const std::int64_t count = std::min(plan.run - at % plan.run, end - at);
    std::memcpy(destination + at * plan.bytes, source + plan.source_of(at) * plan.bytes,
                static_cast<std::size_t>(count * plan.bytes));
    at += count;
  }
}

}  // namespace

extern const NativeEntry slice_cuda_native;
const NativeEntry slice_cuda_native = {
    .op = "slice",
    .form = slice_form,
    .host = {SlicePlan::kKernel, run_rows<SlicePlan>, run_slice_part}};

}  // namespace bench::ops::cuda
