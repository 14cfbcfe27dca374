// SPDX-License-Identifier: Apache-2.0
// Arithmetic on times that may overlap: kernels of several streams, replayed graphs, dependent
// launches.
#pragma once

#include "profiler/gpu/gpu_record.hpp"

#include <span>
#include <vector>

namespace bench {

// The same points in time as intervals that are apart from one another, ascending. Intervals that
// touch become one; empty and reversed ones are left out.
std::vector<GpuInterval> united(std::vector<GpuInterval> intervals);
Nanoseconds total_of(std::span<const GpuInterval> intervals);

struct CounterPoint {
  Nanoseconds at{0};
  double value = 0;  // from then on
  friend bool operator==(const CounterPoint&, const CounterPoint&) = default;
};

// How much of each period is covered, in percent: one point at the begin of each period from the
// first start on, the last one with the part that is left, and 0 at the end. `apart` as united()
// returns them; `period` > 0.
std::vector<CounterPoint> covered_percent(std::span<const GpuInterval> apart, Nanoseconds period);

// How many intervals are open, at every change.
std::vector<CounterPoint> open_count(std::span<const GpuInterval> intervals);

}  // namespace bench
