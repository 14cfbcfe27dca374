// SPDX-License-Identifier: Apache-2.0
#include "ops/network/buffer_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace bench::ops {

BufferPlan plan_buffers(std::span<const StorageLife> storages) {
  assert(std::ranges::is_sorted(storages, {}, &StorageLife::first));
  // Storages in the order of their last use.
  std::vector<std::size_t> by_last_use(storages.size());
  for (std::size_t i = 0; i < by_last_use.size(); ++i) by_last_use[i] = i;
  std::ranges::stable_sort(by_last_use, {}, [&](std::size_t i) { return storages[i].last; });

  BufferPlan plan;
  plan.buffer_of.resize(storages.size());
  std::vector<std::size_t> free_buffers;
  auto next_to_free = by_last_use.begin();
  for (std::size_t i = 0; i < storages.size(); ++i) {
    // A step still reads its inputs while it writes its output. An input's buffer is therefore free
    // only for later steps: `last` < `first`.
    for (; next_to_free != by_last_use.end() && storages[*next_to_free].last < storages[i].first;
         ++next_to_free) {
      free_buffers.push_back(plan.buffer_of[*next_to_free]);
    }
    if (free_buffers.empty()) {
      free_buffers.push_back(plan.sizes.size());
      plan.sizes.push_back(0);
    }
    const std::size_t buffer = free_buffers.back();
    free_buffers.pop_back();
    plan.buffer_of[i] = buffer;
    plan.sizes[buffer] = std::max(plan.sizes[buffer], storages[i].bytes);
  }
  return plan;
}

std::string count_kinds(std::span<const std::string_view> kinds, std::string_view noun) {
  std::vector<std::pair<std::string_view, int>> counts;
  for (const std::string_view kind : kinds) {
    const auto entry = std::ranges::find(counts, kind, &std::pair<std::string_view, int>::first);
    if (entry == counts.end()) {
      counts.emplace_back(kind, 1);
    } else {
      ++entry->second;
    }
  }
  std::vector<std::string> parts;
  for (const auto& [kind, count] : counts) parts.push_back(fmt::format("{} {}", count, kind));
  return fmt::format("{} {}: {}", kinds.size(), noun, fmt::join(parts, ", "));
}

}  // namespace bench::ops
