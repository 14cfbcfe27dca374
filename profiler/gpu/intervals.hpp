// SPDX-License-Identifier: Apache-2.0
// Arithmetic on intervals that may overlap: kernels on several streams, replayed graphs, dependent
// launches.
#pragma once

#include "profiler/gpu/gpu_record.hpp"

#include <span>
#include <vector>

namespace bench {

// Returns the union as disjoint intervals in ascending order. Merges intervals that touch. Skips
// empty and reversed intervals.
std::vector<GpuInterval> merge_intervals(std::vector<GpuInterval> intervals);
Nanoseconds total_length(std::span<const GpuInterval> intervals);

struct CounterPoint {
  Nanoseconds at{0};
  double value = 0;  // valid from `at` on
  friend bool operator==(const CounterPoint&, const CounterPoint&) = default;
};

// Returns the covered percentage of each period. There is one point at the beginning of each period
// from the first start on, and a point with value 0 at the end. The last period may be shorter.
// `disjoint` must come from merge_intervals(); `period` must be > 0.
std::vector<CounterPoint> covered_percent(std::span<const GpuInterval> disjoint,
                                          Nanoseconds period);

// The same with a period that suits the length of `disjoint`, which must not be empty: at most
// about 1000 points.
std::vector<CounterPoint> busy_percent(std::span<const GpuInterval> disjoint);

// Returns the number of open intervals at every change.
std::vector<CounterPoint> open_count(std::span<const GpuInterval> intervals);

}  // namespace bench
