// SPDX-License-Identifier: Apache-2.0
// Receives activities from collectors and user code as they happen. Also defines scopes, which give
// every activity its case, layer and direction.
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

// Thread-safe. Owns neither the clock nor the sink; both must outlive it.
class Recorder {
 public:
  // The recorder starts in the stopped state.
  Recorder(Clock& clock, ActivitySink& sink, std::set<RecordGroup> groups);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Activities are recorded between start() and stop(), except during pauses. pause() and resume()
  // do not nest.
  void start();
  void stop();
  void pause();
  void resume();
  bool is_recording(RecordGroup group) const;
  bool is_recording(ActivityKind kind) const { return is_recording(record_group(kind)); }

  Nanoseconds now() { return clock_.now(); }

  // Drops the activity if its group is not recorded. Fills in what is unset: the caller's pid and
  // tid, and case, scope path and direction of the caller's innermost scope.
  void record(Activity activity);
  // The same for counters; the caller names their group.
  void record(Activity activity, RecordGroup group);
  // Writes an activity that has begun but not ended to the sink immediately, marked unfinished. If
  // the program crashes, its file still contains the activity.
  void record_unfinished(Activity activity);

  // The first error of the sink. Nothing more is recorded after it.
  Status status() const;

 private:
  friend class Scope;
  struct Frame {
    std::string case_id, path, direction;
  };
  void push(Frame frame);
  void pop();
  Frame innermost() const;
  void fill_context(Activity& activity) const;

  enum class State { stopped, running, paused };
  Clock& clock_;
  ActivitySink& sink_;
  const std::set<RecordGroup> groups_;
  mutable std::mutex mutex_;
  State state_ = State::stopped;
  std::map<std::int64_t, std::vector<Frame>> frames_;  // key: thread id
  Status status_ = Done{};
};

// What a scope adds to the enclosing scopes. Empty fields are inherited.
struct ScopeSpec {
  std::string name;  // a layer, appended to the path; empty for none
  std::string case_id = {};
  std::string direction = {};
  // Kind of the activity that the scope records when it ends; nullopt for none.
  std::optional<ActivityKind> kind = ActivityKind::range;
  Attributes attributes = {};
};

// Marks everything that the current thread does until the end of the block as part of a case or
// layer. It is also an NVTX range named "layer:NAME" (docs/vendor_tools.md), which costs one branch
// if no tool listens. The destructor ends it on every exit from the block. It must end on the
// thread that began it.
class Scope {
 public:
  // Without a recorder, only the NVTX range is created.
  Scope(Recorder* recorder, ScopeSpec spec);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // Attributes of the scope's own activity that are known only at its end.
  Attributes& attributes() { return spec_.attributes; }

 private:
  Recorder* recorder_;
  ScopeSpec spec_;
  Nanoseconds start_{0};
};

// Returns "layer:NAME", the name of a scope's NVTX range.
std::string scope_range_name(std::string_view name);

// Creates only the NVTX range of a scope, for code where a microsecond matters. The caller prepares
// the name beforehand with scope_range_name().
class ScopeRange {
 public:
  explicit ScopeRange(const char* name);
  ~ScopeRange();
  ScopeRange(const ScopeRange&) = delete;
  ScopeRange& operator=(const ScopeRange&) = delete;
};

// Return the ids of the calling thread (gettid, as in tracks) and of this process.
std::int64_t current_thread();
std::int64_t current_process();

}  // namespace bench
