// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/norm_gradient_form.hpp"

#include "ops/cuda/kernels/elementwise_planner.hpp"
#include "ops/cuda/kernels/norm_gradient.hpp"
#include "ops/description.hpp"

namespace bench::ops::cuda {

NativeForm norm_gradient_form(const Problem& problem, std::string_view root,
                              const NormParameterLayout& layout) {
  NormGradientPlan plan;
  plan.size = quantity(problem, "size");
  plan.groups = problem.tensors[0].elements() / plan.size;  // the source
  plan.groups_per_image = static_cast<std::int64_t>(layout.groups_per_image);
  plan.volume = static_cast<std::int64_t>(layout.volume);
  plan.source = tensor_number(problem, "source");
  plan.mean = tensor_number(problem, "mean");
  plan.root = tensor_number(problem, root);
  plan.scale = tensor_number(problem, "scale");
  plan.diff_destination = tensor_number(problem, "diff_destination");
  plan.diff_source = tensor_number(problem, "diff_source");
  plan.diff_scale = tensor_number(problem, "diff_scale");
  plan.diff_shift = tensor_number(problem, "diff_shift");
  plan.type = to_element(problem.dtype);
  plan.epsilon = problem.parameters.real("epsilon");
  plan.precision = to_precision(problem.dtype);
  return {"bench:norm_gradient_block", "norm_gradient", NativePlan(plan), {}};
}

}  // namespace bench::ops::cuda
