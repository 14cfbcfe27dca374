// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/announcements.hpp"

#include <algorithm>

namespace bench {
namespace {

// Threads times depth of nesting, in real files; beyond it the oldest never ends.
constexpr std::size_t kMostOpen = 1024;

bool same(const Activity& a, const Activity& b) {
  return a.start == b.start && a.kind == b.kind && a.track == b.track && a.name == b.name;
}

}  // namespace

Status Announcements::take(const Activity& activity) {
  if (activity.attributes.find(Attribute::unfinished) != nullptr && !activity.duration) {
    open_.push_back(activity);
    if (open_.size() <= kMostOpen) return Done{};
    const Activity oldest = std::move(open_.front());
    open_.pop_front();
    return next_.take(oldest);
  }
  if (!open_.empty()) {
    // What ended last began last.
    const auto found = std::find_if(open_.rbegin(), open_.rend(),
                                    [&](const Activity& begun) { return same(begun, activity); });
    if (found != open_.rend()) open_.erase(std::next(found).base());
  }
  return next_.take(activity);
}

Status Announcements::finish() {
  for (const Activity& activity : open_) BENCH_RETURN_IF_ERROR(next_.take(activity));
  open_.clear();
  return Done{};
}

}  // namespace bench
