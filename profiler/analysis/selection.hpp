// SPDX-License-Identifier: Apache-2.0
// Which activities a question is about.
#pragma once

#include "base/pattern.hpp"
#include "base/result.hpp"
#include "profiler/activity.hpp"
#include "profiler/analysis/query.hpp"

#include <bitset>
#include <optional>
#include <string>
#include <vector>

namespace bench::analysis {

// What stands for "executed" in a file: the highest of these that it has anything of. Higher ones
// lie within lower ones, so that the time of both together would count twice.
enum class Level { none, range, operation, work };

class Selection {
 public:
  // Error: unknown kind, bad pattern.
  static Result<Selection> compile(const AnalysisOptions& options);

  // The level of an activity without regard to the filters; `work` where the options name its kind
  // or phase.
  Level level(const Activity& activity) const;
  // Whether every filter holds.
  bool admits(const Activity& activity) const;

 private:
  enum class TypeMatch { none, any, kind_or_phase, operation };
  TypeMatch match_type(const Activity& activity) const;
  bool phase_fits(const Activity& activity, TypeMatch type) const;
  bool time_fits(const Activity& activity) const;
  bool place_fits(const Activity& activity) const;

  AnalysisOptions options_;
  std::bitset<16> kinds_;
  std::optional<Regex> name_;
  std::vector<std::string> layer_;
  // Scopes repeat: the answer for the last one.
  mutable std::string last_scope_;
  mutable std::optional<bool> last_scope_fits_;
};

}  // namespace bench::analysis
