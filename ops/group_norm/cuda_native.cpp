// SPDX-License-Identifier: Apache-2.0
// A group norm and its gradients are the kernels of layer_norm with other values of scale and
// shift.
#include "ops/group_norm/cuda_native.hpp"

#include "ops/cuda/kernels/cpu_norm_gradient.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/cuda/kernels/norm_gradient_form.hpp"
#include "ops/description.hpp"
#include "ops/group_norm/group_norm.hpp"
#include "ops/layer_norm/cuda_native.hpp"

#include <fmt/format.h>

#include <string>

namespace bench::ops::cuda {
Result<NativeForm, BackendError> grouped_norm_form(const Problem& problem,
                                                   const NormParameterLayout& layout) {
  if (is_in_nhwc(problem)) {
    return unsupported("a group is contiguous in `nchw` only; leave `layout: nhwc` out");
  }
  if (problem.direction != Direction::forward) {
    NativeForm form = norm_gradient_form(problem, "variance", layout);
    form.tensors = native_tensors(problem, MemoryLayout::plain);
    return form;
  }
  LayerNormPlan plan;
  plan.groups_per_image = static_cast<std::int64_t>(layout.groups_per_image);
  plan.groups = problem.parameters.count("n") * plan.groups_per_image;
  plan.size = quantity(problem, "size");
  plan.volume = quantity(problem, "volume");
  plan.scale = tensor_number(problem, "scale");
  plan.shift = tensor_number(problem, "shift");
  plan.destination = tensor_number(problem, "destination");
  plan.mean = tensor_number(problem, "mean");
  plan.variance = tensor_number(problem, "variance");
  plan.epsilon = problem.parameters.real("epsilon");
  const std::string name(problem.op->name);
  return plain_form(problem, fmt::format("bench:{}_block", name), name, plan);
}

namespace {

Result<NativeForm, BackendError> group_norm_form(const Problem& problem) {
  return grouped_norm_form(problem, group_norm_layout(problem));
}

}  // namespace

extern const NativeEntry group_norm_cuda_native;
const NativeEntry group_norm_cuda_native = {
    .op = "group_norm",
    .form = group_norm_form,
    .host = {LayerNormPlan::kKernel, run_rows<LayerNormPlan>, run_norm_part<LayerNormPlan>}};

}  // namespace bench::ops::cuda
