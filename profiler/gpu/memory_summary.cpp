// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/memory_summary.hpp"

#include "profiler/gpu/gpu_record.hpp"
#include "profiler/gpu/reading_counters.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace bench {
namespace {

constexpr std::string_view kLibraryRole = "library";

// Returns the role of an allocation. A role that only states the kind of memory counts as none: the
// allocation belongs to a library.
std::string find_role(const Activity& activity) {
  const std::string_view role = activity.attributes.text(Attribute::role);
  const auto kinds = enumerator_names(GpuMemoryKind::unknown);
  const bool is_kind = std::find(kinds.begin(), kinds.end(), role) != kinds.end();
  return std::string(is_kind || role.empty() ? kLibraryRole : role);
}

}  // namespace

Status GpuMemorySummary::consume(const Activity& activity) {
  if (!activity.track.device) return Done{};
  const std::pair key{activity.track.pid, *activity.track.device};
  if (activity.kind == ActivityKind::counter && activity.name == kOtherBytesCounter) {
    const auto value = activity.attributes.real(Attribute::value);
    if (!value || !std::isfinite(*value)) return Done{};
    std::optional<Bytes>& maximum = devices_[key].max_unexplained;
    maximum = std::max(maximum.value_or(Bytes{0}), Bytes{std::llround(*value)});
  }
  const auto size = activity.attributes.integer(Attribute::size_bytes);
  if (activity.kind != ActivityKind::allocation || !size) return Done{};
  std::vector<Change>& changes = devices_[key].changes;
  const std::string role = find_role(activity);
  changes.push_back({activity.start, *size, role});
  if (activity.duration) changes.push_back({activity.start + *activity.duration, -*size, role});
  return Done{};
}

void GpuMemorySummary::find_peak(std::vector<Change> changes, GpuMemoryUse& use) {
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::pair(a.at, a.bytes > 0) < std::pair(b.at, b.bytes > 0);
  });
  Bytes live{0};
  std::map<std::string, Bytes> by_role;
  for (const Change& change : changes) {
    live.count += change.bytes;
    by_role[change.role].count += change.bytes;
    if (live <= use.peak) continue;
    use.peak = live;
    use.by_role = by_role;
  }
  std::erase_if(use.by_role, [](const auto& part) { return part.second.count == 0; });
}

std::vector<GpuMemoryUse> GpuMemorySummary::devices() const {
  std::vector<GpuMemoryUse> uses;
  for (const auto& [key, device] : devices_) {
    GpuMemoryUse use;
    use.pid = key.first;
    use.device = key.second;
    use.max_unexplained = device.max_unexplained;
    find_peak(device.changes, use);
    uses.push_back(std::move(use));
  }
  return uses;
}

}  // namespace bench
