// SPDX-License-Identifier: Apache-2.0
// A clock with a time of its own for each thread, which passes only when this thread advances it.
// Threads that run side by side thus have exact times, whatever their real order is.
#pragma once

#include "base/env.hpp"

#include <map>
#include <mutex>
#include <thread>

namespace bench::test {

class PerThreadClock final : public Clock {
 public:
  // `tick`: how much each reading advances it.
  explicit PerThreadClock(Nanoseconds tick = Nanoseconds(0)) : tick_(tick) {}
  Nanoseconds now() override {
    const std::lock_guard lock(mutex_);
    return times_[std::this_thread::get_id()] += tick_;
  }
  void advance(Nanoseconds time) {
    const std::lock_guard lock(mutex_);
    times_[std::this_thread::get_id()] += time;
  }

 private:
  const Nanoseconds tick_;
  std::mutex mutex_;
  std::map<std::thread::id, Nanoseconds> times_;
};

}  // namespace bench::test
