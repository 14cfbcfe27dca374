// SPDX-License-Identifier: Apache-2.0
// Inference, and the gradient of the source with given statistics, compute each element on its own.
// The rest sums over whole channels.
#include "ops/batch_norm/cuda_native.hpp"

#include "ops/batch_norm/batch_norm.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/cuda/kernels/problem_elements.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

// Adds a tensor with one value per channel. Returns the index of its operand; nullopt if the
// problem does not have it. Tensors must be added in the problem's order.
std::optional<int> add_channels(ProblemElements& elements, const Problem& problem,
                                std::string_view name) {
  const int number = tensor_number(problem, name);
  if (number < 0) return std::nullopt;
  return elements.channels(static_cast<std::size_t>(number));
}

Result<NativeForm, BackendError> elementwise_batch_norm(const Problem& problem) {
  ProblemElements elements(problem, requested_layout(problem));
  elements.operand(0);
  const auto mean = add_channels(elements, problem, "mean");
  ElementStep normalise;
  normalise.kind = ElementStep::Kind::normalise;
  normalise.operand = *add_channels(elements, problem, "variance");
  normalise.alpha = problem.parameters.real("epsilon");
  const auto scale = add_channels(elements, problem, "scale");
  const auto shift = add_channels(elements, problem, "shift");
  ElementwisePlanner& planner = elements.planner();
  if (mean) planner.step(combine_step(Combination::sub, *mean));
  planner.step(normalise);
  if (scale) planner.step(combine_step(Combination::mul, *scale));
  if (shift) planner.step(combine_step(Combination::add, *shift));
  return elements.finish("batch_norm");
}

BatchNormPlan::Task batch_norm_task(const Problem& problem) {
  if (problem.direction == Direction::forward) return BatchNormPlan::Task::training;
  return is_in_training(problem) ? BatchNormPlan::Task::gradient
                                 : BatchNormPlan::Task::gradient_with_given_statistics;
}

NativeForm channel_batch_norm(const Problem& problem) {
  const MemoryLayout layout = requested_layout(problem);
  const Dims& image = problem.tensors[0].dims;
  const std::vector<std::int64_t> strides = layout_strides(image, layout);
  BatchNormPlan plan;
  plan.task = batch_norm_task(problem);
  plan.images = image[0];
  plan.channels = image[1];
  plan.plane = problem.tensors[0].elements() / (plan.images * plan.channels);
  plan.image_stride = strides[0];
  plan.channel_stride = strides[1];
  plan.position_stride = strides.back();
  plan.columns = plan.channel_stride == 1 && plan.channels > 1 ? BatchNormPlan::kColumns : 1;
  plan.source = tensor_number(problem, "source");
  plan.diff_destination = tensor_number(problem, "diff_destination");
  plan.mean = tensor_number(problem, "mean");
  plan.variance = tensor_number(problem, "variance");
  plan.scale = tensor_number(problem, "scale");
  plan.shift = tensor_number(problem, "shift");
  plan.destination = tensor_number(problem, "destination");
  plan.diff_source = tensor_number(problem, "diff_source");
  plan.diff_scale = tensor_number(problem, "diff_scale");
  plan.diff_shift = tensor_number(problem, "diff_shift");
  plan.type = to_element(problem.dtype);
  plan.epsilon = problem.parameters.real("epsilon");
  plan.precision = to_precision(problem.dtype);
  return {"bench:batch_norm_block", "batch_norm", NativePlan(plan),
          native_tensors(problem, layout)};
}

Result<NativeForm, BackendError> batch_norm_form(const Problem& problem) {
  const bool is_elementwise =
      !is_in_training(problem) && problem.direction != Direction::backward_weights;
  if (is_elementwise) return elementwise_batch_norm(problem);
  return channel_batch_norm(problem);
}

}  // namespace

extern const NativeEntry batch_norm_cuda_native;
const NativeEntry batch_norm_cuda_native = {
    .op = "batch_norm",
    .form = batch_norm_form,
    .host = {BatchNormPlan::kKernel, run_rows<BatchNormPlan>}};

}  // namespace bench::ops::cuda
