// SPDX-License-Identifier: Apache-2.0
#include "ops/layer_norm/cuda_native.hpp"

#include "ops/cuda/kernels/elementwise_planner.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/layer_norm/layer_norm.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

// Whether the groups are not contiguous: in nhwc, those that contain a part of the channels' image.
// An image, or a batch of images, is contiguous in every layout.
bool scatters_groups(const Problem& problem) {
  constexpr std::int64_t kFirstSpatialAxis = 2;
  return is_in_nhwc(problem) && problem.parameters.count("axis") >= kFirstSpatialAxis;
}

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
  if (scatters_groups(problem)) {
    return unsupported(
        "a layer norm needs contiguous groups, and nhwc scatters those from axis 2 on; leave "
        "`layout: nhwc` out");
  }
  const LayerNormShape shape = layer_norm_shape(problem.parameters);
  std::vector<NativeTensor> tensors;
  for (const Tensor& tensor : problem.tensors) {
    tensors.push_back(layer_norm_tensor(problem, tensor));
  }
  LayerNormPlan plan;
  plan.groups = shape.groups;
  plan.size = shape.size;
  int next_tensor = 1;  // source, [scale,] [shift,] destination
  if (shape.has_scale) plan.scale = next_tensor++;
  if (shape.has_shift) plan.shift = next_tensor++;
  plan.destination = next_tensor;
  plan.type = to_element(problem.dtype);
  plan.of_group = problem.dtype == DataType::f64 ? Element::f64 : Element::f32;
  plan.epsilon = shape.epsilon;
  plan.precision = to_precision(problem.dtype);
  return NativeForm{"bench:layer_norm_block", "layer_norm", NativePlan(plan), std::move(tensors)};
}

template <class T>
void normalise_groups(const LayerNormPlan& plan, const Addresses& tensors) {
  for (std::int64_t group = 0; group < plan.groups; ++group) {
    const std::int64_t first = group * plan.size;
    T sum = 0, squares = 0;
    for (int lane = 0; lane < kHostLanes; ++lane) {
      sum += part_of_sum<T>(plan, tensors.at[0], first, lane, kHostLanes);
    }
    const T mean = sum / static_cast<T>(plan.size);
    for (int lane = 0; lane < kHostLanes; ++lane) {
      squares += part_of_squares<T>(plan, tensors.at[0], first, mean, lane, kHostLanes);
    }
    for (int lane = 0; lane < kHostLanes; ++lane) {
      write_normalised<T>(plan, tensors, first, mean, squares, lane, kHostLanes);
    }
  }
}

void run_layer_norm(const NativePlan& native_plan, const Addresses& tensors) {
  const auto plan = native_plan.as<LayerNormPlan>();
  run_by(plan.precision, [&](auto zero) { normalise_groups<decltype(zero)>(plan, tensors); });
}

}  // namespace

extern const NativeEntry layer_norm_cuda_native;
const NativeEntry layer_norm_cuda_native = {
    .op = "layer_norm", .form = layer_norm_form, .host = {LayerNormPlan::kKernel, run_layer_norm}};

}  // namespace bench::ops::cuda
