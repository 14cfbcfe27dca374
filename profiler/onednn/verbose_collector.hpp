// SPDX-License-Identifier: Apache-2.0
// Converts oneDNN's verbose lines into activities of the operation that this program performed when
// they were printed.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/activity.hpp"
#include "profiler/onednn/output_capture.hpp"
#include "profiler/onednn/verbose_line.hpp"
#include "profiler/recorder.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// What happened while lines were printed: an operator's execution or a kernel's creation.
struct VerboseOrigin {
  Nanoseconds begin{0}, end{0};
  // All activities inherit its track, case, scope, direction and `iteration`, which the lines do
  // not state. Only the activity of `primitive` inherits its other attributes (operator,
  // parameters, work).
  Activity owner;
  std::string primitive;  // the library's name for the operator: "convolution"
};

// Which lines become activities. Facts are read from all lines.
enum class VerbosePhases { all, creations };

// Each activity is between `begin` and `end` of its origin. The library's timestamp determines the
// start. A start that is outside because of the clock's resolution is moved inside. Without
// timestamps, activities follow one another from the origin's begin, and a nested one begins
// together with the one that contains it. Not thread-safe.
class VerboseCollector {
 public:
  // `decoder` must have seen everything that the library printed in this process, because the
  // library states its line format only once. `since_1970` is the offset from the recorder's clock
  // to the time since 1970. All arguments must outlive the collector.
  VerboseCollector(Recorder& recorder, OutputCapture& capture, VerboseDecoder& decoder,
                   Nanoseconds since_1970)
      : recorder_(recorder), capture_(capture), decoder_(decoder), since_1970_(since_1970) {}

  // Reads what was printed between two positions of the capture. Forwards lines that are not the
  // library's. Returns an error if the captured text cannot be read.
  Status collect(std::int64_t from, std::int64_t to, const VerboseOrigin& origin,
                 VerbosePhases phases);

  // Number of primitives' executions that became activities.
  std::int64_t executions() const { return executions_; }
  std::int64_t malformed() const { return malformed_; }  // includes lines that end early
  std::int64_t unknown() const { return unknown_; }
  // For the first kMaxNotes such lines: the problem and the beginning of the line.
  const std::vector<std::string>& notes() const { return notes_; }

  static constexpr std::size_t kMaxNotes = 20;

 private:
  Status take_line(std::string_view line, const VerboseOrigin& origin, VerbosePhases phases);
  void take_record(const VerboseLine& line, const VerboseOrigin& origin, VerbosePhases phases);
  Nanoseconds compute_start(const VerboseLine& line, Nanoseconds duration,
                            const VerboseOrigin& origin);
  void note(std::string_view fault, std::string_view line);

  Recorder& recorder_;
  OutputCapture& capture_;
  VerboseDecoder& decoder_;
  const Nanoseconds since_1970_;
  Nanoseconds next_{0};  // without timestamps: start of the next activity
  std::int64_t executions_ = 0;
  std::int64_t malformed_ = 0;
  std::int64_t unknown_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace bench
