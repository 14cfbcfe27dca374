// SPDX-License-Identifier: Apache-2.0
#include "profiler/user/session.hpp"

#include "base/nearest_name.hpp"
#include "base/printable.hpp"
#include "base/quote.hpp"
#include "base/version.hpp"
#include "profiler/capture/process_spans.hpp"
#include "profiler/clock_pair.hpp"
#include "profiler/rank.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <pthread.h>
#include <system_error>

namespace bench::user {
namespace {

// Returns "run-1234.jsonl" for "run.jsonl": a child must not write into its parent's file.
std::string with_process(const std::string& path, std::int64_t process) {
  const std::size_t slash = path.rfind('/');
  const std::size_t dot = path.rfind('.');
  const bool has_suffix =
      dot != std::string::npos && (slash == std::string::npos || dot > slash + 1);
  const std::size_t end = has_suffix ? dot : path.size();
  return fmt::format("{}-{}{}", path.substr(0, end), process, path.substr(end));
}

// Returns the path of the program that this process runs; empty if it is unknown.
std::string read_own_program() {
  std::error_code code;
  return std::filesystem::read_symlink("/proc/self/exe", code).string();
}

std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<std::int64_t>::max()
               : std::numeric_limits<std::int64_t>::min();
}

std::int64_t add_saturating(std::atomic<std::int64_t>& value, std::int64_t difference) {
  std::int64_t old_value = value.load();
  while (!value.compare_exchange_weak(old_value, saturating_sum(old_value, difference))) {
  }
  return saturating_sum(old_value, difference);
}

}  // namespace

// ---- ProcessSink

Status ProcessSink::open(const ProfileSwitches& switches) {
  switches_ = switches;
  const std::int64_t process = current_process();
  const auto rank = find_rank(environment_variable);
  std::string path = switches.file.value_or(default_profile_name(rank, process));
  if (is_child_ && switches.file) path = with_process(path, process);
  MonotonicClock clock;
  RealtimeClock realtime;
  ProfileHeader header{std::string(tool_version()), real_env(clock).utc_now(), {}};
  header.details["pid"] = std::to_string(process);
  if (rank) describe_rank(*rank, header.details);
  describe_clocks({read_clock_pair(realtime, clock), std::nullopt, read_boot_id()}, header.details);
  BENCH_ASSIGN_OR_RETURN(file_, ActivityFile::create(path, Existing::replace, header));
  path_ = new std::string(std::move(path));
  return Done{};
}

Status ProcessSink::consume(const Activity& activity) {
  if (file_ == nullptr) BENCH_RETURN_IF_ERROR(open(switches_));
  BENCH_RETURN_IF_ERROR(summary_.consume(activity));
  return file_->consume(activity);
}

Status ProcessSink::flush() { return file_ == nullptr ? Status(Done{}) : file_->flush(); }

Status ProcessSink::finish() {
  if (file_ == nullptr) return Done{};
  MonotonicClock clock;
  RealtimeClock realtime;
  ClockDetails details;
  describe_clocks({std::nullopt, read_clock_pair(realtime, clock), {}}, details);
  return file_->finish(details);
}

void ProcessSink::abandon() {
  static_cast<void>(file_.release());
  path_ = nullptr;
  is_child_ = true;
  summary_.reset();
}

// ---- The continuous dump

struct Session::Dumper {
  Session* session;
  pthread_t thread;
  std::condition_variable wake;
  bool must_end = false;
};

void* Session::run_dumper(void* session) {
  static_cast<Session*>(session)->dump_periodically();
  return nullptr;
}

void Session::dump_periodically() {
  std::unique_lock lock(mutex_);
  Dumper& dumper = *dumper_;
  while (!dumper.must_end) {
    dumper.wake.wait_for(lock, switches_.dump_period);
    report_locked(sink_.flush());
  }
}

void Session::start_dumper() {
  if (dumper_ != nullptr) return;
  dumper_ = new Dumper{this, {}, {}};
  // The new thread blocks all signals, so that the program's own threads handle them.
  sigset_t all;
  sigset_t previous_mask;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous_mask);
  // Without this thread, the profile is written when a buffer is full and at the end.
  if (pthread_create(&dumper_->thread, nullptr, run_dumper, this) != 0) {
    delete dumper_;
    dumper_ = nullptr;
  }
  pthread_sigmask(SIG_SETMASK, &previous_mask, nullptr);
}

