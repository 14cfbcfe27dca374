// SPDX-License-Identifier: Apache-2.0
#include "ops/backend/backend_set.hpp"

#include <algorithm>
#include <utility>

namespace bench::ops {

void BackendSet::add(std::string name, std::string device, Maker make, Probe probe) {
  entries_.push_back({std::move(name), std::move(device), std::move(make), std::move(probe),
                      nullptr, std::nullopt});
}

Result<Backend*, BackendError> BackendSet::find(std::string_view name) {
  const auto entry = std::ranges::find(entries_, name, &Entry::name);
  if (entry == entries_.end()) return first_;
  if (entry->error) return *entry->error;
  if (!entry->backend) {
    auto backend = entry->make();
    if (!backend) {
      entry->error = backend.error();
      return *entry->error;
    }
    entry->backend = std::move(backend).value();
  }
  return entry->backend.get();
}

std::vector<BackendSet::Availability> BackendSet::others(
    const std::optional<std::vector<std::string>>& names) const {
  std::vector<Availability> result;
  for (const Entry& entry : entries_) {
    if (names && std::ranges::find(*names, entry.name) == names->end()) continue;
    auto probed = entry.probe();
    Availability& row = result.emplace_back(Availability{entry.name, entry.device, std::nullopt});
    if (probed) {
      row.library = std::move(probed).value();
    } else {
      row.missing = std::move(probed).error();
    }
  }
  return result;
}

}  // namespace bench::ops
