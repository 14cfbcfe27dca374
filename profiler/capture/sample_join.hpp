// SPDX-License-Identifier: Apache-2.0
// Gives samples to the oneDNN primitives and layers that were open when they were taken. A
// primitive is known only when it has ended, and a thread writes several samples at once, so either
// may come first.
#pragma once

#include "base/result.hpp"
#include "profiler/activity.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>

namespace bench {

// A stream stage. A sample belongs to the primitive that ran on its thread or, if its thread
// executes no primitives and ranges of its own (a worker of OpenMP), to a primitive that ran in its
// process. It then has the attribute `primitive`, and the layer and direction of the primitive.
// A worker's sample also belongs to the innermost range that was open in its process and, outside
// primitives, to its layer; those of other threads are known already. Both wait for the other for
// 10 s, so a sample at the beginning of a longer primitive or range may stay outside.
class SampleJoin final : public ActivitySink {
 public:
  using Threads = std::set<std::pair<std::int64_t, std::int64_t>>;  // pid and tid
  // `own_threads`: the threads that execute primitives or push ranges. Both must outlive the stage.
  SampleJoin(const Threads& own_threads, ActivitySink& next)
      : own_threads_(own_threads), next_(next) {}

  Status consume(const Activity& activity) override;
  Status finish();

 private:
  struct Process {
    std::multimap<Nanoseconds, Activity> samples;  // held; key: start
    std::deque<Activity> ended;                    // primitives and ranges, in order of their ends
  };
  bool is_worker(const Activity& sample) const;
  void remember(Process& process, const Activity& owner) const;
  static void find_owner(const Process& process, Activity& sample);
  void give(Process& process, const Activity& owner) const;
  Status release(Process& process, Nanoseconds until);

  const Threads& own_threads_;
  ActivitySink& next_;
  std::map<std::int64_t, Process> processes_;  // key: pid
};

}  // namespace bench
