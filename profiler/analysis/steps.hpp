// SPDX-License-Identifier: Apache-2.0
// The steps of a program: what each took, and how long the devices worked and waited in it. And the
// iterations of a profile, by which two profiles are compared.
#pragma once

#include "base/result.hpp"
#include "profiler/activity.hpp"
#include "profiler/analysis/query.hpp"
#include "profiler/reader.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::analysis {

// The ranges that are steps unless the user names others: those of the profiler's interface and of
// MegEngine, and those that torch.profiler writes.
inline constexpr std::string_view kStepNames[] = {"step", "ProfilerStep"};

// Returns whether a range of this text is a step of this name: the name itself, in upper or lower
// case, or the name and a number, as in "step 12" or "ProfilerStep#12".
bool names_step(std::string_view text, std::string_view name);

// Finds the steps among activities, in any order. Without such a range, the iterations that
// `bench run --profile` recorded are the steps.
class StepFinder {
 public:
  // `name` is a name of ranges; empty for kStepNames.
  explicit StepFinder(std::string name) : name_(std::move(name)) {}

  struct Step {
    std::int64_t pid = 0, tid = 0;
    std::string case_id;
    Nanoseconds begin{0}, end{0};
    std::optional<std::int64_t> iteration;  // number of an iteration that `bench run` recorded
    std::int64_t number = 0;                // that number, else the position in its thread, from 0
    std::optional<std::int64_t> rank;
  };

  void add(const Activity& activity);
  // Returns the steps in the order of their beginnings. Steps within a step of the same thread do
  // not count.
  std::vector<Step> steps() const;
  // The names of other ranges with their numbers, for a message: "epoch (2), forward (40)". Empty
  // if there are none.
  std::string describe_ranges() const;

 private:
  bool is_step(const Activity& activity) const;

  std::string name_;
  std::vector<Step> named_, iterations_;
  std::map<std::string, std::int64_t, std::less<>> others_;
};

}  // namespace bench::analysis

namespace bench {

// Reads the input and writes a row per step and device: number of activities that began in it, its
// time, the time in which the device worked, and the rest. Only `top`, `format` and `width` of the
// options count. Returns an error if there is no step.
Result<AnalysisOutcome> analyze_steps(const ActivityInput& input, const std::string& name,
                                      const AnalysisOptions& options, const AnalysisTarget& target);

}  // namespace bench
