// SPDX-License-Identifier: Apache-2.0
// bench::profiler: a profiler for your own program. Link with the CMake target bench::profiler.
//
//   #include <bench/profiler.hpp>
//   namespace prof = bench::profiler;
//
//   int main() {
//     prof::start();                          // or BENCH_PROFILE_AUTOSTART=1 in the environment
//     prof::Scope layer("encoder");           // all below is part of layer "encoder"
//     prof::Domain domain("training");
//     prof::Task task(domain, "epoch");       // ends with the block
//   }                                         // the profile is complete when the program ends
//
// Writes profile-PID.jsonl in the current directory, one record per line. `bench analyze FILE`
// prints tables of it; `bench trace FILE -o trace.json` creates a timeline. The file is valid at
// any time: records are written every dump_period (1 s), so that even a killed program leaves a
// profile. A child after fork() writes its own file.
//
// Everything may be called from any thread at any time. Before start() and after stop(), a call
// costs one relaxed atomic load. No function throws or ends your program. The library reports each
// error once on standard error, functions return false, and last_error() states the reason. C++17.
// The C functions below are the library's binary interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#define BENCH_PROFILE_API __attribute__((visibility("default")))

extern "C" {
// Functions that return int return 1 on success and 0 on failure. Texts are UTF-8, end in '\0' and
// are copied.
BENCH_PROFILE_API int bench_profile_set(const char* name, const char* value);
BENCH_PROFILE_API int bench_profile_start(void);
BENCH_PROFILE_API int bench_profile_stop(void);
BENCH_PROFILE_API int bench_profile_pause(void);
BENCH_PROFILE_API int bench_profile_resume(void);
BENCH_PROFILE_API int bench_profile_dump(void);
// Returns the size of the text. Writes at most `capacity` - 1 bytes of it and a '\0' to `text`.
BENCH_PROFILE_API size_t bench_profile_dumps(int format, int sort, int order, int reset, char* text,
                                             size_t capacity);
BENCH_PROFILE_API const char* bench_profile_file(void);
BENCH_PROFILE_API const char* bench_profile_last_error(void);
BENCH_PROFILE_API const char* bench_profile_version(void);
BENCH_PROFILE_API int bench_profile_recording(void);
BENCH_PROFILE_API int64_t bench_profile_now(void);
BENCH_PROFILE_API void bench_profile_range(int kind, const char* domain, const char* name,
                                           int64_t start_ns);
BENCH_PROFILE_API void bench_profile_mark(const char* domain, const char* name, int scope);
BENCH_PROFILE_API void* bench_profile_counter_new(const char* domain, const char* name,
                                                  int64_t value);
BENCH_PROFILE_API void bench_profile_counter_free(void* counter);
BENCH_PROFILE_API void bench_profile_counter_set(void* counter, int64_t value);
BENCH_PROFILE_API void bench_profile_counter_add(void* counter, int64_t difference);
BENCH_PROFILE_API int64_t bench_profile_counter_get(void* counter);
BENCH_PROFILE_API void* bench_profile_scope_begin(const char* name);
BENCH_PROFILE_API void bench_profile_scope_end(void* scope);
}

namespace bench {
namespace profiler {

// ---- Control

// Sets a switch by its name; call it before start(). "kinds": operators,api,memory,device or all;
// what this header records belongs to operators. "dump_period": "1s". "file": "run.jsonl". Each is
// also an environment variable: BENCH_PROFILE_KINDS, BENCH_PROFILE_DUMP_PERIOD, BENCH_PROFILE_FILE.
// The other switches of `bench run` (iterations, sample_rate, formats) have no effect here.
inline bool set(const char* name, const char* value) { return bench_profile_set(name, value) != 0; }

// Starts recording. The first call opens the file and replaces an older file of that name.
inline bool start() { return bench_profile_start() != 0; }
// Stops recording and writes what was recorded. A later start() continues in the same file.
inline bool stop() { return bench_profile_stop() != 0; }
// Nothing is recorded between pause() and resume(). They do not nest.
inline bool pause() { return bench_profile_pause() != 0; }
inline bool resume() { return bench_profile_resume() != 0; }
// Writes what was recorded so far to the file and continues recording. May be called any number of
// times.
inline bool dump() { return bench_profile_dump() != 0; }

// Returns whether events are recorded at the moment.
inline bool recording() { return bench_profile_recording() != 0; }
// Returns this process's file; empty before its first start().
inline std::string file() { return bench_profile_file(); }
// Returns the error of the calling thread's last failed call.
inline std::string last_error() { return bench_profile_last_error(); }
// Returns the library version.
inline std::string version() { return bench_profile_version(); }

enum class Format { table, json };
enum class Sort { total, mean, min, max, count };
enum class Order { descending, ascending };
enum class Reset { no, yes };

// Returns a summary of what was recorded so far, by category and name: count, total, min, max and
// mean, each with its unit. Reset::yes restarts the sums. The file keeps everything.
inline std::string dumps(Format format = Format::table, Sort sort = Sort::total,
                         Order order = Order::descending, Reset reset = Reset::no) {
  std::string text(4096, '\0');
  std::size_t size = 0;
  // Records of other threads may make the text longer in between.
  while ((size = bench_profile_dumps(static_cast<int>(format), static_cast<int>(sort),
                                     static_cast<int>(order), 0, &text[0], text.size())) >=
         text.size()) {
    text.resize(size + size / 8 + 1);
  }
  text.resize(size);
  if (reset == Reset::yes) bench_profile_dumps(0, 0, 0, 1, nullptr, 0);
  return text;
}

// ---- What is recorded

// A category of tasks, counters and so on. It has its own table in dumps().
class Domain {
 public:
  explicit Domain(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }

