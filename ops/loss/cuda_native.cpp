// SPDX-License-Identifier: Apache-2.0
#include "ops/loss/cuda_native.hpp"

#include "ops/cuda/kernels/cpu_rows.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/operator.hpp"

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> loss_form(const Problem& problem) {
  LossPlan plan;
  plan.batch = problem.parameters.count("batch");
  plan.classes = problem.parameters.count("classes");
  plan.gradient = problem.direction == Direction::backward_data;
  return plain_form(problem, "bench:loss_block", "loss", plan);
}

}  // namespace

extern const NativeEntry loss_cuda_native;
const NativeEntry loss_cuda_native = {
    .op = "loss",
    .form = loss_form,
    .host = {LossPlan::kKernel, run_rows<LossPlan>, run_row_part<LossPlan>}};

}  // namespace bench::ops::cuda
