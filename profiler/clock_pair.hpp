// SPDX-License-Identifier: Apache-2.0
// Puts times of several machines onto one clock. CLOCK_MONOTONIC begins with the start of a
// machine, so a profile states what CLOCK_REALTIME showed at the same moment.
#pragma once

#include "base/env.hpp"
#include "base/units.hpp"

#include <map>
#include <optional>
#include <string>

namespace bench {

// One moment on both clocks.
struct ClockPair {
  Nanoseconds realtime{0};
  Nanoseconds monotonic{0};
  friend bool operator==(const ClockPair&, const ClockPair&) = default;
};

// Reads both clocks several times, and returns the pair whose readings were closest together: a
// thread that is interrupted between two readings gives a wrong pair.
ClockPair read_clock_pair(Clock& realtime, Clock& monotonic);

// What a profile states about its clocks.
struct ProfileClocks {
  std::optional<ClockPair> start, end;  // moments at which the recording began and ended
  // Which start of which machine CLOCK_MONOTONIC counts from; empty if unknown.
  std::string boot;

  // What to add to CLOCK_MONOTONIC to get CLOCK_REALTIME: the mean of both pairs. Returns nullopt
  // without a pair.
  std::optional<Nanoseconds> realtime_offset() const;
  // How far the two clocks drifted apart while the profile was recorded: the uncertainty of
  // realtime_offset(). Returns 0 without both pairs.
  Nanoseconds drift() const;
};

// The clocks are in the details of a profile's records (docs/result_file.md).
using ClockDetails = std::map<std::string, std::string>;
// Ignores texts that are not numbers, and times that a sum with another one could overflow.
ProfileClocks parse_clocks(const ClockDetails& details);
void describe_clocks(const ProfileClocks& clocks, ClockDetails& details);

// Returns the id of this start of this machine; empty if the system does not state it.
std::string read_boot_id();

}  // namespace bench
