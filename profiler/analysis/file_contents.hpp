// SPDX-License-Identifier: Apache-2.0
// What a file contains, for the message about an empty selection.
#pragma once

#include "profiler/activity.hpp"
#include "profiler/analysis/query.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace bench::analysis {

// Collects the kinds of all activities, and the values of what the options filter by.
class FileContents {
 public:
  explicit FileContents(const AnalysisOptions& options);

  void add(const Activity& activity);
  // "nothing selected; the file contains 50 primitive, 11 marker; data types: f16, f32 (see
  // --kind, --type, --phase)"
  std::string describe_empty_selection() const;

 private:
  static constexpr std::size_t kFilterCount = 4;

  std::map<ActivityKind, std::int64_t> kinds_;
  std::array<bool, kFilterCount> is_filtered_{};
  std::array<std::set<std::string, std::less<>>, kFilterCount> values_;
};

}  // namespace bench::analysis
