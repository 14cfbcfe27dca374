// SPDX-License-Identifier: Apache-2.0
#include "harness/result/record.hpp"

#include <algorithm>
#include <array>

namespace bench {

IdSegments split_id(std::string_view id) {
  IdSegments segments;
  for (std::string* segment :
       {&segments.op, &segments.direction, &segments.parameters, &segments.dtype, &segments.backend,
        &segments.device, &segments.cache}) {
    const std::size_t slash = id.find('/');
    *segment = id.substr(0, slash);
    id.remove_prefix(slash == std::string_view::npos ? id.size() : slash + 1);
  }
  segments.options = id;
  return segments;
}

bool is_failure(Outcome outcome) {
  return outcome == Outcome::crashed || outcome == Outcome::timed_out ||
         outcome == Outcome::wrong_result || outcome == Outcome::failed;
}
bool is_unmeasured(const CaseRecord& record) {
  return record.outcome == Outcome::skipped && record.reason &&
         record.reason->starts_with(kBudgetReason);
}
bool has_flag(std::span<const Flag> flags, Flag flag) {
  return std::ranges::find(flags, flag) != flags.end();
}
bool has_flag(const CaseRecord& record, Flag flag) { return has_flag(record.flags, flag); }

std::string_view format_stop_cause(const std::optional<StopCause>& cause) {
  constexpr std::array<std::string_view, 2> kTexts = {"stopped by the budget", "stopped by Ctrl-C"};
  return cause ? kTexts[static_cast<std::size_t>(*cause)] : "the evidence ends";
}

}  // namespace bench