// ---- Session

Session::Session() = default;

Status Session::set(std::string_view name, std::string_view value) {
  const std::lock_guard lock(mutex_);
  const SwitchRow* row = find_switch(name);
  if (row == nullptr) {
    std::vector<std::string_view> names;
    for (const SwitchRow& candidate : switch_rows()) names.push_back(candidate.name);
    return Error{fmt::format("unknown switch {}", quote(name)), "", expectation(name, names)};
  }
  if (row->api == SwitchRow::Api::refused) {
    std::vector<std::string_view> names;
    for (const SwitchRow& candidate : switch_rows()) {
      if (candidate.api == SwitchRow::Api::accepted) names.push_back(candidate.name);
    }
    return Error{fmt::format("a program cannot set `{}`", name), "", expectation(name, names)};
  }
  if (running_) {
    return Error{fmt::format("`{}` cannot change while the profiler runs", name), "",
                 "call stop() before"};
  }
  ProfileSwitches changed = switches_;
  if (Status status = row->apply(changed, value); !status.ok()) {
    Error error = status.error();
    error.where = std::string(name);
    return error;
  }
  if (sink_.is_open() && changed.file != switches_.file) {
    return Error{"the file is open already", sink_.path(), "set `file` before the first start()"};
  }
  switches_ = std::move(changed);
  return Done{};
}

Status Session::start() {
  const std::lock_guard lock(mutex_);
  if (refused_) {
    return Error{"the profiler is off because of an invalid BENCH_PROFILE_* variable", "", ""};
  }
  return start_locked();
}

Status Session::start_locked() {
  if (running_) return Done{};
  if (!sink_.is_open()) BENCH_RETURN_IF_ERROR(sink_.open(switches_));
  make_recorder();
  recorders_.back()->start();
  paused_ = false;
  running_ = true;
  update_flags();
  begin_span();
  start_dumper();
  return Done{};
}

void Session::make_recorder() {
  recorders_.push_back(std::make_unique<Recorder>(clock_, sink_, switches_.groups));
}

Status Session::stop() {
  const std::lock_guard lock(mutex_);
  if (!running_) return Done{};
  recorders_.back()->stop();
  running_ = false;
  update_flags();
  BENCH_RETURN_IF_ERROR(recorders_.back()->status());
  BENCH_RETURN_IF_ERROR(end_span());
  return sink_.flush();
}

Status Session::pause() {
  const std::lock_guard lock(mutex_);
  if (running_) recorders_.back()->pause();
  paused_ = true;
  update_flags();
  return end_span();
}

Status Session::resume() {
  const std::lock_guard lock(mutex_);
  if (running_) recorders_.back()->resume();
  paused_ = false;
  update_flags();
  if (running_) begin_span();
  return Done{};
}

void Session::begin_span() {
  if (!span_begin_) span_begin_ = clock_.now();
}

Status Session::end_span() {
  if (!span_begin_) return Done{};
  const Nanoseconds begin = *span_begin_;
  span_begin_.reset();
  // A child after fork that has recorded nothing writes no file.
  if (!sink_.is_open()) return Done{};
  return sink_.consume(
      make_process_activity(current_process(), read_own_program(), begin, clock_.now()));
}

void Session::update_flags() {
  recording_ = running_ && !paused_ && switches_.records(RecordGroup::operators);
}

Status Session::dump() {
  const std::lock_guard lock(mutex_);
  if (!recorders_.empty()) BENCH_RETURN_IF_ERROR(recorders_.back()->status());
  // Otherwise the file would not say how long the process has run.
  if (span_begin_) {
    BENCH_RETURN_IF_ERROR(end_span());
    begin_span();
  }
  return sink_.flush();
}

std::string Session::format_dumps(const SummaryOptions& options) {
  const std::lock_guard lock(mutex_);
  return format_summary(sink_.summary(), options);
}

