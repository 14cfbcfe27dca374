// SPDX-License-Identifier: Apache-2.0
// Writes activities as a Chrome trace for ui.perfetto.dev, chrome://tracing and the page of
// timeline_page.hpp. docs/traces.md describes tracks and args.
#pragma once

#include "base/file.hpp"
#include "base/result.hpp"
#include "profiler/activity.hpp"
#include "profiler/export/byte_sink.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace bench {

// Form of the file. by_suffix: .gz is compressed, .html is a page that shows the trace, anything
// else is JSON. The other values select the form explicitly.
enum class TraceForm { by_suffix, json, gzip, page };

struct TraceOptions {
  TraceForm form = TraceForm::by_suffix;
  std::string title = {};  // title of the page
  // Shown as the trace's metadata: "tool_version", "command", ...
  std::map<std::string, std::string> metadata = {};
  // Maximum memory in bytes for sorting. More activities are sorted on disk, in the trace's
  // directory.
  std::size_t memory = std::size_t{96} << 20;
};

// The finished form: {"displayTimeUnit":"ns","traceEvents":[...],"metadata":{...}}. Accepts any
// number of activities in any order with bounded memory. Not thread-safe.
class ChromeTrace final : public ActivitySink {
 public:
  // The file appears under its name only after finish().
  static Result<std::unique_ptr<ChromeTrace>> create(const std::string& path, Existing existing,
                                                     TraceOptions options = {});
  // Writes to `out`. Sorting on disk uses `folder`.
  static std::unique_ptr<ChromeTrace> to(std::unique_ptr<ByteSink> out, std::string folder,
                                         TraceOptions options = {});
  ~ChromeTrace() override;

  Status consume(const Activity& activity) override;
  // Adds an entry to the metadata.
  void describe(const std::string& name, const std::string& value);
  Status finish();  // must be the last call

  struct Summary {
    std::int64_t activities = 0;
    // excludes announced activities that ended, and counters without a value
    std::int64_t drawn = 0;
    std::int64_t flows = 0;
    std::size_t tracks = 0;
    // Added to all times, since viewers leave out what is before 0. 0 if no time was negative.
    Nanoseconds shift{0};
  };
  const Summary& summary() const;  // valid after finish()

 private:
  struct State;
  explicit ChromeTrace(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The continuous form, for programs that may be killed: a bare array under its final name, with one
// write per event. Trace viewers accept it even if it is not terminated. Works best if activities
// come in the order in which they end, as they are recorded. Open ones become instants. Not
// thread-safe.
class ChromeTraceLog final : public ActivitySink {
 public:
  static Result<std::unique_ptr<ChromeTraceLog>> create(const std::string& path, Existing existing);
  ~ChromeTraceLog() override;

  Status consume(const Activity& activity) override;
  Status finish();  // terminates the array; must be the last call

 private:
  struct State;
  explicit ChromeTraceLog(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace bench
