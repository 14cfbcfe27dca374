// SPDX-License-Identifier: Apache-2.0
// Reading profiles of any kind as a stream of activities: a table of readers, one file and one row
// each; which one reads a file is found from its content. A new format adds a reader, nothing else.
#pragma once

#include "base/result.hpp"
#include "profiler/activity.hpp"

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

// Text that comes in pieces: a file, a pipe, a string.
class TextSource {
 public:
  virtual ~TextSource() = default;
  virtual const std::string& name() const = 0;  // for messages
  // The next line without its newline, valid until the next call; false at the end. A line beyond
  // kMaxProfileLine is cut and `cut` is set. Errors of reading end the text and are in status().
  struct Line {
    std::string_view text;
    std::int64_t number = 0;  // from 1
    bool cut = false;
    bool has_end = false;  // a newline ends it; false: the text may end in the middle of the line
  };
  virtual bool next(Line& line) = 0;
  virtual Status status() const = 0;
  // The beginning of the text, up to kHeadSize bytes; consumes nothing.
  virtual std::string_view head() = 0;
};
inline constexpr std::size_t kHeadSize = 65536;          // enough for any header and first records
inline constexpr std::size_t kMaxProfileLine = 1 << 24;  // 16 MiB: no record of ours comes near

// "-" is standard input. Files ending in .gz are read through zlib. A file is opened as
// open_input() does (base/file.hpp): a FIFO or device is refused.
Result<std::unique_ptr<TextSource>> open_text(const std::string& path);
std::unique_ptr<TextSource> text_of(std::string name, std::string text);  // for tests

// What a reader found besides activities.
struct ReadReport {
  std::string format;  // name of the reader
  std::int64_t lines = 0;
  std::int64_t activities = 0;
  std::int64_t ignored = 0;        // lines that are not the profiler's: a program's own output
  std::int64_t damaged = 0;        // lines that should have been records and could not be read
  std::int64_t unknown = 0;        // records or fields of a kind that this version does not know
  std::vector<std::string> notes;  // the first kMaxNotes of them: "log:17: ..."
  std::map<std::string, std::string> facts;  // environment: "library.onednn.version", "isa", ...

  void note(std::string text);  // keeps the first kMaxNotes
};
inline constexpr std::size_t kMaxNotes = 20;

struct ActivityReader {
  std::string_view name;  // "result", "onednn"
  std::string_view help;  // one line
  bool (*recognises)(std::string_view head);
  // Error: nothing can be read (unknown version of the format), or the sink's.
  Result<ReadReport> (*read)(TextSource& source, ActivitySink& sink);
};

std::span<const ActivityReader> activity_readers();
// Error: nobody knows the content; names what would have been recognised.
Result<const ActivityReader*> reader_of(TextSource& source);
// All of `source`, by its reader.
Result<ReadReport> read_activities(TextSource& source, ActivitySink& sink);

// Work of an activity that does not bear it itself (a foreign log), or only as its file gives it
// (given_flops, given_bytes). The operators' knowledge is handed in; the profiler only decodes.
struct ActivityWork {
  std::string op;
  std::string parameters;
  std::string dtype;
  std::string in_shapes, out_shapes;
  std::optional<std::int64_t> macs;
  std::int64_t flops = 0;
  std::optional<std::int64_t> bytes;  // absent: the data type is not known
};
using WorkOf = std::function<std::optional<ActivityWork>(const Activity&)>;

// Hands activities on with what `work_of` knows added to those without `flops` and `bytes`. What
// it does not know is taken from given_flops and given_bytes; these stay only where they differ
// from what it knows.
class WorkSink final : public ActivitySink {
 public:
  WorkSink(WorkOf work_of, ActivitySink& next);
  Status take(const Activity& activity) override;

 private:
  WorkOf work_of_;
  ActivitySink& next_;
  Activity copy_;
};

}  // namespace bench
