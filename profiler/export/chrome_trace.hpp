// SPDX-License-Identifier: Apache-2.0
// Writes activities as a Chrome trace, which ui.perfetto.dev, chrome://tracing and the page of
// timeline_page.hpp show. docs/traces.md describes tracks and args.
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

// What the file is: by the suffix of its name .gz compressed, .html a page that shows the trace,
// else JSON; or as said.
enum class TraceForm { by_suffix, json, gzip, page };

struct TraceOptions {
  TraceForm form = TraceForm::by_suffix;
  std::string title = {};  // of the page
  // Shown as the trace's metadata: "tool_version", "command", ...
  std::map<std::string, std::string> metadata = {};
  // Activities that need more than this are sorted on disk, in the folder of the trace.
  std::size_t memory = std::size_t{96} << 20;
};

// The finished form: {"displayTimeUnit":"ns","traceEvents":[...],"metadata":{...}}. Takes
// activities in any order, any number of them; memory stays bounded. Not thread-safe.
class ChromeTrace final : public ActivitySink {
 public:
  // The file is there under its name only after finish().
  static Result<std::unique_ptr<ChromeTrace>> create(const std::string& path, Existing existing,
                                                     TraceOptions options = {});
  // To `out`; `folder` is for sorting on disk.
  static std::unique_ptr<ChromeTrace> to(std::unique_ptr<ByteSink> out, std::string folder,
                                         TraceOptions options = {});
  ~ChromeTrace() override;

  Status take(const Activity& activity) override;
  // One more row of metadata.
  void describe(const std::string& name, const std::string& value);
  Status finish();  // the last call

  struct Summary {
    std::int64_t activities = 0;
    std::int64_t drawn = 0;  // less announced ones that ended, and counters without a value
    std::int64_t flows = 0;
    std::size_t tracks = 0;
  };
  const Summary& summary() const;  // after finish()

 private:
  struct State;
  explicit ChromeTrace(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The continuous form, for programs that may be killed: a bare array under its final name, one
// write an event. Unterminated, it is what trace viewers still accept. Best when activities come as
// they end, as they are recorded; open ones become instants. Not thread-safe.
class ChromeTraceLog final : public ActivitySink {
 public:
  static Result<std::unique_ptr<ChromeTraceLog>> create(const std::string& path, Existing existing);
  ~ChromeTraceLog() override;

  Status take(const Activity& activity) override;
  Status finish();  // terminates the array; the last call

 private:
  struct State;
  explicit ChromeTraceLog(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace bench
