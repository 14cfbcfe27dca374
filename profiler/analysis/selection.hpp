// SPDX-License-Identifier: Apache-2.0
// Selects the activities that a query concerns.
#pragma once

#include "base/pattern.hpp"
#include "base/result.hpp"
#include "profiler/activity.hpp"
#include "profiler/analysis/kinds.hpp"
#include "profiler/analysis/query.hpp"

#include <bitset>
#include <optional>
#include <string>
#include <vector>

namespace bench::analysis {

class Selection {
 public:
  // Returns an error for an unknown kind or a bad pattern.
  static Result<Selection> compile(const AnalysisOptions& options);

  // Returns the level of an activity, ignoring the filters. Returns `work` if the options name its
  // kind or phase.
  Level level(const Activity& activity) const;
  // Returns whether every filter matches.
  bool admits(const Activity& activity) const;

 private:
  enum class TypeMatch { none, any, kind_or_phase, operation };
  TypeMatch match_type(const Activity& activity) const;
  bool phase_fits(const Activity& activity, TypeMatch type) const;
  bool time_fits(const Activity& activity) const;
  bool place_fits(const Activity& activity) const;
  bool dtype_fits(const Activity& activity) const;

  AnalysisOptions options_;
  std::bitset<16> kinds_;
  std::optional<Regex> name_;
  std::vector<std::string> layer_;
  // Scopes repeat, so the result for the last one is cached.
  mutable std::string last_scope_;
  mutable std::optional<bool> last_scope_fits_;
};

}  // namespace bench::analysis
