// SPDX-License-Identifier: Apache-2.0
// On the CPU, each thread copies the runs of its part of the destination, or sets them to 0.
#include "ops/slice/cuda_native.hpp"

#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/slice/slice.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> slice_form(const Problem& problem) {
  if (is_in_nhwc(problem)) {
    return unsupported("the kernel takes plain tensors; leave `layout: nhwc` out");
  }
  SlicePlan plan;
  if (problem.direction != Direction::forward) plan.task = SlicePlan::Task::gradient;
  plan.elements = problem.tensors.back().elements();
  const SliceRange range = slice_range(problem);
  plan.line = range.line;
  plan.begin = range.begin;
  plan.run = range.run;
  plan.bytes = static_cast<int>(info(problem.dtype).bytes);
  return plain_form(problem, "bench:slice", "slice", plan);
}

// Returns how many elements of the destination, from `at` on, are contiguous in the source or all
// outside of the range.
std::int64_t stretch_left(const SlicePlan& plan, std::int64_t at) {
  if (plan.task == SlicePlan::Task::range) return plan.run - at % plan.run;
  const std::int64_t place = at % plan.line;
  if (place < plan.begin) return plan.begin - place;
  const std::int64_t end = plan.begin + plan.run;
  return place < end ? end - place : plan.line - place;
}

}  // namespace

void run_slice_part(const NativePlan& native_plan, const Addresses& tensors, int thread,
                    int threads) {
  const auto plan = native_plan.as<SlicePlan>();
  const auto* source = static_cast<const char*>(tensors.at[0]);
  auto* destination = static_cast<char*>(tensors.at[1]);
  const std::int64_t end = part_begin(plan.elements, thread + 1, threads);
  std::int64_t at = part_begin(plan.elements, thread, threads);
  while (at < end) {
    const std::int64_t count = std::min(stretch_left(plan, at), end - at);
    const auto bytes = static_cast<std::size_t>(count * plan.bytes);
    const std::int64_t from = plan.source_of(at);
    if (from < 0) {
      std::memset(destination + at * plan.bytes, 0, bytes);
    } else {
      std::memcpy(destination + at * plan.bytes, source + from * plan.bytes, bytes);
    }
    at += count;
  }
}

extern const NativeEntry slice_cuda_native;
const NativeEntry slice_cuda_native = {
    .op = "slice",
    .form = slice_form,
    .host = {SlicePlan::kKernel, run_rows<SlicePlan>, run_slice_part}};

}  // namespace bench::ops::cuda
