// SPDX-License-Identifier: Apache-2.0
// Times by speed for tests of comparisons.
#pragma once

#include "harness/result/measured.hpp"
#include "harness/stats/equal_speed.hpp"

#include <cstdint>
#include <optional>
#include <utility>

namespace bench::test {

// The usual canary of the fakes.
inline constexpr Nanoseconds kFakeCanary{1500};

// Five processes of 20 samples whose iterations take `nanoseconds` at one speed.
inline TimesBySpeed times_at(double nanoseconds, Nanoseconds canary = kFakeCanary,
                             std::optional<Nanoseconds> join = std::nullopt) {
  TimesBySpeed times;
  times.cells.push_back(
      {join, canary, 100, Picoseconds(static_cast<std::int64_t>(nanoseconds * 1000))});
  times.processes = 5;
  times.scatter = times.process_scatter = 0.001;
  return times;
}

inline void set_by_speed(MeasuredCase& measured, TimesBySpeed times) {
  measured.at = SpeedLevel{times.cells.front().canary, LevelSource::run};
  measured.canary_threads = 2;
  measured.by_speed = std::move(times);
}

}  // namespace bench::test
