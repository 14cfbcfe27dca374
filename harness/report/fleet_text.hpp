// SPDX-License-Identifier: Apache-2.0
// A fleet as text: which of its machines is slow. Pure functions.
#pragma once

#include "harness/judge/fleet.hpp"
#include "harness/report/console.hpp"
#include "harness/report/document.hpp"
#include "harness/report/next_command.hpp"
#include "harness/report/plots.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// The user's options.
struct FleetView {
  std::string program = "bench";         // first word of the printed commands
  std::vector<std::string> inputs = {};  // the files of the report, for the printed commands
  // The most machines of a table or a heat map. Those that are not normal come first.
  std::size_t top = 20;
};

struct FleetFormat {
  std::string_view name;  // value of --format
  std::string (*write)(const FleetVerdict& verdict, const FleetView& view,
                       const ConsoleOptions& console);
};
std::span<const FleetFormat> fleet_formats();

// Returns the answer in sentences: which machines are slow, by how much, or that none is, or why
// that cannot be judged.
std::string fleet_answer(const FleetVerdict& verdict);

// Return the answer, a table of machines and a heat map per group of siblings, and the next
// command. Each text ends in a newline.
std::string fleet_console(const FleetVerdict& verdict, const FleetView& view,
                          const ConsoleOptions& console);
std::string fleet_markdown(const FleetVerdict& verdict, const FleetView& view,
                           const ConsoleOptions& console);
// One line per machine and case, for all machines.
std::string fleet_csv(const FleetVerdict& verdict, const FleetView& view,
                      const ConsoleOptions& console);
// docs/fleet.schema.json describes the document.
std::string fleet_json(const FleetVerdict& verdict, const FleetView& view,
                       const ConsoleOptions& console);
std::string fleet_page(const FleetVerdict& verdict, const FleetView& view,
                       const ConsoleOptions& console);

// One heat map per group: machines are rows, cases are columns. `max_rows`: the first machines.
std::vector<Plot> fleet_plots(const FleetVerdict& verdict, std::size_t max_rows);

// Parts that several formats have.

// Returns "12 machines of class zen4-16c differ by 0.4 %; one that is 3 % slower would be found."
std::string describe_group(const SiblingGroup& group);
Table fleet_table(const SiblingGroup& group, InFormat format, std::size_t max_rows);
// Returns "80 more machines are normal."; empty if the table has all.
std::string describe_left_out(const SiblingGroup& group, std::size_t max_rows);
// Returns the command that measures what is in doubt again, with a sentence above it.
NextCommand next_fleet_command(const FleetVerdict& verdict, const FleetView& view);

}  // namespace bench
