// SPDX-License-Identifier: Apache-2.0
// The kernel is that of slice: padding is the gradient of a range.
#include "ops/slice/cuda_native.hpp"

#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/pad/pad.hpp"

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> pad_form(const Problem& problem) {
  if (is_in_nhwc(problem)) {
    return unsupported("the kernel takes plain tensors; leave `layout: nhwc` out");
  }
  SlicePlan plan;
  if (problem.direction == Direction::forward) plan.task = SlicePlan::Task::gradient;
  plan.elements = problem.tensors.back().elements();
  const SliceRange range = padded_range(problem);
  plan.line = range.line;
  plan.begin = range.begin;
  plan.run = range.run;
  plan.bytes = static_cast<int>(info(problem.dtype).bytes);
  return plain_form(problem, "bench:slice", "pad", plan);
}

}  // namespace

extern const NativeEntry pad_cuda_native;
const NativeEntry pad_cuda_native = {
    .op = "pad",
    .form = pad_form,
    .host = {SlicePlan::kKernel, run_rows<SlicePlan>, run_slice_part}};

}  // namespace bench::ops::cuda
