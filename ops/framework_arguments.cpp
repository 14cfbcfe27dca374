// SPDX-License-Identifier: Apache-2.0
#include "ops/framework_arguments.hpp"

#include "ops/operator.hpp"
#include "ops/spatial.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace bench::ops {
namespace {

using Arguments = std::vector<FrameworkArgument>;
using Numbers = std::vector<std::int64_t>;

struct DtypeRow {
  std::string_view name;
  DataType dtype;
};
constexpr std::array<DtypeRow, 7> kDtypes = {{{"float64", DataType::f64},
                                              {"double", DataType::f64},
                                              {"float32", DataType::f32},
                                              {"float", DataType::f32},
                                              {"float16", DataType::f16},
                                              {"half", DataType::f16},
                                              {"bfloat16", DataType::bf16}}};

// Finds an argument by its name, else by its position.
const FrameworkArgument* find(const Arguments& arguments, std::string_view name,
                              std::size_t place) {
  const auto named = std::ranges::find(arguments, name, &FrameworkArgument::name);
  if (named != arguments.end()) return &*named;
  return place < arguments.size() && arguments[place].name.empty() ? &arguments[place] : nullptr;
}

bool is_none(const FrameworkArgument* argument) {
  return argument == nullptr || argument->type == "NoneType";
}

// Returns one number for all dimensions or one for each, or `fallback` if the argument is missing.
// Returns nullopt for other forms.
std::optional<Numbers> numbers(const Arguments& arguments, std::string_view name, std::size_t place,
                               std::size_t rank, Numbers fallback) {
  const FrameworkArgument* argument = find(arguments, name, place);
  if (is_none(argument)) return fallback;
  const bool is_empty_list = argument->numbers.empty() && argument->type != "str";
  if (is_empty_list && !fallback.empty()) return fallback;  // stride=() of a pooling
  if (argument->numbers.size() == 1) return Numbers(rank, argument->numbers.front());
  if (argument->numbers.size() != rank) return std::nullopt;
  return argument->numbers;
}

std::optional<bool> flag(const Arguments& arguments, std::string_view name, std::size_t place,
                         bool fallback) {
  const auto value = numbers(arguments, name, place, 1, {fallback ? 1 : 0});
  if (!value) return std::nullopt;
  return value->front() != 0;
}

std::vector<PadPair> pairs_of(const Numbers& pads) {
  std::vector<PadPair> pairs;
  for (const std::int64_t pad : pads) pairs.push_back({pad, pad});
  return pairs;
}

// Returns n, c and sizes of an image with `rank` spatial dimensions; empty for others.
std::span<const std::int64_t> image(const Arguments& arguments, std::size_t rank) {
  const FrameworkArgument* source = find(arguments, "input", 0);
  if (source == nullptr || source->shape.size() != kFirstSpatial + rank) return {};
  return source->shape;
}

std::optional<ProblemRequest> request(std::string_view op, ParameterSet parameters) {
  ProblemRequest request;
  request.op = find_operator(op);
  request.parameters = std::move(parameters);
  return request;
}

ParameterSet image_parameters(std::string_view op, std::span<const std::int64_t> source) {
  ParameterSet set(find_operator(op)->parameters);
  set.set("n", source[0]);
  set.set("c", source[1]);
  set_spatial_sizes(set, kSpatialSizeNames, source.subspan(kFirstSpatial));
  return set;
}

// (input, weight, bias, stride, padding, dilation, groups)
std::optional<ProblemRequest> convolution(const Arguments& arguments, std::size_t rank) {
  const auto source = image(arguments, rank);
  const FrameworkArgument* weights = find(arguments, "weight", 1);
  const auto stride = numbers(arguments, "stride", 3, rank, Numbers(rank, 1));
  const auto pad = numbers(arguments, "padding", 4, rank, Numbers(rank, 0));
  const auto dilation = numbers(arguments, "dilation", 5, rank, Numbers(rank, 1));
  const auto groups = numbers(arguments, "groups", 6, 1, {1});
  if (source.empty() || weights == nullptr || weights->shape.size() != source.size() || !stride ||
      !pad || !dilation || !groups) {
    return std::nullopt;
  }
  const Numbers& kernel = weights->shape;
  const std::int64_t per_group = kernel[1];
  if (per_group < 1 || groups->front() < 1 || source[1] % groups->front() != 0 ||
      source[1] / groups->front() != per_group) {
    return std::nullopt;
  }
  ParameterSet set = image_parameters("conv", source);
  set.set("k", kernel[0]);
  set.set("g", groups->front());
  set_spatial_sizes(set, kKernelSizeNames, std::span(kernel).subspan(kFirstSpatial));
  set.set("stride", *stride);
  set.set("pad", pairs_of(*pad));
  set.set("dilation", *dilation);
  const FrameworkArgument* bias = find(arguments, "bias", 2);
  set.set("bias", !is_none(bias) && !bias->shape.empty());
  return request("conv", std::move(set));
}

std::optional<ProblemRequest> pooling(const Arguments& arguments, std::size_t rank,
                                      std::string function) {
  const auto source = image(arguments, rank);
  const auto window = numbers(arguments, "kernel_size", 1, rank, {});
  if (source.empty() || !window || window->empty()) return std::nullopt;
  const auto stride = numbers(arguments, "stride", 2, rank, *window);
  const auto pad = numbers(arguments, "padding", 3, rank, Numbers(rank, 0));
  if (!stride || !pad) return std::nullopt;
  ParameterSet set = image_parameters("pool", source);
  set.set("function", std::move(function));
  set.set("window", *window);
  set.set("stride", *stride);
  set.set("pad", pairs_of(*pad));
  return request("pool", std::move(set));
}

// (input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)
std::optional<ProblemRequest> max_pooling(const Arguments& arguments, std::size_t rank) {
  const Numbers dense(rank, 1);
  if (numbers(arguments, "dilation", 4, rank, dense) != dense) return std::nullopt;
  if (flag(arguments, "ceil_mode", 5, false) != false) return std::nullopt;
  return pooling(arguments, rank, "max");
}

// (input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
std::optional<ProblemRequest> average_pooling(const Arguments& arguments, std::size_t rank) {
  const auto includes_pad = flag(arguments, "count_include_pad", 5, true);
  if (flag(arguments, "ceil_mode", 4, false) != false || !includes_pad) return std::nullopt;
  return pooling(arguments, rank, *includes_pad ? "avg_include_pad" : "avg_exclude_pad");
}

// (input, running_mean, running_var, weight, bias, training, momentum, eps)
std::optional<ProblemRequest> batch_norm(const Arguments& arguments, std::size_t) {
  const FrameworkArgument* source = find(arguments, "input", 0);
  if (source == nullptr || source->shape.size() <= kFirstSpatial ||
      source->shape.size() > kFirstSpatial + kMaxSpatialRank) {
    return std::nullopt;
  }
  if (flag(arguments, "training", 5, false) != false) return std::nullopt;
  return request("batch_norm", image_parameters("batch_norm", source->shape));
}

struct FunctionRow {
  std::string_view name;
  std::optional<ProblemRequest> (*request)(const Arguments& arguments, std::size_t rank);
  std::size_t rank;
};
constexpr std::array<FunctionRow, 10> kFunctionRows = {{{"conv1d", convolution, 1},
                                                        {"conv2d", convolution, 2},
                                                        {"conv3d", convolution, 3},
                                                        {"max_pool1d", max_pooling, 1},
                                                        {"max_pool2d", max_pooling, 2},
                                                        {"max_pool3d", max_pooling, 3},
                                                        {"avg_pool1d", average_pooling, 1},
                                                        {"avg_pool2d", average_pooling, 2},
                                                        {"avg_pool3d", average_pooling, 3},
                                                        {"batch_norm", batch_norm, 0}}};

}  // namespace

std::optional<ProblemRequest> request_of_arguments(
    std::string_view name, const std::vector<FrameworkArgument>& arguments) {
  const auto row = std::ranges::find(kFunctionRows, name, &FunctionRow::name);
  if (row == kFunctionRows.end()) return std::nullopt;
  return row->request(arguments, row->rank);
}

std::optional<DataType> dtype_of_arguments(const std::vector<FrameworkArgument>& arguments) {
  std::string_view name;
  for (const FrameworkArgument& argument : arguments) {
    if (argument.dtype.empty()) continue;
    if (!name.empty() && name != argument.dtype) return std::nullopt;
    name = argument.dtype;
  }
  const auto row = std::ranges::find(kDtypes, name, &DtypeRow::name);
  return row == kDtypes.end() ? std::nullopt : std::optional(row->dtype);
}

}  // namespace bench::ops
