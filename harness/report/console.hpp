// SPDX-License-Identifier: Apache-2.0
// The console table of `run` and `report`, aligned to a width. In a narrow table, the least
// important columns are removed first. Pure functions of a Report.
#pragma once

#include "base/terminal_text.hpp"
#include "harness/result/report.hpp"
#include "harness/result/summary.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// One-line summaries of what a run's canaries show about its machine.

// States how much the machine's own speed changed ("memory 8.4 % slower") between the canaries
// before and after the last run with canaries. Empty if nothing changed by more than the limit, or
// if canaries before or after it are missing.
std::string format_canaries(const Report& report);

// Summarises the canaries next to samples. The text gives the number of quiet samples, which count,
// and the number of processes that were disturbed or had threads farther apart. It also gives the
// number of cases that were never quiet. Empty if no case has such canaries or all samples were
// quiet.
std::string format_quiet_samples(const Report& report);

// Sentences for a run without any time: its table could be mistaken for a result.

// Returns "Nothing was measured: 2 of 3 cases skipped, 1 unsupported; the reasons are below."
// Returns nullopt if there are no cases, or if a case has a time or may still get one (outcome ok).
std::optional<std::string> nothing_measured_sentence(const Report& report);

// Whether every case is skipped or unsupported, which is not a failure.
bool has_only_skipped_cases(const Report& report);

// Effectively unlimited width, for complete ids that can be copied.
inline constexpr std::size_t kUnlimitedWidth = 1000;

struct ConsoleOptions {
  std::size_t width = 100;  // columns; ids are shortened in the middle, never wrapped
  Colour colour = Colour::off;
  std::size_t top_layers = 10;  // rows of a network summary
  // Text of the column `vs baseline`, by case id. The column is missing if the map is empty.
  std::map<std::string, std::string> versus_baseline = {};
  std::vector<std::string> table_notes = {};  // sentences directly below the table
  // The command that shows all notes about the times. Without one, they are shown here.
  std::string all_notes_command = {};
};

// The answer in a sentence (run_answer.hpp), then a table: case, median, half width of its
// interval, GFLOP/s, GB/s, implementation, outcome with flags; percentage of the peak and bound if
// a case has a roofline. A reason has a line of its own below its row. Notes about profiled runs
// (`under`) follow the table.
std::string console_table(const Report& report, const ConsoleOptions& options);
// Lists the network, the sum of layers, the signed unexplained rest, then creation, reorders and
// first run, then the layers with the longest times.
std::string console_networks(const std::vector<NetworkSummary>& networks,
                             const ConsoleOptions& options);
// All of it: the table, the networks, and the notes on how good the times are and how sure
// (run_answer.hpp): the leading ones and the command that shows the others, or all.
std::string console_report(const Report& report, const ConsoleOptions& options);

}  // namespace bench
