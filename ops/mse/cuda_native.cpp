// SPDX-License-Identifier: Apache-2.0
#include "ops/mse/cuda_native.hpp"

#include "ops/cuda/kernels/cpu_rows.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/operator.hpp"

#include <algorithm>

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> mse_form(const Problem& problem) {
  MsePlan plan;
  plan.batch = problem.parameters.count("batch");
  plan.size = problem.parameters.count("size");
  plan.gradient = problem.direction == Direction::backward_data;
  return plain_form(problem, "bench:mse_block", "mse", plan);
}

}  // namespace

extern const NativeEntry mse_cuda_native;
const NativeEntry mse_cuda_native = {
    .op = "mse",
    .form = mse_form,
    .host = {MsePlan::kKernel, run_rows<MsePlan>, run_row_part<MsePlan>}};

}  // namespace bench::ops::cuda
