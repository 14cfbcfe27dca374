// SPDX-License-Identifier: Apache-2.0
// Sums and products for values from untrusted files. They saturate at the ends of the range instead
// of overflowing.
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <limits>

namespace bench {

inline std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

inline std::int64_t saturating_difference(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

inline std::int64_t saturating_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) != (b < 0) ? std::numeric_limits<std::int64_t>::min()
                            : std::numeric_limits<std::int64_t>::max();
}

inline Nanoseconds saturating_sum(Nanoseconds a, Nanoseconds b) {
  return Nanoseconds(saturating_sum(a.count(), b.count()));
}

inline Nanoseconds saturating_difference(Nanoseconds a, Nanoseconds b) {
  return Nanoseconds(saturating_difference(a.count(), b.count()));
}

}  // namespace bench
