// SPDX-License-Identifier: Apache-2.0
// The profile pass writes a range named "iteration" after the activities of each iteration. The
// activities have the iteration number of the range and start within it.
#include "harness/store/iteration_sink.hpp"

#include "profiler/analysis/kinds.hpp"

#include <algorithm>
#include <utility>

namespace bench {
namespace {

StoredActivity to_stored_activity(const Activity& activity) {
  StoredActivity result;
  result.kind = to_string(activity.kind);
  result.name = activity.name;
  result.implementation = activity.attributes.text(Attribute::implementation);
  result.scope = activity.scope;
  result.start = activity.start;
  result.duration = *activity.duration;
  result.flops = activity.attributes.integer(Attribute::flops);
  result.bytes = activity.attributes.integer(Attribute::bytes);
  return result;
}

// Makes start times relative to the range. Drops activities with values that the store rejects.
StoredProfile make_iteration(const Activity& range, std::vector<StoredActivity> activities) {
  StoredProfile profile;
  profile.duration = *range.duration;
  for (StoredActivity& activity : activities) {
    activity.start -= range.start;
    const bool is_valid = activity.start >= Nanoseconds(0) && activity.duration >= Nanoseconds(0) &&
                          activity.flops.value_or(0) >= 0 && activity.bytes.value_or(0) >= 0;
    if (is_valid) profile.activities.push_back(std::move(activity));
  }
  return profile;
}

}  // namespace

Status IterationSink::consume(const Activity& activity) {
  const auto number = activity.attributes.integer(Attribute::iteration);
  if (!number || !activity.duration || activity.case_id.empty()) return Done{};
  Case& entry = cases_[activity.case_id];
  if (analysis::is_work(activity.kind)) {
    entry.unfinished[*number].push_back(to_stored_activity(activity));
  } else if (activity.kind == ActivityKind::range && activity.name == "iteration") {
    auto node = entry.unfinished.extract(*number);
    if (node.empty() || *activity.duration < Nanoseconds(0)) return Done{};
    if (entry.iterations.size() < kMaxIterations)
      entry.iterations.push_back(make_iteration(activity, std::move(node.mapped())));
  }
  return Done{};
}

std::map<std::string, StoredProfile> IterationSink::profiles() const {
  std::map<std::string, StoredProfile> result;
  for (const auto& [id, entry] : cases_) {
    if (entry.iterations.empty()) continue;
    std::vector<const StoredProfile*> order;
    for (const StoredProfile& iteration : entry.iterations) order.push_back(&iteration);
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>((order.size() - 1) / 2);
    std::ranges::nth_element(order, middle, {},
                             [](const StoredProfile* iteration) { return iteration->duration; });
    result.emplace(id, limit_profile(**middle, kMaxProfile));
  }
  return result;
}

}  // namespace bench
