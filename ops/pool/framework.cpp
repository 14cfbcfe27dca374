// SPDX-License-Identifier: Apache-2.0
#include "ops/framework_row.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

using namespace framework;

// Returns the average over equal windows. Returns nullopt unless the output sizes divide the input
// sizes, because the windows would then differ in size.
std::optional<Equivalent> make_adaptive_average(const FrameworkCall& call,
                                                const FrameworkRow& row) {
  const auto source = tensor_shape(call, 0);
  if (call.output == nullptr || source.size() != kFirstSpatial + row.spatial_rank ||
      call.output->size() != source.size()) {
    return std::nullopt;
  }
  std::vector<std::int64_t> window;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::int64_t size = (*call.output)[i];
    if (size < 1 || source[i] % size != 0) return std::nullopt;
    if (i < kFirstSpatial && size != source[i]) return std::nullopt;
    if (i >= kFirstSpatial) window.push_back(source[i] / size);
  }
  ParameterSet set = default_parameters("pool");
  set.set("function", std::string("avg_exclude_pad"));
  set.set("n", source[0]);
  set.set("c", source[1]);
  set_spatial_sizes(set, kSpatialSizeNames, source.subspan(kFirstSpatial));
  set.set("window", std::move(window));
  return equivalent("pool", std::move(set));
}

std::optional<ProblemRequest> request_pooling(const Arguments& arguments, std::size_t rank,
                                              std::string function) {
  const auto source = image_argument(arguments, rank);
  const auto window = argument_numbers(arguments, "kernel_size", 1, rank, {});
  if (source.empty() || !window || window->empty()) return std::nullopt;
  const auto stride = argument_numbers(arguments, "stride", 2, rank, *window);
  const auto pad = argument_numbers(arguments, "padding", 3, rank, Numbers(rank, 0));
  if (!stride || !pad) return std::nullopt;
  ParameterSet set = image_parameters("pool", source);
  set.set("function", std::move(function));
  set.set("window", *window);
  set.set("stride", *stride);
  set.set("pad", to_pad_pairs(*pad));
  return make_request("pool", std::move(set));
}

// Reads the arguments of the call: (input, kernel_size, stride, padding, dilation, ceil_mode,
// return_indices).
std::optional<ProblemRequest> request_max_pooling(const Arguments& arguments,
                                                  const FrameworkRow& row) {
  const std::size_t rank = row.spatial_rank;
  const Numbers dense(rank, 1);
  if (argument_numbers(arguments, "dilation", 4, rank, dense) != dense) return std::nullopt;
  if (argument_flag(arguments, "ceil_mode", 5, false) != false) return std::nullopt;
  return request_pooling(arguments, rank, "max");
}

// Reads the arguments of the call: (input, kernel_size, stride, padding, ceil_mode,
// count_include_pad, divisor_override).
std::optional<ProblemRequest> request_average_pooling(const Arguments& arguments,
                                                      const FrameworkRow& row) {
  const std::size_t rank = row.spatial_rank;
  const auto includes_pad = argument_flag(arguments, "count_include_pad", 5, true);
  if (argument_flag(arguments, "ceil_mode", 4, false) != false || !includes_pad)
    return std::nullopt;
  return request_pooling(arguments, rank, *includes_pad ? "avg_include_pad" : "avg_exclude_pad");
}

constexpr std::array kFrameworkRows = {
    FrameworkRow{"adaptive_avg_pool1d", make_adaptive_average, nullptr, {}, 1},
    FrameworkRow{"adaptive_avg_pool2d", make_adaptive_average, nullptr, {}, 2},
    FrameworkRow{"_adaptive_avg_pool2d", make_adaptive_average, nullptr, {}, 2},
    FrameworkRow{"adaptive_avg_pool3d", make_adaptive_average, nullptr, {}, 3},
    FrameworkRow{"max_pool1d", nullptr, request_max_pooling, {}, 1},
    FrameworkRow{"max_pool2d", nullptr, request_max_pooling, {}, 2},
    FrameworkRow{"max_pool3d", nullptr, request_max_pooling, {}, 3},
    FrameworkRow{"avg_pool1d", nullptr, request_average_pooling, {}, 1},
    FrameworkRow{"avg_pool2d", nullptr, request_average_pooling, {}, 2},
    FrameworkRow{"avg_pool3d", nullptr, request_average_pooling, {}, 3},
};

}  // namespace

extern const FrameworkMapping pool_framework;
const FrameworkMapping pool_framework = {.op = "pool", .rows = kFrameworkRows};

}  // namespace bench::ops
