// SPDX-License-Identifier: Apache-2.0
// Where collectors and user code put activities while they happen, and scopes, which give every
// activity its case, layer and direction.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "profiler/activity.hpp"
#include "profiler/switches.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Thread-safe. Owns neither clock nor sink; both outlive it.
class Recorder {
 public:
  // Stopped at first.
  Recorder(Clock& clock, ActivitySink& sink, std::set<RecordGroup> groups);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Between start and stop, outside of pauses. pause and resume do not nest.
  void start();
  void stop();
  void pause();
  void resume();
  bool records(RecordGroup group) const;
  bool records(ActivityKind kind) const { return records(group_of(kind)); }

  Nanoseconds now() { return clock_.now(); }

  // Drops the activity where its group is not recorded. What it leaves open is filled in: pid and
  // tid of the caller, and case, scope path and direction of the caller's innermost scope.
  void record(Activity activity);
  // The same for counters, whose group their writer names.
  void record(Activity activity, RecordGroup group);
  // Activities that have begun, for a dump that a crash ends: unfinished, to the sink at once.
  void announce(Activity activity);

  std::int64_t recorded() const;  // since construction
  // The first error of the sink, after which nothing more is recorded.
  Status status() const;

 private:
  friend class Scope;
  struct Frame {
    std::string case_id, path, direction;
  };
  void push(Frame frame);
  void pop();
  Frame innermost() const;
  void fill(Activity& activity) const;

  enum class State { stopped, running, paused };
  Clock& clock_;
  ActivitySink& sink_;
  const std::set<RecordGroup> groups_;
  mutable std::mutex mutex_;
  State state_ = State::stopped;
  std::map<std::int64_t, std::vector<Frame>> frames_;  // by thread
  std::int64_t recorded_ = 0;
  Status status_ = Done{};
};

// What a scope adds to those around it; empty fields are inherited.
struct ScopeSpec {
  std::string name;  // a layer, added to the path; empty: none
  std::string case_id = {};
  std::string direction = {};
  // The scope's own row when it ends; absent: none.
  std::optional<ActivityKind> kind = ActivityKind::range;
  Attributes attributes = {};
};

// Marks what the current thread does until the end of the block as part of a case or layer, and is
// an NVTX range of the name "layer:NAME" (docs/vendor_tools.md), which costs a branch while no tool
// listens. Balanced on every way out of the block. Must end on the thread that began it.
class Scope {
 public:
  // Without a recorder only the NVTX range.
  Scope(Recorder* recorder, ScopeSpec spec);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // More for the scope's own row: known only at its end.
  Attributes& attributes() { return spec_.attributes; }

 private:
  Recorder* recorder_;
  ScopeSpec spec_;
  Nanoseconds start_{0};
};

// "layer:NAME", as the NVTX range of a scope is called.
std::string scope_range_name(std::string_view name);

// Only the NVTX range of a scope, for where a microsecond counts: its name is made beforehand.
class ScopeRange {
 public:
  explicit ScopeRange(const char* name);
  ~ScopeRange();
  ScopeRange(const ScopeRange&) = delete;
  ScopeRange& operator=(const ScopeRange&) = delete;
};

// The calling thread as tracks name it (gettid), and this process.
std::int64_t current_thread();
std::int64_t current_process();

}  // namespace bench
