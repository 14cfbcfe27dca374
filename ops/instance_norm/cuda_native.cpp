// SPDX-License-Identifier: Apache-2.0
#include "ops/group_norm/cuda_native.hpp"

#include "ops/cuda/kernels/cpu_norm_gradient.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/instance_norm/instance_norm.hpp"
#include "ops/layer_norm/cuda_native.hpp"

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> instance_norm_form(const Problem& problem) {
  return grouped_norm_form(problem, instance_norm_layout(problem));
}

}  // namespace

extern const NativeEntry instance_norm_cuda_native;
const NativeEntry instance_norm_cuda_native = {
    .op = "instance_norm",
    .form = instance_norm_form,
    .host = {LayerNormPlan::kKernel, run_rows<LayerNormPlan>, run_norm_part<LayerNormPlan>}};

}  // namespace bench::ops::cuda
