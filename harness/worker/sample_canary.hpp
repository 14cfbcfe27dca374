// SPDX-License-Identifier: Apache-2.0
// The sample canary: a few microseconds of fixed work before and after each sample, on the
// processors that the sample uses. It is slower if a neighbour or a second thread of the sample
// shares a core, or if the clock is lower. The time of a sample with a slow canary reflects this
// and not only the case (docs/decisions/0019).
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace bench {

// One observation of the machine, of the slowest thread; used to find out what disturbs it.
struct MachineLook {
  Nanoseconds canary{0};  // as returned by take()
  Nanoseconds chain{0};   // work that only the clock affects, not a neighbour on the core
  Nanoseconds lost{0};    // additional time of the repetitions over the fastest: interrupts
};

class SampleCanary {
 public:
  virtual ~SampleCanary() = default;
  virtual int threads() const = 0;
  // Does the work on all threads at once and returns the time of the slowest.
  virtual Nanoseconds take() = 0;
  virtual MachineLook look() = 0;
  // Time that the last take() spent on starting and joining the threads; nullopt with one thread.
  virtual std::optional<Nanoseconds> join() const = 0;
  // How many times the kernel has preempted a thread of this process so far.
  virtual std::int64_t preemptions() = 0;
};

// Runs on the threads that OpenMP gives a parallel region of this process, which are the library's.
// The work takes about 10 us and touches 12 KiB of memory per thread. The fastest of three
// repetitions counts, so that an interrupt does not look like a state of the machine.
std::unique_ptr<SampleCanary> make_sample_canary();

}  // namespace bench
