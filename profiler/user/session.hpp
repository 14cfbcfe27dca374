// SPDX-License-Identifier: Apache-2.0
// The profiler of one process, which implements the functions of include/bench/profiler.hpp.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "profiler/activity_file.hpp"
#include "profiler/analysis/summary.hpp"
#include "profiler/recorder.hpp"
#include "profiler/switches.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::user {

// The sink for the activities of this process: its file, which the first activity after a fork
// opens, and the sums of dumps().
class ProcessSink final : public ActivitySink {
 public:
  Status open(const ProfileSwitches& switches);
  Status consume(const Activity& activity) override;
  Status flush();
  // Writes the last record, with the clocks at the end.
  Status finish();
  // Discards the file, its unwritten records and the sums. Call this in a child after fork: the
  // parent writes these records.
  void abandon();
  Summary& summary() { return summary_; }
  // Empty before open(). Once set, it is never freed or changed, so that C callers may keep it.
  const char* path() const { return path_ == nullptr ? "" : path_->c_str(); }
  bool is_open() const { return file_ != nullptr; }

 private:
  std::unique_ptr<ActivityFile> file_;
  const std::string* path_ = nullptr;
  ProfileSwitches switches_;
  bool is_child_ = false;
  Summary summary_;
};

// A scope of user code, and the process that began it.
struct UserScope {
  std::int64_t process = 0;
  std::unique_ptr<Scope> scope;
};

// Thread-safe. All work is done under one mutex. fork() acquires it, so that no other thread is in
// the middle of an operation. Never destroyed, since other threads and static destructors of the
// program may call at any time. finish() ends it.
class Session {
 public:
  Session();

  Status set(std::string_view name, std::string_view value);
  Status start();
  Status stop();
  Status pause();
  Status resume();
  Status dump();
  std::string format_dumps(const SummaryOptions& options);
  std::string dumps_json(const SummaryOptions& options);
  void reset_sums();
  const char* path();

  // Costs one relaxed load.
  bool recording() const { return recording_.load(std::memory_order_relaxed); }
  bool running() const { return running_.load(std::memory_order_relaxed); }
  Nanoseconds now() { return clock_.now(); }

  void record(Activity activity);
  // Changes a value and records it in one step, so that the records of several threads stay in
  // order. While nothing is recorded, this does not take the mutex. add_counter saturates.
  void set_counter(std::string_view domain, std::string_view name, std::atomic<std::int64_t>& value,
                   std::int64_t to);
  void add_counter(std::string_view domain, std::string_view name, std::atomic<std::int64_t>& value,
                   std::int64_t difference);
  std::unique_ptr<UserScope> begin_scope(const char* name);
  void end_scope(std::unique_ptr<UserScope> scope);

  // Reads BENCH_PROFILE_*. Returns an error for an invalid value; the profiler then stays off.
  Status read_environment(const Variables& variable);
  bool wants_autostart() const { return switches_.autostart == Autostart::yes; }
  // Call this at the end of the process: stops, writes, and ends the thread of the continuous dump.
  void finish();

  // Called before and after fork().
  void lock_for_fork() { mutex_.lock(); }
  void unlock_in_parent() { mutex_.unlock(); }
  void unlock_in_child();

 private:
  Status start_locked();
  void record_locked(Activity activity);
  void record_counter_locked(std::string_view domain, std::string_view name, std::int64_t value);
  void make_recorder();
  void start_dumper();
  static void* run_dumper(void* session);
  void dump_periodically();
  void update_flags();
  // The activity `process` states when something could be recorded: one for each time between a
  // start or resume and the next pause, stop or dump. end_span() writes it.
  void begin_span();
  Status end_span();
  void report_locked(const Status& status);

  MonotonicClock clock_;
  std::mutex mutex_;
  ProfileSwitches switches_;
  std::atomic<bool> running_{false};    // started, including pauses
  std::atomic<bool> recording_{false};  // not paused, and the group of user activities is requested
  bool paused_ = false;
  bool refused_ = false;  // an environment variable is invalid, so start() returns an error
  bool reported_ = false;
  ProcessSink sink_;
  std::optional<Nanoseconds> span_begin_;  // nullopt while nothing is recorded
  // The last one is in use. Open scopes may belong to earlier ones.
  std::vector<std::unique_ptr<Recorder>> recorders_;

  // A separate allocation, since a child must discard it: its thread exists only in the parent.
  struct Dumper;
  Dumper* dumper_ = nullptr;
};

}  // namespace bench::user
