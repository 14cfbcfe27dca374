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
// Writes profile-PID.jsonl in the current folder, one record a line (`bench analyze FILE` makes
// tables of it, `bench trace FILE -o trace.json` a timeline). The file is valid at any time: what
// was recorded is written every dump_period (1 s), so that even a killed program leaves a profile.
// A child after fork() writes a file of its own.
//
// Everything may be called from any thread at any time, also before start() and after stop(), when
// it costs one relaxed atomic load. Nothing throws and nothing ends your program: what goes wrong
// is told once on standard error, functions return false, and last_error() says why.
// C++17; the functions of C below are the library's binary interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#define BENCH_PROFILE_API __attribute__((visibility("default")))

extern "C" {
// Functions that return int: 1 is success, 0 failure. Texts are UTF-8, ended by '\0', copied.
BENCH_PROFILE_API int bench_profile_set(const char* name, const char* value);
BENCH_PROFILE_API int bench_profile_start(void);
BENCH_PROFILE_API int bench_profile_stop(void);
BENCH_PROFILE_API int bench_profile_pause(void);
BENCH_PROFILE_API int bench_profile_resume(void);
BENCH_PROFILE_API int bench_profile_dump(void);
// The size of the text, of which at most `capacity` - 1 bytes and a '\0' are written to `text`.
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

// Sets a switch by its name, before start(): "kinds" (operators,api,memory,device or all; what this
// header records belongs to operators), "dump_period" ("1s"), "file" ("run.jsonl"). Each is also a
// variable of the environment: BENCH_PROFILE_KINDS, BENCH_PROFILE_DUMP_PERIOD, BENCH_PROFILE_FILE.
// The other switches of `bench run` (iterations, sample_rate, formats) mean nothing here.
inline bool set(const char* name, const char* value) { return bench_profile_set(name, value) != 0; }

// Begins to record; opens the file the first time, replacing an older one of its name.
inline bool start() { return bench_profile_start() != 0; }
// Ends recording and writes what was recorded. start() goes on in the same file.
inline bool stop() { return bench_profile_stop() != 0; }
// What happens between pause() and resume() is not recorded. They do not nest.
inline bool pause() { return bench_profile_pause() != 0; }
inline bool resume() { return bench_profile_resume() != 0; }
// Writes what was recorded so far to the file; recording goes on. As often as you like.
inline bool dump() { return bench_profile_dump() != 0; }

// Whether something that happens now is recorded.
inline bool recording() { return bench_profile_recording() != 0; }
// Of this process; empty before its first start().
inline std::string file() { return bench_profile_file(); }
// Of the calling thread's last call that failed.
inline std::string last_error() { return bench_profile_last_error(); }
// Of the library.
inline std::string version() { return bench_profile_version(); }

enum class Format { table, json };
enum class Sort { total, mean, min, max, count };
enum class Order { descending, ascending };
enum class Reset { no, yes };

// What was recorded so far, summed by category and name: count, total, min, max, mean, each with
// its unit. Reset::yes starts the sums anew; the file keeps everything.
inline std::string dumps(Format format = Format::table, Sort sort = Sort::total,
                         Order order = Order::descending, Reset reset = Reset::no) {
  std::string text(4096, '\0');
  std::size_t size = 0;
  // What other threads record meanwhile may make it longer.
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

// A category of tasks, counters and so on: a table of its own in dumps().
class Domain {
 public:
  explicit Domain(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }

  // The same as the constructors of the classes: domain.new_task("load").
  inline class Task new_task(std::string name) const;
  inline class Frame new_frame(std::string name) const;
  inline class Counter new_counter(std::string name, std::int64_t value = 0) const;
  inline class Marker new_marker(std::string name) const;

 private:
  std::string name_;
};

// Something with a beginning and an end. start() again begins it anew; what is open when the object
// ends, ends with it. One object is for one thread at a time.
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

// A piece of work. Begins at once.
class Task : public Range {
 public:
  Task(const Domain& domain, std::string name) : Range(task, domain.name(), std::move(name)) {
    start();
  }
};

// One of a series: an image, a step, an iteration. Begins at once.
class Frame : public Range {
 public:
  Frame(const Domain& domain, std::string name) : Range(frame, domain.name(), std::move(name)) {
    start();
  }
};

// A piece of work of no domain. Begins at once.
class Event : public Range {
 public:
  explicit Event(std::string name) : Range(event, "", std::move(name)) { start(); }
};

// A value that changes. 64 bits with sign; instead of wrapping around it stays at the limit. It
// changes while nothing is recorded, too. Thread-safe.
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
    if (by == INT64_MIN) {  // has no negative of its own
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

// Whom an instant concerns: a viewer draws it across all processes, one process, one thread, ...
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

// A layer: all that this thread records until the end of the block belongs to it. Scopes nest
// ("encoder:attention"); each is an NVTX range "layer:NAME" too, which Nsight Systems shows. A
// scope that began while the profiler was stopped is no layer of what is recorded later.
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
