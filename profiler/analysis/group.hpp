// SPDX-License-Identifier: Apache-2.0
// Statistics over a group of activities. Unknown values are not counted.
#pragma once

#include "base/enumerators.hpp"
#include "base/units.hpp"
#include "profiler/analysis/query.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace bench {

// Quantiles of a stream of times with little memory: DDSketch (Masson, Rim, Lee, VLDB 2019). Values
// are counted in buckets whose bounds grow by a constant factor. So every quantile is within
// kAccuracy of a value that has that rank.
class QuantileSketch {
 public:
  static constexpr double kAccuracy = 0.01;

  // Negative values count as 0.
  void add(std::int64_t value);
  // Returns the value of rank ceil(q n), counted from 1, within kAccuracy. Returns nullopt without
  // values.
  std::optional<std::int64_t> quantile(double q) const;
  std::int64_t count() const { return count_; }

 private:
  struct Bucket {
    std::int16_t index;
    std::int64_t count;
  };
  // Sorted by index. The times of one operation use only few buckets.
  std::vector<Bucket> buckets_;
  std::int64_t not_positive_ = 0;  // number of values that are 0 or negative
  std::int64_t count_ = 0;
};

}  // namespace bench

namespace bench::analysis {

// Flags of a row.
// other_work_given: its file states other FLOPs or bytes than its parameters imply.
BENCH_ENUM(RowFlag, (work_unknown, "work unknown"), (above_peak_bandwidth, "above peak bandwidth"),
           (above_peak_flops, "above peak FLOP rate"), unfinished,
           (other_work_given, "file gives other work"));
inline constexpr std::size_t kRowFlagCount = enumerator_names<RowFlag>().size();

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
  // Returns the standard deviation with divisor n - 1; nullopt for fewer than two durations.
  std::optional<Nanoseconds> deviation() const;
  std::optional<Nanoseconds> aggregate(Aggregate by) const;

 private:
  QuantileSketch quantiles_;
  Nanoseconds total_{0};
  std::optional<Nanoseconds> min_, max_;
  // The first duration, the mean of the distances from it in nanoseconds, and the sum of the
  // squares of their differences from this mean (Welford's method): a large mean costs no digits.
  Nanoseconds origin_{0};
  double running_mean_ = 0, squares_ = 0;
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

// A ratio over the activities for which both parts are known, such as work per time. For sum and
// mean, it is the ratio of the sums; for min and max, the extreme individual ratio.
class RatioStatistics {
 public:
  // Every ratio is multiplied by `scale`.
  explicit RatioStatistics(double scale = 1) : scale_(scale) {}
  // Ignores a pair whose second part is not positive.
  void add(double part, double whole);
  std::optional<double> aggregate(Aggregate by) const;

 private:
  double ratio(double part, double whole) const { return part * scale_ / whole; }

  double scale_;
  double part_ = 0;
  double whole_ = 0;
  std::optional<double> min_, max_;
};

// Work and nanoseconds give a rate per second.
inline constexpr double kNanosecondsPerSecond = 1e9;

struct GroupStatistics {
  std::int64_t count = 0;
  TimeStatistics times;
  // What the group takes without outliers: for each of its calls, the median of its durations times
  // their number. A call is a name in a layer with its direction and parameters.
  std::optional<Nanoseconds> typical;
  std::optional<Nanoseconds> self;
  RatioStatistics flop_rate{kNanosecondsPerSecond}, byte_rate{kNanosecondsPerSecond};
  RatioStatistics intensity;   // operations per byte
  RatioStatistics efficiency;  // ideal time per measured time
  TimeStatistics ideals;
  NumberStatistics values;           // of counters
  std::optional<double> last_value;  // in the order of the file
  std::array<std::int64_t, kRowFlagCount> flags{};
};

}  // namespace bench::analysis
