// SPDX-License-Identifier: Apache-2.0
// How whole programs changed between two profiles or logs: their wall time, the parts of it that
// the profiles show, and where the rest was computed. Pure functions.
#pragma once

#include "base/units.hpp"
#include "profiler/analysis/coverage.hpp"
#include "profiler/analysis/sample_times.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

inline constexpr std::string_view kWallPart = "wall time";
inline constexpr std::string_view kOutsidePart = "(outside)";  // nothing was recorded

// What a profile or log shows of its program.
struct ProgramTime {
  WallCoverage coverage;
  std::vector<SampleRow> objects;  // SampleTimes::objects(); empty without samples
};

// A part of the program on both sides; nullopt: unknown.
struct ProgramPart {
  std::string name;
  std::optional<Nanoseconds> base, candidate;
  // `candidate` / `base`. nullopt if a side is unknown or 0, if the sides were not measured in the
  // same way, or if so few samples may differ by chance.
  std::optional<double> ratio = std::nullopt;
  std::string reason = {};  // why there is no ratio; empty if a side is unknown or 0
};

struct ProgramComparison {
  std::string base, candidate;       // describe_coverage() of each side
  std::vector<ProgramPart> parts;    // wall time, oneDNN, GPUs, (outside); empty if unknown
  std::vector<ProgramPart> objects;  // CPU time by samples, the longest first
  std::optional<double> base_shown;  // fraction of the wall time in which anything was recorded
  std::optional<double> candidate_shown;
  const ProgramPart* find(std::string_view name) const;  // among `parts`; nullptr if it is missing
};

ProgramComparison compare_programs(const ProgramTime& base, const ProgramTime& candidate);

}  // namespace bench
