// SPDX-License-Identifier: Apache-2.0
#include "ops/network/buffer_plan.hpp"

#include <algorithm>
#include <cassert>

namespace bench::ops {

BufferPlan plan_buffers(std::span<const StorageLife> storages) {
  assert(std::ranges::is_sorted(storages, {}, &StorageLife::first));
  // Storages in the order of their last use.
  std::vector<std::size_t> by_end(storages.size());
  for (std::size_t i = 0; i < by_end.size(); ++i) by_end[i] = i;
  std::ranges::stable_sort(by_end, {}, [&](std::size_t i) { return storages[i].last; });

  BufferPlan plan;
  plan.buffer_of.resize(storages.size());
  std::vector<std::size_t> free;
  auto ended = by_end.begin();
  for (std::size_t i = 0; i < storages.size(); ++i) {
    // A step still reads its inputs while it writes its output. An input's buffer is therefore free
    // only for later steps: `last` < `first`.
    for (; ended != by_end.end() && storages[*ended].last < storages[i].first; ++ended) {
      free.push_back(plan.buffer_of[*ended]);
    }
    if (free.empty()) {
      free.push_back(plan.sizes.size());
      plan.sizes.push_back(0);
    }
    const std::size_t buffer = free.back();
    free.pop_back();
    plan.buffer_of[i] = buffer;
    plan.sizes[buffer] = std::max(plan.sizes[buffer], storages[i].bytes);
  }
  return plan;
}

}  // namespace bench::ops
