// SPDX-License-Identifier: Apache-2.0
#include "harness/report/canary_text.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

const Canaries* find(const Report& report, const std::string& run_id, CanaryMoment moment) {
  const auto found = std::ranges::find_if(report.canaries, [&](const CanaryRecord& record) {
    return record.run_id == run_id && record.moment == moment;
  });
  return found == report.canaries.end() ? nullptr : &found->time;
}

std::string times_text(const Canaries& times) {
  std::string text = "canaries:";
  for (const CanaryField& canary : kCanaryFields) {
    text += fmt::format("{} {} {}", &canary == kCanaryFields.data() ? "" : ",", canary.name,
                        format_time(times.*canary.time));
  }
  return text;
}

std::string shift_text(const Canaries& before, const Canaries& after) {
  std::string text = "; before to after";
  bool moved = false;
  for (const CanaryField& canary : kCanaryFields) {
    const auto from = static_cast<double>((before.*canary.time).count());
    const auto to = static_cast<double>((after.*canary.time).count());
    if (from <= 0) continue;
    moved = moved || std::abs(to / from - 1) > kMovedShare;
    text += fmt::format("{} {:+.1f} %", &canary == kCanaryFields.data() ? "" : ",",
                        100 * (to / from - 1));
  }
  return text + (moved ? ": machine speed changed" : "");
}

}  // namespace

std::string quiet_text(const Report& report) {
  QuietSummary sum;
  std::int64_t disturbed = 0;
  for (const CaseRecord& record : report.cases) {
    if (!record.quiet) continue;
    sum.samples += record.quiet->samples;
    sum.all_samples += record.quiet->all_samples;
    if (has_flag(record, Flag::disturbed)) {
      ++disturbed;
      continue;
    }
    sum.processes += record.quiet->processes;
    sum.all_processes += record.quiet->all_processes;
    sum.waited += record.quiet->waited;
  }
  const std::int64_t left_out = sum.all_processes - sum.processes;
  if (sum.samples == sum.all_samples && left_out == 0) return "";
  std::string text =
      fmt::format("{} of {} samples ({:.0f} %) were taken on a quiet machine, and only these count",
                  format_count(sum.samples), format_count(sum.all_samples),
                  100 * static_cast<double>(sum.samples) / static_cast<double>(sum.all_samples));
  if (left_out > 0) {
    text += fmt::format(
        "; {} of {} processes ({}) were disturbed throughout, or their threads were farther apart",
        left_out, sum.all_processes, format_time(sum.waited));
  }
  if (disturbed > 0) {
    text += fmt::format(
        "; {} case{} never quiet for long enough, so that all {} samples count (flag `disturbed`)",
        disturbed, disturbed == 1 ? " was" : "s were", disturbed == 1 ? "its" : "their");
  }
  return text;
}

std::string canary_text(const Report& report) {
  if (report.canaries.empty()) return "";
  const std::string& run_id = report.canaries.back().run_id;
  const Canaries* before = find(report, run_id, CanaryMoment::before);
  const Canaries* after = find(report, run_id, CanaryMoment::after);
  std::string text = times_text(before != nullptr ? *before : report.canaries.back().time);
  if (before != nullptr && after != nullptr) text += shift_text(*before, *after);
  return text;
}

}  // namespace bench