std::string Session::dumps_json(const SummaryOptions& options) {
  const std::lock_guard lock(mutex_);
  return summary_json(sink_.summary(), options);
}

void Session::reset_sums() {
  const std::lock_guard lock(mutex_);
  sink_.summary().reset();
}

const char* Session::path() {
  const std::lock_guard lock(mutex_);
  return sink_.path();
}

void Session::report_locked(const Status& status) {
  if (status.ok() || reported_) return;
  reported_ = true;
  std::fprintf(stderr, "bench profiler: %s\n", printable(status.error().message()).c_str());
}

void Session::record_locked(Activity activity) {
  if (!running_) return;
  start_dumper();                                    // a child of a fork has none yet
  const RecordGroup group = RecordGroup::operators;  // all that user code records
  recorders_.back()->record(std::move(activity), group);
  report_locked(recorders_.back()->status());
}

void Session::record(Activity activity) {
  const std::lock_guard lock(mutex_);
  record_locked(std::move(activity));
}

void Session::record_counter_locked(std::string_view domain, std::string_view name,
                                    std::int64_t value) {
  Activity activity;
  activity.kind = ActivityKind::counter;
  activity.name = name;
  activity.start = clock_.now();
  if (!domain.empty()) activity.attributes.set(Attribute::domain, domain);
  activity.attributes.set(Attribute::value, static_cast<double>(value));
  record_locked(std::move(activity));
}

void Session::set_counter(std::string_view domain, std::string_view name,
                          std::atomic<std::int64_t>& value, std::int64_t to) {
  if (!recording()) return value.store(to);
  const std::lock_guard lock(mutex_);
  value.store(to);
  record_counter_locked(domain, name, to);
}

void Session::add_counter(std::string_view domain, std::string_view name,
                          std::atomic<std::int64_t>& value, std::int64_t difference) {
  if (!recording()) {
    add_saturating(value, difference);
    return;
  }
  const std::lock_guard lock(mutex_);
  record_counter_locked(domain, name, add_saturating(value, difference));
}

std::unique_ptr<UserScope> Session::begin_scope(const char* name) {
  ScopeSpec spec;
  spec.name = name;
  auto scope = std::make_unique<UserScope>();
  if (!running()) {  // only the NVTX range
    scope->scope = std::make_unique<Scope>(nullptr, std::move(spec));
    return scope;
  }
  const std::lock_guard lock(mutex_);
  if (recorders_.empty()) return scope;
  scope->process = current_process();
  scope->scope = std::make_unique<Scope>(recorders_.back().get(), std::move(spec));
  return scope;
}

void Session::end_scope(std::unique_ptr<UserScope> scope) {
  const bool is_of_recorder = scope->process != 0;
  if (!is_of_recorder) return;
  const std::lock_guard lock(mutex_);
  // A child after fork starts outside all scopes. Its thread id differs from the one in the
  // recorder, and the parent ends the scope.
  if (scope->process != current_process()) {
    static_cast<void>(scope->scope.release());
    return;
  }
  scope->scope.reset();
}

Status Session::read_environment(const Variables& variable) {
  const std::lock_guard lock(mutex_);
  ProfileSwitches changed = switches_;
  Status status = apply_environment(variable, changed);
  refused_ = !status.ok();
  if (status.ok()) switches_ = std::move(changed);
  return status;
}

void Session::finish() {
  static_cast<void>(stop());
  std::unique_lock lock(mutex_);
  report_locked(sink_.finish());
  if (dumper_ == nullptr) return;
  dumper_->must_end = true;
  dumper_->wake.notify_all();
  const pthread_t thread = dumper_->thread;
  lock.unlock();
  pthread_join(thread, nullptr);
  lock.lock();
  delete dumper_;
  dumper_ = nullptr;
}

void Session::unlock_in_child() {
  dumper_ = nullptr;  // only the parent has its thread; the first activity creates a new one
  sink_.abandon();
  span_begin_.reset();
  if (running_) {
    make_recorder();
    recorders_.back()->start();
    if (paused_) recorders_.back()->pause();
    if (!paused_) begin_span();
  }
  mutex_.unlock();
}

}  // namespace bench::user
