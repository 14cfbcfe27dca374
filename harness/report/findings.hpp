// SPDX-License-Identifier: Apache-2.0
// The findings that open a page: facts on which a reader acts, the most important first, each with
// the place that shows it. A finding that the numbers do not support is not made; if none is, a
// sentence says why. Pure functions.
#pragma once

#include "harness/judge/comparison.hpp"
#include "harness/judge/evidence_file.hpp"
#include "harness/report/trend_text.hpp"
#include "harness/result/report.hpp"
#include "profiler/analysis/summary.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace bench {

// The most findings that a page opens with.
inline constexpr std::size_t kMaxFindings = 3;

struct PageFinding {
  std::string text;  // a sentence or two; text between two backticks is code
  // The place that shows it: the row of a case or the section with this name. The page links to it
  // where `text` contains the name, or else after the text.
  std::string place;
};

struct PageFindings {
  std::vector<PageFinding> list;  // at most kMaxFindings
  std::string none;               // why there is none; empty if there are findings
};

// Titles of sections to which findings link.
inline constexpr const char* kChangesSection = "What changed";

// Cases that failed; where most time could be gained and in how few cases most of it is, as far as
// the intervals of the times leave no doubt; advice; noise.
PageFindings run_findings(const Report& report);
// The cases of each verdict that needs attention, with the largest effect.
PageFindings gate_findings(const GateFile& gate);
// The cases that failed, became slower or faster, with the largest effect; what else changed.
PageFindings comparison_findings(const Comparison& comparison);
// What happened to the cases of a store, the worst first.
PageFindings history_findings(std::span<const ShownTrend> shown);

}  // namespace bench
