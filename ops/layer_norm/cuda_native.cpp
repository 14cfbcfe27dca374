// SPDX-License-Identifier: Apache-2.0
#include "ops/layer_norm/cuda_native.hpp"

#include "ops/cuda/kernels/elementwise_planner.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/description.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

// Describes a tensor. Scale and shift have the sizes of a group and the order of its elements in
// memory: in nhwc that of the last dimensions of the images.
NativeTensor layer_norm_tensor(const Problem& problem, const Tensor& tensor) {
  if (!is_in_nhwc(problem)) return native_tensor(tensor, MemoryLayout::plain);
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
  LayerNormPlan plan;
  plan.groups = quantity(problem, "groups");
  plan.size = quantity(problem, "size");
  int next_tensor = 1;  // source, [scale,] [shift,] destination
  if (problem.parameters.flag("scale")) plan.scale = next_tensor++;
  if (problem.parameters.flag("shift")) plan.shift = next_tensor++;
  plan.destination = next_tensor;
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
    .host = {LayerNormPlan::kKernel, run_rows<LayerNormPlan>}};

}  // namespace bench::ops::cuda
