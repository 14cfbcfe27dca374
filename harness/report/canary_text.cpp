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
  return text + (moved ? ": the machine moved" : "");
}

}  // namespace

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
