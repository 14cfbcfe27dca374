// SPDX-License-Identifier: Apache-2.0
// The console table of `run` and `report`, aligned to a width. In a narrow table, the least
// important columns are removed first. Pure functions of a Report.
#pragma once

#include "harness/result/report.hpp"
#include "harness/result/summary.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace bench {

enum class Colour { off, on };

// Effectively unlimited width, for complete ids that can be copied.
inline constexpr std::size_t kUnlimitedWidth = 1000;

struct ConsoleOptions {
  std::size_t width = 100;  // columns; ids are shortened in the middle, never wrapped
  Colour colour = Colour::off;
  std::size_t top_layers = 10;  // rows of a network summary
  // Text of the column `vs baseline`, by case id. The column is missing if the map is empty.
  std::map<std::string, std::string> versus_baseline = {};
};

// Columns: case, median, interval, GFLOP/s, GB/s, implementation, outcome with flags. A reason has
// a line of its own below its row. Notes about profiled runs (`under`) and canaries follow the
// table.
std::string console_table(const Report& report, const ConsoleOptions& options);
// Lists the network, the sum of layers, the signed unexplained rest, then creation, reorders and
// first run, then the layers with the longest times.
std::string console_networks(const std::vector<NetworkSummary>& networks,
                             const ConsoleOptions& options);

}  // namespace bench
