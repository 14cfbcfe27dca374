// SPDX-License-Identifier: Apache-2.0
// Statistics over a group of activities. Unknown values are not counted.
#pragma once

#include "base/units.hpp"
#include "profiler/analysis/quantile_sketch.hpp"
#include "profiler/analysis/query.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bench::analysis {

// Flags of a row.
enum class RowFlag {
  work_unknown,
  above_peak_bandwidth,
  above_peak_flops,
  unfinished,
  other_work_given,  // its file states other FLOPs or bytes than its parameters imply
};
inline constexpr std::size_t kRowFlagCount = 5;
std::string_view text_of(RowFlag flag);

// Statistics of the durations in a group.
class TimeStatistics {
 public:
  void add(Nanoseconds duration);
  std::int64_t count() const { return quantiles_.count(); }
  Nanoseconds total() const { return total_; }
  std::optional<Nanoseconds> min() const { return min_; }
  std::optional<Nanoseconds> max() const { return max_; }
  std::optional<Nanoseconds> mean() const;
  std::optional<Nanoseconds> quantile(double q) const;  // within 1 %
  std::optional<Nanoseconds> aggregate(Aggregate by) const;

 private:
  QuantileSketch quantiles_;
  Nanoseconds total_{0};
  std::optional<Nanoseconds> min_, max_;
};

// Statistics of numbers other than durations in a group.
struct NumberStatistics {
  std::int64_t count = 0;
  double sum = 0;
  std::optional<double> min, max;
  // Integers, because a double may lose their last digits.
  std::int64_t whole_count = 0;
  std::int64_t whole_sum = 0;
  std::optional<std::int64_t> whole_min, whole_max;

  void add(double value);
  void add(std::int64_t value);
  std::optional<double> aggregate(Aggregate by) const;
};

// Work per time, over the activities for which both are known. For sum and mean, it is the rate of
// all of them together; for min and max, the extreme individual rate.
class RateStatistics {
 public:
  void add(std::int64_t work, Nanoseconds duration);
  std::optional<double> aggregate(Aggregate by) const;

 private:
  double work_ = 0;
  Nanoseconds time_{0};
  std::optional<double> min_, max_;
};

struct GroupStatistics {
  std::int64_t count = 0;
  TimeStatistics times;
  std::optional<Nanoseconds> self;
  RateStatistics flop_rate, byte_rate;
  std::array<std::int64_t, kRowFlagCount> flags{};
};

}  // namespace bench::analysis
