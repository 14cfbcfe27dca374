// SPDX-License-Identifier: Apache-2.0
// The console table of `run` and `report`, aligned to a width. A narrow table omits the least
// important columns first. Pure functions of a Report.
#pragma once

#include "base/terminal_text.hpp"
#include "harness/report/notes.hpp"
#include "harness/result/report.hpp"
#include "harness/result/summary.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// States in one sentence how much the machine's speed varied between the samples, and how many
// cases were never measured at the level at which their times are stated. Empty if the machine was
// steady or the samples have no canaries.
std::string format_speed(const Report& report);

// The next functions serve runs without any time, since their table could be mistaken for a result.

// Returns "Nothing was measured: 2 of 3 cases skipped, 1 unsupported; the reasons are below."
// Returns nullopt if there are no cases, or if a case has a time or may still get one (outcome ok).
std::optional<std::string> nothing_measured_sentence(const Report& report);

// Whether every case is skipped or unsupported, which is not a failure.
bool has_only_skipped_cases(const Report& report);

// Effectively unlimited width, for complete ids that can be copied.
inline constexpr std::size_t kUnlimitedWidth = 1000;

struct ConsoleOptions {
  std::size_t width = 100;  // terminal columns; ids are shortened in the middle, never wrapped
  Colour colour = Colour::off;
  std::size_t top_layers = 10;  // rows of a network summary
  // Cells of the column `vs baseline` by case id. If the map is empty, the table has no such
  // column.
  std::map<std::string, std::string> versus_baseline = {};
  std::vector<std::string> baseline_notes = {};  // notes on this column
  NoteView notes = {};                           // which notes are shown
};

// Returns what must precede the answer, the answer in a sentence (both run_answer.hpp), then a
// table: case, median, half width of its interval, GFLOP/s, GB/s, implementation, outcome with
// flags. The table has more columns if a case has a roofline, a baseline, an energy or a launch
// time. A reason has its own line below its row. Tables of serving and of tuning follow if there
// are such cases, and notes about runs that used a profiler (`--under`).
std::string console_table(const Report& report, const ConsoleOptions& options);
// Returns for each network: its time, the sum of its layers, the unexplained difference with its
// sign, the times of creation, reorders and first run, and the layers with the longest times.
std::string console_networks(const std::vector<NetworkSummary>& networks,
                             const ConsoleOptions& options);
// Returns the table, the networks, and the notes on how good and how certain the times are
// (run_answer.hpp).
std::string console_report(const Report& report, const ConsoleOptions& options);

}  // namespace bench
