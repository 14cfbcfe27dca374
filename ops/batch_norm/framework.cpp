// SPDX-License-Identifier: Apache-2.0
#include "ops/framework_row.hpp"

#include <array>
#include <optional>

namespace bench::ops {
namespace {

using namespace framework;

// Reads the arguments of PyTorch's batch_norm: (input, running_mean, running_var, weight, bias,
// training, momentum, eps). Returns nullopt for a call in training mode.
std::optional<ProblemRequest> request_inference(const Arguments& arguments, const FrameworkRow&) {
  const FrameworkArgument* source = find_argument(arguments, "input", 0);
  if (source == nullptr || source->shape.size() <= kFirstSpatial ||
      source->shape.size() > kFirstSpatial + kMaxSpatialRank) {
    return std::nullopt;
  }
  if (argument_flag(arguments, "training", 5, false) != false) return std::nullopt;
  return make_request("batch_norm", image_parameters("batch_norm", source->shape));
}

constexpr std::array kFrameworkRows = {
    FrameworkRow{"batch_norm", nullptr, request_inference},
};

}  // namespace

extern const FrameworkMapping batch_norm_framework;
const FrameworkMapping batch_norm_framework = {.op = "batch_norm", .rows = kFrameworkRows};

}  // namespace bench::ops
