// SPDX-License-Identifier: Apache-2.0
#include "ops/framework_row.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace bench::ops {
namespace {

using namespace framework;

// The axis that the result does not share with the source. If the sizes agree, every axis of this
// size has the same work.
std::optional<std::size_t> find_axis(std::span<const std::int64_t> source, std::int64_t indices,
                                     const FrameworkRange::Shape* result) {
  if (source.size() == 1) return 0;
  if (result == nullptr || result->size() != source.size()) return std::nullopt;
  std::optional<std::size_t> axis;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == (*result)[i]) continue;
    if (axis) return std::nullopt;
    axis = i;
  }
  const auto same = std::ranges::find(source, indices);
  if (!axis && same != source.end()) axis = static_cast<std::size_t>(same - source.begin());
  return axis && (*result)[*axis] == indices ? axis : std::nullopt;
}

// The arguments are the source, the axis (not shown) and the indices.
std::optional<Equivalent> make_index_select(const FrameworkCall& call, const FrameworkRow&) {
  const auto source = tensor_shape(call, 0);
  const auto indices = tensor_shape(call, 2);
  if (source.empty() || indices.size() != 1) return std::nullopt;
  const auto axis = find_axis(source, indices[0], call.output);
  if (!axis) return std::nullopt;
  ParameterSet set = default_parameters("gather");
  set.set("shape", Dims(source.begin(), source.end()));
  set.set("axis", static_cast<std::int64_t>(*axis));
  set.set("indices", indices[0]);
  return equivalent("gather", std::move(set), Fidelity::exact);
}

constexpr std::array kFrameworkRows = {FrameworkRow{"index_select", make_index_select}};

}  // namespace

extern const FrameworkMapping gather_framework;
const FrameworkMapping gather_framework = {.op = "gather", .rows = kFrameworkRows};

}  // namespace bench::ops
