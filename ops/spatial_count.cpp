// SPDX-License-Identifier: Apache-2.0
// Implements count_axis of ops/spatial.hpp. A sweep moves a kernel over a window: step x in [0, X)
// and tap y in [0, Y) use position s*x + d*y. The pair counts if the position is in [low, high].
// All counts are numbers of lattice points below a line, which Euclid's algorithm computes in
// logarithmic time.
#include "ops/spatial.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace bench::ops {
namespace {

// Intermediate values are products of two 63-bit sizes, although the results fit.
using Wide = __int128;

// Returns the sum over i in [0, n) of floor((a*i + b) / m), for a, b >= 0 and m > 0 (Graham, Knuth,
// Patashnik, "Concrete Mathematics", 3.5).
Wide compute_floor_sum(Wide n, Wide m, Wide a, Wide b) {
  Wide sum = 0;
  while (n > 0) {
    sum += (n - 1) * n / 2 * (a / m) + n * (b / m);
    a %= m;
    b %= m;
    const Wide last = a * n + b;
    if (last < m) break;
    n = last / m;
    b = last % m;
    std::swap(m, a);
  }
  return sum;
}

// All pairs of a step x and a tap y.
struct Lattice {
  Wide steps;     // X
  Wide taps;      // Y
  Wide stride;    // s
  Wide dilation;  // d

  // Counts the pairs with s*x + d*y <= limit.
  Wide count_up_to(Wide limit) const {
    if (limit < 0 || steps <= 0 || taps <= 0) return 0;
    const Wide last = std::min(steps - 1, limit / stride);
    const Wide room = limit - dilation * (taps - 1);
    // Steps before `partial` use all taps.
    const Wide partial = room < 0 ? 0 : std::min(last, room / stride) + 1;
    const Wide remaining = last - partial + 1;
    return partial * taps + remaining +
           compute_floor_sum(remaining, dilation, stride, limit - stride * last);
  }

  // Counts the pairs with positions in [low, high].
  Wide count_pairs(Wide low, Wide high) const {
    return low > high ? 0 : count_up_to(high) - count_up_to(low - 1);
  }

  // Returns the lattice with steps and taps exchanged.
  Lattice exchange_axes() const { return {taps, steps, dilation, stride}; }

  // Counts distinct positions. Pairs with the same position differ by multiples of (d/g, -s/g),
  // where g is the greatest common divisor of s and d. Of these pairs, only the one with the
  // smallest tap counts: its tap is below s/g, or its step plus d/g is outside the range.
  Wide count_distinct_positions(Wide low, Wide high) const {
    const Wide divisor =
        std::gcd(static_cast<std::int64_t>(stride), static_cast<std::int64_t>(dilation));
    const Wide tap_period = stride / divisor;
    const Wide first_step = std::max<Wide>(0, steps - dilation / divisor);
    const Lattice low_taps{steps, std::min(taps, tap_period), stride, dilation};
    const Lattice corner{steps - first_step, taps - tap_period, stride, dilation};
    const Wide shift = stride * first_step + dilation * tap_period;
    return low_taps.count_pairs(low, high) + corner.count_pairs(low - shift, high - shift);
  }

  // Counts the steps that use the window. Each step counts at its first tap inside the window.
  Wide count_distinct_steps(Wide low, Wide high) const {
    const Lattice first{steps, 1, stride, dilation};
    const Lattice later{steps, taps - 1, stride, dilation};
    const Wide entering = std::min(high, low + dilation - 1);
    return first.count_pairs(low, high) + later.count_pairs(low - dilation, entering - dilation);
  }
};

Checked to_checked(Wide value) {
  constexpr std::int64_t kMaxValue = std::numeric_limits<std::int64_t>::max();
  if (value <= kMaxValue) return {static_cast<std::int64_t>(value)};
  return Checked(kMaxValue) + 1;  // an overflow that Checked keeps
}

}  // namespace

AxisCounts count_axis(const SpatialAxis& axis, Sweep sweep) {
  const bool transposed = sweep == Sweep::transposed;
  const Wide low = axis.pad.begin;
  const Wide high = low + (transposed ? axis.output : axis.input) - 1;
  const Lattice lattice{transposed ? axis.input : axis.output, axis.kernel, axis.stride,
                        axis.dilation};
  const auto window = static_cast<std::int64_t>(lattice.count_distinct_positions(low, high));
  const auto steps = static_cast<std::int64_t>(lattice.count_distinct_steps(low, high));
  return {.taps = to_checked(lattice.count_pairs(low, high)),
          .inputs = transposed ? steps : window,
          .outputs = transposed ? window : steps,
          .kernels =
              static_cast<std::int64_t>(lattice.exchange_axes().count_distinct_steps(low, high))};
}

}  // namespace bench::ops
