// SPDX-License-Identifier: Apache-2.0
// Axes of plots: functions that choose the values of ticks, and a scale that maps values to
// positions. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

// A range of values or of positions.
struct Extent {
  double low = 0, high = 1;
  double span() const { return high - low; }
};

// Returns at most `limit` round values within the range, ascending: steps of 1, 2 or 5 times a
// power of ten. Empty if the range is empty or not finite.
std::vector<double> linear_ticks(Extent range, std::size_t limit);

// Returns at most `limit` values within the range, ascending: powers of ten, and 2 and 5 times them
// if there is room. A range that contains fewer than three of them gets linear ticks. Empty if the
// range is not positive.
std::vector<double> log_ticks(Extent range, std::size_t limit);

// Maps values to positions. Values outside the range land on its nearer end.
class Scale {
 public:
  enum class Kind { linear, logarithmic };
  Scale(Kind kind, Extent values, Extent positions);

  double position(double value) const;
  std::vector<double> ticks(std::size_t limit) const;
  const Extent& values() const { return values_; }
  const Extent& positions() const { return positions_; }

 private:
  Kind kind_;
  Extent values_, positions_;
};

// Each function returns the text of a tick: "10 us" for ns, "100 GFLOP/s" for FLOP/s, "+5 %" for a
// fraction, and "0.5" for a number without a unit.
std::string format_time_tick(double value);
std::string format_flop_rate_tick(double value);
std::string format_change_tick(double fraction);
std::string format_plain_tick(double value);

}  // namespace bench
