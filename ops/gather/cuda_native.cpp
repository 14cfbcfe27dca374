// SPDX-License-Identifier: Apache-2.0
#include "ops/embedding/cuda_native.hpp"

#include "ops/cuda/kernels/elementwise_planner.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/operator.hpp"

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> gather_form(const Problem& problem) {
  if (is_in_nhwc(problem)) {
    return unsupported("the kernel copies plain tensors; leave `layout: nhwc` out");
  }
  const Dims& shape = problem.tensors[0].dims;
  const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
  EmbeddingPlan plan;
  for (std::size_t i = 0; i < axis; ++i) plan.outer *= shape[i];
  plan.table_rows = shape[axis];
  for (std::size_t i = axis + 1; i < shape.size(); ++i) plan.inner *= shape[i];
  plan.indices = problem.parameters.count("indices");
  set_widest_unit(plan, info(problem.dtype).bytes);
  return NativeForm{"bench:lookup", "gather", NativePlan(plan),
                    native_tensors(problem, MemoryLayout::plain)};
}

}  // namespace

extern const NativeEntry gather_cuda_native;
const NativeEntry gather_cuda_native = {
    .op = "gather",
    .form = gather_form,
    .host = {EmbeddingPlan::kKernel, run_embedding, run_embedding_part}};

}  // namespace bench::ops::cuda
