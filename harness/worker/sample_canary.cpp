// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/sample_canary.hpp"

#include "base/env.hpp"
#include "base/processors.hpp"
#include "harness/worker/canary_work.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace bench {
namespace {

constexpr int kRepetitions = 3;
// A quarter of the smallest first-level cache in use, so that the data of a case stay in the
// caches.
constexpr std::size_t kFloats = 3072;
constexpr std::size_t kFloatsPerVector = 4;
constexpr std::int64_t kVectors = kFloats / kFloatsPerVector;
constexpr int kPasses = 8;
constexpr std::int64_t kChainSteps = 2000;

// Each thread has its own cache lines, because the threads write at the same time.
struct alignas(64) PerThread {
  alignas(64) float values[kFloats];
  Nanoseconds canary{0}, chain{0}, lost{0};
  Nanoseconds total{0};  // duration of take() or look()
};

// More than twice the time that threads spin with kSpinCount on the processors measured.
constexpr Nanoseconds kThreadsSleepAfter = std::chrono::milliseconds(1);

class OpenMpCanary final : public SampleCanary {
 public:
  OpenMpCanary() : threads_(static_cast<std::size_t>(omp_get_max_threads())) {
    // Each thread touches its own part first, so that the pages are in its local memory.
#pragma omp parallel num_threads(threads())
    std::ranges::fill(threads_[static_cast<std::size_t>(omp_get_thread_num())].values, 1.0F);
  }

  int threads() const override { return static_cast<int>(threads_.size()); }

  Nanoseconds take() override {
    run_on_threads(run_work);
    return find_slowest(&PerThread::canary);
  }

  std::optional<Nanoseconds> join() const override {
    return threads_.size() > 1 ? std::optional(join_) : std::nullopt;
  }

  MachineLook look() override {
    run_on_threads([](PerThread& thread) {
      run_work(thread);
      measure_chain(thread);
    });
    return {find_slowest(&PerThread::canary), find_slowest(&PerThread::chain),
            find_slowest(&PerThread::lost)};
  }

  std::int64_t preemptions() override { return count_preemptions(); }

 private:
  template <class Work>
  void run_on_threads(Work work) {
    MonotonicClock clock;
    const Nanoseconds start = clock.now();
#pragma omp parallel num_threads(threads())
    {
      MonotonicClock thread_clock;
      const Nanoseconds begin = thread_clock.now();
      PerThread& thread = threads_[static_cast<std::size_t>(omp_get_thread_num())];
      work(thread);
      thread.total = thread_clock.now() - begin;
    }
    join_ = clock.now() - start - find_slowest(&PerThread::total);
  }

  static void run_work(PerThread& thread) {
    MonotonicClock clock;
    // Not timed: it reloads the caches that the sample has used.
    [[maybe_unused]] volatile float sum = mixed_operations(thread.values, kVectors, 1);
    thread.canary = repeat(clock, thread.lost,
                           [&] { sum = mixed_operations(thread.values, kVectors, kPasses); });
  }

  static void measure_chain(PerThread& thread) {
    MonotonicClock clock;
    [[maybe_unused]] volatile double product = 0;
    Nanoseconds lost{0};
    thread.chain = repeat(clock, lost, [&] { product = dependent_multiplications(kChainSteps); });
    thread.lost += lost;
  }

  // Returns the time of the fastest repetition. Sets `lost` to the time of all repetitions beyond
  // it.
  template <class Work>
  static Nanoseconds repeat(MonotonicClock& clock, Nanoseconds& lost, Work work) {
    Nanoseconds fastest = Nanoseconds::max();
    const Nanoseconds begin = clock.now();
    Nanoseconds start = begin;
    for (int i = 0; i < kRepetitions; ++i) {
      work();
      const Nanoseconds stop = clock.now();
      fastest = std::min(fastest, stop - start);
      start = stop;
    }
    lost = start - begin - kRepetitions * fastest;
    return fastest;
  }

  Nanoseconds find_slowest(Nanoseconds PerThread::*time) const {
    return (*std::ranges::max_element(threads_, {}, time)).*time;
  }

  std::vector<PerThread> threads_;
  Nanoseconds join_{0};
};

}  // namespace

// A sleep would let the processor of the calling thread lower its clock.
void SampleCanary::let_threads_sleep() {
  MonotonicClock clock;
  const Nanoseconds end = clock.now() + kThreadsSleepAfter;
  while (clock.now() < end) {
  }
}

std::unique_ptr<SampleCanary> make_sample_canary() { return std::make_unique<OpenMpCanary>(); }

}  // namespace bench
