// SPDX-License-Identifier: Apache-2.0
#include "ops/network/buffer_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace bench::ops {

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
