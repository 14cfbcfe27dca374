// SPDX-License-Identifier: Apache-2.0
// Reads profiles of any format as a stream of activities. Each format has one reader: one source
// file and one row in a table. The content of a profile selects its reader. A new format needs only
// a new reader.
#pragma once

#include "base/result.hpp"
#include "profiler/activity.hpp"
#include "profiler/pass_selection.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Text that is read piece by piece, from a file, a pipe or a string.
class TextSource {
 public:
  virtual ~TextSource() = default;
  virtual const std::string& name() const = 0;  // used in messages
  // The result of next(), which reads the next line without its newline. `text` stays valid until
  // the next call. next() returns false at the end. It cuts a line longer than kMaxProfileLine and
  // sets `cut`. A read error ends the text; status() returns the error.
  struct Line {
    std::string_view text;
    std::int64_t number = 0;  // starts at 1
    bool cut = false;
    bool has_end = false;  // if false, the text may end in the middle of the line
  };
  virtual bool next(Line& line) = 0;
  virtual Status status() const = 0;
  // Returns the beginning of the text, up to kHeadSize bytes, without consuming it.
  virtual std::string_view head() = 0;

  // Which activities of the text count, if it is a result file. To read several files of one
  // result, share one selection, which must outlive the source.
  PassSelection& passes() { return shared_passes_ != nullptr ? *shared_passes_ : own_passes_; }
  void share(PassSelection& passes) { shared_passes_ = &passes; }

 private:
  PassSelection own_passes_;
  PassSelection* shared_passes_ = nullptr;
};
inline constexpr std::size_t kHeadSize = 65536;  // enough for any header and the first records
// 16 MiB; the tool's own records are far smaller
inline constexpr std::size_t kMaxProfileLine = 1 << 24;

// "-" means standard input. Packed files are read as open_bytes() does (profiler/byte_stream.hpp).
// A byte order mark is removed, and UTF-16 is converted to UTF-8. Opens a file as
// open_input() does (base/file.hpp), which refuses a FIFO or device.
Result<std::unique_ptr<TextSource>> open_text(const std::string& path);
// Opens a file that is read alone, and chooses the passes that count if it is a result file. Of
// standard input and pipes, which can be read only once, the passes of all runs count.
Result<std::unique_ptr<TextSource>> open_profile(const std::string& path);
std::unique_ptr<TextSource> text_source_for_test(std::string name, std::string text);  // for tests

// Where the start times of activities come from. computed: the source states durations only, so
// activities were placed one after another, and the time between them is unknown.
enum class StartTimes { recorded, computed };

// What a reader found besides activities.
struct ReadReport {
  std::string format;  // name of the reader
  StartTimes starts = StartTimes::recorded;
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
  std::vector<std::string> notes;            // the first kMaxNotes notes: "log:17: ..."
  std::map<std::string, std::string> facts;  // environment: "library.onednn.version", "isa", ...

  void note(std::string text);  // keeps only the first kMaxNotes
};
inline constexpr std::size_t kMaxNotes = 20;

struct ActivityReader {
  std::string_view name;  // "result", "onednn"
  std::string_view help;  // one line
  bool (*recognises)(std::string_view head);
  // Returns an error if nothing can be read (for example, unknown format version) or if the sink
  // fails.
  Result<ReadReport> (*read)(TextSource& source, ActivitySink& sink);
};

std::span<const ActivityReader> activity_readers();
// Returns an error that names the supported formats if no reader recognises the content.
Result<const ActivityReader*> find_reader(TextSource& source);
// Returns the facts in the first record of a result file or profile, as in ReadReport::facts.
// Consumes nothing from `source`. Returns no facts for other formats, or if the record is longer
// than kHeadSize.
std::map<std::string, std::string> head_facts(TextSource& source);
// Reads all of `source` with the reader that recognises it.
Result<ReadReport> read_activities(TextSource& source, ActivitySink& sink);

// The work of an activity without `flops` and `bytes`: a foreign log records none, or only its own
// values (given_flops, given_bytes). The profiler only decodes, so the caller supplies the
// knowledge about operators.
struct ActivityWork {
  std::string op;
  std::string parameters;
  std::string dtype;
  std::string in_shapes, out_shapes;
  std::optional<std::int64_t> macs;
  std::int64_t flops = 0;
  std::optional<std::int64_t> bytes;  // nullopt if the data type is unknown
};
using WorkProvider = std::function<std::optional<ActivityWork>(const Activity&)>;

// Forwards activities and adds the work from `compute_work` to those without `flops` and `bytes`.
// If `compute_work` does not know a value, given_flops or given_bytes supplies it. These two stay
// only if they differ from the value of `compute_work`.
class WorkSink final : public ActivitySink {
 public:
  WorkSink(WorkProvider compute_work, ActivitySink& next);
  Status consume(const Activity& activity) override;

 private:
  WorkProvider work_of_;
  ActivitySink& next_;
  Activity copy_;
};

}  // namespace bench
