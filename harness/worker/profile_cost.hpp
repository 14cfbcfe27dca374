// SPDX-License-Identifier: Apache-2.0
// What the collectors of a profile pass cost an iteration: medians with and without them.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "base/units.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace bench {

// So many pairs at most, half of them before the profiled window and half behind it, each half for
// no longer than this. On a machine whose single iterations differ by 10 % the medians of 100 are
// known to about 1 %, half of what the cost may be.
inline constexpr std::int64_t kCostPairs = 100;
inline constexpr Nanoseconds kCostTime = std::chrono::milliseconds(500);

class ProfileCost {
 public:
  using Iteration = std::function<Result<Nanoseconds>()>;  // runs one and says how long it took
  ProfileCost(Clock& clock, Iteration plain, Iteration profiled);

  // One half of the pairs. Error: that of an iteration.
  Status measure_half();
  // The same number of one kind alone, for half the time: of what cannot be switched on and off in
  // turns.
  Status measure_plain() { return measure(plain_); }
  Status measure_profiled() { return measure(profiled_); }
  // Medians; 0 where nothing was measured.
  Nanoseconds plain() const;
  Nanoseconds profiled() const;

 private:
  // Of one kind of iteration.
  struct Side {
    Iteration run;
    std::vector<Nanoseconds> times;
    Status take();
  };
  Status measure(Side& side);
  Clock& clock_;
  Side plain_, profiled_;
};

}  // namespace bench
