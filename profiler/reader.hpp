// SPDX-License-Identifier: Apache-2.0
// Reads profiles of any format as a stream of activities. Each format has one reader: one source
// file and one row in a table (readers/table.cpp). The content of a profile selects its reader.
#pragma once

#include "base/result.hpp"
#include "profiler/activity.hpp"
#include "profiler/text_source.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Where the start times of activities come from. computed: the source states durations only, so
// activities were placed one after another, and the time between them is unknown.
enum class StartTimes { recorded, computed };

// Facts of a profile that say what its records cannot: names in ReadReport::facts.
inline constexpr std::string_view kKindsFact = "recorded.kinds";  // if not the default
inline constexpr std::string_view kEndFact = "recorded.end";      // the last record has a count
inline constexpr std::string_view kMalformedFact = "recorded.malformed";  // lines of the recording
inline constexpr std::string_view kUnknownFact = "recorded.unknown";
inline constexpr std::string_view kLostSamplesFact = "recorded.lost_samples";
inline constexpr std::string_view kKilledFact = "recorded.gpu_processes_without_end";
inline constexpr std::string_view kClockStepFact = "recorded.clock_step_ns";
// What one record cost the program, in nanoseconds, how many there were, and how that was measured.
inline constexpr std::string_view kRecordCostFact = "recorded.record_cost_ns";
inline constexpr std::string_view kRecordCountFact = "recorded.records";
inline constexpr std::string_view kRecordedWallFact = "recorded.wall_ns";  // time of the program
inline constexpr std::string_view kCostMethodFact = "recorded.cost_method";

// What a result file states about a profiling pass and its case, beside the activities.
struct StatedPass {
  bool has_ended = false;    // the record `profile_pass` is there; the numbers below are its
  bool is_unsteady = false;  // the run marks `measured` so
  std::int64_t activities = 0;
  std::int64_t unread = 0;
  std::string failure;  // why the pass failed; empty if it did not
  // Median times of an iteration with and without collectors.
  std::optional<Nanoseconds> profiled, unprofiled;
  std::optional<Nanoseconds> wall, attributed, unattributed;
  std::optional<Nanoseconds> measured;  // median of the case, in processes without a profiler
  std::string kinds;                    // what was recorded, if not the default; kKindsFact
  std::int64_t read = 0;                // activities that the reader found
};

// What a reader found besides activities.
struct ReadReport {
  std::string format;  // name of the reader
  StartTimes starts = StartTimes::recorded;
  // Number of cases with a pass in more than one file. Their activities do not state their run.
  std::int32_t repeated_passes = 0;
  std::int64_t lines = 0;
  std::int64_t activities = 0;  // without those that do not count (TextSource::passes())
  std::int64_t ignored = 0;     // lines that are not profile data, such as a program's own output
  std::int64_t malformed = 0;   // lines that should be records but are malformed
  // Lines, records or fields of a kind that this version does not support. Each reader counts the
  // smallest unit that it skips.
  std::int64_t unknown = 0;
  // Errors that the library itself reports, and the lines of the first kMaxNotes of them.
  std::int64_t library_errors = 0;
  std::vector<std::int64_t> library_error_lines;
  std::vector<std::string> notes;  // the first kMaxNotes notes: "log:17: ..."
  std::map<std::string, StatedPass>
      passes;  // of result files; key: case, in ProfileSet perhaps with its file
  // Number of activities that a profile's last record states; nullopt without such a record.
  std::optional<std::int64_t> stated_activities;
  std::map<std::string, std::string> facts;  // environment: "library.onednn.version", "isa", ...

  void note(std::string text);  // keeps only the first kMaxNotes
};
inline constexpr std::size_t kMaxNotes = 20;

// What `bench compare` and `bench report` take from a file: the executions of a program, or the
// cases that the file states.
enum class ComparedBy { executions, cases };

struct ActivityReader {
  std::string_view name;  // "result", "onednn"
  std::string_view help;  // one line
  bool (*recognises)(std::string_view head);
  // Returns an error if nothing can be read (for example, unknown format version) or if the sink
  // fails.
  Result<ReadReport> (*read)(TextSource& source, ActivitySink& sink);
  ComparedBy compared_by = ComparedBy::executions;
};

std::span<const ActivityReader> activity_readers();
// Returns an error that lists the supported formats, one per line, if no reader recognises the
// content.
Result<const ActivityReader*> find_reader(TextSource& source);
// Returns the facts in the first record of a result file or profile, as in ReadReport::facts; of a
// Chrome trace of Kineto only the name of its first GPU. Consumes nothing from `source`. Returns no
// facts for other formats, or if the record is longer than kHeadSize.
std::map<std::string, std::string> head_facts(TextSource& source);
// Reads all of `source` with the reader that recognises it.
Result<ReadReport> read_activities(TextSource& source, ActivitySink& sink);

// One or several files that can be read once. What it refers to must outlive it.
struct ActivityInput {
  std::string name;  // "a.jsonl", or "a.jsonl and 3 more files"
  std::function<Result<ReadReport>(ActivitySink& sink)> read;
  // Sentences on how several files were put together. Call this after read(). Empty for one file.
  std::function<std::vector<std::string>()> statements;
};
ActivityInput input_of(TextSource& source);

}  // namespace bench
