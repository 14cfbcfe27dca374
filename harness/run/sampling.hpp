// SPDX-License-Identifier: Apache-2.0
// The innermost loop of the tool: timed samples over a rotation of bound kernels. Everything else
// is outside of the two clock reads.
#pragma once

#include "base/env.hpp"
#include "base/units.hpp"
#include "ops/kernel.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

// The invocations that iterations cycle through: one (hot), or as many as buffer sets (cold).
// Remembers where it stands between rounds, so that a set is reused only after all others. Owns the
// invocations.
class Rotation {
 public:
  explicit Rotation(std::vector<std::unique_ptr<ops::Invocation>> invocations);
  // Runs the next `iterations` invocations; false at the first failure, which failure() describes.
  bool run(std::int64_t iterations) noexcept {
    for (std::int64_t i = 0; i < iterations; ++i) {
      if (!invocations_[next_]->run()) return false;
      next_ = next_ + 1 == invocations_.size() ? 0 : next_ + 1;
    }
    return true;
  }
  // One iteration with its steps told to `observer`; the profile pass alone does so.
  bool run_observed(ops::StepObserver& observer) noexcept {
    if (!invocations_[next_]->run_observed(observer)) return false;
    next_ = next_ + 1 == invocations_.size() ? 0 : next_ + 1;
    return true;
  }
  std::size_t size() const { return invocations_.size(); }
  std::string failure() const;

 private:
  std::vector<std::unique_ptr<ops::Invocation>> invocations_;
  std::size_t next_ = 0;
};

// One timed sample of `iterations` iterations. Absent when an invocation failed.
template <class ClockType>
inline std::optional<Nanoseconds> take_sample(Rotation& rotation, std::int64_t iterations,
                                              ClockType& clock) {
  const Nanoseconds start = clock.now();
  const bool ok = rotation.run(iterations);
  const Nanoseconds stop = clock.now();
  if (!ok) return std::nullopt;
  return stop - start;
}

// The same, made longer on purpose (slowdown.hpp): behind the iterations the processor spins until
// their time and `share` of it have passed.
template <class ClockType>
inline std::optional<Nanoseconds> take_slowed_sample(Rotation& rotation, std::int64_t iterations,
                                                     ClockType& clock, double share) {
  const Nanoseconds start = clock.now();
  if (!rotation.run(iterations)) return std::nullopt;
  Nanoseconds stop = clock.now();
  const auto own = static_cast<double>((stop - start).count());
  const Nanoseconds end = stop + Nanoseconds(std::llround(own * share));
  while (stop < end) stop = clock.now();
  return stop - start;
}

// A round: Google Benchmark drives `samples` samples (UseManualTime, Iterations(samples)), each of
// `iterations` iterations; every sample is kept in `out`, whose capacity is reserved beforehand.
// `slowdown`: by this share each of them is made longer. Error: an invocation failed (the samples
// before it are kept).
Status run_round(Rotation& rotation, std::int64_t samples, std::int64_t iterations, Clock& clock,
                 std::vector<Nanoseconds>& out, std::optional<double> slowdown = std::nullopt);

}  // namespace bench
