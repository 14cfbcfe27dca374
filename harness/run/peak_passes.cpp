// SPDX-License-Identifier: Apache-2.0
#include "harness/run/peak_passes.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace bench {

std::vector<Plan> group_by_value(const Plan& plan, std::span<const std::string> first) {
  const auto is_first = [&](const Case& spec) {
    return std::ranges::find(first, spec.id) != first.end();
  };
  std::vector<Plan> groups = {plan, plan};
  std::erase_if(groups[0].cases, [&](const Case& spec) { return !is_first(spec); });
  std::erase_if(groups[1].cases, is_first);
  std::erase_if(groups, [](const Plan& group) { return group.cases.empty(); });
  return groups;
}

Result<PeakPasses> measure_in_passes(
    std::span<const Plan> groups, int passes, Nanoseconds limit,
    const std::function<Result<PeakPart>(const Plan& group, Nanoseconds limit)>& measure,
    Clock& clock) {
  PeakPasses result;
  const Nanoseconds started = clock.now();
  bool is_interrupted = false;
  for (int pass = 0; pass < passes; ++pass) {
    for (const Plan& group : groups) {
      const Nanoseconds rest = limit - (clock.now() - started);
      const Nanoseconds needed = pass == 0 ? Nanoseconds(1) : kMinPeakRepetition;
      if (is_interrupted || rest < needed) {
        if (pass > 0) return result;
        std::ranges::transform(group.cases, std::back_inserter(result.unreached), &Case::id);
        continue;
      }
      BENCH_ASSIGN_OR_RETURN(PeakPart part, measure(group, rest));
      is_interrupted = part.summary.stopped_by == StopCause::interruption;
      (pass == 0 ? result.first : result.repeated).push_back(std::move(part));
    }
  }
  return result;
}

PeakPart join_first_pass(const PeakPasses& passes) {
  PeakPart all;
  for (const PeakPart& part : passes.first) {
    std::ranges::copy(part.report.runs, std::back_inserter(all.report.runs));
    std::ranges::copy(part.report.cases, std::back_inserter(all.report.cases));
    all.summary.any_failed = all.summary.any_failed || part.summary.any_failed;
    all.summary.any_unmeasured = all.summary.any_unmeasured || part.summary.any_unmeasured;
    if (part.summary.stopped_by) all.summary.stopped_by = part.summary.stopped_by;
    all.summary.cases += part.summary.cases;
    all.summary.fewer_processes += part.summary.fewer_processes;
    all.summary.end.not_measured += part.summary.end.not_measured;
  }
  if (passes.unreached.empty()) return all;
  const auto unreached = std::ssize(passes.unreached);
  all.summary.any_unmeasured = true;
  all.summary.stopped_by = all.summary.stopped_by.value_or(StopCause::budget);
  all.summary.cases += unreached;
  all.summary.fewer_processes += unreached;
  all.summary.end.not_measured += unreached;
  return all;
}

}  // namespace bench
