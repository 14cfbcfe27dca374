// SPDX-License-Identifier: Apache-2.0
// The console table of `run` and `report`: aligned to a width, worst information last to be cut.
// Pure functions of a Report.
#pragma once

#include "harness/result/report.hpp"
#include "harness/result/summary.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace bench {

enum class Colour { off, on };

// Where nothing is to be shortened: ids are there to be pasted.
inline constexpr std::size_t kUnlimitedWidth = 1000;

struct ConsoleOptions {
  std::size_t width = 100;  // columns; ids are shortened in the middle, never wrapped
  Colour colour = Colour::off;
  std::size_t top_layers = 10;  // of a network summary
  // By case id, the column `vs baseline`; empty: there is none.
  std::map<std::string, std::string> versus_baseline = {};
};

// Columns: case, median, interval, GFLOP/s, GB/s, implementation, outcome (with flags; reasons on a
// line of their own below). Below the table the runs that a vendor's tool distorted (`under`), and
// the canaries.
std::string console_table(const Report& report, const ConsoleOptions& options);
// Network, sum of layers, the signed rest, creation / reorders / first run, then the layers that
// take most.
std::string console_networks(const std::vector<NetworkSummary>& networks,
                             const ConsoleOptions& options);

}  // namespace bench
