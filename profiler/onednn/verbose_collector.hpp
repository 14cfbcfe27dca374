// SPDX-License-Identifier: Apache-2.0
// oneDNN's verbose lines as activities of what the runner was doing when they were printed.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/activity.hpp"
#include "profiler/onednn/capture.hpp"
#include "profiler/onednn/verbose_line.hpp"
#include "profiler/recorder.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// What happened while lines were printed: an operator's execution, a kernel's creation.
struct VerbosePlace {
  Nanoseconds begin{0}, end{0};
  // Lends its track, case, scope and direction to all activities, which are the runner's to know,
  // and `iteration`; its other attributes (operator, parameters, work) to `primitive` alone.
  Activity owner;
  std::string primitive;  // the library's word for what the operator is: "convolution"
};

// Which lines become activities. Facts are read from all of them.
enum class VerbosePhases { all, creations };

// Activities lie inside of their place: where the library's timestamp says (moved inside where
// it lies outside by its resolution), else one after the other from its begin; a
// nested creation begins with the one that contains it. Not thread-safe.
class VerboseCollector {
 public:
  // `decoder` has seen all that the library has printed in this process: it says only once how it
  // writes its lines. `since_1970`: what to add to the recorder's clock. All outlive this.
  VerboseCollector(Recorder& recorder, OutputCapture& capture, VerboseDecoder& decoder,
                   Nanoseconds since_1970)
      : recorder_(recorder), capture_(capture), decoder_(decoder), since_1970_(since_1970) {}

  // Reads what was printed between two places of the capture. Lines that are not the library's are
  // passed on. Error: the captured text cannot be read.
  Status collect(std::int64_t from, std::int64_t to, const VerbosePlace& place,
                 VerbosePhases phases);

  std::int64_t damaged() const { return damaged_; }  // with lines that end early
  std::int64_t unknown() const { return unknown_; }
  // Of the first kMaxNotes of either: what was wrong, and the beginning of the line.
  const std::vector<std::string>& notes() const { return notes_; }

  static constexpr std::size_t kMaxNotes = 20;

 private:
  Status take_line(std::string_view line, const VerbosePlace& place, VerbosePhases phases);
  void take_record(const VerboseLine& line, const VerbosePlace& place, VerbosePhases phases);
  Nanoseconds start_of(const VerboseLine& line, Nanoseconds duration, const VerbosePlace& place);
  void note(std::string_view fault, std::string_view line);

  Recorder& recorder_;
  OutputCapture& capture_;
  VerboseDecoder& decoder_;
  const Nanoseconds since_1970_;
  Nanoseconds next_{0};  // without timestamps: where the next activity begins
  std::int64_t damaged_ = 0;
  std::int64_t unknown_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace bench
