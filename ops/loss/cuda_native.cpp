// SPDX-License-Identifier: Apache-2.0
#include "ops/loss/cuda_native.hpp"

#include "ops/cuda/kernels/cpu_rows.hpp"
#include "ops/cuda/kernels/elementwise_planner.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/operator.hpp"

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> loss_form(const Problem& problem) {
  LossPlan plan;
  plan.batch = problem.parameters.count("batch");
  plan.classes = problem.parameters.count("classes");
  plan.gradient = problem.direction == Direction::backward_data;
  plan.type = to_element(problem.dtype);
  plan.precision = to_precision(problem.dtype);
  return NativeForm{"bench:loss_block", "loss", NativePlan(plan),
                    native_tensors(problem, MemoryLayout::plain)};
}

}  // namespace

extern const NativeEntry loss_cuda_native;
const NativeEntry loss_cuda_native = {
    .op = "loss",
    .form = loss_form,
    .host = {LossPlan::kKernel, run_rows<LossPlan>, run_row_part<LossPlan>}};

}  // namespace bench::ops::cuda
