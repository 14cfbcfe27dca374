// SPDX-License-Identifier: Apache-2.0
#include "ops/backend/backend_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

namespace bench::ops {

void BackendSet::add(std::string name, std::string device, Maker make, Probe probe) {
  entries_.push_back({std::move(name), std::move(device), std::move(make), std::move(probe),
                      nullptr, std::nullopt});
}

namespace {

BackendError thrown_error(std::string_view place, const std::exception& exception) {
  if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr)
    return {BackendError::Kind::skipped, "not enough memory on this machine"};
  return {BackendError::Kind::failed, fmt::format("{}: it threw `{}`", place, exception.what())};
}

// A maker and a probe return their errors. If one throws, that is an error of its backend only.
Result<std::unique_ptr<Backend>, BackendError> make_guarded(std::string_view name,
                                                            const BackendSet::Maker& make) {
  try {
    return make();
  } catch (const std::exception& exception) {
    return thrown_error(fmt::format("backend `{}` did not open", name), exception);
  }
}

Result<std::optional<LibraryInfo>, std::string> probe_guarded(std::string_view name,
                                                              const BackendSet::Probe& probe) {
  try {
    return probe();
  } catch (const std::exception& exception) {
    return thrown_error(fmt::format("backend `{}` was not found", name), exception).reason;
  }
}

}  // namespace

Result<Backend*, BackendError> BackendSet::find(std::string_view name) {
  const auto entry = std::ranges::find(entries_, name, &Entry::name);
  if (entry == entries_.end()) return first_;
  if (entry->error) return *entry->error;
  if (!entry->backend) {
    auto backend = make_guarded(entry->name, entry->make);
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
    auto probed = probe_guarded(entry.name, entry.probe);
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
