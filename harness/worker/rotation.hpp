// SPDX-License-Identifier: Apache-2.0
// Rotates a case's iterations over buffers, as its cache mode requires, and takes timed samples.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "harness/config/case_id.hpp"
#include "harness/result/device_samples.hpp"
#include "harness/wire/messages.hpp"
#include "harness/worker/memory.hpp"
#include "ops/backend/kernel.hpp"

#include <alloca.h>

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

// The invocations over which iterations rotate: one (hot), or one per buffer set (cold). Keeps its
// position between rounds, so that a set is reused only after all others. Owns the invocations.
// run() is the innermost loop of the tool: on the host, a sample consists of it and two clock
// reads.
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

  // For code that runs the invocations itself: all invocations, the index of the next one, and
  // advance(), which the code calls after running `iterations` of them.
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

// Calls `work` with the stack at a fixed offset within its page, whatever the frames above use. An
// operator that keeps vectors on the stack is up to 45 % slower if they straddle cache lines. Two
// builds of this program must not differ in that (docs/decisions/0019).
template <class Work>
[[gnu::noinline]] auto on_page_boundary(Work work) {
  constexpr std::uintptr_t kPage = 4096;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  void* const unused = __builtin_alloca(here % kPage);
  asm volatile("" : : "r"(unused));
  return work();
}

// The samples that rounds have taken of a case.
struct RoundSamples {
  std::vector<Nanoseconds> samples;
  Nanoseconds timed{0};  // total duration, without an arithmetical slowdown
  // One per sample, as in SampleCanaries. Empty if no canaries are measured.
  std::vector<Nanoseconds> canaries;
  std::vector<Nanoseconds> joins;  // SampleCanary::join() of the canaries after the samples
  DeviceSamples device;            // for samples on a device's clock
  // Only for streams: of all iterations that count, and of reading the clock once.
  std::vector<Nanoseconds> latencies;
  Nanoseconds clock{0};
};

// An iteration that takes at least `min_single` is a sample by itself. Shorter iterations are
// combined into samples of at least `min_sample`.
struct BatchLimits {
  Nanoseconds min_single{0};
  Nanoseconds min_sample{0};
};

// Takes samples of a bound case, on the host's clock or on a device's.
class Sampler {
 public:
  // exhausted: all pauses of the round are used up without a valid sample. failed: see failure().
  enum class Taken { counted, exhausted, failed };

  virtual ~Sampler() = default;
  virtual BatchLimits batch_limits() const = 0;
  // Returns the number of iterations of the smallest sample.
  virtual std::int64_t min_iterations() const { return 1; }
  // Takes a sample that is not recorded. Returns nullopt on failure; see failure().
  virtual std::optional<Nanoseconds> warm(std::int64_t iterations) = 0;
  // Returns the device's clock during the last call of warm(). nullopt if there is no device or it
  // did not report its clock.
  virtual std::optional<std::int64_t> warm_clock_hz() const { return std::nullopt; }
  // Called before the samples of each round.
  virtual void begin_round() {}
  // Adds a sample to `out` if it is valid.
  virtual Taken take(std::int64_t iterations, RoundSamples& out) = 0;
  // Stops measuring canaries: from now on only the case runs.
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

// Spins until the time from `start` to `stop` is longer by the fraction `slowdown` (slowdown.hpp).
// Returns the last reading of the clock.
template <class ClockType>
inline Nanoseconds spin_longer(ClockType& clock, Nanoseconds start, Nanoseconds stop,
                               double slowdown) {
  const auto own = static_cast<double>((stop - start).count());
  const Nanoseconds end = stop + Nanoseconds(std::llround(own * slowdown));
  while (stop < end) stop = clock.now();
  return stop;
}

// Like take_sample(), but lengthened on purpose: after the iterations, the processor spins.
template <class ClockType>
inline std::optional<Nanoseconds> take_slowed_sample(Rotation& rotation, std::int64_t iterations,
                                                     ClockType& clock, double slowdown) {
  const Nanoseconds start = clock.now();
  if (!rotation.run(iterations)) return std::nullopt;
  return spin_longer(clock, start, clock.now(), slowdown) - start;
}

// Takes a round: Google Benchmark drives `samples` samples (UseManualTime, Iterations(samples)) of
// `iterations` iterations each. Samples are added to `out`, whose capacity is reserved beforehand.
// If a device no longer gives valid samples, the round ends early and `out` has fewer. Returns an
// error if an invocation or the device failed; the samples before it are kept.
Status run_round(Sampler& sampler, std::int64_t samples, std::int64_t iterations,
                 RoundSamples& out);

// Binds a kernel to the buffers of a cache mode. hot: the kernel's `own` buffers. cold_weights: the
// weights rotate over `distance` bytes of the arena (the whole arena if nullopt); the other buffers
// stay. cold: inputs and weights rotate over the arena's read region, outputs over its write
// region. If the arena cannot hold two sets of buffers, the kernel uses its own. The arena is in
// the same memory as these buffers; it may be null only for hot caches. Adds to `details`:
// "cold.sets", "cold.bytes", "cold.note", "arena.bytes", "arena.memory" (only for a device).
Result<std::unique_ptr<Rotation>> bind_rotation(ops::Kernel& kernel, std::span<void* const> own,
                                                CacheMode cache, std::optional<Bytes> distance,
                                                Arena* arena,
                                                std::map<std::string, std::string>& details);

// Returns the caches that candidates of a case are measured with: those of its executions.
// `device`: the memory that its buffers are in; null: host memory, where the arena has `host_arena`
// bytes.
ops::TunedCaches find_tuned_caches(CacheMode cache, std::optional<Bytes> distance,
                                   ops::DeviceMemory* device, Bytes host_arena);

// Sets how the backend chooses among candidates for the kernels of a request: how many it measures,
// with which caches, or the choices of another process. `host_arena`: as above.
void set_candidates(ops::Backend& backend, const PrepareRequest& request, CacheMode cache,
                    Bytes host_arena);

}  // namespace bench
