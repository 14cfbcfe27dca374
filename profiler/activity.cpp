// SPDX-License-Identifier: Apache-2.0
#include "profiler/activity.hpp"

namespace bench {

bool is_executed(const Activity& activity) {
  return activity.kind != ActivityKind::primitive ||
         activity.attributes.text(Attribute::phase).empty() || is_onednn_execution(activity);
}

bool is_onednn_execution(const Activity& activity) {
  return activity.kind == ActivityKind::primitive &&
         activity.attributes.text(Attribute::phase) == "exec";
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
