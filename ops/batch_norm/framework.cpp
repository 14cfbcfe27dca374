// SPDX-License-Identifier: Apache-2.0
// Functions of PyTorch. A running average of the statistics is not counted.
#include "ops/framework_row.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bench::ops {
namespace {

using namespace framework;

bool is_image_shape(std::span<const std::int64_t> shape) {
  return shape.size() >= kFirstSpatial && shape.size() <= kFirstSpatial + kMaxSpatialRank;
}

// The parameters of images, or of rows of channels, which have one element per channel.
ParameterSet batch_norm_parameters(std::span<const std::int64_t> shape, std::string_view mode,
                                   bool has_scale, bool has_shift) {
  ParameterSet set = image_parameters("batch_norm", shape);
  if (shape.size() == kFirstSpatial) set.set("w", std::int64_t{1});
  set.set("mode", std::string(mode));
  set.set("scale", has_scale);
  set.set("shift", has_shift);
  return set;
}

// Reads the arguments of PyTorch's batch_norm: (input, running_mean, running_var, weight, bias,
// training, momentum, eps).
std::optional<ProblemRequest> request_call(const Arguments& arguments, const FrameworkRow&) {
  const FrameworkArgument* source = find_argument(arguments, "input", 0);
  if (source == nullptr || !is_image_shape(source->shape)) return std::nullopt;
  const auto trains = argument_flag(arguments, "training", 5, false);
  if (!trains) return std::nullopt;
  const auto is_present = [&](std::string_view name, std::size_t position) {
    return !is_none(find_argument(arguments, name, position));
  };
  return make_request("batch_norm",
                      batch_norm_parameters(source->shape, *trains ? "training" : "inference",
                                            is_present("weight", 3), is_present("bias", 4)));
}

// Where a function of aten has its arguments. The shapes show whether it trains only if the caller
// has no running statistics, or if the function exists for training alone.
struct BatchNormCall {
  std::string_view name;
  Direction direction;
  std::size_t source, scale;
  // Without this tensor, a forward call trains; with it, a backward call has statistics of the
  // batch.
  std::optional<std::size_t> statistic = std::nullopt;
  std::optional<std::size_t> gradient = std::nullopt;
};
constexpr BatchNormCall kCalls[] = {
    // (input, weight, bias, running_mean, running_var, training, momentum, eps)
    {"batch_norm", Direction::forward, 0, 1, 3},
    {"_batch_norm_impl_index", Direction::forward, 0, 1, 3},
    {"native_batch_norm", Direction::forward, 0, 1, 3},
    {"_native_batch_norm_legit", Direction::forward, 0, 1, 3},
    {"cudnn_batch_norm", Direction::forward, 0, 1, 3},
    // (input, weight, bias, running_mean, running_var, momentum, eps)
    {"_batch_norm_with_update", Direction::forward, 0, 1},
    // (grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, ...)
    {"native_batch_norm_backward", Direction::backward_weights, 1, 2, 5, 0},
    {"batch_norm_backward", Direction::backward_weights, 1, 2, 5, 0},
    // (input, grad_output, weight, running_mean, running_var, save_mean, save_var, ...)
    {"cudnn_batch_norm_backward", Direction::backward_weights, 0, 2, std::nullopt, 1},
};

bool is_of_channels(std::span<const std::int64_t> shape, std::int64_t channels) {
  return shape.size() == 1 && shape.front() == channels;
}

// Returns whether the shapes show that the call computes, or uses, the statistics of the batch.
bool shows_training(const FrameworkCall& call, const BatchNormCall& row, std::int64_t channels) {
  if (!row.statistic) return true;
  if (call.inputs->size() <= *row.statistic) return false;
  const auto statistic = tensor_shape(call, *row.statistic);
  return row.direction == Direction::forward ? statistic.empty()
                                             : is_of_channels(statistic, channels);
}

std::optional<Equivalent> training_by_shapes(const FrameworkCall& call, const FrameworkRow& row) {
  if (call.arguments != nullptr) return std::nullopt;  // they are those of another function
  const auto* found = std::ranges::find(kCalls, row.name, &BatchNormCall::name);
  const auto source = tensor_shape(call, found->source);
  const auto scale = tensor_shape(call, found->scale);
  if (!is_image_shape(source) || !shows_training(call, *found, source[1])) return std::nullopt;
  if (!scale.empty() && !is_of_channels(scale, source[1])) return std::nullopt;
  if (found->gradient && !std::ranges::equal(tensor_shape(call, *found->gradient), source)) {
    return std::nullopt;
  }
  // A norm has both coefficients or none (torch.nn.BatchNorm2d).
  auto result = equivalent(
      "batch_norm", batch_norm_parameters(source, "training", !scale.empty(), !scale.empty()));
  if (result) result->request.direction = found->direction;
  return result;
}

constexpr std::array kFrameworkRows = {
    FrameworkRow{"batch_norm", training_by_shapes, request_call},
    FrameworkRow{"_batch_norm_impl_index", training_by_shapes},
    FrameworkRow{"native_batch_norm", training_by_shapes},
    FrameworkRow{"_native_batch_norm_legit", training_by_shapes},
    FrameworkRow{"cudnn_batch_norm", training_by_shapes},
    FrameworkRow{"_batch_norm_with_update", training_by_shapes},
    FrameworkRow{"native_batch_norm_backward", training_by_shapes},
    FrameworkRow{"batch_norm_backward", training_by_shapes},
    FrameworkRow{"cudnn_batch_norm_backward", training_by_shapes},
};

}  // namespace

extern const FrameworkMapping batch_norm_framework;
const FrameworkMapping batch_norm_framework = {.op = "batch_norm", .rows = kFrameworkRows};

}  // namespace bench::ops
