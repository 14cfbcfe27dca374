// SPDX-License-Identifier: Apache-2.0
// What `bench peak` makes of ceilings that were measured more than once, or lower with all threads
// than with one. Pure functions.
#pragma once

#include "harness/store/peak_file.hpp"

#include <string>
#include <vector>

namespace bench {

// Returns the ids of both cases of each rate that all threads together reached less than one of
// them alone. The others can always be idle, so something disturbed the measurement.
std::vector<std::string> cases_slower_with_all_threads(const std::vector<PeakRecord>& records);

// Replaces each ceiling in `records` by that of the same case in `again` if that one is better.
void keep_better(const std::vector<PeakRecord>& again, std::vector<PeakRecord>& records);

// A ceiling of all threads that was measured lower than that of one thread.
struct RaisedCeiling {
  Ceiling measured;
  CeilingValue one_thread;
  friend bool operator==(const RaisedCeiling&, const RaisedCeiling&) = default;
};

// Gives such ceilings the value of one thread, and returns them.
std::vector<RaisedCeiling> raise_to_one_thread(std::vector<PeakRecord>& records);

}  // namespace bench
