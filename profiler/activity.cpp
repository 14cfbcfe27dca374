// SPDX-License-Identifier: Apache-2.0
#include "profiler/activity.hpp"

#include <algorithm>
#include <array>

namespace bench {
namespace {

constexpr std::array<std::string_view, 14> kKindNames = {
    "operator", "primitive", "kernel", "memcpy", "memset",  "allocation", "synchronisation",
    "api",      "overhead",  "range",  "marker", "counter", "process",    "sample"};

}  // namespace

std::span<const std::string_view> activity_kind_names() { return kKindNames; }

std::string_view to_string(ActivityKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

std::optional<ActivityKind> activity_kind_from_name(std::string_view name) {
  const auto found = std::find(kKindNames.begin(), kKindNames.end(), name);
  if (found == kKindNames.end()) return std::nullopt;
  return static_cast<ActivityKind>(found - kKindNames.begin());
}

Activity make_counter(std::string_view name, Nanoseconds at, double value, std::string_view unit) {
  Activity counter;
  counter.kind = ActivityKind::counter;
  counter.name = name;
  counter.start = at;
  counter.attributes.set(Attribute::value, value);
  counter.attributes.set(Attribute::value_unit, unit);
  return counter;
}

}  // namespace bench
