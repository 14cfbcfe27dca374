// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/program_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

namespace bench {
namespace {

constexpr std::string_view kPrimitivesPart = "oneDNN";

// Differences of up to so many standard errors are left to chance.
constexpr double kChance = 2;

std::optional<double> ratio_of(const ProgramPart& part) {
  const bool is_known = part.base && part.candidate && *part.base > Nanoseconds(0) &&
                        *part.candidate > Nanoseconds(0);
  if (!is_known) return std::nullopt;
  return static_cast<double>(part.candidate->count()) / static_cast<double>(part.base->count());
}

std::optional<Nanoseconds> wall_of(const WallCoverage& coverage) {
  return coverage.source == WallSource::unknown ? std::nullopt : std::optional(coverage.wall);
}

std::optional<Nanoseconds> outside_of(const WallCoverage& coverage) {
  const auto wall = wall_of(coverage);
  return wall ? std::optional(*wall - coverage.recorded) : std::nullopt;
}

std::optional<double> shown_of(const WallCoverage& coverage) {
  const auto wall = wall_of(coverage);
  if (!wall || *wall <= Nanoseconds(0)) return std::nullopt;
  return static_cast<double>(coverage.recorded.count()) / static_cast<double>(wall->count());
}

Nanoseconds busy_of(const WallCoverage& coverage, std::int64_t device) {
  const auto found = coverage.devices.find(device);
  return found == coverage.devices.end() ? Nanoseconds(0) : found->second;
}

// The wall time of a process and the time from its first to its last activity differ by more than
// the program does.
std::string explain_other_source(const WallCoverage& base, const WallCoverage& candidate) {
  if (base.source == candidate.source) return "";
  return "only one side states when its processes ran";
}

std::vector<ProgramPart> compare_parts(const WallCoverage& base, const WallCoverage& candidate) {
  std::vector<ProgramPart> parts = {
      {std::string(kWallPart), wall_of(base), wall_of(candidate)},
      {std::string(kPrimitivesPart), base.primitives, candidate.primitives}};
  std::set<std::int64_t> devices;
  for (const WallCoverage* side : {&base, &candidate}) {
    for (const auto& [device, busy] : side->devices) devices.insert(device);
  }
  for (const std::int64_t device : devices) {
    parts.push_back(
        {fmt::format("GPU {} busy", device), busy_of(base, device), busy_of(candidate, device)});
  }
  parts.push_back({std::string(kOutsidePart), outside_of(base), outside_of(candidate)});
  const std::string reason = explain_other_source(base, candidate);
  for (ProgramPart& part : parts) {
    const bool depends_on_source = part.name == kWallPart || part.name == kOutsidePart;
    if (depends_on_source && !reason.empty()) {
      if (part.base && part.candidate) part.reason = reason;
    } else {
      part.ratio = ratio_of(part);
    }
  }
  return parts;
}

// Returns whether the times of two rows may differ by chance alone. The relative standard error of
// a time is the inverse root of its number of samples.
bool may_be_chance(const SampleRow& base, const SampleRow& candidate) {
  const auto variance = [](const SampleRow& row) {
    const auto time = static_cast<double>(row.cpu.count());
    return row.samples == 0 ? 0 : time * time / static_cast<double>(row.samples);
  };
  const auto difference = static_cast<double>((candidate.cpu - base.cpu).count());
  return std::abs(difference) <= kChance * std::sqrt(variance(base) + variance(candidate));
}

std::vector<ProgramPart> compare_objects(const ProgramTime& base, const ProgramTime& candidate) {
  std::map<std::string, std::pair<SampleRow, SampleRow>> rows;
  for (const SampleRow& row : base.objects) rows[row.name].first = row;
  for (const SampleRow& row : candidate.objects) rows[row.name].second = row;
  std::vector<ProgramPart> parts;
  for (const auto& [name, sides] : rows) {
    ProgramPart part{name, sides.first.cpu, sides.second.cpu};
    if (may_be_chance(sides.first, sides.second)) {
      part.reason = "within chance";
    } else {
      part.ratio = ratio_of(part);
    }
    parts.push_back(std::move(part));
  }
  std::ranges::stable_sort(parts, std::ranges::greater(), [](const ProgramPart& part) {
    return std::max(*part.base, *part.candidate);
  });
  return parts;
}

}  // namespace

const ProgramPart* ProgramComparison::find(std::string_view name) const {
  const auto found = std::ranges::find(parts, name, &ProgramPart::name);
  return found == parts.end() ? nullptr : &*found;
}

ProgramComparison compare_programs(const ProgramTime& base, const ProgramTime& candidate) {
  ProgramComparison result;
  result.base = describe_coverage(base.coverage);
  result.candidate = describe_coverage(candidate.coverage);
  result.parts = compare_parts(base.coverage, candidate.coverage);
  // Without samples, a side does not show where the program computed.
  if (!base.objects.empty() && !candidate.objects.empty()) {
    result.objects = compare_objects(base, candidate);
  }
  result.base_shown = shown_of(base.coverage);
  result.candidate_shown = shown_of(candidate.coverage);
  return result;
}

}  // namespace bench
