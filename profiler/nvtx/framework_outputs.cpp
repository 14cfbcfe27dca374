// SPDX-License-Identifier: Apache-2.0
#include "profiler/nvtx/framework_outputs.hpp"

#include <array>
#include <span>
#include <string_view>

namespace bench {
namespace {

// Parts of the names of operators whose output shapes depend on strides and paddings, or on a
// requested size. Ranges do not contain these numbers.
constexpr std::array<std::string_view, 2> kForwardNames = {"conv", "adaptive_avg_pool"};
constexpr std::array<std::string_view, 2> kBackwardNames = {"Convolution", "AdaptiveAvgPool"};

bool contains_any(std::string_view name, std::span<const std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

bool FrameworkOutputs::concerns(const FrameworkRange& range) {
  return range.direction != FrameworkDirection::backward && contains_any(range.name, kForwardNames);
}

void FrameworkOutputs::note(std::int64_t pid, const FrameworkRange& range, Level level) {
  // Only the first consumer counts: later the number may refer to another tensor at the same
  // address.
  for (std::size_t i = 0; i < range.origins.size(); ++i) {
    if (range.origins[i].output != 0 || range.inputs[i].empty()) continue;
    const auto producer = by_op_id_.find({pid, range.origins[i].op_id});
    if (producer != by_op_id_.end() && !producer->second) producer->second = range.inputs[i];
  }
  if (concerns(range)) {
    if (range.op_id) by_op_id_.try_emplace({pid, *range.op_id});
    if (range.sequence && level == Level::outermost) ++by_sequence_[{pid, *range.sequence}].forward;
    return;
  }
  const bool has_gradient =
      range.sequence && !range.inputs.empty() && contains_any(range.name, kBackwardNames);
  if (!has_gradient) return;
  Gradient& gradient = by_sequence_[{pid, *range.sequence}];
  ++gradient.backward;
  gradient.shape = range.inputs.front();
}

const FrameworkRange::Shape* FrameworkOutputs::find(std::int64_t pid,
                                                    const FrameworkRange& range) const {
  if (!concerns(range)) return nullptr;
  if (range.op_id) {
    const auto found = by_op_id_.find({pid, *range.op_id});
    if (found != by_op_id_.end() && found->second) return &*found->second;
  }
  if (!range.sequence) return nullptr;
  const auto found = by_sequence_.find({pid, *range.sequence});
  if (found == by_sequence_.end()) return nullptr;
  const Gradient& gradient = found->second;
  const bool is_unique = gradient.forward == 1 && gradient.backward == 1;
  return is_unique && !gradient.shape.empty() ? &gradient.shape : nullptr;
}

}  // namespace bench
