// SPDX-License-Identifier: Apache-2.0
#include "ops/layer_norm/cuda_native.hpp"

#include "ops/cuda/kernels/cpu_norm_gradient.hpp"
#include "ops/cuda/kernels/elementwise_planner.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/cuda/kernels/norm_gradient_form.hpp"
#include "ops/description.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

// Describes a tensor. Scale, shift and their gradients have the sizes of a group and the order of
// its elements in memory: in nhwc that of the last dimensions of the images.
NativeTensor layer_norm_tensor(const Problem& problem, const Tensor& tensor) {
  const bool is_statistic = tensor.name == "mean" || tensor.name == "variance";
  if (is_statistic || !is_in_nhwc(problem)) return native_tensor(tensor, MemoryLayout::plain);
  const Dims& image = problem.tensors[0].dims;
  const std::vector<std::int64_t> strides = layout_strides(image, MemoryLayout::nhwc);
  const auto axis = static_cast<std::ptrdiff_t>(image.size() - tensor.dims.size());
  return {strided_arrangement(tensor.dims, std::vector(strides.begin() + axis, strides.end())),
          tensor.dtype, layout_name(image, MemoryLayout::nhwc)};
}

Result<NativeForm, BackendError> layer_norm_form(const Problem& problem) {
  // An image, or a batch of images, is contiguous in every layout.
  if (is_in_nhwc(problem) && problem.parameters.count("axis") >= 2) {
    return unsupported(
        "a layer norm needs contiguous groups, and nhwc scatters those from axis 2 on; leave "
        "`layout: nhwc` out");
  }
  std::vector<NativeTensor> tensors;
  for (const Tensor& tensor : problem.tensors) {
    tensors.push_back(layer_norm_tensor(problem, tensor));
  }
  if (problem.direction != Direction::forward) {
    NativeForm form = norm_gradient_form(problem, "variance");
    form.tensors = std::move(tensors);
    return form;
  }
  LayerNormPlan plan;
  plan.groups = quantity(problem, "groups");
  plan.size = quantity(problem, "size");
  plan.scale = tensor_number(problem, "scale");
  plan.shift = tensor_number(problem, "shift");
  plan.destination = tensor_number(problem, "destination");
  plan.mean = tensor_number(problem, "mean");
  plan.variance = tensor_number(problem, "variance");
  plan.type = to_element(problem.dtype);
  plan.epsilon = problem.parameters.real("epsilon");
  plan.precision = to_precision(problem.dtype);
  return NativeForm{"bench:layer_norm_block", "layer_norm", NativePlan(plan), std::move(tensors)};
}

}  // namespace

extern const NativeEntry layer_norm_cuda_native;
const NativeEntry layer_norm_cuda_native = {
    .op = "layer_norm",
    .form = layer_norm_form,
    .host = {LayerNormPlan::kKernel, run_rows<LayerNormPlan>, run_norm_part<LayerNormPlan>}};

}  // namespace bench::ops::cuda
