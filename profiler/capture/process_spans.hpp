// SPDX-License-Identifier: Apache-2.0
// When the processes of a spool ran.
#pragma once

#include "base/units.hpp"
#include "profiler/activity.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// When a program was started and had ended.
struct ProgramTimes {
  Nanoseconds start{0}, end{0};
};

// Returns the activity `process`: a process of this program ran from `first` to `last`. `program`
// is its file; empty if unknown.
Activity make_process_activity(std::int64_t pid, std::string_view program, Nanoseconds first,
                               Nanoseconds last);

class ProcessSpans {
 public:
  // `program`: when the first process was started and had ended; nullopt if unknown.
  explicit ProcessSpans(std::optional<ProgramTimes> program);

  // A program began in a process. Returns the span of an earlier process with the same number. The
  // same process after exec goes on.
  std::optional<Activity> begin(std::int64_t pid, std::string_view program, Nanoseconds at);
  // The process wrote a record.
  void see(std::int64_t pid, Nanoseconds at);
  // The child runs the program of its parent. Its time began with its first record.
  void fork(std::int64_t pid, std::int64_t parent);
  // The process wrote its last record. `cpu`: the CPU time that it used, and the part of it in the
  // kernel; nullopt if unknown.
  struct CpuTime {
    std::optional<Nanoseconds> all, kernel;
  };
  void end(std::int64_t pid, const CpuTime& cpu);
  // The program of a process that wrote no records itself.
  void name(std::int64_t pid, std::string_view program);
  // Returns the remaining spans, sorted by process. Call this once, at the end.
  std::vector<Activity> finish();

 private:
  struct Span {
    std::string program;
    Nanoseconds first{0}, last{0};
    bool is_first = false;  // the process that `program_` describes
    bool has_ended = false;
    CpuTime cpu;
  };
  Activity make_activity(std::int64_t pid, const Span& span) const;

  std::optional<ProgramTimes> program_;
  std::map<std::int64_t, Span> spans_;
  bool has_first_ = false;
};

}  // namespace bench
