// SPDX-License-Identifier: Apache-2.0
#include "ops/framework_row.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

namespace bench::ops {
namespace {

using namespace framework;

// The arguments are input, normalized_shape, weight, bias, eps. The list normalized_shape is not
// recorded, but the shape of the weights is. Without weights, the axis does not change the work.
// Epsilon stays unknown.
std::optional<Equivalent> make_layer_norm(const FrameworkCall& call, const FrameworkRow&) {
  const auto source = tensor_shape(call, 0);
  const auto scale = tensor_shape(call, 2);
  const auto shift = tensor_shape(call, 3);
  const auto fits = [&](std::span<const std::int64_t> group) {
    return group.size() <= source.size() && std::ranges::equal(group, source.last(group.size()));
  };
  const bool is_consistent = scale.empty() || shift.empty() || std::ranges::equal(scale, shift);
  if (source.empty() || !fits(scale) || !fits(shift) || !is_consistent) return std::nullopt;
  const std::size_t normalised_rank = std::max<std::size_t>({1, scale.size(), shift.size()});
  ParameterSet set = default_parameters("layer_norm");
  set.set("shape", Dims(source.begin(), source.end()));
  set.set("axis", static_cast<std::int64_t>(source.size() - normalised_rank));
  set.set("scale", !scale.empty());
  set.set("shift", !shift.empty());
  return equivalent("layer_norm", std::move(set));
}

constexpr std::array kFrameworkRows = {
    FrameworkRow{"layer_norm", make_layer_norm},
    FrameworkRow{"native_layer_norm", make_layer_norm},
};

}  // namespace

extern const FrameworkMapping layer_norm_framework;
const FrameworkMapping layer_norm_framework = {.op = "layer_norm", .rows = kFrameworkRows};

}  // namespace bench::ops
