// SPDX-License-Identifier: Apache-2.0
// An instance norm and its gradients are the kernels of layer_norm with other values of scale and
// shift.
#include "ops/layer_norm/cuda_native.hpp"

#include "ops/cuda/kernels/cpu_norm_gradient.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/cuda/kernels/norm_gradient_form.hpp"
#include "ops/description.hpp"
#include "ops/instance_norm/instance_norm.hpp"

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> instance_norm_form(const Problem& problem) {
  if (is_in_nhwc(problem)) {
    return unsupported("a group is contiguous in `nchw` only; leave `layout: nhwc` out");
  }
  if (problem.direction != Direction::forward) {
    NativeForm form = norm_gradient_form(problem, "variance", instance_norm_layout(problem));
    form.tensors = native_tensors(problem, MemoryLayout::plain);
    return form;
  }
  LayerNormPlan plan;
  plan.groups_per_image = problem.parameters.count("c");
  plan.groups = problem.parameters.count("n") * plan.groups_per_image;
  plan.size = quantity(problem, "size");
  plan.volume = quantity(problem, "volume");
  plan.scale = tensor_number(problem, "scale");
  plan.shift = tensor_number(problem, "shift");
  plan.destination = tensor_number(problem, "destination");
  plan.mean = tensor_number(problem, "mean");
  plan.variance = tensor_number(problem, "variance");
  plan.epsilon = problem.parameters.real("epsilon");
  return plain_form(problem, "bench:instance_norm_block", "instance_norm", plan);
}

}  // namespace

extern const NativeEntry instance_norm_cuda_native;
const NativeEntry instance_norm_cuda_native = {
    .op = "instance_norm",
    .form = instance_norm_form,
    .host = {LayerNormPlan::kKernel, run_rows<LayerNormPlan>, run_norm_part<LayerNormPlan>}};

}  // namespace bench::ops::cuda
