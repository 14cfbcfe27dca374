// SPDX-License-Identifier: Apache-2.0
// The buffers over which a case's iterations rotate in each cache mode.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "harness/config/case_id.hpp"
#include "harness/result/device_samples.hpp"
#include "harness/worker/memory.hpp"
#include "ops/backend/kernel.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

// The innermost loop of the tool: timed samples over a rotation of bound kernels. On the host,
// everything else is outside the two clock reads.

// The invocations over which iterations rotate: one (hot), or one per buffer set (cold). Keeps its
// position between rounds, so that a set is reused only after all others. Owns the invocations.
class Rotation {
 public:
  explicit Rotation(std::vector<std::unique_ptr<ops::Invocation>> invocations);
  // Runs the next `iterations` invocations. Returns false at the first failure, which failure()
  // describes.
  bool run(std::int64_t iterations) noexcept {
    for (std::int64_t i = 0; i < iterations; ++i) {
      if (!invocations_[next_]->run()) return false;
      next_ = next_ + 1 == invocations_.size() ? 0 : next_ + 1;
    }
    return true;
  }
  // Runs one iteration and reports its steps to `observer`; only the profile pass does this.
  bool run_observed(ops::StepObserver& observer) noexcept {
    if (!invocations_[next_]->run_observed(observer)) return false;
    next_ = next_ + 1 == invocations_.size() ? 0 : next_ + 1;
    return true;
  }
  std::size_t size() const { return invocations_.size(); }
  std::string failure() const;

  // For code that runs the invocations elsewhere: all of them, the index of the next one, and a way
  // to report that `iterations` have run.
  std::span<ops::Invocation* const> invocations() const { return pointers_; }
  std::size_t next() const { return next_; }
  void advance(std::int64_t iterations) {
    next_ = (next_ + static_cast<std::size_t>(iterations)) % invocations_.size();
  }

 private:
  std::vector<std::unique_ptr<ops::Invocation>> invocations_;
  std::vector<ops::Invocation*> pointers_;
  std::size_t next_ = 0;
};

// The samples that rounds have taken of a case.
struct RoundSamples {
  std::vector<Nanoseconds> samples;
  Nanoseconds timed{0};  // their duration, without an arithmetical slowdown
  // One per sample, as in SampleCanaries. Empty if none are taken.
  std::vector<Nanoseconds> canaries;
  std::vector<Nanoseconds> joins;  // SampleCanary::join() of the canaries after the samples
  DeviceSamples device;            // for samples on a device's clock
};

// An iteration of at least `alone` is a sample by itself. Shorter ones are combined until a sample
// takes at least `sample`.
struct BatchLimits {
  Nanoseconds alone{0};
  Nanoseconds sample{0};
};

// A way of taking samples of a bound case; determines whose clock they use.
class Sampler {
 public:
  // exhausted: no valid sample, despite all waiting. failed: see failure().
  enum class Taken { counted, exhausted, failed };

  virtual ~Sampler() = default;
  virtual BatchLimits batch_limits() const = 0;
  // Takes a sample that is not recorded. Returns nullopt on failure; see failure().
  virtual std::optional<Nanoseconds> warm(std::int64_t iterations) = 0;
  // The clock of the device during the last call of warm(). nullopt: there is no device, or it did
  // not report one.
  virtual std::optional<std::int64_t> warm_clock_hz() const { return std::nullopt; }
  // Called before the samples of each round.
  virtual void begin_round() {}
  virtual Taken take(std::int64_t iterations, RoundSamples& out) = 0;
  // From now on only the case runs.
  virtual void leave_out_canaries() {}
  virtual std::string failure() const = 0;
};

// Takes one timed sample of `iterations` iterations. Returns nullopt if an invocation failed.
template <class ClockType>
inline std::optional<Nanoseconds> take_sample(Rotation& rotation, std::int64_t iterations,
                                              ClockType& clock) {
  const Nanoseconds start = clock.now();
  const bool ok = rotation.run(iterations);
  const Nanoseconds stop = clock.now();
  if (!ok) return std::nullopt;
  return stop - start;
}

// The same, lengthened on purpose (slowdown.hpp): after the iterations the processor spins until
// their time plus the fraction `share` of it has passed.
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

// Takes a round: Google Benchmark drives `samples` samples (UseManualTime, Iterations(samples)) of
// `iterations` iterations each. Samples are added to `out`, whose capacity is reserved beforehand.
// If a device no longer gives valid samples, the round ends early and `out` has fewer. Returns an
// error if an invocation or the device failed; the samples before it are kept.
Status run_round(Sampler& sampler, std::int64_t samples, std::int64_t iterations,
                 RoundSamples& out);

// hot: the kernel's own buffers. cold_weights: the weights rotate over `distance` bytes (the whole
// arena if absent); the other buffers stay. cold: inputs and weights rotate over the arena's read
// region, outputs over its write region. If the arena cannot hold two sets of a case, the case uses
// its own buffers. The arena is in the same memory as these buffers. The result is described in
// `details`: "cold.sets", "cold.bytes", "cold.note", "arena.bytes", "arena.memory" (only for a
// device).
Result<std::unique_ptr<Rotation>> bind_rotation(ops::Kernel& kernel, std::span<void* const> own,
                                                CacheMode cache, std::optional<Bytes> distance,
                                                Arena* arena,
                                                std::map<std::string, std::string>& details);

}  // namespace bench