  // Equivalent to the constructors of the classes: domain.new_task("load").
  inline class Task new_task(std::string name) const;
  inline class Frame new_frame(std::string name) const;
  inline class Counter new_counter(std::string name, std::int64_t value = 0) const;
  inline class Marker new_marker(std::string name) const;

 private:
  std::string name_;
};

// A period with a beginning and an end. start() again restarts it. The destructor ends an open
// period. Only one thread may use an object at a time.
class Range {
 public:
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

  void start() { start_ns_ = bench_profile_recording() != 0 ? bench_profile_now() : kNotOpen; }
  void stop() {
    if (start_ns_ == kNotOpen) return;
    bench_profile_range(kind_, domain_.c_str(), name_.c_str(), start_ns_);
    start_ns_ = kNotOpen;
  }

 protected:
  enum Kind { task, frame, event };
  Range(Kind kind, std::string domain, std::string name)
      : kind_(kind), domain_(std::move(domain)), name_(std::move(name)) {}
  ~Range() { stop(); }

 private:
  static constexpr std::int64_t kNotOpen = -1;
  const int kind_;
  const std::string domain_, name_;
  std::int64_t start_ns_ = kNotOpen;
};

// A piece of work. Starts on construction.
class Task : public Range {
 public:
  Task(const Domain& domain, std::string name) : Range(task, domain.name(), std::move(name)) {
    start();
  }
};

// One element of a series: an image, a step, an iteration. Starts on construction.
class Frame : public Range {
 public:
  Frame(const Domain& domain, std::string name) : Range(frame, domain.name(), std::move(name)) {
    start();
  }
};

// A piece of work without a domain. Starts on construction.
class Event : public Range {
 public:
  explicit Event(std::string name) : Range(event, "", std::move(name)) { start(); }
};

// A value that changes: a signed 64-bit integer that saturates instead of wrapping around. It also
// changes while nothing is recorded. Thread-safe.
class Counter {
 public:
  Counter(const Domain& domain, const std::string& name, std::int64_t value = 0)
      : handle_(bench_profile_counter_new(domain.name().c_str(), name.c_str(), value)) {}
  ~Counter() { bench_profile_counter_free(handle_); }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  void set(std::int64_t value) { bench_profile_counter_set(handle_, value); }
  void increment(std::int64_t by = 1) { bench_profile_counter_add(handle_, by); }
  void decrement(std::int64_t by = 1) {
    if (by == INT64_MIN) {  // its negative cannot be represented
      bench_profile_counter_add(handle_, INT64_MAX);
      by = -1;
    }
    bench_profile_counter_add(handle_, -by);
  }
  Counter& operator+=(std::int64_t by) { return increment(by), *this; }
  Counter& operator-=(std::int64_t by) { return decrement(by), *this; }
  std::int64_t value() const { return bench_profile_counter_get(handle_); }

 private:
  void* const handle_;
};

// How far a viewer draws an instant: across all processes, one process, one thread, ...
enum class MarkerScope { global, process, thread, task, marker };

// An instant.
class Marker {
 public:
  Marker(const Domain& domain, std::string name) : domain_(domain.name()), name_(std::move(name)) {}
  void mark(MarkerScope scope = MarkerScope::process) const {
    if (bench_profile_recording() != 0) {
      bench_profile_mark(domain_.c_str(), name_.c_str(), static_cast<int>(scope));
    }
  }

 private:
  std::string domain_, name_;
};

// A layer: everything that this thread records until the end of the block belongs to it. Scopes
// nest ("encoder:attention"). Each is also an NVTX range "layer:NAME", which Nsight Systems shows.
// If a scope began while the profiler was stopped, later records do not belong to it.
class Scope {
 public:
  explicit Scope(const char* name) : handle_(bench_profile_scope_begin(name)) {}
  explicit Scope(const std::string& name) : Scope(name.c_str()) {}
  ~Scope() { bench_profile_scope_end(handle_); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  void* const handle_;
};

inline Task Domain::new_task(std::string name) const { return Task(*this, std::move(name)); }
inline Frame Domain::new_frame(std::string name) const { return Frame(*this, std::move(name)); }
inline Counter Domain::new_counter(std::string name, std::int64_t value) const {
  return Counter(*this, name, value);
}
inline Marker Domain::new_marker(std::string name) const { return Marker(*this, std::move(name)); }

}  // namespace profiler
}  // namespace bench
