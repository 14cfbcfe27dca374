// SPDX-License-Identifier: Apache-2.0
// The canary beside each sample: a few microseconds of fixed work on the very processors that the
// sample uses, before and after it. It is slower where a neighbour shares a core, where two threads
// of the sample do, and where the clock is lower: what a sample beside such a canary took says
// something of that, and not of the case alone (docs/decisions/0019).
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace bench {

// One look at the machine, of the slowest thread; for who asks what disturbs it.
struct MachineLook {
  Nanoseconds canary{0};  // as take() gives it
  Nanoseconds chain{0};   // work that a neighbour on the core does not slow down: the clock
  Nanoseconds lost{0};    // by which the repetitions took longer than the fastest: interrupted
};

class SampleCanary {
 public:
  virtual ~SampleCanary() = default;
  virtual int threads() const = 0;
  // Does the work on every thread at once; the time of the slowest.
  virtual Nanoseconds take() = 0;
  virtual MachineLook look() = 0;
  // What the last take() spent on starting and joining the threads; absent of one thread.
  virtual std::optional<Nanoseconds> join() const = 0;
  // How often the kernel has taken a processor from a thread of this process so far.
  virtual std::int64_t preemptions() = 0;
};

// On the threads that OpenMP gives a parallel region of this process, which are the library's. The
// work takes some 10 us and touches 12 KiB of memory a thread; of three repetitions the fastest
// counts, so that an interrupt is no state of the machine.
std::unique_ptr<SampleCanary> make_sample_canary();

}  // namespace bench
