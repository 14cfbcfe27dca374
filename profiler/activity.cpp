// SPDX-License-Identifier: Apache-2.0
#include "profiler/activity.hpp"

#include <algorithm>
#include <array>

namespace bench {
namespace {

constexpr std::array<std::string_view, 12> kKindNames = {
    "operator",        "primitive", "kernel",   "memcpy", "memset", "allocation",
    "synchronisation", "api",       "overhead", "range",  "marker", "counter"};

}  // namespace

std::span<const std::string_view> activity_kind_names() { return kKindNames; }

std::string_view to_string(ActivityKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

std::optional<ActivityKind> activity_kind_from_name(std::string_view name) {
  const auto found = std::find(kKindNames.begin(), kKindNames.end(), name);
  if (found == kKindNames.end()) return std::nullopt;
  return static_cast<ActivityKind>(found - kKindNames.begin());
}

}  // namespace bench
