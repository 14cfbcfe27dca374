// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder.hpp"

#include "profiler/scope_path.hpp"

#include <nvtx3/nvToolsExt.h>

#include <cassert>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace bench {

Recorder::Recorder(Clock& clock, ActivitySink& sink, std::set<RecordGroup> groups)
    : clock_(clock), sink_(sink), groups_(std::move(groups)) {}

void Recorder::start() {
  const std::lock_guard lock(mutex_);
  state_ = State::running;
}

void Recorder::stop() {
  const std::lock_guard lock(mutex_);
  state_ = State::stopped;
}

void Recorder::pause() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::running) state_ = State::paused;
}

void Recorder::resume() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::paused) state_ = State::running;
}

bool Recorder::is_recording(RecordGroup group) const {
  const std::lock_guard lock(mutex_);
  return state_ == State::running && groups_.contains(group);
}

void Recorder::record(Activity activity) {
  const RecordGroup group = record_group(activity.kind);
  record(std::move(activity), group);
}

void Recorder::record(Activity activity, RecordGroup group) {
  const std::lock_guard lock(mutex_);
  if (state_ != State::running || !groups_.contains(group) || !status_) return;
  fill_context(activity);
  status_ = sink_.consume(activity);
}

void Recorder::record_unfinished(Activity activity) {
  const std::lock_guard lock(mutex_);
  if (state_ != State::running || !groups_.contains(record_group(activity.kind)) || !status_)
    return;
  fill_context(activity);
  activity.duration.reset();
  activity.attributes.set(Attribute::unfinished, std::int64_t{1});
  status_ = sink_.consume(activity);
}

Status Recorder::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void Recorder::push(Frame frame) {
  const std::int64_t thread = current_thread();
  const std::lock_guard lock(mutex_);
  frames_[thread].push_back(std::move(frame));
}

void Recorder::pop() {
  const std::int64_t thread = current_thread();
  const std::lock_guard lock(mutex_);
  const auto found = frames_.find(thread);
  assert(found != frames_.end() && !found->second.empty());
  found->second.pop_back();
  // Removes the entry of a thread outside all scopes, so that ended threads leave nothing behind.
  if (found->second.empty()) frames_.erase(found);
}

Recorder::Frame Recorder::innermost() const {
  const std::lock_guard lock(mutex_);
  const auto found = frames_.find(current_thread());
  return found == frames_.end() ? Frame{} : found->second.back();
}

void Recorder::fill_context(Activity& activity) const {
  if (activity.track.pid == 0) activity.track.pid = current_process();
  if (activity.track.tid == 0) activity.track.tid = current_thread();
  const auto found = frames_.find(activity.track.tid);
  if (found == frames_.end()) return;
  const Frame& frame = found->second.back();
  if (activity.case_id.empty()) activity.case_id = frame.case_id;
  if (activity.scope.empty()) activity.scope = frame.path;
  if (activity.direction.empty()) activity.direction = frame.direction;
}

std::string scope_range_name(std::string_view name) { return "layer:" + std::string(name); }

ScopeRange::ScopeRange(const char* name) { nvtxRangePushA(name); }
ScopeRange::~ScopeRange() { nvtxRangePop(); }

Scope::Scope(Recorder* recorder, ScopeSpec spec) : recorder_(recorder), spec_(std::move(spec)) {
  nvtxRangePushA(scope_range_name(spec_.name.empty() ? spec_.case_id : spec_.name).c_str());
  if (recorder_ == nullptr) return;
  Recorder::Frame frame = recorder_->innermost();
  if (!spec_.case_id.empty()) frame.case_id = spec_.case_id;
  if (!spec_.name.empty()) frame.path = append_scope(frame.path, spec_.name);
  if (!spec_.direction.empty()) frame.direction = spec_.direction;
  recorder_->push(std::move(frame));
  start_ = recorder_->now();
}

Scope::~Scope() {
  if (recorder_ != nullptr) {
    if (spec_.kind) {
      Activity activity;
      activity.kind = *spec_.kind;
      activity.name = spec_.name.empty() ? spec_.case_id : spec_.name;
      activity.start = start_;
      activity.duration = recorder_->now() - start_;
      activity.attributes = std::move(spec_.attributes);
      recorder_->record(std::move(activity));  // before pop(), so it gets this scope
    }
    recorder_->pop();
  }
  nvtxRangePop();
}

std::int64_t current_thread() { return ::syscall(SYS_gettid); }

std::int64_t current_process() { return ::getpid(); }

}  // namespace bench
