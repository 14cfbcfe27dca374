// SPDX-License-Identifier: Apache-2.0
#include "harness/report/nothing_measured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace bench {

std::optional<std::string> nothing_measured_sentence(const Report& report) {
  std::map<Outcome, int> counts;
  for (const CaseRecord& record : report.cases) ++counts[record.outcome];
  if (counts.empty() || counts.contains(Outcome::ok)) return std::nullopt;
  std::string text;
  for (const auto& [outcome, count] : counts) {
    text += text.empty() ? fmt::format("{} of {} case{} {}", count, report.cases.size(),
                                       report.cases.size() == 1 ? "" : "s", name_of(outcome))
                         : fmt::format(", {} {}", count, name_of(outcome));
  }
  return fmt::format("Nothing was measured: {}; the reason{} below.", text,
                     report.cases.size() == 1 ? " is" : "s are");
}

bool has_only_skipped_cases(const Report& report) {
  return !report.cases.empty() && std::ranges::all_of(report.cases, [](const CaseRecord& record) {
    return record.outcome == Outcome::skipped || record.outcome == Outcome::unsupported;
  });
}

}  // namespace bench
