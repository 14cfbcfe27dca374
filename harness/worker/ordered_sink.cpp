// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/ordered_sink.hpp"

#include <algorithm>

namespace bench {
namespace {

Nanoseconds end_of(const Activity& activity) {
  return activity.start + activity.duration.value_or(Nanoseconds(0));
}

}  // namespace

Status OrderedSink::take(const Activity& activity) {
  if (order_ == Order::as_taken) return next_.take(activity);
  kept_.push_back(activity);
  return Done{};
}

Status OrderedSink::release() {
  std::ranges::stable_sort(kept_, [](const Activity& a, const Activity& b) {
    return end_of(a) != end_of(b) ? end_of(a) < end_of(b) : a.start > b.start;
  });
  for (const Activity& activity : kept_) BENCH_RETURN_IF_ERROR(next_.take(activity));
  kept_.clear();
  return Done{};
}

}  // namespace bench
