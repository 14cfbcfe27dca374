// SPDX-License-Identifier: Apache-2.0
// Times from their logarithms.
#pragma once

#include <algorithm>
#include <cmath>
#include <ratio>

namespace bench {

// Returns the time with this logarithm of nanoseconds, rounded to a unit of `Duration`. A time that
// `Duration` cannot represent becomes one near its maximum.
template <class Duration>
Duration time_from_log(double log_nanoseconds) {
  using UnitsPerNanosecond = std::ratio_divide<std::nano, typename Duration::period>;
  static_assert(UnitsPerNanosecond::den == 1);
  constexpr double kMaxUnits = 9e18;  // below 2^63
  const double units = std::exp(log_nanoseconds) * static_cast<double>(UnitsPerNanosecond::num);
  return Duration(std::llround(std::min(units, kMaxUnits)));
}

}  // namespace bench
