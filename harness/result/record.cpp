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

namespace {

constexpr std::array<std::string_view, 7> kOutcomes = {
    "ok", "wrong_result", "unsupported", "skipped", "crashed", "timed_out", "failed"};
constexpr std::array<std::string_view, 8> kFlags = {"noisy",        "unsteady",    "above_ceiling",
                                                    "throttled",    "interrupted", "voided_samples",
                                                    "launch_bound", "disturbed"};
constexpr std::array<std::string_view, 4> kBounds = {"compute", "memory", "cache", "launch"};
constexpr std::array<std::string_view, 2> kLevelSources = {"stored", "run"};
constexpr std::array<std::string_view, 3> kCeilingSources = {"stored", "calibrated", "datasheet"};
constexpr std::array<std::string_view, 5> kStopReasons = {"precision", "max_time", "budget",
                                                          "interrupted", "voided"};

}  // namespace

std::span<const std::string_view> outcome_names() { return kOutcomes; }
std::string_view to_string(Outcome outcome) { return kOutcomes[static_cast<std::size_t>(outcome)]; }
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
std::span<const std::string_view> flag_names() { return kFlags; }
std::span<const std::string_view> stop_reason_names() { return kStopReasons; }
std::span<const std::string_view> bound_names() { return kBounds; }
std::span<const std::string_view> level_source_names() { return kLevelSources; }
std::span<const std::string_view> ceiling_source_names() { return kCeilingSources; }

std::string_view format_stop_cause(const std::optional<StopCause>& cause) {
  constexpr std::array<std::string_view, 2> kTexts = {"stopped by the budget", "stopped by Ctrl-C"};
  return cause ? kTexts[static_cast<std::size_t>(*cause)] : "the evidence ends";
}

}  // namespace bench
