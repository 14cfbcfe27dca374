// SPDX-License-Identifier: Apache-2.0
// Bounds the number of different names in a stream, so that tables by name fit in memory.
#pragma once

#include "profiler/activity.hpp"

#include <cstddef>
#include <string_view>
#include <unordered_set>

namespace bench::analysis {

// Programs that put a number into each name have as many names as activities.
inline constexpr std::string_view kFurtherNames = "(further names)";

// Replaces names, layers and domains by kFurtherNames after the first `limit` different ones of
// each.
class BoundedNames {
 public:
  // A row of a summary takes about 2 KB, most of it for quantiles.
  static constexpr std::size_t kMaxNames = 50'000;
  explicit BoundedNames(std::size_t limit = kMaxNames) : limit_(limit) {}

  // Returns the activity, or a copy with other names that is valid until the next call.
  const Activity& bound(const Activity& activity);
  bool has_joined() const { return has_joined_; }

 private:
  using Hashes = std::unordered_set<std::size_t>;
  bool is_within_limit(std::string_view name, Hashes& known);

  std::size_t limit_;
  Hashes names_, scopes_, domains_;
  Activity renamed_;
  bool has_joined_ = false;
};

}  // namespace bench::analysis
