// SPDX-License-Identifier: Apache-2.0
// What the collectors of a profile pass cost per iteration: medians with and without them.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "base/units.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace bench {

// Maximum number of pairs: half before the profiled window and half after it, each half limited to
// this time. On a machine whose single iterations differ by 10 %, the medians of 100 are accurate
// to about 1 %, half of the permitted cost.
inline constexpr std::int64_t kCostPairs = 100;
inline constexpr Nanoseconds kCostTime = std::chrono::milliseconds(500);

class ProfileCost {
 public:
  using Iteration = std::function<Result<Nanoseconds>()>;  // runs one and returns its duration
  ProfileCost(Clock& clock, Iteration plain, Iteration profiled);

  // Measures one half of the pairs. Returns the error of an iteration.
  Status measure_half();
  // Measures the same number of iterations of only one kind, for half the time. For collectors that
  // cannot be switched on and off between iterations.
  Status measure_plain() { return measure(plain_); }
  Status measure_profiled() { return measure(profiled_); }
  // Medians; 0 if nothing was measured.
  Nanoseconds plain() const;
  Nanoseconds profiled() const;

 private:
  // One kind of iteration.
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
