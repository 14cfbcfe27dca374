// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/announcements.hpp"

#include <algorithm>

namespace bench {
namespace {

// Threads times nesting depth in real files. If there are more, the oldest counts as unfinished and
// is forwarded.
constexpr std::size_t kMaxOpen = 1024;

// A primitive is announced together with its operator and begins when the library reaches it.
bool ends(const Activity& activity, const Activity& begun) {
  if (activity.kind != begun.kind || activity.track != begun.track || activity.name != begun.name)
    return false;
  if (activity.kind != ActivityKind::primitive) return activity.start == begun.start;
  return activity.start >= begun.start && activity.attributes.text(Attribute::phase) != "create";
}

}  // namespace

Status BeginRecordMerger::consume(const Activity& activity) {
  if (activity.attributes.find(Attribute::unfinished) != nullptr && !activity.duration) {
    open_.push_back(activity);
    if (open_.size() <= kMaxOpen) return Done{};
    const Activity oldest = std::move(open_.front());
    open_.pop_front();
    return next_.consume(oldest);
  }
  if (!open_.empty()) {
    // Searches backwards: what ended last began last.
    const auto found = std::find_if(open_.rbegin(), open_.rend(),
                                    [&](const Activity& begun) { return ends(activity, begun); });
    if (found != open_.rend()) open_.erase(std::next(found).base());
  }
  return next_.consume(activity);
}

Status BeginRecordMerger::finish() {
  for (const Activity& activity : open_) BENCH_RETURN_IF_ERROR(next_.consume(activity));
  open_.clear();
  return Done{};
}

}  // namespace bench
