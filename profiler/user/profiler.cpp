// SPDX-License-Identifier: Apache-2.0
// The C functions declared in include/bench/profiler.hpp. No exception leaves them.
#include "profiler/user/include/bench/profiler.hpp"

#include "base/printable.hpp"
#include "base/version.hpp"
#include "profiler/user/session.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <pthread.h>
#include <unistd.h>

namespace bench::user {
namespace {

// Returns the only profiler of the process, because the C interface has no object for it. The first
// call creates it. It is never destroyed.
Session& session() {
  static Session& instance = *new Session;
  return instance;
}

std::string& error_text() {
  thread_local std::string text;
  return text;
}

void report_error(const std::string& text) {
  std::fprintf(stderr, "bench profiler: %s\n", printable(text).c_str());
}

// Calls `act` and reports its error. Returns 1 on success and 0 on failure, like the C interface.
template <class Act>
int run_and_report(Act act) {
  try {
    const Status status = act();
    if (status.ok()) return 1;
    error_text() = status.error().message();
  } catch (const std::exception& error) {
    error_text() = error.what();
  }
  report_error(error_text());
  return 0;
}

// For calls without a result. If memory is exhausted, nothing is recorded.
template <class Act>
void run_ignoring_errors(Act act) {
  try {
    act();
  } catch (const std::exception&) {
  }
}

void watch_forks() {
  pthread_atfork([] { session().lock_for_fork(); }, [] { session().unlock_in_parent(); },
                 [] { session().unlock_in_child(); });
}

int start_session() {
  [[maybe_unused]] static const bool kWatching = (watch_forks(), true);  // once per process
  return run_and_report([] { return session().start(); });
}

bool environment_concerns_profiler() {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, "BENCH_PROFILE_", 14) == 0) return true;
  }
  return false;
}

// Does nothing if no environment variable concerns the profiler.
__attribute__((constructor)) void begin_process() {
  if (!environment_concerns_profiler()) return;
  const auto variable = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  run_ignoring_errors([&] {
    if (const Status status = session().read_environment(variable); !status.ok()) {
      report_error(status.error().message() + "; nothing is recorded");
    } else if (session().wants_autostart()) {
      start_session();
    }
  });
}

// Runs after all static destructors of the program.
__attribute__((destructor)) void end_process() {
  run_ignoring_errors([] { session().finish(); });
}

struct UserCounter {
  std::string domain, name;
  std::atomic<std::int64_t> value;
};

UserCounter* to_counter(void* counter) { return static_cast<UserCounter*>(counter); }

// The names of the enumerators of Range::Kind and MarkerScope.
constexpr std::string_view kRangeKinds[] = {"task", "frame", "event"};
constexpr std::string_view kMarkerScopes[] = {"global", "process", "thread", "task", "marker"};

template <std::size_t count>
std::string_view word(const std::string_view (&words)[count], int index) {
  return index >= 0 && static_cast<std::size_t>(index) < count ? words[index] : words[0];
}

Activity make_activity(ActivityKind kind, const char* domain, const char* name) {
  Activity activity;
  activity.kind = kind;
  activity.name = name == nullptr ? "" : name;
  if (domain != nullptr && *domain != '\0') activity.attributes.set(Attribute::domain, domain);
  return activity;
}

}  // namespace
}  // namespace bench::user

// table: the binary interface
using namespace bench::user;  // NOLINT: only C functions from here on
using bench::Activity;
using bench::ActivityKind;
using bench::Attribute;

int bench_profile_set(const char* name, const char* value) {
  return run_and_report([&] { return session().set(name, value); });
}

int bench_profile_start() { return start_session(); }

int bench_profile_stop() {
  return run_and_report([] { return session().stop(); });
}

int bench_profile_pause() {
  return run_and_report([] { return session().pause(); });
}

int bench_profile_resume() {
  return run_and_report([] { return session().resume(); });
}

int bench_profile_dump() {
  return run_and_report([] { return session().dump(); });
}

size_t bench_profile_dumps(int format, int sort, int order, int reset, char* text,
                           size_t capacity) {
  std::string all;
  run_ignoring_errors([&] {
    bench::SummaryOptions options;
    options.sort = static_cast<bench::SummarySort>(std::clamp(sort, 0, 4));
    options.order = order == 1 ? bench::SortOrder::ascending : bench::SortOrder::descending;
    all = format == 1 ? session().dumps_json(options) : session().format_dumps(options);
    if (reset != 0) session().reset_sums();
  });
  if (capacity != 0) {
    const size_t size = std::min(all.size(), capacity - 1);
    std::memcpy(text, all.data(), size);
    text[size] = '\0';
  }
  return all.size();
}

const char* bench_profile_file() { return session().path(); }
const char* bench_profile_last_error() { return error_text().c_str(); }
// a literal, so it ends in '\0'
const char* bench_profile_version() { return bench::tool_version().data(); }
int bench_profile_recording() { return session().recording() ? 1 : 0; }
int64_t bench_profile_now() { return session().now().count(); }

void bench_profile_range(int kind, const char* domain, const char* name, int64_t start_ns) {
  if (!session().recording()) return;
  run_ignoring_errors([&] {
    Activity activity = make_activity(ActivityKind::range, domain, name);
    activity.start = bench::Nanoseconds(start_ns);
    activity.duration = session().now() - activity.start;
    activity.attributes.set(Attribute::role, word(kRangeKinds, kind));
    session().record(std::move(activity));
  });
}

void bench_profile_mark(const char* domain, const char* name, int scope) {
  if (!session().recording()) return;
  run_ignoring_errors([&] {
    Activity activity = make_activity(ActivityKind::marker, domain, name);
    activity.start = session().now();
    activity.attributes.set(Attribute::marker_scope, word(kMarkerScopes, scope));
    session().record(std::move(activity));
  });
}

void* bench_profile_counter_new(const char* domain, const char* name, int64_t value) {
  UserCounter* counter = nullptr;
  run_ignoring_errors([&] { counter = new UserCounter{domain, name, value}; });
  return counter;
}

void bench_profile_counter_free(void* counter) { delete to_counter(counter); }

void bench_profile_counter_set(void* counter, int64_t value) {
  if (UserCounter* user_counter = to_counter(counter); user_counter != nullptr) {
    run_ignoring_errors([&] {
      session().set_counter(user_counter->domain, user_counter->name, user_counter->value, value);
    });
  }
}

void bench_profile_counter_add(void* counter, int64_t difference) {
  if (UserCounter* user_counter = to_counter(counter); user_counter != nullptr) {
    run_ignoring_errors([&] {
      session().add_counter(user_counter->domain, user_counter->name, user_counter->value,
                            difference);
    });
  }
}

int64_t bench_profile_counter_get(void* counter) {
  return counter == nullptr ? 0 : to_counter(counter)->value.load();
}

void* bench_profile_scope_begin(const char* name) {
  UserScope* scope = nullptr;
  run_ignoring_errors([&] { scope = session().begin_scope(name).release(); });
  return scope;
}

void bench_profile_scope_end(void* scope) {
  if (scope == nullptr) return;
  run_ignoring_errors(
      [&] { session().end_scope(std::unique_ptr<UserScope>(static_cast<UserScope*>(scope))); });
}
