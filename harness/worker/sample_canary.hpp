// SPDX-License-Identifier: Apache-2.0
// The sample canary: a few microseconds of fixed work before and after each sample, on the
// processors that the sample uses. The canary is slower if another process or a second thread of
// the sample shares a core, or if the clock is lower. If a sample's canary is slow, these effects
// also changed the time of the sample (docs/decisions/0019).
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace bench {

// One observation of the machine, used to find out what disturbs it. Each time is that of the
// slowest thread.
struct MachineLook {
  Nanoseconds canary{0};  // as returned by take()
  Nanoseconds chain{0};   // work that only the clock affects, not another thread on the core
  Nanoseconds lost{0};    // time of all repetitions beyond that of the fastest: interrupts
};

class SampleCanary {
 public:
  virtual ~SampleCanary() = default;
  virtual int threads() const = 0;
  // Does the work on all threads at once and returns the time of the slowest.
  virtual Nanoseconds take() = 0;
  virtual MachineLook look() = 0;
  // Returns the time that the last take() or look() spent on starting and joining the threads;
  // nullopt with one thread.
  virtual std::optional<Nanoseconds> join() const = 0;
  // Returns when the threads of take() leave the processors to threads of others. By default it
  // keeps the calling thread busy for longer than OpenMP's threads spin after a parallel region
  // (kSpinCount).
  virtual void let_threads_sleep();
  // Returns how often the operating system has preempted a thread of this process so far.
  virtual std::int64_t preemptions() = 0;
};

// Creates a canary that runs on the threads of an OpenMP parallel region of this process, which are
// also the library's. The work takes about 10 us and touches 12 KiB of memory per thread. The
// fastest of three repetitions counts, so that an interrupt does not look like a state of the
// machine.
std::unique_ptr<SampleCanary> make_sample_canary();

}  // namespace bench
